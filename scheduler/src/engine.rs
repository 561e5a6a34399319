//! The engine: runs a program whose tasks are fibers, one execution at a time.

mod choice;
mod core;
mod destructors;
mod escape;
mod fiber;
mod freedom;
mod gates;
mod guarded;
mod hints;
mod hub;
mod known;
mod local;
mod looks;
mod object;
mod own_stack;
pub(crate) mod panics;
mod plain;
mod polls;
mod progress;
mod reports;
mod rounds;
mod runtime;
mod stale;
mod state;
mod task;
mod turn;
mod watchdog;
mod weak;

use std::panic::Location;

use interloper_std::runtime::{ObjectId, ObjectKind, Statics};

pub use self::own_stack::{Lost, OwnStack};
pub(crate) use self::turn::MOST_TASKS;
pub use self::watchdog::{Stuck, Watchdog};

use crate::deadline::Deadline;

use self::core::Core;
use self::fiber::Fibers;
use self::watchdog::Watched;
use self::weak::Kept;
use crate::decisions::Decision;
use crate::execution::{Event, Execution, Notice};
use crate::freedoms::Freedoms;
use crate::orderings::{Executed, Orderings};
use crate::plain::Watch;
use crate::strategy::Strategy;
use crate::traces::{Fingerprint, Fingerprints};
use crate::words::Names;

/// The configuration of an engine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The size of a task's stack, in bytes. Memory that a task does not touch costs nothing.
    pub stack_size: usize,
    /// The most steps of an execution; a longer one ends as [`crate::End::StepBound`].
    pub step_bound: u64,
    /// The most rounds in which every task that can go on only waits for a change. An execution with more ends as
    /// [`crate::End::Livelock`].
    pub livelock_rounds: u32,
    /// Whether tasks that look in vain, but each time from a new local state, go on up to the bound on the steps, since they may be at work.
    /// Otherwise they are a livelock after eight times as many rounds as others.
    pub may_work_on: bool,
    /// Whether the release of a lock is a step.
    pub unlock: Unlock,
    /// What happens to tasks that have not ended when the main task returns.
    pub detached: Detached,
    /// Whether the clock goes on while tasks look at it.
    pub clock: Clock,
    /// Whether the steps are recorded.
    pub trace: bool,
    /// Whether the decisions are recorded.
    pub decisions: bool,
    /// The freedoms that an execution may have. The strategy says which of them an execution has: see
    /// [`Strategy::freedoms`].
    pub freedoms: Freedoms,
    /// What is done with the orderings of the program, where memory is weak.
    pub orderings: Orderings,
    /// The seed of default hashers and the like.
    pub seed: u64,
    /// Whether the engine looks at plain memory; then it keeps track of what happens before what, in each execution.
    pub plain: Option<Watch>,
    /// The watchdog, which reports a step that does not end.
    pub watchdog: Option<Watchdog>,
    /// The statics that start afresh in each execution, whatever they contain. Mirrored types in statics always do.
    pub statics: Statics,
}

/// Whether the release of a lock is a step of its own, before which other tasks may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlock {
    /// The release is a step.
    Step,
    /// The release is part of the step before it, which halves the decisions for programs that use locks. The search loses
    /// nothing, since no other task can tell the difference (a release is a left-mover: R. J. Lipton, *Reduction*, CACM
    /// 1975), as long as no task *tries* to take a lock; [`Execution::tried`] says whether a task did.
    Part,
}

/// What happens to tasks that have not ended when the main task returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detached {
    /// They are abandoned, as at the end of a process: the execution is over when the main task has made its last
    /// step, [`Action::End`](interloper_std::runtime::Action::End), before which the others may still run.
    GivenUp,
    /// The execution goes on until they have ended; a task that can never end is reported ([`crate::End::Leaked`]).
    MustEnd,
}

/// What a task sees that looks at the clock twice, where nobody waits between the two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The same time: what tasks see does not depend on the order in which they look.
    StandsStill,
    /// A later time: each look takes a nanosecond, as on a real machine. What a task sees then depends on how many looks came before, and
    /// no step shows this, so a systematic search may leave executions out that differ in it alone.
    Ticks,
}

impl Default for Config {
    /// A stack of 1 MiB, 1,000,000 steps, 100,000 rounds; the release of a lock is a step; remaining tasks are abandoned; the clock
    /// stands still; the trace and the decisions are recorded; no freedoms; the orderings of the program; seed 0; plain memory
    /// is not looked at; no watchdog; the statics of the crates that `cargo interloper` has put under control.
    fn default() -> Config {
        Config {
            stack_size: 1 << 20,
            step_bound: 1_000_000,
            livelock_rounds: 100_000,
            may_work_on: false,
            unlock: Unlock::Step,
            detached: Detached::GivenUp,
            clock: Clock::StandsStill,
            trace: true,
            decisions: true,
            freedoms: Freedoms::NONE,
            orderings: Orderings::default(),
            seed: 0,
            plain: None,
            watchdog: None,
            statics: Statics::controlled(),
        }
    }
}

