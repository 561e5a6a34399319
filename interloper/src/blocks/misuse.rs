//! Why a program cannot be checked.

use std::fmt;

use interloper_report::shorten::middle;
use interloper_scheduler::Stuck;

use super::unexplored::Unexplored;

/// The program cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The same decisions gave two different executions: the program depends on something outside control.
    Nondeterministic {
        /// Which execution of the search it was, counted from 1.
        execution: u64,
        /// The first difference.
        difference: String,
    },
    /// No program can run with these settings.
    Unusable {
        /// The setting, and its limit.
        reason: String,
    },
    /// The recorded decisions no longer fit the program.
    Diverged {
        /// The first difference.
        difference: String,
    },
    /// A task made no step for longer than [`Settings::patience`](super::Settings::patience): it loops without synchronising,
    /// or waits for something outside control.
    Stuck(Box<Stuck>),
    /// The search explored nothing. [`Settings::allow_trivial`](super::Settings::allow_trivial) accepts this.
    Unexplored(Unexplored),
}

/// A difference names two outcomes, which may be any values.
const LONGEST_DIFFERENCE: usize = 4_000;

impl fmt::Display for Misuse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |difference| middle(difference, LONGEST_DIFFERENCE);
        match self {
            Misuse::Nondeterministic { execution, difference } => write!(
                out,
                "the program is not deterministic: execution {execution}, rerun with the same decisions, went another \
                 way: {}; usual causes are time, randomness, addresses, the order of a hash map whose hasher is not \
                 under control, state that outlives an execution (a static, a file that an earlier one has left), and threads or \
                 locks that are not under control",
                short(difference),
            ),
            Misuse::Unusable { reason } => out.write_str(reason),
            Misuse::Diverged { difference } => {
                write!(out, "the recorded decisions no longer fit the program: {}", short(difference))
            }
            Misuse::Stuck(stuck) => write!(out, "{stuck}"),
            Misuse::Unexplored(reason) => write!(out, "{reason}; `allow_trivial` accepts this"),
        }
    }
}

impl std::error::Error for Misuse {}
