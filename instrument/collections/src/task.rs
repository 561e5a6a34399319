//! A collection in a program that a runtime of the mirror of std controls: `interloper::check` and the like.
//!
//! Such a program has no session. Each operation is a step of the engine: it is announced with its effect and its key,
//! so that operations on different keys commute. The locks of a guard are objects of the execution.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use interloper_commutativity::models::{bounded_queue, map, queue, register, sorted_map, sorted_set};
use interloper_commutativity::{MethodId, Value, said};
use interloper_std::plain;
use interloper_std::runtime::{
    self, Action, Call, Count, Current, ExecutionId, Extent, Key, Need, ObjectId, ObjectKind, Operation, Place,
    Runtime, Verb,
};

use crate::locks::{LockId, Mode, Needs};

/// What a collection is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A collection whose methods are unknown.
    #[default]
    Other,
    Map,
    SortedMap,
    SortedSet,
    Queue,
    BoundedQueue,
    Atomic,
    Mutex,
    RwLock,
    /// A cell that is filled once.
    Cell,
}

/// What ties a collection to the execution that uses it.
#[derive(Debug, Default)]
pub(crate) struct Tie {
    kind: Kind,
    /// How many locks it has inside, for guards.
    shards: u32,
    object: runtime::Handle,
    /// Whether an execution has written to it, or may have.
    written: AtomicBool,
}

impl Tie {
    pub(crate) const fn new(kind: Kind, shards: u32) -> Tie {
        Tie { kind, shards, object: runtime::Handle::new(), written: AtomicBool::new(false) }
    }

    /// What reports call a collection of this kind.
    pub(crate) fn name(&self) -> &'static str {
        self.kind.object().name()
    }

    /// The collection in the running execution, if there is one, for an operation that writes or not. An execution that
    /// would see what another one has written ends here.
    #[inline]
    pub(crate) fn task(&self, writes: bool, location: Place) -> Option<Task> {
        let task = runtime::with(|current| self.meet(&current, location))?;
        if writes {
            self.written.store(true, Ordering::Relaxed);
        }
        Some(task)
    }

    fn meet(&self, current: &Current<'_>, location: Place) -> Task {
        let runtime = current.runtime();
        if self.object.is_left_behind(current) && self.written.load(Ordering::Relaxed) {
            let kind = self.name();
            runtime.fail(format!(
                "an earlier execution wrote to the {kind} used at {location}: create it inside the checked closure, \
                 so that each execution starts with a fresh {kind}"
            ));
        }
        let resolved = self.object.resolve(current, self.kind.object());
        if resolved.fresh && self.shards > 0 {
            // Nothing else is registered meanwhile, so the numbers of the locks follow the number of the collection.
            let last = (0..=self.shards).map(|_| runtime.register(ObjectKind::Shard)).last();
            debug_assert_eq!(last, Some(behind(resolved.object, self.shards + 1)));
        }
        Task { execution: current.execution(), object: resolved.object, kind: self.kind }
    }
}

/// A collection in the running execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    execution: ExecutionId,
    object: ObjectId,
    kind: Kind,
}

fn behind(object: ObjectId, count: u32) -> ObjectId {
    ObjectId::from_index(object.index() as u32 + count)
}

impl Task {
    /// The step of a call of `method`, once its locks are free.
    pub(crate) fn step(&self, method: MethodId, arguments: &[Value], needs: Needs, location: Place) {
        let operation = self.operation(method, arguments, location);
        with(|runtime| match self.need(method, needs) {
            None => runtime.step(operation),
            Some(need) => runtime.step_when_free(operation, &[need]),
        });
        plain::call_begins();
        said::announced(operation.action, arguments);
    }

    /// The step of a call of `method` that gives up when a lock is taken. Returns whether the lock is free.
    pub(crate) fn attempt(&self, method: MethodId, arguments: &[Value], needs: Needs, location: Place) -> bool {
        let operation = self.operation(method, arguments, location);
        let free = with(|runtime| match self.need(method, needs) {
            None => {
                runtime.step(operation);
                true
            }
            Some(need) => {
                let free = runtime.step_and_look(operation, need);
                if !free && !operation.action.only_reads() {
                    runtime.only_read();
                }
                free
            }
        });
        if free != Some(false) {
            plain::call_begins();
        }
        said::announced(operation.action, arguments);
        free.unwrap_or(true)
    }

    fn operation(&self, method: MethodId, arguments: &[Value], location: Place) -> Operation {
        Operation { object: self.object, action: self.kind.action(method, arguments), location }
    }

    /// The step has happened, with this result.
    pub(crate) fn after(&self, method: MethodId, result: &Value) {
        if self.kind.did_nothing(method, result) {
            self.only_read();
        }
        plain::call_ends();
        said::gave(result);
    }

    /// The last step changed nothing.
    pub(crate) fn only_read(&self) {
        with(|runtime| runtime.only_read());
    }

    /// The step in which a cell is looked at, or perhaps filled.
    pub(crate) fn visit(&self, writes: bool, location: Place) {
        with(|runtime| runtime.step(self.visiting(writes, location)));
        plain::call_begins();
    }

