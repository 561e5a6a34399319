//! Recorded histories: calls of processes with their results.

mod judge;
mod part;
mod sequential;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use interloper_commutativity::Value;

use crate::history::{History, Interval};
use crate::schema::Invocation;

pub use judge::{Checked, Checker, Search, check};

/// A process, which makes one call after another.
pub type Process = i64;

/// One call of a recorded history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// The process that called.
    pub process: Process,
    /// The method and its arguments.
    pub invocation: Invocation,
    /// The result. `None` for a call that did not return; whether it took effect is unknown.
    pub result: Option<Value>,
}

/// A recorded history: what was called and returned, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The calls in the order of their invocations.
    pub calls: Vec<RecordedCall>,
    /// When they were invoked and returned.
    pub history: History,
}

/// Builds a [`Recording`] event by event.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    calls: Vec<RecordedCall>,
    intervals: Vec<Interval>,
    /// Calls that did not happen.
    failed: Vec<bool>,
    /// For each process that is in a call, the index of the call.
    open: BTreeMap<Process, usize>,
    position: usize,
}

/// An event that cannot come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// The process is in a call already.
    Busy(Process),
    /// The process has no open call.
    Idle(Process),
}

impl fmt::Display for Misplaced {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misplaced::Busy(process) => write!(out, "process {process} makes a call before its last call returned"),
            Misplaced::Idle(process) => write!(out, "process {process} has no open call that could end here"),
        }
    }
}

impl std::error::Error for Misplaced {}

impl Recorder {
    /// An empty recording.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// A process makes a call.
    ///
    /// # Errors
    /// When the process has an open call already.
    pub fn invoke(&mut self, process: Process, invocation: Invocation) -> Result<(), Misplaced> {
        if self.open.contains_key(&process) {
            return Err(Misplaced::Busy(process));
        }
        self.open.insert(process, self.calls.len());
        self.calls.push(RecordedCall { process, invocation, result: None });
        self.intervals.push(Interval { invoked: self.position, returned: None });
        self.failed.push(false);
        self.position += 1;
        Ok(())
    }

    /// The open call of a process returns.
    ///
    /// # Errors
    /// When the process has no open call.
    pub fn returned(&mut self, process: Process, result: Value) -> Result<(), Misplaced> {
        let call = self.end(process)?;
        self.calls[call].result = Some(result);
        self.intervals[call].returned = Some(self.position);
        self.position += 1;
        Ok(())
    }

    /// The open call of a process is abandoned; it may have taken effect, or may do so at any later time.
    ///
    /// # Errors
    /// When the process has no open call.
    pub fn unknown(&mut self, process: Process) -> Result<(), Misplaced> {
        self.end(process).map(drop)
    }

    /// The open call of a process has not taken effect and never will.
    ///
    /// # Errors
    /// When the process has no open call.
    pub fn failed(&mut self, process: Process) -> Result<(), Misplaced> {
        let call = self.end(process)?;
        self.failed[call] = true;
        Ok(())
    }

    fn end(&mut self, process: Process) -> Result<usize, Misplaced> {
        self.open.remove(&process).ok_or(Misplaced::Idle(process))
    }

    /// The recording. Calls that have not ended are pending, and failed calls are left out.
    pub fn finish(self) -> Recording {
        let happened = |index: &usize| !self.failed[*index];
        let intervals = (0..self.calls.len()).filter(happened).map(|index| self.intervals[index]).collect();
        let history = History::from_intervals(intervals).expect("every event has a position of its own");
        let calls = self.calls.into_iter().zip(&self.failed).filter(|(_, failed)| !**failed).map(|(call, _)| call);
        Recording { calls: calls.collect(), history }
    }
}
