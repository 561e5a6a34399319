//! How a program with blocks is checked.

use std::num::NonZeroUsize;
use std::time::Duration;

use interloper_scheduler::{Detached, Freedom, Freedoms, Watchdog};

use super::report::{Grade, Misuse};
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
    /// How often an execution may depart from the ordinary where std leaves that open: a sleep that ends early, a wait that
    /// ends although nobody has woken the task. `None`: as fits the schedule. Random ones have all freedoms, in every
    /// fourth execution of each strategy; those that try everything have those that cost little, hints and writers.
    /// Executions in which no use is made of them are as they would be without them.
    pub freedoms: Option<Freedoms>,
    /// Determines the random schedules, and what default hashers are seeded with.
    pub seed: u64,
    /// Executions at most.
    pub executions: u64,
    /// Time at most for everything: the search, the serial orders, and making what was found smaller. It is looked at
    /// between executions. Where it runs out is not the same in each run; what it cut short is in the report.
    pub time: Option<Duration>,
    /// Steps of one execution at most.
    pub steps: StepBound,
    /// What becomes of threads that are left when the program returns.
    pub detached: Detached,
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
    /// The stack of a task, in bytes: 1 GiB at most.
    pub stack_size: usize,
    /// How long a step may take, in real time. A task that does not come to another step by then is blocked in something
    /// that is not under control: which one and where is written to standard error, and the process ends with code 1,
    /// since a blocked task cannot be unwound. `None`: it is waited for.
    pub patience: Option<Duration>,
    /// Crates whose statics start fresh in each execution, whatever is in them, beside those that `cargo interloper` has
    /// put under control. What the mirror of `std` has in a static does so in any case.
    ///
    /// No thread that runs nothing under control may use these statics meanwhile: let tests run one after the other
    /// (`--test-threads=1`). What is covered is said in the limits of `interloper-std`.
    pub fresh_statics: Vec<String>,
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

/// The largest stack of a task, in bytes: 1 GiB.
const LARGEST_STACK: usize = 1 << 30;

impl Settings {
    /// The freedoms that executions have.
    pub(crate) fn freedoms_in_force(&self) -> Freedoms {
        let all = Freedoms::ALL;
        let cheap = Freedoms::NONE.with(Freedom::Hints, 2).with(Freedom::Writers, 1);
        self.freedoms.unwrap_or(if self.schedule.is_numbered() { all } else { cheap })
    }

    /// Whether a program can be run with them.
    ///
    /// # Errors
    /// What is asked for that is not possible.
    pub(crate) fn are_usable(&self) -> Result<(), Misuse> {
        if self.stack_size > LARGEST_STACK {
            let size = self.stack_size;
            let reason =
                format!("a stack of {size} bytes is asked for, and {LARGEST_STACK} bytes are possible at most");
            return Err(Misuse::Unusable { reason });
        }
        Ok(())
    }
}

impl Default for Settings {
    /// Marked blocks, the portfolio, the freedoms that fit it, seed 42, 10,000 executions of at most 1,000,000 steps on one
    /// thread, threads that are left are given up, a livelock after 1,000 rounds, at most 20,000 serial executions and 2,000
    /// (of 20,000,000 steps in all) for shrinking, a stack of 1 MiB, five seconds for a step;
    /// bugs fail.
    fn default() -> Settings {
        Settings {
            blocks: Blocks::Marked,
            schedule: Schedule::default(),
            freedoms: None,
            seed: 42,
            executions: 10_000,
            time: None,
            steps: StepBound::FailAfter(1_000_000),
            detached: Detached::GivenUp,
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
            patience: Some(Watchdog::PATIENCE),
            fresh_statics: Vec::new(),
        }
    }
}
