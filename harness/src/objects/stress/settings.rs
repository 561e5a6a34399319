//! How a harness runs on real threads.

use std::time::Duration;

use interloper_scheduler::Deadline;

use super::meet::Spin;
use super::pace::Pace;

/// How a harness is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where the random delays come from. The executions themselves are up to the machine.
    pub seed: u64,
    /// When it has run enough.
    pub budget: Budget,
    /// When it ends, whether or not it has run enough.
    pub deadline: Deadline,
    /// How many cores are used; `None`: all cores that this process may use.
    pub cores: Option<usize>,
    /// Where threads run.
    pub affinity: Affinity,
    /// How threads wait for each other.
    pub spin: Spin,
    /// How the threads keep together; `None`: the engine finds the pace at which most executions overlap.
    pub pace: Option<Pace>,
    /// A call that takes so long is taken to be blocked.
    pub patience: Duration,
}

impl Default for Settings {
    /// One second on all cores, pinned, at a pace that the engine finds; a call may take two seconds.
    fn default() -> Settings {
        Settings {
            seed: 0,
            budget: Budget::Time(Duration::from_secs(1)),
            deadline: Deadline::NEVER,
            cores: None,
            affinity: Affinity::Pinned,
            spin: Spin::Auto,
            pace: None,
            patience: Duration::from_secs(2),
        }
    }
}

/// When a harness has run enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// After this time.
    Time(Duration),
    /// After exactly this many executions.
    Executions(u64),
}

/// Where the threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// Each on one core.
    Pinned,
    /// Wherever the operating system puts them.
    Free,
}