    /// Waits until another task has [gone on](Task::progressed) with a cell.
    pub(crate) fn stalled(&self, writes: bool, location: Place) {
        with(|runtime| runtime.block(self.object, None, self.visiting(writes, location)));
    }

    /// Lets tasks that wait for a cell look again.
    pub(crate) fn progressed(&self) {
        plain::call_ends();
        self.here(|runtime| {
            runtime.wake(self.object, Count::All);
        });
    }

    fn visiting(&self, writes: bool, location: Place) -> Operation {
        Operation { object: self.object, action: if writes { Action::ReadWrite } else { Action::Read }, location }
    }

    /// The step that takes the only lock of the collection, for a critical section.
    pub(crate) fn lock(&self, mode: Mode, location: Place) {
        with(|runtime| runtime.acquire(self.object, how(mode), location));
    }

    /// The step that takes the only lock of the collection if it is free.
    pub(crate) fn try_lock(&self, mode: Mode, location: Place) -> bool {
        with(|runtime| runtime.try_acquire(self.object, how(mode), location)).unwrap_or(true)
    }

    /// A guard keeps a lock from now on. A step that looks at all shards waits for a shard that is `known` to be kept
    /// exclusively.
    pub(crate) fn keep(&self, needs: Needs, known: bool, location: Place) {
        plain::call_ends();
        let Some(need) = self.shard(needs) else { return };
        with(|runtime| {
            runtime.keep(need.lock, need.mode, location);
            if let (true, Some(guards)) = (known && need.mode == runtime::Mode::Exclusive, self.guards()) {
                runtime.keep(guards, runtime::Mode::Shared, location);
            }
        });
    }

    /// A guard has ended. This is a step if releasing a lock is one.
    pub(crate) fn free(&self, needs: Needs, known: bool, location: Place) {
        self.here(|runtime| match (self.shard(needs), needs) {
            (Some(need), _) => {
                if let (true, Some(guards)) = (known && need.mode == runtime::Mode::Exclusive, self.guards()) {
                    runtime.let_go(guards, runtime::Mode::Shared);
                }
                runtime.free(need.lock, need.mode, location);
            }
            (None, Needs::One(_, mode)) => runtime.release(self.object, how(mode), location),
            (None, _) => {}
        });
    }

    /// A guard that kept its lock exclusively shares it from now on, as part of the same step.
    pub(crate) fn downgrade(&self, needs: Needs, location: Place) {
        let Some(need) = self.shard(needs) else { return };
        self.here(|runtime| {
            if let Some(guards) = self.guards() {
                runtime.let_go(guards, runtime::Mode::Shared);
            }
            runtime.let_go(need.lock, need.mode);
            runtime.keep(need.lock, runtime::Mode::Shared, location);
        });
    }

    /// The lock that a call waits for.
    fn need(&self, method: MethodId, needs: Needs) -> Option<Need> {
        match (self.kind, method, needs) {
            (Kind::Map, map::NEXT_AFTER, Needs::Nothing) => {
                Some(Need { lock: self.guards()?, mode: runtime::Mode::Exclusive })
            }
            _ => self.shard(needs),
        }
    }

    fn shard(&self, needs: Needs) -> Option<Need> {
        match (self.guards(), needs) {
            (Some(guards), Needs::One(LockId(shard), mode)) => {
                Some(Need { lock: behind(guards, shard + 1), mode: how(mode) })
            }
            _ => None,
        }
    }

    /// The lock that each guard of an exclusively kept shard holds shared: free when there is no such guard.
    fn guards(&self) -> Option<ObjectId> {
        (self.kind == Kind::Map).then(|| behind(self.object, 1))
    }

    /// A guard can outlive its execution (in a static, say): then it has nothing to release.
    fn here(&self, act: impl FnOnce(&dyn Runtime)) {
        runtime::with(|current| {
            if current.execution() == self.execution {
                act(current.runtime());
            }
        });
    }
}

fn with<R>(act: impl FnOnce(&dyn Runtime) -> R) -> Option<R> {
    runtime::with(|current| act(current.runtime()))
}

/// Whether a weak compare-exchange that could succeed fails here: a decision of the execution.
pub(crate) fn fails_weakly() -> bool {
    with(|runtime| runtime.fails_weakly()).unwrap_or(false)
}

fn how(mode: Mode) -> runtime::Mode {
    match mode {
        Mode::Shared => runtime::Mode::Shared,
        Mode::Exclusive => runtime::Mode::Exclusive,
    }
}

impl Kind {
    fn object(self) -> ObjectKind {
        match self {
            Kind::Other => ObjectKind::Collection,
            Kind::Map => ObjectKind::Other("map"),
            Kind::SortedMap => ObjectKind::Other("sorted map"),
            Kind::SortedSet => ObjectKind::Other("sorted set"),
            Kind::Queue | Kind::BoundedQueue => ObjectKind::Other("queue"),
            Kind::Atomic => ObjectKind::Atomic,
            Kind::Mutex => ObjectKind::Mutex,
            Kind::RwLock => ObjectKind::RwLock,
            Kind::Cell => ObjectKind::Once,
        }
    }

