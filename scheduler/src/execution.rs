//! The result of an execution: plain data.

use std::fmt;
use std::time::Duration;

use interloper_std::runtime::{Exit, Mode, ObjectId, Operation, Place, TaskId, Told};

use crate::engine::{MOST_TASKS, Stuck};
use crate::freedoms::Freedoms;
use crate::plain::Fault;

/// A step of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The task that made it.
    pub task: TaskId,
    /// The operation.
    pub operation: Operation,
    /// Whether the event is part of the step before it: the strategy was not asked.
    pub continues: bool,
    /// Whether the step only read: a failed attempt to take a lock, a failed compare-exchange, a park that ended
    /// without the token.
    pub only_read: bool,
    /// What the task waited for before the step, apart from locks.
    pub cause: Cause,
}

/// What let a task make a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The task waited for nothing, except perhaps a lock.
    Ready,
    /// The event of this index in the trace: it spawned the task, woke it, or ended the task that it joins.
    Event(u32),
    /// No task could go on after so many events of the trace: the clock passed, or tasks that waited for a change looked
    /// again.
    Idle(u32),
}

/// What an executor of another crate said about one of its tasks while an execution ran. It is no step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notice {
    /// How many events of the trace came before it.
    pub before: u32,
    /// The task of the engine that said so.
    pub by: TaskId,
    /// The task of the executor, known by an address until another task has the same one.
    pub about: usize,
    /// What happened to it.
    pub told: Told,
}

/// The result of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// How it ended.
    pub end: End,
    /// How often the strategy was asked.
    pub steps: u64,
    /// How often the strategy chose another task although the task of the last step could go on.
    pub preemptions: u64,
    /// The number of tasks.
    pub tasks: usize,
    /// The virtual time at the end.
    pub clock: Duration,
    /// Whether the engine made a choice that is normally the strategy's: it held a task back that had made many steps while
    /// others could go on, or let the clock pass because a task polled it. The search did not explore the other choices.
    pub steered: bool,
    /// Whether a task tried to take a lock, or looked whether it was free: see [`crate::Unlock::Part`].
    pub tried: bool,
    /// The departures: see [`crate::Config::freedoms`].
    pub departures: Freedoms,
    /// The accesses that took another place than the newest: see [`crate::Freedom::Memory`].
    pub older: Vec<Older>,
    /// Where memory is weak, all accesses to atomics: the event of each, and the event that stored what it read or follows.
    /// None for the value that was there first.
    pub accesses: Vec<(u32, Option<u32>)>,
    /// How many accesses to atomics had an ordering weaker than `SeqCst`.
    pub weaker: u32,
    /// Whether further accesses could have taken another place, had the execution been free to do so more often.
    pub older_left: bool,
    /// How many accesses to plain memory the engine looked at.
    pub plain: u64,
    /// How many accesses to plain memory were steps: see [`Watch::steps`](crate::Watch::steps).
    pub plain_steps: u64,
    /// Whether the program made a hasher with a seed: then the execution depends on [`Config::seed`](crate::Config::seed), too.
    pub hashed: bool,
    /// Whether the engine assumed somewhere that a task which spins or yields waits for a change, although it may go on
    /// without one, or whether a task went on so far that others could not come between its rounds: see
    /// [`crate::Freedom::Hints`].
    pub withheld: bool,
    /// The tasks that had not ended when the execution ended early.
    pub stuck: Vec<TaskReport>,
    /// The panics that ended a task, in their order. They include panics that another task handled after a join.
    pub panics: Vec<PanicReport>,
}

/// An access to weak memory that did not take the newest place: it read an older store, or stored right after one, or both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Older {
    /// The event of the trace that is the access.
    pub event: u32,
    /// The event that stored what it read or follows. None for the value that was there before the first access.
    pub of: Option<u32>,
    /// Whether it stored: before stores that it had not seen.
    pub stores: bool,
    /// The places that it could have taken: this one and others.
    pub among: Among,
}

/// Places in the order of the stores to an atomic, each by how many stores come after it: 0 is the newest store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Among {
    /// The newest so many.
    Newest(u32),
    /// These.
    These(Box<[u32]>),
}

