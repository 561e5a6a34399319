//! What a controlled execution has opened.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use super::network::Socket;
use super::system::{self, number};
use super::waiting::guarded;
use crate::runtime::{
    self, Call, Count, Current, ExecutionId, Extent, Key, ObjectId, ObjectKind, Operation, Slot, Verb,
};

/// What a descriptor is.
#[derive(Debug)]
pub(super) enum Kind {
    /// An event loop, an event, a socket of whole messages.
    Kernel,
    /// A stream of bytes: a Unix socket, or an end of a pipe or of a pair of sockets, whose other end may be in another
    /// process.
    Bytes { pair: bool },
    /// One of a pair of sockets of whole messages.
    Messages,
    /// Tells of changes of files (`inotify`).
    Files,
    /// A timer, and when it ends on the virtual clock.
    Timer { ends: Option<Duration>, interval: Duration },
    /// A socket of TCP or UDP.
    Network(Socket),
}

/// An open descriptor.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) kind: Kind,
    /// What steps about it are about: steps with different keys do not depend on each other.
    pub(super) key: u64,
    /// The event loops that tell of it when something arrives, and not as long as something is there.
    edges: Vec<Edge>,
}

/// A descriptor as an event loop knows it, with `EPOLLET`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) queue: c_int,
    pub(super) event: Event,
}

/// An `epoll_event`, which has no padding on this architecture: its flags, and what the program says.
pub(super) type Event = [u8; 12];

/// What an execution has opened.
struct Table {
    execution: ExecutionId,
    /// A child that `fork` has made is not under control, though it has this table, too.
    process: u32,
    object: ObjectId,
    open: BTreeMap<c_int, Open>,
    /// The files that are locked.
    locked: BTreeSet<c_int>,
    /// How many keys and ports have been given.
    keys: u64,
    ports: u16,
    /// The keys of the connections that were reset.
    reset: BTreeSet<u64>,
    /// How many tasks wait.
    waiting: usize,
}

thread_local! {
    /// Apart from the runtime, which must not be asked about descriptors that it uses itself.
    static TABLE: RefCell<Option<Table>> = const { RefCell::new(None) };
}

/// Closes what the execution leaves open: a value of the execution, dropped at its end.
struct Closes(ExecutionId);

impl Drop for Closes {
    fn drop(&mut self) {
        let of_this = |table: &mut Option<Table>| table.take_if(|table| table.execution == self.0);
        let table = TABLE.try_with(|table| of_this(&mut table.borrow_mut())).ok().flatten();
        drop(table);
    }
}

/// Gives back what an execution has left, as at the end of a process.
impl Drop for Table {
    fn drop(&mut self) {
        const UNLOCK: usize = 8;
        if self.process != std::process::id() {
            return;
        }
        for &descriptor in &self.locked {
            // The file itself stays open: what holds it may be dropped later.
            // SAFETY: it takes numbers. A descriptor without a lock stays as it is.
            let _ = unsafe { system::call(number::FLOCK, [descriptor as usize, UNLOCK]) };
        }
        for &descriptor in self.open.keys() {
            // SAFETY: the execution opened it and did not close it.
            let _ = unsafe { system::call(number::CLOSE, [descriptor as usize]) };
        }
    }
}

fn with_table<R>(use_it: impl FnOnce(&mut Table) -> R) -> Option<R> {
    TABLE.try_with(|table| table.try_borrow_mut().ok()?.as_mut().map(use_it)).ok().flatten()
}

/// What the running execution knows of a descriptor, if the execution has opened it.
pub(super) fn known<R>(descriptor: c_int, use_it: impl FnOnce(&mut Open) -> R) -> Option<R> {
    // First without the runtime: it writes to descriptors of its own, at any time.
    let of = |table: &mut Table| table.open.contains_key(&descriptor).then_some((table.execution, table.process));
    let (execution, process) = with_table(of)??;
    if process != std::process::id() {
        return None;
    }
    let runs = runtime::with(|current| current.execution() == execution);
    if runs != Some(true) {
        return None;
    }
    with_table(|table| table.open.get_mut(&descriptor).map(use_it))?
}

/// Whether the running execution has opened a descriptor.
pub(super) fn is_known(descriptor: c_int) -> bool {
    known(descriptor, |_| ()).is_some()
}