    /// What a call of a method does to the collection.
    fn action(self, method: MethodId, arguments: &[Value]) -> Action {
        let (verb, extent, writes) = match self {
            Kind::Atomic => {
                return match method {
                    register::LOAD => Action::Read,
                    register::STORE => Action::Write,
                    _ => Action::ReadWrite,
                };
            }
            Kind::Map | Kind::SortedMap => of_map(method),
            Kind::SortedSet => of_set(method),
            Kind::Queue => of_queue(method),
            Kind::BoundedQueue => of_bounded_queue(method),
            Kind::Other | Kind::Mutex | Kind::RwLock | Kind::Cell => (Verb::Call, Extent::Whole, true),
        };
        let call = Call { verb, extent, key: arguments.first().map_or(Key::default(), key) };
        if writes { call.invoked() } else { call.inspected() }
    }

    /// Whether a call that may write wrote nothing, by its result.
    fn did_nothing(self, method: MethodId, result: &Value) -> bool {
        let (nothing, no) = (*result == Value::None, *result == Value::Bool(false));
        match self {
            Kind::Map | Kind::SortedMap => {
                matches!(method, map::REMOVE | sorted_map::POP_FIRST | sorted_map::POP_LAST) && nothing
            }
            Kind::SortedSet => match method {
                sorted_set::POP_FIRST | sorted_set::POP_LAST => nothing,
                sorted_set::REMOVE => no,
                _ => false,
            },
            Kind::Queue => method == queue::POP && nothing,
            Kind::BoundedQueue => match method {
                bounded_queue::POP => nothing,
                bounded_queue::PUSH => is_error(result),
                _ => false,
            },
            Kind::Atomic => method == register::COMPARE_EXCHANGE && is_error(result),
            Kind::Other | Kind::Mutex | Kind::RwLock | Kind::Cell => false,
        }
    }
}

fn of_map(method: MethodId) -> (Verb, Extent, bool) {
    use Extent::{Entry, Whole};
    match method {
        map::GET => (Verb::Get, Entry, false),
        map::CONTAINS_KEY => (Verb::Contains, Entry, false),
        map::INSERT => (Verb::Insert, Entry, true),
        map::INSERT_IF_ABSENT => (Verb::InsertIfAbsent, Entry, true),
        map::REMOVE => (Verb::Remove, Entry, true),
        map::MODIFY => (Verb::Modify, Entry, true),
        map::NEXT_AFTER => (Verb::Next, Whole, false),
        map::LEN | map::IS_EMPTY => (Verb::Count, Whole, false),
        sorted_map::FIRST | sorted_map::LAST | sorted_map::LOWER_BOUND | sorted_map::UPPER_BOUND => {
            (Verb::Find, Whole, false)
        }
        sorted_map::POP_FIRST | sorted_map::POP_LAST => (Verb::Pop, Whole, true),
        _ => (Verb::Call, Whole, true),
    }
}

fn of_set(method: MethodId) -> (Verb, Extent, bool) {
    use Extent::{Entry, Whole};
    match method {
        sorted_set::CONTAINS => (Verb::Contains, Entry, false),
        sorted_set::INSERT => (Verb::Insert, Entry, true),
        sorted_set::REMOVE => (Verb::Remove, Entry, true),
        sorted_set::NEXT_AFTER => (Verb::Next, Whole, false),
        sorted_set::LEN | sorted_set::IS_EMPTY => (Verb::Count, Whole, false),
        sorted_set::FIRST | sorted_set::LAST | sorted_set::LOWER_BOUND | sorted_set::UPPER_BOUND => {
            (Verb::Find, Whole, false)
        }
        sorted_set::POP_FIRST | sorted_set::POP_LAST => (Verb::Pop, Whole, true),
        _ => (Verb::Call, Whole, true),
    }
}

fn of_queue(method: MethodId) -> (Verb, Extent, bool) {
    match method {
        queue::PUSH => (Verb::Push, Extent::Whole, true),
        queue::POP => (Verb::Pop, Extent::Whole, true),
        queue::LEN | queue::IS_EMPTY => (Verb::Count, Extent::Whole, false),
        _ => (Verb::Call, Extent::Whole, true),
    }
}

fn of_bounded_queue(method: MethodId) -> (Verb, Extent, bool) {
    match method {
        bounded_queue::PUSH | bounded_queue::FORCE_PUSH => (Verb::Push, Extent::Whole, true),
        bounded_queue::POP => (Verb::Pop, Extent::Whole, true),
        bounded_queue::LEN | bounded_queue::IS_EMPTY | bounded_queue::IS_FULL => (Verb::Count, Extent::Whole, false),
        _ => (Verb::Call, Extent::Whole, true),
    }
}

fn is_error(result: &Value) -> bool {
    matches!(result, Value::Variant(variant) if &*variant.name == "Err")
}

/// A hash that is the same in every process.
fn key(form: &Value) -> Key {
    let mut hasher = DefaultHasher::new();
    form.hash(&mut hasher);
    Key::from_hash(hasher.finish())
}