/// Runs programs, one after another, on the thread that owns the engine.
///
/// ```
/// use std::cell::Cell;
/// use std::panic::Location;
/// use interloper_scheduler::{Config, Engine, Pending, Strategy};
/// use interloper_scheduler::runtime::{self, NewTask, TaskId};
///
/// /// Runs each task to its end before the next.
/// struct InOrder;
/// impl Strategy for InOrder {
///     fn choose(&mut self, _: Option<TaskId>, _: &[Pending]) -> usize {
///         0
///     }
/// }
///
/// let mut engine = Engine::new(Config::default());
/// let reached = Cell::new(0);
/// let execution = engine.run(&mut InOrder, || {
///     let task = NewTask { name: None, location: Location::caller() };
///     runtime::with(|current| {
///         let child = current.runtime().spawn(task, Box::new(|| assert_eq!(1 + 1, 3)));
///         assert!(current.runtime().join(child, Location::caller()).is_err());
///     });
///     reached.set(1);
/// });
/// assert!(execution.end.is_finished(), "{execution:?}");
/// assert_eq!((reached.get(), execution.panics.len()), (1, 1));
/// ```
pub struct Engine {
    core: Box<Core>,
    fibers: Fibers,
    watched: Option<Watched>,
}

impl Engine {
    /// An engine without stacks; it creates stacks as tasks need them, and keeps them.
    pub fn new(config: Config) -> Engine {
        panics::install_hook();
        let watched = config.watchdog.clone().map(Watched::new);
        let beat = watched.as_ref().map(Watched::beat);
        Engine { fibers: Fibers::new(config.stack_size), core: Box::new(Core::new(config, beat)), watched }
    }

    /// Runs `main` as the main task of a program, with everything that it spawns, to the end.
    ///
    /// A panic of the program is a result. While the program runs, the mirror of `std` on this thread is under control,
    /// and panics of its tasks are not printed.
    ///
    /// # Panics
    /// When the strategy panics or chooses an index that does not exist, and when there is no memory for another stack.
    #[track_caller]
    pub fn run(&mut self, strategy: &mut dyn Strategy, main: impl FnOnce()) -> Execution {
        let mut main = Some(main);
        let mut call = || main.take().expect("the main task is started once")();
        let _statics = self.core.config.statics.begin();
        let _watch = self.watched.as_ref().map(|watched| watched.begin());
        hub::run(&self.core, &mut self.fibers, strategy, &mut call, Location::caller())
    }

    /// The steps of the last execution, if they were recorded.
    pub fn trace(&self) -> std::cell::Ref<'_, [Event]> {
        std::cell::Ref::map(self.core.state.borrow(), |state| &state.trace[..])
    }

    /// Whether the next executions keep track of what happens before what: see [`Engine::happens_before`]. They take longer.
    pub fn tell_order(&mut self, told: bool) {
        self.core.tells_order.set(told);
    }

    /// An execution that is running at this time, of the next ones, ends like one with too many steps ([`crate::End::StepBound`]).
    pub fn stop_at(&mut self, deadline: Deadline) {
        self.core.stop_at.set(deadline);
    }

    /// What happens before what in the last execution, in the sense of C++20 and Rust: pairs of an event and an earlier event of
    /// another task that happens before it. With the order of each task, all else follows from these. Empty unless
    /// [`Engine::tell_order`] asked for it and the steps were recorded.
    ///
    /// Under sequential consistency the orderings are those that the program names, too: whether what the program reads is
    /// protected by them does not depend on which executions are looked at.
    pub fn happens_before(&self) -> Vec<(u32, u32)> {
        if !self.core.tells_order.get() {
            return Vec::new();
        }
        let Kept { memory, known, .. } = &mut *self.core.kept.borrow_mut();
        known.edges(memory, &self.trace())
    }

    /// What executors of other crates said in the last execution, if its steps were recorded.
    pub fn notices(&self) -> std::cell::Ref<'_, [Notice]> {
        std::cell::Ref::map(self.core.state.borrow(), |state| &state.notices[..])
    }

    /// The decisions of the last execution with more than one option, if they were recorded.
    pub fn decisions(&self) -> std::cell::Ref<'_, [Decision]> {
        std::cell::Ref::map(self.core.state.borrow(), |state| &state.decisions[..])
    }

    /// The Mazurkiewicz trace of the last execution, if its steps were recorded.
    pub fn fingerprint(&self, fingerprints: &mut Fingerprints) -> Fingerprint {
        let state = self.core.state.borrow();
        fingerprints.of(&state.trace, &state.picks)
    }

    /// The kind of an object of the last execution.
    pub fn object_kind(&self, object: ObjectId) -> Option<ObjectKind> {
        self.core.state.borrow().objects.get(object.index()).map(|object| object.kind)
    }

    /// The name of an atomic block of the last execution.
    pub fn block_name(&self, number: u32) -> Option<&'static str> {
        self.core.state.borrow().blocks.get(number as usize).copied()
    }

    /// The names of the tasks, objects and blocks of the last execution.
    pub fn names(&self, execution: &Execution) -> Names {
        let blocks = self.core.state.borrow().blocks.clone();
        Names::new(execution, &self.trace(), |object| self.object_kind(object), blocks)
    }

    /// How often each ordering was used since the last call, if this is counted, in the order of places.
    pub fn take_orderings(&mut self) -> Vec<Executed> {
        self.core.kept.borrow_mut().sites.take()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.core.config
    }
}
