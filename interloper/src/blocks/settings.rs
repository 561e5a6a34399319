//! How a program with blocks is checked.

use std::num::NonZeroUsize;
use std::time::Duration;

use interloper_scheduler::orderings::Orderings;
use interloper_scheduler::{Clock, Deadline, Detached, Freedom, Freedoms, Shard, Watch as PlainWatch, Watchdog};
use interloper_std::plain;

use super::grade::Grade;
use super::misuse::Misuse;
use super::progress::Keeper;
use super::sections::Blocks;
use super::watch::Watch;
use crate::built::{lacks_lines, lacks_steps, preempt, watch};
use interloper_scheduler::schedule::{Memory, Preempt, Schedule};

/// The most threads that run executions at the same time.
pub const MAX_JOBS: usize = 1024;

/// How a program is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which parts of the program are blocks.
    pub blocks: Blocks,
    /// How the schedules are chosen.
    pub schedule: Schedule,
    /// The freedoms of an execution: how often it may use what std leaves open, such as a sleep that ends early or a wait
    /// that ends although no task woke the waiting one. `None` chooses by the schedule: random schedules have all freedoms,
    /// in every fourth execution of each strategy; schedules that try everything have the two cheap freedoms, hints and
    /// writers. Freedoms do not change an execution that does not use them.
    pub freedoms: Option<Freedoms>,
    /// Whether executions may cancel a future: a [`cancellable`](crate::tasks::cancellable) one, or a spawned one as long as
    /// the program has a handle that could abort it, is dropped where it awaits something. Every second execution of a random
    /// schedule may do so once, or as often as `freedoms` say of `cancellation`.
    pub cancel: bool,
    /// Which memory executions have. `None` is weak memory if one of the first executions accesses an atomic with an ordering weaker
    /// than `SeqCst`. In a program that `cargo interloper` did not build, the order that the counts of an `Arc` make is not seen; a
    /// finding that may depend on it says so.
    pub memory: Option<Memory>,
    /// Where tasks can be preempted: at loads and stores of plain memory, too, if this is [`Preempt::Memory`]. That takes a program
    /// that was built for it, with `cargo interloper test --preempt memory`, which makes it the default. Accesses to what a task
    /// has allocated, or put on its stack, since it last did something that others can see are no steps, since nobody can come
    /// between.
    pub preempt: Preempt,
    /// Whether the accesses of each memory ordering are counted, and which ordering of the program is changed. It matters
    /// only in executions with weak memory.
    pub orderings: Orderings,
    /// Whether executions look at plain memory: for data races between loads and stores that the compiler announces, and for
    /// memory that is used after it was freed. `None` looks if the program was built for it, as `cargo interloper` does.
    pub plain: Option<bool>,
    /// Whether memory that an execution allocates and does not free is a bug. Possible under `cargo interloper` only.
    pub leaks: bool,
    /// The seed of the random schedules and of default hashers.
    pub seed: u64,
    /// The most executions of the search.
    pub executions: u64,
    /// The longest time for the search, the serial orders and the shrinking of a finding together, checked between
    /// executions. The moment at which it runs out differs from run to run; the report says what it cut short.
    pub time: Option<Duration>,
    /// The most memory that the process may use, in bytes: the search ends when it uses more, and the report says so. `None` is
    /// three quarters of what the machine, or the container, has.
    pub most_memory: Option<u64>,
    /// The most steps of one execution.
    pub steps: StepBound,
    /// What happens to threads that still run when the program returns.
    pub detached: Detached,
    /// What a thread sees that looks at the clock twice, with no wait between the two looks. Schedules that cover all executions have a
    /// clock that stands still in any case.
    pub clock: Clock,
    /// The number of rounds after which an execution is a livelock. In such a round, every task that can go on only looks
    /// at something, and nothing changes. A program that gives up waiting by itself must do so within this number.
    pub livelock_rounds: u32,
    /// The number of threads that run executions, at most [`MAX_JOBS`]. The report does not depend on it.
    pub jobs: NonZeroUsize,
    /// The most executions that find the outcomes of the serial orders.
    pub serial_executions: u64,
    /// The most executions that search for a smaller one with the same failure.
    pub shrink_executions: u64,
    /// The most steps of these executions together.
    pub shrink_steps: u64,
    /// Whether each execution runs twice, and the two are compared.
    pub check_determinism: bool,
    /// Whether the search continues after the first bug, to count the bugs.
    pub keep_going: bool,
    /// Whether a search that explored nothing passes: see [`Unexplored`](super::Unexplored). For programs that are meant
    /// to have only one order of steps. A search ends early where one task ran alone eight times, and nothing was chosen or drawn.
    pub allow_trivial: bool,
    /// Whether a finding comes with what its page shows: all its steps with how they depend on each other, and how much each
    /// choice mattered, for which up to some thousands of further executions run. See
    /// [`Violation::exploration`](super::Violation::exploration).
    pub explore: bool,
    /// The names of marked blocks; at least one execution must enter each of them.
    pub marked: Vec<&'static str>,
    /// The lowest grade that fails a test. It changes only what a test asserts.
    pub fail_at: Grade,
    /// The part of the executions that run: of a search that is split, each part runs its own executions, with the numbers
    /// that one search would give them. See [`Shard`] for what each kind of search is split into.
    pub shard: Shard,
    /// What keeps how far the search has come.
    pub keeper: Keeper,
    /// The receiver of progress messages.
    pub watch: Watch,
    /// The size of a task's stack, in bytes: at most 1 GiB.
    pub stack_size: usize,
    /// How long a task may take, in real time, until its next step. A task that takes longer is blocked in something
    /// that is not under control, or loops without a step. A message on standard error names the task and the place of
    /// its last step, and the process ends with code 101, since a blocked task cannot be unwound. `None` waits without
    /// limit.
    pub patience: Option<Duration>,
    /// Crates whose statics start fresh in each execution, whatever they contain, in addition to the crates that
    /// `cargo interloper` put under control. Mirrored types in statics always start fresh.
    ///
    /// During the check, no thread outside control may use these statics: run one test at a time (`--test-threads=1`). The
    /// limits section of `interloper-std` says what is covered.
    pub fresh_statics: Vec<String>,
}

