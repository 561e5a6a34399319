//! The first run of a program, which shows what it does.

use interloper_std::runtime::TaskId;

use crate::decisions::Question;
use crate::freedoms::Freedoms;
use crate::strategy::{Pending, Strategy};

/// One execution without preemptions. Each access sees the newest store, also where memory may be weak.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstRun;

impl Strategy for FirstRun {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let own = |current| pending.iter().position(|pending| pending.task == current);
        current.and_then(own).unwrap_or(0)
    }

    fn decide(&mut self, _: Question, _: u32) -> u32 {
        0
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        admitted
    }
}
