//! The words of reports: what the tasks and objects of an execution are called, and what a step does.
//!
//! Every report takes its words from here, so that the same step reads the same everywhere.

use std::collections::BTreeMap;

use interloper_std::runtime::{Action, Mode, ObjectId, ObjectKind, Operation, Place, TaskId, Verb};

use crate::execution::{End, Event, Execution};

/// The result of a task of an executor, for which another task may wait. A task that writes it without reading drops its
/// future, so that there will be no result.
pub const JOIN_HANDLE: ObjectKind = ObjectKind::Other("join handle");

/// What the tasks and objects of one execution are called.
///
/// An object is called by its kind, and a number among the objects of this kind in the order of first use: `mutex 2`.
/// The main task is called `main` and the others `thread 1`, `thread 2`, … in the order of [`canonical_numbers`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// By object. `None` for an object that the execution does not use.
    objects: Vec<Option<(Option<ObjectKind>, usize)>>,
    /// The tasks by their objects.
    task_objects: Vec<(ObjectId, TaskId)>,
    numbers: Vec<TaskId>,
    /// Tasks that have a name of their own.
    called: BTreeMap<TaskId, String>,
    /// The accesses that did not take the newest place: whether they store, and who stored what they saw, and where.
    older: BTreeMap<usize, (bool, Option<(TaskId, Place)>)>,
    blocks: Vec<&'static str>,
}

impl Names {
    /// The names of an execution. `kind` tells what an object is, `blocks` are the names of atomic blocks by number.
    pub fn new(
        execution: &Execution,
        trace: &[Event],
        kind: impl Fn(ObjectId) -> Option<ObjectKind>,
        blocks: Vec<&'static str>,
    ) -> Names {
        // A stuck task may want an object that no step uses.
        let stuck = match &execution.end {
            End::Deadlock(tasks) | End::Leaked(tasks) | End::Livelock(tasks) => &tasks[..],
            _ => &[],
        };
        let used = trace.iter().map(|event| event.operation.object);
        let mut objects = Vec::new();
        let mut counts: BTreeMap<Option<ObjectKind>, usize> = BTreeMap::new();
        for object in used.chain(stuck.iter().map(|report| report.wants.object)) {
            if objects.len() <= object.index() {
                objects.resize(object.index() + 1, None);
            }
            objects[object.index()].get_or_insert_with(|| {
                let kind = kind(object);
                let count = counts.entry(kind).or_insert(0);
                *count += 1;
                (kind, *count)
            });
        }
        // Tasks are numbered in the order of spawning; the main task is not spawned.
        let spawned = trace.iter().filter(|event| event.operation.action == Action::Spawn);
        let spawned = spawned.enumerate().map(|(index, event)| (event.operation.object, TaskId(index as u32 + 1)));
        let main = trace.iter().find(|event| event.task == TaskId::MAIN && event.operation.action == Action::Start);
        let main = main.map(|event| (event.operation.object, TaskId::MAIN));
        let task_objects = main.into_iter().chain(spawned).take(execution.tasks).collect();
        let of = |event: u32| trace.get(event as usize).map(|event| (event.task, event.operation.location));
        let older = execution.older.iter().map(|older| (older.event as usize, (older.stores, older.of.and_then(of))));
        let (older, numbers) = (older.collect(), canonical_numbers(trace));
        Names { objects, task_objects, numbers, called: BTreeMap::new(), older, blocks }
    }

    /// Gives a task another name.
    pub fn call(&mut self, task: TaskId, name: String) {
        self.called.insert(task, name);
    }

    /// What a task is called.
    pub fn task(&self, task: TaskId) -> String {
        match self.called.get(&task) {
            Some(name) => name.clone(),
            None => task_name(self.numbers.get(task.index()).copied().unwrap_or(task)),
        }
    }

    /// What an object is called. The object of a task is called as the task is.
    pub fn object(&self, object: ObjectId) -> String {
        if let Some((_, task)) = self.task_objects.iter().find(|(own, _)| *own == object) {
            return self.task(*task);
        }
        match self.objects.get(object.index()).copied().flatten() {
            Some((kind, number)) => format!("{} {number}", kind.map_or("object", ObjectKind::name)),
            None => "an object that no step uses".to_owned(),
        }
    }

