//! What an execution comes to, as far as the serial orders have to explain it.

use std::fmt;

use interloper_commutativity::Value;
use interloper_scheduler::{Event, Execution};
use interloper_std::runtime::{Action, TaskId};

use super::mark::BlockResult;

/// What came of an execution that finished: what the program returned, the results of blocks, and panics that the program
/// dealt with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    /// What the closure returned: results and final state, as the program chose to show them.
    pub returned: Value,
    /// What blocks returned, by task and in the order in which the task came to the end of them. Tasks are numbered as if
    /// each had spawned its children before the others did, so the numbers do not depend on the schedule.
    pub results: Vec<BlockResult>,
    /// The tasks that panicked and were joined by someone who dealt with it, and what they said; by task.
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

    /// The first thing that `self` has otherwise than `other`, said about `self`.
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

/// How a task is called where it has no name of its own.
pub(crate) fn task_name(task: TaskId) -> String {
    if task == TaskId::MAIN { "main".to_owned() } else { format!("thread {}", task.0) }
}

/// The numbers of the tasks when they are ordered by the path of spawns that leads to each. Empty when those are the
/// numbers that they have.
pub(crate) fn canonical_numbers(trace: &[Event]) -> Vec<TaskId> {
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

    use interloper_scheduler::Cause;
    use interloper_std::runtime::{ObjectId, Operation};

    use super::*;

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
}