/// Notes what the running execution has opened; `key` is a new one unless the descriptor is about what another is about.
pub(super) fn opened(descriptor: c_int, kind: Kind, key: Option<u64>) -> u64 {
    let given = runtime::with(|current| {
        begin(&current);
        with_table(|table| {
            let key = key.unwrap_or_else(|| table.fresh_key());
            table.open.insert(descriptor, Open { kind, key, edges: Vec::new() });
            key
        })
    });
    given.flatten().unwrap_or(0)
}

/// The running execution is about to lock a file. What an earlier one has left locked is given back before. Returns whether this one may have
/// other locks.
pub(super) fn locks(descriptor: c_int) -> bool {
    let has_others = runtime::with(|current| {
        begin(&current);
        with_table(|table| {
            table.locked.insert(descriptor);
            table.locked.len() > 1
        })
    });
    has_others.flatten().unwrap_or(false)
}

/// The running execution has given the lock of a file back.
pub(super) fn unlocked(descriptor: c_int) {
    with_table(|table| table.locked.remove(&descriptor));
}

/// Whether the running execution may have locked a file.
pub(super) fn is_locked(descriptor: c_int) -> bool {
    let of = |table: &mut Table| table.locked.contains(&descriptor).then_some(table.execution);
    let execution = with_table(of).flatten();
    execution.is_some() && runtime::with(|current| current.execution()) == execution
}

impl Table {
    fn fresh_key(&mut self) -> u64 {
        self.keys += 1;
        // Ports have the numbers below.
        self.keys + u64::from(u16::MAX)
    }
}

/// Makes the table of the running execution, if it is the first use.
fn begin(current: &Current<'_>) {
    static SLOT: Slot = Slot::new();
    let execution = current.execution();
    if with_table(|table| table.execution == execution) == Some(true) {
        return;
    }
    let object = current.runtime().register(ObjectKind::Other("I/O"));
    let process = std::process::id();
    let table = Table {
        execution,
        process,
        object,
        open: BTreeMap::new(),
        locked: BTreeSet::new(),
        keys: 0,
        ports: 0,
        reset: BTreeSet::new(),
        waiting: 0,
    };
    let before = TABLE.with(|place| place.borrow_mut().replace(table));
    // An execution that was given up did not drop its values.
    drop(before);
    current.runtime().set_shared(SLOT.index(), Rc::new(Closes(execution)));
}

/// An event loop has been told about a descriptor; without an event it forgets the descriptor.
pub(super) fn watched(descriptor: c_int, queue: c_int, event: Option<Event>) {
    const ONCE: u32 = 1 << 30;
    const EDGE: u32 = 1 << 31;
    known(descriptor, |open| {
        open.edges.retain(|edge| edge.queue != queue);
        let is_edge = |event: &Event| {
            let flags = u32::from_ne_bytes([event[0], event[1], event[2], event[3]]);
            flags & EDGE != 0 && flags & ONCE == 0
        };
        open.edges.extend(event.filter(is_edge).map(|event| Edge { queue, event }));
    });
}

/// Lets event loops tell of a descriptor once more, as if something had arrived.
pub(super) fn arrives_again(descriptor: c_int) {
    const MODIFY: usize = 3;
    for Edge { queue, event } in known(descriptor, |open| open.edges.clone()).unwrap_or_default() {
        let event = (&raw const event).expose_provenance();
        // SAFETY: the event stands here. A loop that is gone, or has forgotten the descriptor, changes nothing.
        let _ = unsafe { system::call(number::EPOLL_CTL, [queue as usize, MODIFY, descriptor as usize, event]) };
    }
}

/// Resets the connection of a socket: both ends are told so from now on, and nothing that was sent arrives.
pub(super) fn reset(descriptor: c_int) {
    const BOTH: usize = 2;
    let of = |table: &mut Table| {
        let key = table.open.get(&descriptor).map(|open| open.key);
        key.map(|key| table.reset.insert(key))
    };
    let _ = with_table(of);
    // Whoever waits for one of the ends goes on. SAFETY: it takes numbers.
    let _ = unsafe { system::call(number::SHUTDOWN, [descriptor as usize, BOTH]) };
}

/// Whether the connection of a socket was reset.
pub(super) fn is_reset(descriptor: c_int) -> bool {
    let of = |table: &mut Table| table.open.get(&descriptor).is_some_and(|open| table.reset.contains(&open.key));
    with_table(of).unwrap_or(false)
}