    fn is_task(&self, object: ObjectId) -> bool {
        self.task_objects.iter().any(|(own, _)| *own == object)
    }

    /// What kind of object it is.
    pub fn kind(&self, object: ObjectId) -> Option<ObjectKind> {
        self.objects.get(object.index()).copied().flatten()?.0
    }

    fn is_kind(&self, object: ObjectId, expected: ObjectKind) -> bool {
        self.kind(object) == Some(expected)
    }

    /// What a held lock is called.
    pub fn held(&self, lock: ObjectId, mode: Mode) -> String {
        let how = match mode {
            Mode::Exclusive => "",
            Mode::Shared => " shared",
            Mode::Upgradable => " upgradable",
        };
        format!("{}{how}", self.object(lock))
    }

    /// The name of the atomic block with this number.
    pub fn block(&self, number: u32) -> &'static str {
        self.blocks.get(number as usize).copied().unwrap_or("block")
    }

    /// What a step does: `locks mutex 1`.
    pub fn step(&self, operation: Operation) -> String {
        let Operation { object, action, .. } = operation;
        match action {
            Action::Start => "starts".to_owned(),
            Action::BlockBegin(number) => format!("begins {}", self.block(number)),
            Action::BlockEnd => "ends the block".to_owned(),
            Action::Fence => "fence".to_owned(),
            Action::Exit => "ends".to_owned(),
            Action::End => "ends the process".to_owned(),
            Action::Yield => "yields".to_owned(),
            Action::Sleep => "sleeps".to_owned(),
            Action::Park => "parks".to_owned(),
            Action::Invoke(verb, ..) | Action::Inspect(verb, ..) => self.call_of(verb, "an entry", object),
            Action::Lock(_) if self.is_kind(object, ObjectKind::EXECUTOR) => "is polled".to_owned(),
            Action::Write if self.is_kind(object, JOIN_HANDLE) => "drops its future".to_owned(),
            Action::Unlock(_) if self.is_kind(object, ObjectKind::EXECUTOR) => "has been polled".to_owned(),
            // Of a thread they are no steps.
            Action::ReadWrite if self.is_task(object) => "is polled".to_owned(),
            Action::Wait(_) if self.is_task(object) => "is suspended".to_owned(),
            Action::Notify(_) if self.is_task(object) => format!("wakes {}", self.object(object)),
            _ => format!("{} {}", verb(action), self.object(object)),
        }
    }

    /// Whether the event of this index in the trace is an access to an atomic that does not see the newest store.
    pub fn is_stale(&self, index: usize) -> bool {
        self.older.contains_key(&index)
    }

    /// What a step does that is the event of this index in the trace: as [`Names::step`], with what weak memory adds.
    pub fn event(&self, index: usize, operation: Operation) -> String {
        let step = self.step(operation);
        let Some((stores, of)) = self.older.get(&index) else { return step };
        let whose = match of {
            Some((task, place)) => format!("that {} stored at {place}", self.task(*task)),
            None => "that was there at first".to_owned(),
        };
        match (operation.action, stores) {
            (Action::Write, _) => format!("{step}, but before newer stores, which it has not seen"),
            (_, true) => format!("{step}: changes the stale value {whose}, before newer stores, which it has not seen"),
            (_, false) => format!("{step}: sees the stale value {whose}"),
        }
    }

    /// What the call of a collection's method does, with its arguments: `inserts 3 into map 1`.
    pub fn call_of(&self, verb: Verb, arguments: &str, collection: ObjectId) -> String {
        let collection = self.object(collection);
        match verb {
            Verb::Get => format!("looks up {arguments} in {collection}"),
            Verb::Contains => format!("looks whether {arguments} is in {collection}"),
            Verb::Insert => format!("inserts {arguments} into {collection}"),
            Verb::InsertIfAbsent => format!("inserts {arguments} into {collection} if it is not there"),
            Verb::Modify => format!("takes the entry of {arguments} in {collection}"),
            Verb::Remove => format!("removes {arguments} from {collection}"),
            Verb::Next => format!("looks for the next entry of {collection}"),
            Verb::Find => format!("looks for an entry of {collection}"),
            Verb::Push => format!("pushes {arguments} to {collection}"),
            Verb::Pop => format!("pops from {collection}"),
            Verb::Count => format!("counts {collection}"),
            Verb::Receive => "reads from a socket or a pipe".to_owned(),
            Verb::Send => "writes to a socket or a pipe".to_owned(),
            Verb::Accept => "accepts a connection".to_owned(),
            Verb::Connect => "connects".to_owned(),
            Verb::Open => "opens a port, or says what it waits for".to_owned(),
            Verb::Close => "closes a socket or a pipe".to_owned(),
            Verb::Await => "waits for input or output".to_owned(),
            Verb::Call => format!("calls a method of {collection}"),
        }
    }
}

