//! Finds violating triples in a trace.

use interloper_scheduler::{Access, Event};
use interloper_std::runtime::{Call, Key, Operation, TaskId};

use super::annotated::Annotated;
use super::sections::Passage;

/// Two accesses of a block and one of another task between them, all to one object, that no serial order explains: see
/// [`unserialisable`](super::unserialisable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Triple {
    /// The index in the trace of the first access of the block.
    pub first: usize,
    /// The index of the access of another task.
    pub between: usize,
    /// The index of the last access of the block.
    pub last: usize,
}

/// An object that a block accesses twice; whether another task can come between the two is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Twice {
    /// The first access.
    pub(crate) first: Operation,
    /// The other one.
    pub(crate) again: Operation,
    /// The index of the other step in the trace.
    pub(crate) index: usize,
}

/// Scans traces; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner {
    /// By task: the number of the block that it is in, 0 outside one.
    open: Vec<u32>,
    /// By object: the first of its watches, or [`NONE`].
    heads: Vec<u32>,
    watches: Vec<Watch>,
    triple: Option<Triple>,
    twice: Vec<Twice>,
}

/// What a block has done to an object, and what others have done to it since. Indices in the trace, or [`NONE`].
///
/// A collection has several: one for calls of other tasks about the whole collection, and one for each entry that the
/// block uses. A call of the block about the whole collection counts for all of them; a call about an entry counts for
/// that entry and for the whole.
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// The next watch of the object.
    next: u32,
    task: TaskId,
    block: u32,
    /// The entry whose accesses by other tasks are watched; without one, accesses to the whole object.
    entry: Option<Key>,
    /// The first access of the block, the first that reads, the first that writes.
    any: u32,
    read: u32,
    write: u32,
    /// The first step of another task that writes after `any`, writes after `read`, or reads after `write`.
    any_written: u32,
    read_written: u32,
    write_read: u32,
    /// The block has accessed the object more than once.
    twice: bool,
}

const NONE: u32 = u32::MAX;

impl Scanner {
    /// Reads the trace of an execution. Returns the triple that is complete first, if there is one.
    pub(crate) fn scan(&mut self, annotated: &Annotated, trace: &[Event]) -> Option<Triple> {
        self.restart();
        if !annotated.has_blocks() {
            return None;
        }
        for (index, (event, &passage)) in trace.iter().zip(annotated.passages()).enumerate() {
            let task = event.task.index();
            if self.open.len() <= task {
                self.open.resize(task + 1, 0);
            }
            match passage {
                Passage::Outside => {}
                Passage::Enters(block) if annotated.is_cancelled(block) => {}
                Passage::Enters(block) => self.open[task] = block,
                Passage::Inside(_) => {}
                Passage::Leaves(_) | Passage::Cancels(_) => {
                    self.open[task] = 0;
                    continue;
                }
            }
            if let Some(access) = Access::of_event(event) {
                self.access(trace, index as u32, self.open[task], access);
            }
        }
        self.triple
    }

    /// What the blocks of the last trace accessed twice: for each object and block once.
    pub(crate) fn twice(&self) -> &[Twice] {
        &self.twice
    }

    fn restart(&mut self) {
        self.open.clear();
        self.heads.clear();
        self.watches.clear();
        self.triple = None;
        self.twice.clear();
    }

    #[inline]
    fn access(&mut self, trace: &[Event], index: u32, block: u32, access: Access) {
        let Event { task, operation, .. } = trace[index as usize];
        let object = operation.object.index();
        if self.heads.len() <= object {
            if block == 0 {
                return;
            }
            self.heads.resize(object + 1, NONE);
        }
        let entry = operation.action.call().and_then(Call::entry);
        let (mut before, mut at, mut own, mut own_entry) = (NONE, self.heads[object], false, entry.is_none());
        while at != NONE {
            let watch = self.watches[at as usize];
            if self.open[watch.task.index()] != watch.block {
                // The block has ended.
                match before {
                    NONE => self.heads[object] = watch.next,
                    before => self.watches[before as usize].next = watch.next,
                }
            } else {
                if watch.task == task {
                    own |= watch.entry.is_none();
                    own_entry |= watch.entry == entry;
                    if watch.entry.is_none() || entry.is_none() || watch.entry == entry {
                        self.complete(trace, at, index, access, watch.entry == entry);
                    }
                } else if watch.entry == entry {
                    self.watches[at as usize].interfere(index, access);
                } else if watch.entry.is_none() {
                    self.interfere_with_entry(trace, at, entry, index, access);
                }
                before = at;
            }
            at = watch.next;
        }
        if block != 0 && !own_entry {
            let whole = self.whole_accesses(trace, object, task, block, index);
            let again = whole.is_some();
            let at = self.watch(object, Watch { entry, ..whole.unwrap_or(Watch::new(task, block, index, access)) });
            if again {
                self.complete(trace, at, index, access, true);
            }
        }
        if block != 0 && !own {
            self.watch(object, Watch::new(task, block, index, access));
        }
    }