impl Among {
    /// How many stores come after each of the places, the newest place first.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let (row, listed) = match self {
            Among::Newest(count) => (0..*count, &[][..]),
            Among::These(listed) => (0..0, &listed[..]),
        };
        row.chain(listed.iter().copied()).map(|after| after as usize)
    }
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All tasks ended, or the main task ended and the others were abandoned
    /// ([`Detached::GivenUp`](crate::Detached::GivenUp); they are in [`Execution::stuck`]). If a task other than the
    /// main one panicked, the task that joined it handled the panic.
    Finished,
    /// The main task panicked, or another task panicked and no task joined it. If tasks have joined all tasks that panicked before the
    /// main one did, the report is of the panic that the main task passes on, as `join().unwrap()` does, or else of its own. Otherwise it
    /// is of the first panic.
    Panicked(PanicReport),
    /// A panic could not unwind: it began in a destructor while another one was unwinding, or it was about to leave a
    /// function that must not unwind. Outside a controlled run the process is aborted. The report is of that panic.
    Aborted(PanicReport),
    /// A task used up its stack, or almost.
    StackOverflow {
        /// The task.
        task: TaskId,
        /// The last step that it made, or was about to make.
        last: Operation,
    },
    /// The system would have killed the process for what a task did. Found on Linux (x86-64).
    Crashed {
        /// The task.
        task: TaskId,
        /// What it did.
        crash: Crash,
        /// The address of the code that did it: of the code that called it, if it is a function of the system that copies memory.
        code: usize,
        /// The last step of the task, or the one that it was about to make.
        last: Operation,
    },
    /// No task can go on, not even the main task.
    Deadlock(Vec<TaskReport>),
    /// The main task ended, but these tasks can never go on.
    Leaked(Vec<TaskReport>),
    /// These tasks go round in loops that only read, or only yield, waiting for something that no task does.
    Livelock(Vec<TaskReport>),
    /// The bound on the steps was reached, or the time was over ([`Engine::stop_at`](crate::Engine::stop_at)). The operations are those of the last steps, which may form a loop.
    StepBound(Vec<(TaskId, Operation)>),
    /// A task called `process::exit` or `process::abort`.
    Exited {
        /// The task.
        task: TaskId,
        /// How.
        exit: Exit,
        /// Where; for the `std::process::abort` of std itself, where the last step of the task was.
        location: Place,
        /// The last panics that had begun in the task before an abort, also those that it had caught: often it aborts for them.
        panicked: Vec<PanicReport>,
    },
    /// A task made no step for too long: it loops without synchronising, or waits for something outside control. See
    /// [`Config::watchdog`](crate::Config::watchdog).
    Stuck(Box<Stuck>),
    /// The program used plain memory wrongly: see [`Config::plain`](crate::Config::plain).
    Memory(Box<Fault>),
    /// The program, or its observer, ended the execution.
    Failed {
        /// The task.
        task: TaskId,
        /// Why.
        reason: String,
    },
}

impl Execution {
    /// Whether it was ended since it had as many tasks as an execution may have: it is too large, and need not be endless.
    pub fn has_all_tasks(&self) -> bool {
        matches!(self.end, End::Failed { .. }) && self.tasks >= MOST_TASKS
    }
}

impl End {
    /// Whether the program ended without a failure.
    pub fn is_finished(&self) -> bool {
        matches!(self, End::Finished)
    }
}

/// What the system kills a process for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Crash {
    /// An access to memory at an address next to that of the null pointer.
    NullPointer,
    /// An access to other memory that the process does not have, or not for such an access.
    InvalidMemory,
    /// An access that the processor refuses, whatever is at the address: it is not aligned, or no address at all, or the instruction is
    /// not for programs.
    Refused,
    /// An instruction that does not exist: what the compiler puts where control cannot come.
    IllegalInstruction,
    /// Arithmetic that has no result.
    Arithmetic,
}

impl Crash {
    const ALL: [Crash; 5] =
        [Crash::NullPointer, Crash::InvalidMemory, Crash::Refused, Crash::IllegalInstruction, Crash::Arithmetic];

    /// The one with this [text](Crash::text).
    pub fn of_text(text: &str) -> Option<Crash> {
        Crash::ALL.into_iter().find(|crash| crash.text() == text)
    }

    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            Crash::NullPointer => "access through a null or dangling pointer (SIGSEGV)",
            Crash::InvalidMemory => "access to memory that the process does not have (SIGSEGV)",
            Crash::Refused => "access that the processor refuses, such as one that is not aligned (SIGSEGV)",
            Crash::IllegalInstruction => "illegal instruction (SIGILL)",
            Crash::Arithmetic => "arithmetic without a result (SIGFPE)",
        }
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for End {
    /// In a few words, without the tasks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = |tasks: &[TaskReport]| {
            let names: Vec<String> = tasks.iter().map(|report| report.task.0.to_string()).collect();
            format!("task{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
        };
        match self {
            End::Finished => f.write_str("the program came to its end"),
            End::Panicked(panic) => write!(f, "task {} panicked: {}", panic.task.0, panic.message),
            End::Aborted(panic) => write!(f, "a panic of task {} cannot unwind: {}", panic.task.0, panic.message),
            End::StackOverflow { task, .. } => write!(f, "task {} used up its stack", task.0),
            End::Crashed { task, crash, .. } => write!(f, "task {} crashed: {crash}", task.0),
            End::Deadlock(stuck) => write!(f, "deadlock of {}", tasks(stuck)),
            End::Leaked(stuck) => write!(f, "the main task came to its end and {} never can", tasks(stuck)),
            End::Livelock(stuck) => write!(f, "livelock of {}", tasks(stuck)),
            End::StepBound(_) => f.write_str("the bound on the steps was reached"),
            End::Exited { task, exit, location, .. } => write!(f, "task {} called {exit} at {location}", task.0),
            End::Stuck(stuck) => write!(f, "{stuck}"),
            End::Memory(fault) => write!(f, "{} in task {}", fault.kind, fault.second.task.0),
            End::Failed { task, reason } => write!(f, "task {} failed: {reason}", task.0),
        }
    }
}

