//! A schedule given by its tasks: each step by the first task of a list that can make it.

use std::collections::VecDeque;

use interloper_std::runtime::TaskId;

use crate::decisions::{Decisions, Question};
use crate::freedoms::Freedoms;
use crate::strategy::{Pending, Strategy};

/// For each step, takes the first enabled task of a list, off the list. When no task of the list is enabled, the task
/// of the last step goes on, or else the first enabled task.
///
/// Unlike a list of answers, a list of tasks keeps its meaning when a part of it is moved.
#[derive(Clone, Debug)]
pub struct Follow {
    tasks: VecDeque<TaskId>,
    picks: VecDeque<u32>,
    freedoms: u32,
}

impl Follow {
    /// Follows `tasks`, and answers decisions that are not about tasks with `picks`, as far as they fit, and then with 0.
    pub fn new(tasks: impl IntoIterator<Item = TaskId>, picks: impl IntoIterator<Item = u32>) -> Follow {
        Follow { tasks: tasks.into_iter().collect(), picks: picks.into_iter().collect(), freedoms: 0 }
    }

    /// Takes over the freedoms of the run from which these decisions come; otherwise the execution has no freedoms.
    pub fn with_freedoms_of(mut self, decisions: &Decisions) -> Follow {
        self.freedoms = decisions.freedoms();
        self
    }
}

impl Strategy for Follow {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let position = |task: TaskId| pending.iter().position(|pending| pending.task == task);
        let listed = self.tasks.iter().enumerate().find_map(|(at, &task)| Some((at, position(task)?)));
        match listed {
            Some((at, index)) => {
                self.tasks.remove(at);
                index
            }
            None => current.and_then(position).unwrap_or(0),
        }
    }

    fn decide(&mut self, _: Question, options: u32) -> u32 {
        self.picks.pop_front().filter(|&answer| answer < options).unwrap_or(0)
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        admitted.of_answer(self.freedoms)
    }
}