/// The verb of an action that has an object.
const fn verb(action: Action) -> &'static str {
    match action {
        Action::Read | Action::Inspect(..) => "reads",
        Action::Write => "writes",
        Action::ReadWrite | Action::Invoke(..) => "updates",
        Action::Lock(Mode::Exclusive) => "locks",
        Action::Lock(Mode::Shared) => "locks for reading",
        Action::LockRecursive => "locks for reading, recursively,",
        Action::Lock(Mode::Upgradable) => "locks for reading, upgradable,",
        Action::Contend => "begins to wait as a writer for",
        Action::TryLock(_) => "tries to lock",
        Action::Unlock(_) => "unlocks",
        Action::Convert(_, Mode::Exclusive) => "upgrades",
        Action::Convert(..) => "downgrades",
        Action::TryConvert(..) => "tries to change",
        Action::Wait(_) => "waits on",
        Action::Notify(_) => "notifies",
        Action::Park => "parks",
        Action::Unpark => "unparks",
        Action::Spawn => "spawns",
        Action::Join => "joins",
        Action::Pass(Mode::Exclusive) => "needs to write to",
        Action::Pass(_) => "needs to read",
        Action::Keep(_) => "keeps",
        Action::Free(_) => "frees",
        Action::Consult => "asks about",
        Action::Affect => "affects",
        Action::Peek(_) => "looks at",
        Action::Start | Action::Exit | Action::End | Action::Fence | Action::Yield | Action::Sleep => "is at",
        Action::BlockBegin(_) | Action::BlockEnd => "is at",
    }
}

/// Whether a step is about the execution and not about the program, so that a report leaves it out.
pub const fn is_silent(action: Action) -> bool {
    matches!(action, Action::Consult | Action::Affect | Action::Pass(_) | Action::Peek(_))
}

/// The name of a task without a name of its own.
pub fn task_name(task: TaskId) -> String {
    if task == TaskId::MAIN { "main".to_owned() } else { format!("thread {}", task.0) }
}

