//! Why a search that found nothing has explored nothing.

use std::collections::BTreeSet;
use std::fmt;

use super::settings::Settings;
use super::worker::Summary;

/// Why a search that found nothing says nothing about the program: it would have found nothing whatever the program does
/// wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unexplored {
    /// No execution was made, since the limit on executions is 0.
    NoExecutions,
    /// No execution was made, since the time ran out before the first.
    NoTime,
    /// The program has a single task, which draws no decision.
    OneTask,
    /// Only one task could go on at each step.
    NoChoice {
        /// The most tasks that an execution had.
        tasks: usize,
    },
    /// No two tasks could have met at anything that they share.
    NothingShared {
        /// The most tasks that an execution had.
        tasks: usize,
    },
    /// No execution entered the block of this name.
    BlockNeverRan {
        /// The name of the block.
        name: String,
    },
}

impl Unexplored {
    /// What keeps a search that found nothing from being a pass, if anything does.
    pub(crate) fn of(summary: &Summary, settings: &Settings) -> Option<Unexplored> {
        let seen = &summary.seen;
        if settings.allow_trivial {
            return None;
        }
        if summary.executions > 0
            && let Some(name) = settings.marked.iter().find(|name| !seen.blocks.contains(**name))
        {
            return Some(Unexplored::BlockNeverRan { name: (*name).to_owned() });
        }
        Some(match () {
            () if summary.executions == 0 && settings.executions == 0 => Unexplored::NoExecutions,
            () if summary.executions == 0 => Unexplored::NoTime,
            // What was drawn (which waiter is woken, a random number) was explored.
            () if seen.drew => return None,
            () if seen.tasks <= 1 => Unexplored::OneTask,
            () if !seen.chose => Unexplored::NoChoice { tasks: seen.tasks },
            () if !seen.met => Unexplored::NothingShared { tasks: seen.tasks },
            () => return None,
        })
    }
}

/// What some executions had in them that could have gone otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The most tasks that an execution had.
    pub(crate) tasks: usize,
    /// Some task could go on beside another one.
    pub(crate) chose: bool,
    /// A decision was not about tasks.
    pub(crate) drew: bool,
    /// Two tasks could meet at something that they share.
    pub(crate) met: bool,
    /// The names of the marked blocks that ran.
    pub(crate) blocks: BTreeSet<&'static str>,
}

impl Seen {
    /// What both have seen.
    pub(crate) fn and(mut self, other: Seen) -> Seen {
        self.blocks.extend(other.blocks);
        Seen {
            tasks: self.tasks.max(other.tasks),
            chose: self.chose || other.chose,
            drew: self.drew || other.drew,
            met: self.met || other.met,
            blocks: self.blocks,
        }
    }
}

impl fmt::Display for Unexplored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CONTROL: &str = "tasks, locks and atomics are under control if they come from `interloper`, or from a crate \
                               that `cargo interloper test` builds";
        out.write_str("nothing was explored: ")?;
        match self {
            Unexplored::NoExecutions => out.write_str("the limit on executions is 0, so no execution was made"),
            Unexplored::NoTime => out.write_str("the time ran out before the first execution"),
            Unexplored::OneTask => {
                write!(out, "the program has a single task, so its steps have only one order; {CONTROL}")
            }
            Unexplored::NoChoice { tasks } => write!(
                out,
                "the program has {tasks} tasks, but only one of them could go on at each step; perhaps each is joined \
                 before the next one is spawned"
            ),
            Unexplored::NothingShared { tasks } => write!(
                out,
                "the program has {tasks} tasks, but they change nothing that they share, so the order of their steps makes no \
                 difference; {CONTROL}"
            ),
            Unexplored::BlockNeverRan { name } => write!(out, "no execution entered the block {name:?}"),
        }
    }
}