    fn watch(&mut self, object: usize, watch: Watch) -> u32 {
        let at = self.watches.len() as u32;
        self.watches.push(Watch { next: self.heads[object], ..watch });
        self.heads[object] = at;
        at
    }

    /// Another task accesses an entry of a collection that a block has accessed as a whole, perhaps, which is `at`. There
    /// may be no watch of that entry yet.
    fn interfere_with_entry(&mut self, trace: &[Event], at: u32, entry: Option<Key>, index: u32, access: Access) {
        let Watch { task, block, .. } = self.watches[at as usize];
        let object = trace[index as usize].operation.object.index();
        let mut other = self.heads[object];
        while other != NONE {
            let watch = &self.watches[other as usize];
            if (watch.task, watch.block, watch.entry) == (task, block, entry) {
                return;
            }
            other = watch.next;
        }
        if let Some(watch) = self.whole_accesses(trace, object, task, block, index) {
            let at = self.watch(object, Watch { entry, ..watch });
            self.watches[at as usize].interfere(index, access);
        }
    }

    /// What a block has done to a collection as a whole before a step. None if it has not.
    fn whole_accesses(&self, trace: &[Event], object: usize, task: TaskId, block: u32, before: u32) -> Option<Watch> {
        let mut at = self.heads[object];
        let first = loop {
            let watch = self.watches.get(at as usize)?;
            if watch.task == task && watch.block == block && watch.entry.is_none() {
                break watch.any;
            }
            at = watch.next;
        };
        let mut found: Option<Watch> = None;
        for index in first..before {
            let event = &trace[index as usize];
            let call = event.operation.action.call();
            let is_whole = event.task == task && call.is_some_and(|call| call.entry().is_none());
            if let (true, Some(access)) =
                (is_whole && event.operation.object.index() == object, Access::of_event(event))
            {
                found.get_or_insert_with(|| Watch::new(task, block, index, access)).add(index, access);
            }
        }
        found
    }

    /// The block accesses the object of a watch again; `same` if it accesses the same part.
    fn complete(&mut self, trace: &[Event], at: u32, index: u32, access: Access, same: bool) {
        let watch = &mut self.watches[at as usize];
        if same && !std::mem::replace(&mut watch.twice, true) {
            let (first, again) = (trace[watch.any as usize].operation, trace[index as usize].operation);
            self.twice.push(Twice { first, again, index: index as usize });
        }
        if let (None, Some((first, between))) = (self.triple, watch.violated_by(access)) {
            self.triple = Some(Triple { first: first as usize, between: between as usize, last: index as usize });
        }
        watch.add(index, access);
    }
}

impl Watch {
    fn new(task: TaskId, block: u32, index: u32, access: Access) -> Watch {
        let mut watch = Watch {
            next: NONE,
            task,
            block,
            entry: None,
            any: index,
            read: NONE,
            write: NONE,
            any_written: NONE,
            read_written: NONE,
            write_read: NONE,
            twice: false,
        };
        watch.add(index, access);
        watch
    }

    /// An access of the block.
    fn add(&mut self, index: u32, access: Access) {
        if access.reads && self.read == NONE {
            self.read = index;
        }
        if access.writes && self.write == NONE {
            self.write = index;
        }
    }

    /// An access of another task.
    fn interfere(&mut self, index: u32, access: Access) {
        if access.writes && self.any_written == NONE {
            self.any_written = index;
        }
        if access.writes && self.read != NONE && self.read_written == NONE {
            self.read_written = index;
        }
        if access.reads && self.write != NONE && self.write_read == NONE {
            self.write_read = index;
        }
    }

    /// The first two of a triple of which an access is the last: the lines of the table of
    /// [`unserialisable`](super::unserialisable).
    fn violated_by(&self, last: Access) -> Option<(u32, u32)> {
        let candidates = [
            (last.reads, self.any, self.any_written),
            (last.writes, self.write, self.write_read),
            (last.writes, self.read, self.read_written),
        ];
        candidates
            .into_iter()
            .find(|(fits, _, between)| *fits && *between != NONE)
            .map(|(_, first, between)| (first, between))
    }
}

#[cfg(test)]
mod tests;