/// The numbers of the tasks when they are ordered by the path of spawns that leads to each, so that the numbers do not
/// depend on the schedule. Empty when the tasks have these numbers already.
pub fn canonical_numbers(trace: &[Event]) -> Vec<TaskId> {
    let spawns = || trace.iter().filter(|event| event.operation.action == Action::Spawn);
    if spawns().all(|event| event.task == TaskId::MAIN) {
        return Vec::new();
    }
    // Tasks are numbered in the order of spawning.
    let mut paths: Vec<Vec<u32>> = vec![Vec::new()];
    let mut children = vec![0];
    for spawn in spawns() {
        let parent = spawn.task.index();
        let path = paths[parent].iter().copied().chain([children[parent]]).collect();
        children[parent] += 1;
        paths.push(path);
        children.push(0);
    }
    let rank = |path: &Vec<u32>| TaskId(paths.iter().filter(|other| *other < path).count() as u32);
    paths.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::execution::{Blocked, Cause, TaskReport};
    use crate::strategies::FirstRun;
    use crate::{Config, Engine};

    fn spawn(task: u32) -> Event {
        let operation =
            Operation { object: ObjectId::from_index(0), action: Action::Spawn, location: Location::caller() };
        Event { task: TaskId(task), operation, continues: true, only_read: false, cause: Cause::Ready }
    }

    #[test]
    fn the_numbers_of_tasks_do_not_depend_on_the_schedule() {
        let numbers = |spawns: &[u32]| -> Vec<u32> {
            let trace: Vec<Event> = spawns.iter().map(|task| spawn(*task)).collect();
            canonical_numbers(&trace).iter().map(|task| task.0).collect()
        };
        assert!(numbers(&[0, 0, 0]).is_empty());
        // main spawns A and B, each of which spawns one: main, A, A's child, B, B's child.
        assert_eq!(numbers(&[0, 0, 1, 2]), [0, 1, 3, 2, 4]);
        assert_eq!(numbers(&[0, 0, 2, 1]), [0, 1, 3, 4, 2]);
        assert_eq!(numbers(&[0, 1, 0, 3]), [0, 1, 2, 3, 4]);
    }

    /// An execution of two tasks: the main one spawns the other, which is stuck before `wants`.
    fn names(steps: &[(u32, u32, Action)], wants: u32) -> Names {
        let operation =
            |object, action| Operation { object: ObjectId::from_index(object), action, location: Location::caller() };
        let event = |&(task, object, action): &(u32, u32, Action)| Event {
            task: TaskId(task),
            operation: operation(object, action),
            continues: false,
            only_read: false,
            cause: Cause::Ready,
        };
        let trace: Vec<Event> = steps.iter().map(event).collect();
        let stuck = TaskReport {
            task: TaskId(1),
            name: None,
            wants: operation(wants, Action::Lock(Mode::Exclusive)),
            blocked: Blocked::Lock,
            waits_for: Vec::new(),
            holds: Vec::new(),
        };
        let any = Engine::new(Config::default()).run(&mut FirstRun, || {});
        let execution = Execution { end: End::Deadlock(vec![stuck]), tasks: 2, ..any };
        // Objects 0 and 1 are the tasks; the even ones are mutexes.
        let kind = |object: ObjectId| match object.index() {
            0 | 1 => Some(ObjectKind::Task),
            index if index % 2 == 0 => Some(ObjectKind::Mutex),
            _ => Some(ObjectKind::Atomic),
        };
        Names::new(&execution, &trace, kind, vec!["withdraw"])
    }

    #[test]
    fn objects_are_numbered_by_kind_in_the_order_of_first_use() {
        let steps = [
            (0, 0, Action::Start),
            (0, 6, Action::Lock(Mode::Exclusive)),
            (0, 1, Action::Spawn),
            (0, 3, Action::Read),
            (1, 2, Action::Unlock(Mode::Exclusive)),
        ];
        let names = names(&steps, 8);
        let called = |index: u32| names.object(ObjectId::from_index(index));
        assert_eq!([6, 2, 3, 0, 1].map(called), ["mutex 1", "mutex 2", "atomic 1", "main", "thread 1"]);
        // An object that a stuck task wants has a number of its own, although no step uses it.
        assert_eq!(called(8), "mutex 3");
        assert_eq!(names.task(TaskId(1)), "thread 1");
    }

    #[test]
    fn a_task_can_have_another_name() {
        let mut names = names(&[(0, 0, Action::Start), (0, 1, Action::Spawn)], 2);
        names.call(TaskId(1), "sequence 1".to_owned());
        assert_eq!(names.object(ObjectId::from_index(1)), "sequence 1");
    }

    #[test]
    fn a_step_reads_as_a_verb_and_an_object() {
        let names = names(&[(0, 0, Action::Start), (0, 3, Action::Read)], 2);
        let step = |object, action| {
            names.step(Operation { object: ObjectId::from_index(object), action, location: Location::caller() })
        };
        assert_eq!(step(3, Action::ReadWrite), "updates atomic 1");
        assert_eq!(step(2, Action::Lock(Mode::Shared)), "locks for reading mutex 1");
        assert_eq!(step(0, Action::BlockBegin(0)), "begins withdraw");
        assert_eq!(step(0, Action::Park), "parks");
    }
}
