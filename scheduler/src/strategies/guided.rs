//! Follows a source of decisions: replay, exhaustive enumeration, shrinking.

use interloper_std::runtime::TaskId;

use crate::decisions::{Question, Source};
use crate::freedoms::Freedoms;
use crate::strategy::{Pending, Strategy};

/// Asks a [`Source`] for the task that makes the next step, when several can. The answer 0 is the task of the last step, if
/// it can go on; the other tasks follow in order. A list of zeros is therefore an execution without preemptions. The
/// questions are those that the engine records. The strategy also asks for the freedoms of an execution; 0 is not a freedom.
#[derive(Clone, Debug)]
pub struct Guided<S> {
    source: S,
}

impl<S: Source> Guided<S> {
    /// A strategy that asks `source`.
    pub fn new(source: S) -> Guided<S> {
        Guided { source }
    }

    /// The source.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// The source.
    pub fn into_source(self) -> S {
        self.source
    }
}

impl<S: Source> Strategy for Guided<S> {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        if pending.len() == 1 {
            return 0;
        }
        let answer = self.source.decide(Question::Task, pending.len() as u32) as usize;
        match current.and_then(|current| pending.iter().position(|pending| pending.task == current)) {
            Some(current) if answer == 0 => current,
            Some(current) if answer <= current => answer - 1,
            _ => answer,
        }
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.source.decide(question, options)
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        admitted.of_answer(self.source.decide(Question::Freedom, Freedoms::ANSWERS))
    }
}