/// A task that had not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskReport {
    /// The task.
    pub task: TaskId,
    /// Its name.
    pub name: Option<String>,
    /// What it is waiting to do.
    pub wants: Operation,
    /// Why it cannot go on.
    pub blocked: Blocked,
    /// The tasks that it waits for: the holders of the lock that it wants, or the task that it joins.
    pub waits_for: Vec<TaskId>,
    /// The locks that it holds.
    pub holds: Vec<Held>,
}

/// Why a task cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blocked {
    /// Nothing: the execution ended for another reason.
    No,
    /// A lock is held.
    Lock,
    /// The task that it joins has not ended.
    Join,
    /// No task woke it from the queue that it waits in.
    Queue,
    /// No task gave it its token.
    Token,
    /// The virtual clock has not reached its time.
    Clock,
    /// Nothing has changed since it looked: it goes round in a loop.
    Change,
}

/// A lock that a task holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The lock.
    pub lock: ObjectId,
    /// How.
    pub mode: Mode,
    /// Where it was taken.
    pub location: Place,
}

/// A panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanicReport {
    /// The task that panicked.
    pub task: TaskId,
    /// The name of the task.
    pub name: Option<String>,
    /// The message.
    pub message: String,
    /// The place that the panic hook was given; unknown for a payload that was thrown with `resume_unwind`.
    pub place: Option<SourcePlace>,
}

impl PanicReport {
    /// The panic to report if the main task panicked: its own if the program may have handled those before, as it has joined their tasks,
    /// and it does not only pass one of them on. `last_joined` is the task that panicked and that a task joined last, if there is any.
    pub(crate) fn of_main(
        panics: &[PanicReport],
        is_joined: impl Fn(TaskId) -> bool,
        last_joined: impl Fn(TaskId) -> Option<TaskId>,
    ) -> &PanicReport {
        let place = panics.iter().rposition(|panic| panic.task == TaskId::MAIN).expect("the main task panicked");
        if panics[..place].iter().any(|panic| panic.task != TaskId::MAIN && !is_joined(panic.task)) {
            return &panics[0];
        }
        PanicReport::where_begun(panics, place, &last_joined)
    }

    /// The panic that one passes on, and that passes on none itself.
    fn where_begun<'p>(
        panics: &'p [PanicReport],
        place: usize,
        last_joined: &impl Fn(TaskId) -> Option<TaskId>,
    ) -> &'p PanicReport {
        let (own, before) = (&panics[place], &panics[..place]);
        // An error of an executor's `join` has the message, as has what `resume_unwind` throws.
        let says = |earlier: &PanicReport| !earlier.message.is_empty() && own.message.contains(&earlier.message);
        // What `join` gives is a `dyn Any`.
        let says_nothing = own.message == "a scoped thread panicked" || own.message.contains("Any { .. }");
        let joined = last_joined(own.task).and_then(|task| before.iter().rposition(|panic| panic.task == task));
        let joined = joined.filter(|&joined| says_nothing || says(&before[joined]));
        let passed = match own.task {
            TaskId::MAIN => joined
                .or_else(|| before.iter().rposition(says))
                .or_else(|| (says_nothing && !before.is_empty()).then_some(0)),
            // Tasks that do the same fail with the same words.
            _ => joined,
        };
        passed.map_or(own, |passed| PanicReport::where_begun(panics, passed, last_joined))
    }
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePlace {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl From<&std::panic::Location<'_>> for SourcePlace {
    fn from(location: &std::panic::Location<'_>) -> SourcePlace {
        SourcePlace { file: location.file().to_owned(), line: location.line(), column: location.column() }
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