/// Forgets a descriptor that is about to be closed.
pub(super) fn closed(descriptor: c_int) {
    with_table(|table| {
        table.locked.remove(&descriptor);
        table.open.remove(&descriptor)
    });
}

/// Whether the execution has another descriptor with this key.
fn has_other(key: u64, descriptor: c_int) -> bool {
    let other = |table: &mut Table| table.open.iter().any(|(other, open)| *other != descriptor && open.key == key);
    with_table(other).unwrap_or(false)
}

/// A port that the program did not choose: they are given in order, from 49152 on (RFC 6335, section 6).
pub(super) fn fresh_port() -> u16 {
    const FIRST: u16 = 49_152;
    let next = |table: &mut Table| {
        table.ports += 1;
        FIRST + (table.ports - 1) % (u16::MAX - FIRST)
    };
    with_table(next).unwrap_or(FIRST)
}

/// When the first timer ends.
pub(super) fn first_timer() -> Option<Duration> {
    let ends = |open: &Open| match open.kind {
        Kind::Timer { ends, .. } => ends,
        _ => None,
    };
    with_table(|table| table.open.values().filter_map(ends).min())?
}

/// The timers that have ended by now. Each is set again, if it repeats.
pub(super) fn ended_timers(now: Duration) -> Vec<c_int> {
    let take = |open: &mut Open| match &mut open.kind {
        Kind::Timer { ends, interval } if ends.is_some_and(|ends| ends <= now) => {
            *ends = (!interval.is_zero()).then(|| now + *interval);
            true
        }
        _ => false,
    };
    let ended = |table: &mut Table| {
        table.open.iter_mut().filter_map(|(descriptor, open)| take(open).then_some(*descriptor)).collect()
    };
    with_table(ended).unwrap_or_default()
}

/// A visible step about what has this key, or about everything.
pub(super) fn step(verb: Verb, key: Option<u64>) {
    runtime::with(|current| {
        begin(&current);
        if let Some(operation) = operation(verb, key) {
            current.runtime().step(operation);
        }
    });
}

/// The step in the execution's object.
pub(super) fn operation(verb: Verb, key: Option<u64>) -> Option<Operation> {
    let object = object()?;
    let extent = if key.is_some() { Extent::Entry } else { Extent::Whole };
    let call = Call { verb, extent, key: Key::from_hash(key.unwrap_or(0)) };
    Some(Operation { object, action: call.invoked(), location: Location::caller() })
}

/// The object that all these steps have.
fn object() -> Option<ObjectId> {
    with_table(|table| table.object)
}

/// Something has changed: whoever waits looks again. Where nobody waits this is no step, so steps about different things
/// stay independent.
pub(super) fn changed() {
    let waited_for = with_table(|table| (table.waiting > 0).then_some(table.object));
    if let Some(object) = waited_for.flatten() {
        runtime::with(|current| current.runtime().wake(object, Count::All));
    }
}

/// The program may have changed a file: whoever waits looks again, if the execution has been told of a change. Files are no part of the
/// execution, so a change is no step. What the runtime itself does with files, at any time, is no change.
pub(super) fn files_changed() {
    let watches = |table: &mut Table| {
        let watch = |(descriptor, open): (&c_int, &Open)| matches!(open.kind, Kind::Files).then_some(*descriptor);
        if table.waiting == 0 { Vec::new() } else { table.open.iter().filter_map(watch).collect() }
    };
    let watches = with_table(watches).unwrap_or_default();
    if watches.into_iter().any(system::has_input)
        && runtime::with(|current| current.runtime().runs_program()) == Some(true)
        && with_table(|table| table.process == std::process::id()) == Some(true)
    {
        let _ = guarded(system::ECANCELED, changed);
    }
}

/// A task waits, until this is dropped.
pub(super) struct Waits(());

impl Waits {
    pub(super) fn begin() -> Waits {
        with_table(|table| table.waiting += 1);
        Waits(())
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        with_table(|table| table.waiting = table.waiting.saturating_sub(1));
    }
}

/// Whether the other end of this pipe is in another process.
pub(super) fn is_outside(descriptor: c_int) -> bool {
    let key =
        known(descriptor, |open| matches!(open.kind, Kind::Bytes { pair: true } | Kind::Messages).then_some(open.key))
            .flatten();
    key.is_some_and(|key| !has_other(key, descriptor))
}