/// What happens when an execution reaches its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepBound {
    /// The execution is a bug: the program does not end.
    FailAfter(u64),
    /// The execution is abandoned, and the report counts it. So is an execution that is running when the time of the search is over, and
    /// one that would have more threads than an execution may have. Tasks that look in vain go on up to the bound if their local state
    /// changes.
    StopAfter(u64),
}

impl StepBound {
    /// The number of steps.
    pub fn steps(self) -> u64 {
        match self {
            StepBound::FailAfter(steps) | StepBound::StopAfter(steps) => steps,
        }
    }

    /// When an execution is abandoned, if the time of its search is over at this moment.
    pub(crate) fn stop_at(self, deadline: Deadline) -> Deadline {
        match self {
            StepBound::FailAfter(_) => Deadline::NEVER,
            StepBound::StopAfter(_) => deadline,
        }
    }
}

/// The largest stack of a task, in bytes: 1 GiB.
const LARGEST_STACK: usize = 1 << 30;

impl Settings {
    /// When the executions that come before the search are over: most of the time is left for the search.
    pub(crate) fn measured_by(&self) -> Deadline {
        Deadline::of(self.time.map(|time| time / 4))
    }

    /// The freedoms that executions have. Weak memory is one of them.
    pub(crate) fn freedoms_in_force(&self) -> Freedoms {
        let freedoms = self.freedoms.unwrap_or_else(|| self.schedule.freedoms());
        let freedoms = match self.cancel && freedoms.count(Freedom::Cancellation) == 0 {
            true => freedoms.with(Freedom::Cancellation, 1),
            false => freedoms,
        };
        if self.memory == Some(Memory::Weak) { Memory::Weak.within(freedoms) } else { freedoms }
    }

    /// Overrides how memory behaves. Sequentially consistent memory takes the freedom of weak memory from executions that
    /// have it. Call it after the freedoms and the schedule are set.
    pub fn override_memory(&mut self, memory: Memory) {
        self.memory = Some(memory);
        let freedoms = self.freedoms.unwrap_or_else(|| self.schedule.freedoms());
        if memory == Memory::SequentiallyConsistent && freedoms.count(Freedom::Memory) > 0 {
            self.freedoms = Some(memory.within(freedoms));
        }
    }

    /// How executions look at plain memory, if they do.
    pub(crate) fn watch_of_plain_memory(&self) -> Option<PlainWatch> {
        watch(self.plain, self.leaks, self.preempt)
    }

    /// Checks that a program can run with these settings.
    ///
    /// # Errors
    /// Names the setting that is not possible.
    pub(crate) fn are_usable(&self) -> Result<(), Misuse> {
        if self.stack_size > LARGEST_STACK {
            let size = self.stack_size;
            let reason = format!("the stack size of {size} bytes is above the limit of {LARGEST_STACK} bytes");
            return Err(Misuse::Unusable { reason });
        }
        if let (Some(_), Some(reason)) = (self.watch_of_plain_memory(), plain::lacks_announcements()) {
            return Err(Misuse::Unusable { reason: reason.to_owned() });
        }
        if self.plain != Some(false) && lacks_lines() {
            let reason = "data races cannot be judged, since the program has no debug information: build it with `debug = \
                          \"line-tables-only\"`";
            return Err(Misuse::Unusable { reason: reason.to_owned() });
        }
        if let (Preempt::Memory, Some(reason)) = (self.preempt, lacks_steps()) {
            return Err(Misuse::Unusable { reason: reason.to_owned() });
        }
        if self.leaks && !plain::is_announced() {
            let reason = "leaks are seen only in a program whose crates the compiler prepared for it: run it with `cargo \
                          interloper test`";
            return Err(Misuse::Unusable { reason: reason.to_owned() });
        }
        Ok(())
    }
}

impl Default for Settings {
    /// Marked blocks, the portfolio with its freedoms, the orderings of the program, seed 42, 10,000 executions of at most 1,000,000 steps on one thread.
    /// Threads that still run at the end are abandoned. A livelock after 1,000 rounds, at most 20,000 serial executions, at
    /// most 2,000 executions (with 20,000,000 steps in all) for shrinking, a stack of 1 MiB, five seconds for a step. Bugs
    /// fail a test.
    fn default() -> Settings {
        Settings {
            blocks: Blocks::Marked,
            schedule: Schedule::default(),
            freedoms: None,
            cancel: false,
            memory: None,
            preempt: preempt(),
            orderings: Orderings::default(),
            plain: None,
            leaks: false,
            seed: 42,
            executions: 10_000,
            time: None,
            most_memory: None,
            steps: StepBound::FailAfter(1_000_000),
            detached: Detached::GivenUp,
            clock: Clock::StandsStill,
            livelock_rounds: 1_000,
            jobs: NonZeroUsize::MIN,
            serial_executions: 20_000,
            shrink_executions: 2_000,
            shrink_steps: 20_000_000,
            check_determinism: false,
            keep_going: false,
            allow_trivial: false,
            explore: false,
            marked: Vec::new(),
            fail_at: Grade::Bug,
            shard: Shard::WHOLE,
            keeper: Keeper::default(),
            watch: Watch::default(),
            stack_size: 1 << 20,
            patience: Some(Watchdog::PATIENCE),
            fresh_statics: Vec::new(),
        }
    }
}
