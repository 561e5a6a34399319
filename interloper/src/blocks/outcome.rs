//! The outcome of an execution, which the serial orders must explain.

use std::fmt;

use interloper_commutativity::Value;
use interloper_scheduler::words::{canonical_numbers, task_name};
use interloper_scheduler::{Event, Execution};
use interloper_std::runtime::TaskId;

use super::mark::BlockResult;

/// What came of an execution that finished: what the program returned, the results of blocks, and panics that the program
/// dealt with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    /// What the closure returned: results and final state, as the program chose to show them.
    pub returned: Value,
    /// What blocks returned, by task, and for each task in the order of the blocks' ends. Tasks are numbered as if each
    /// had spawned its children before the others did, so the numbers do not depend on the schedule.
    pub results: Vec<BlockResult>,
    /// The tasks that panicked and whose joiner handled the panic, with their messages; by task.
    pub panics: Vec<(TaskId, String)>,
}

impl Outcome {
    pub(crate) fn new(returned: Value, results: &[BlockResult], execution: &Execution, trace: &[Event]) -> Outcome {
        if results.is_empty() && execution.panics.is_empty() {
            return Outcome { returned, results: Vec::new(), panics: Vec::new() };
        }
        let numbers = canonical_numbers(trace);
        let number = |task: TaskId| numbers.get(task.index()).copied().unwrap_or(task);
        let renumber = |result: &BlockResult| BlockResult { task: number(result.task), ..result.clone() };
        let mut results: Vec<BlockResult> = results.iter().map(renumber).collect();
        results.sort_by_key(|result| result.task);
        let panics = execution.panics.iter().map(|panic| (number(panic.task), panic.message.clone()));
        let mut panics: Vec<(TaskId, String)> = panics.collect();
        panics.sort();
        Outcome { returned, results, panics }
    }

    /// The first difference between `self` and `other`, as a statement about `self`.
    pub(crate) fn difference(&self, other: &Outcome) -> String {
        if self.returned != other.returned {
            return format!("the program returns {}", self.returned);
        }
        let pairs = self.results.iter().zip(&other.results);
        if let Some((result, _)) = pairs.clone().find(|(mine, theirs)| mine != theirs) {
            return result.to_string();
        }
        if self.results.len() != other.results.len() {
            return format!("{} blocks return something", self.results.len());
        }
        match self.panics.iter().find(|panic| !other.panics.contains(panic)) {
            Some((task, message)) => format!("{} panics: {message}", task_name(*task)),
            None => format!("{} tasks panic", self.panics.len()),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the program returns {}", self.returned)?;
        for result in &self.results {
            write!(out, ", {result}")?;
        }
        for (task, message) in &self.panics {
            write!(out, ", {} panics: {message}", task_name(*task))?;
        }
        Ok(())
    }
}

impl fmt::Display for BlockResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {} returns {}", self.name, task_name(self.task), self.value)
    }
}
