//! The reasons why a search explored nothing.

use std::collections::BTreeSet;
use std::fmt;

/// Why a search that found nothing does not count as a pass: it could not have found anything, however wrong the program
/// is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unexplored {
    /// No execution ran, because the limit on executions is 0.
    NoExecutions,
    /// No execution ran, because the time ran out before the first.
    NoTime,
    /// The program has a single task, and that task draws no decision. Two async tasks of one thread, of which never both are ready, count
    /// as one.
    OneTask,
    /// At each step, only one task could go on.
    NoChoice {
        /// The most tasks that an execution had.
        tasks: usize,
    },
    /// The tasks share no object that any task changes.
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

/// The choices that some executions had.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The most tasks that an execution had.
    pub(crate) tasks: usize,
    /// Some task could go on beside another one.
    pub(crate) chose: bool,
    /// A decision was not about tasks.
    pub(crate) drew: bool,
    /// Two tasks shared an object that one of them changes.
    pub(crate) met: bool,
    /// The names of the marked blocks that ran.
    pub(crate) blocks: BTreeSet<&'static str>,
}

impl Seen {
    /// The union of both.
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

impl Unexplored {
    /// What was found instead of choices, without advice.
    pub(crate) fn reason(&self) -> String {
        let reason = match self {
            Unexplored::NoExecutions => "the limit on executions is 0, so no execution ran",
            Unexplored::NoTime => "the time ran out before the first execution",
            Unexplored::OneTask => "the program has a single thread",
            Unexplored::NoChoice { tasks } => {
                &format!("the program has {tasks} tasks, but only one of them could go on at each step")
            }
            Unexplored::NothingShared { tasks } => {
                &format!("the program has {tasks} tasks, but they change no object that they share")
            }
            Unexplored::BlockNeverRan { name } => &format!("no execution entered the block {name:?}"),
        };
        format!("nothing was explored: {reason}")
    }
}

impl fmt::Display for Unexplored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CONTROL: &str = "tasks, locks and atomics are under control if they come from `interloper`, or from a crate \
                               that `cargo interloper test` builds (one of your own has the line that `cargo interloper \
                               init` writes)";
        out.write_str(&self.reason())?;
        match self {
            Unexplored::OneTask => write!(
                out,
                ", so its steps have only one order, unless two of its async tasks are ready at once; {CONTROL}"
            ),
            Unexplored::NoChoice { .. } => out.write_str(
                "; perhaps the program joins each task before it spawns the next, or they share nothing but the counts of an `Arc`, \
                 which are steps with `cargo interloper test --preempt memory`",
            ),
            Unexplored::NothingShared { .. } => {
                write!(out, ", so the order of their steps makes no difference; {CONTROL}")
            }
            Unexplored::NoExecutions | Unexplored::NoTime | Unexplored::BlockNeverRan { .. } => Ok(()),
        }
    }
}
