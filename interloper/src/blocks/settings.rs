//! How a program with blocks is checked.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::report::Grade;
use super::schedule::Schedule;
use super::sections::Blocks;
use super::watch::Watch;

/// The most threads that make executions at the same time.
pub const MAX_JOBS: usize = 1024;

/// How a program is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which parts of the program are blocks.
    pub blocks: Blocks,
    /// How the schedules are chosen.
    pub schedule: Schedule,
    /// Determines the random schedules, and what default hashers are seeded with.
    pub seed: u64,
    /// Executions at most.
    pub executions: u64,
    /// Time at most for everything: the search, the serial orders, and making what was found smaller. It is looked at
    /// between executions. Where it runs out is not the same in each run; what it cut short is in the report.
    pub time: Option<Duration>,
    /// Steps of one execution at most.
    pub steps: StepBound,
    /// After so many rounds in which every task that could go on only looked, and nothing changed, the execution is a
    /// livelock. A program that gives up waiting by itself must do so within them.
    pub livelock_rounds: u32,
    /// Threads that make executions, at most [`MAX_JOBS`]. What is reported does not depend on it.
    pub jobs: NonZeroUsize,
    /// Executions at most that are made to find out what the serial orders come to.
    pub serial_executions: u64,
    /// Executions at most that are made to find a smaller one that fails in the same way.
    pub shrink_executions: u64,
    /// Steps at most that these executions make, all together.
    pub shrink_steps: u64,
    /// Whether each execution is made twice and compared.
    pub check_determinism: bool,
    /// Whether the search goes on behind the first bug, to count them.
    pub keep_going: bool,
    /// Whether a search that explored nothing passes: see [`Unexplored`](super::Unexplored). For programs that are meant
    /// to have a single order of steps.
    pub allow_trivial: bool,
    /// The names of marked blocks that some execution must enter.
    pub marked: Vec<&'static str>,
    /// The first grade that fails a test. Only what is asserted depends on it.
    pub fail_at: Grade,
    /// Who is told how the check gets on.
    pub watch: Watch,
    /// The stack of a task, in bytes; more than 1 GiB counts as 1 GiB.
    pub stack_size: usize,
    /// How long a step may take, in real time. A task that does not come to another step by then is blocked in something
    /// that is not under control: which one and where is written to standard error, and the process ends with code 1,
    /// since a blocked task cannot be unwound. `None`: it is waited for.
    pub patience: Option<Duration>,
}

/// What happens when an execution reaches its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepBound {
    /// It is a bug: the program does not end.
    FailAfter(u64),
    /// The execution is given up, and counted as such.
    StopAfter(u64),
}

impl StepBound {
    /// The number of steps.
    pub fn steps(self) -> u64 {
        match self {
            StepBound::FailAfter(steps) | StepBound::StopAfter(steps) => steps,
        }
    }
}

impl Default for Settings {
    /// Marked blocks, the portfolio, seed 42, 10,000 executions of at most 1,000,000 steps on one thread, a livelock after
    /// 1,000 rounds, at most 20,000 serial executions and 2,000 (of 20,000,000 steps in all) for shrinking, a stack of 1 MiB, half a minute for a step;
    /// bugs fail.
    fn default() -> Settings {
        Settings {
            blocks: Blocks::Marked,
            schedule: Schedule::default(),
            seed: 42,
            executions: 10_000,
            time: None,
            steps: StepBound::FailAfter(1_000_000),
            livelock_rounds: 1_000,
            jobs: NonZeroUsize::MIN,
            serial_executions: 20_000,
            shrink_executions: 2_000,
            shrink_steps: 20_000_000,
            check_determinism: false,
            keep_going: false,
            allow_trivial: false,
            marked: Vec::new(),
            fail_at: Grade::Bug,
            watch: Watch::default(),
            stack_size: 1 << 20,
            patience: Some(Duration::from_secs(30)),
        }
    }
}
