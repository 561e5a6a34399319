//! Finds violating triples in a trace.

use interloper_scheduler::{Access, Event};
use interloper_std::runtime::{Operation, TaskId};

use super::sections::{Passage, Rule, Tracker};

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

/// An object that a block accesses twice: whether another task can come in between is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Twice {
    /// The first access.
    pub(crate) first: Operation,
    /// The other one.
    pub(crate) again: Operation,
    /// The index of the other one in the trace.
    pub(crate) index: usize,
}

/// Scans traces; keeps its memory from one to the next.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    tracker: Tracker,
    /// By object: the first of its watches, or [`NONE`].
    heads: Vec<u32>,
    watches: Vec<Watch>,
    /// Blocks that turn out not to be any.
    cancelled: Vec<u32>,
    triple: Option<Triple>,
    twice: Vec<Twice>,
}

/// What a block has done to an object, and what others have done to it since. Indices in the trace, or [`NONE`].
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// The next watch of the object.
    next: u32,
    task: TaskId,
    block: u32,
    /// The first access of the block, the first that reads, the first that writes.
    any: u32,
    read: u32,
    write: u32,
    /// The first of another task that writes behind `any`, writes behind `read`, reads behind `write`.
    any_written: u32,
    read_written: u32,
    write_read: u32,
    /// The block has accessed the object more than once.
    twice: bool,
}

const NONE: u32 = u32::MAX;

impl Scanner {
    pub(crate) fn new(rule: Rule) -> Scanner {
        Scanner {
            tracker: Tracker::new(rule),
            heads: Vec::new(),
            watches: Vec::new(),
            cancelled: Vec::new(),
            triple: None,
            twice: Vec::new(),
        }
    }

    /// Looks through the trace of an execution. Gives the triple that is complete first, if there is any.
    pub(crate) fn scan(&mut self, trace: &[Event]) -> Option<Triple> {
        self.restart();
        self.find_cancelled(trace);
        for (index, event) in trace.iter().enumerate() {
            let block = match self.tracker.note(event.task, event.operation) {
                Passage::Outside => 0,
                Passage::Enters(block) | Passage::Inside(block) => self.unless_cancelled(block),
                Passage::Leaves(_) | Passage::Cancels(_) => continue,
            };
            if let Some(access) = Access::of_event(event) {
                self.access(trace, index as u32, block, access);
            }
        }
        self.triple
    }

    /// What the blocks of the last trace accessed twice: for each object and block once.
    pub(crate) fn twice(&self) -> &[Twice] {
        &self.twice
    }

    fn restart(&mut self) {
        self.tracker.reset();
        self.heads.clear();
        self.watches.clear();
        self.cancelled.clear();
        self.triple = None;
        self.twice.clear();
    }

    fn find_cancelled(&mut self, trace: &[Event]) {
        if !self.tracker.may_cancel() {
            return;
        }
        for event in trace {
            if let Passage::Cancels(block) = self.tracker.note(event.task, event.operation) {
                self.cancelled.push(block);
            }
        }
        self.tracker.reset();
    }

    #[inline]
    fn unless_cancelled(&self, block: u32) -> u32 {
        if self.cancelled.contains(&block) { 0 } else { block }
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
        let (mut before, mut at, mut own) = (NONE, self.heads[object], false);
        while at != NONE {
            let watch = self.watches[at as usize];
            if self.tracker.block_of(watch.task) != Some(watch.block) {
                // The block has ended.
                match before {
                    NONE => self.heads[object] = watch.next,
                    before => self.watches[before as usize].next = watch.next,
                }
            } else {
                if watch.task == task {
                    own = true;
                    self.complete(trace, at, index, access);
                } else {
                    self.watches[at as usize].interfere(index, access);
                }
                before = at;
            }
            at = watch.next;
        }
        if block != 0 && !own {
            let next = self.heads[object];
            self.heads[object] = self.watches.len() as u32;
            self.watches.push(Watch::new(next, task, block, index, access));
        }
    }

    /// The block accesses the object of a watch again.
    fn complete(&mut self, trace: &[Event], at: u32, index: u32, access: Access) {
        let watch = &mut self.watches[at as usize];
        if !std::mem::replace(&mut watch.twice, true) {
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
    fn new(next: u32, task: TaskId, block: u32, index: u32, access: Access) -> Watch {
        let mut watch = Watch {
            next,
            task,
            block,
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
