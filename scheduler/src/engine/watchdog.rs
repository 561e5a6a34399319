//! Names a step that never ends (a task waits for something outside control), where a run would otherwise wait in
//! silence.

mod looks;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interloper_std::runtime::{Place, TaskId};

use self::looks::Watch;
use super::escape;
use crate::words::task_name;

/// Watches the steps of an engine from another thread, which all engines of the process share.
///
/// The watchdog waits in many short looks, each of which counts once however late it comes: a machine that was asleep,
/// or a process that was stopped, raises no alarm.
#[derive(Clone, Debug)]
pub struct Watchdog {
    /// The program or the test that is run, for the message.
    pub program: Option<String>,
    /// How long a step may take, in real time. [`Watchdog::PATIENCE`] is meant for any machine.
    pub patience: Duration,
    /// Whether a step that takes longer is interrupted: the execution ends as [`End::Stuck`](crate::End::Stuck), a call on
    /// a stack of its own as [`Lost::Stuck`](crate::Lost::Stuck). On Linux (x86-64); elsewhere nothing can be interrupted.
    pub interrupts: bool,
    /// What happens when a step takes longer and is not interrupted: the thread that watches calls this, and again after
    /// each further `patience`. As long as it does not return, no other engine is watched.
    pub then: fn(&Stuck),
}

impl Watchdog {
    /// Five seconds: a step that computes ends within that time.
    pub const PATIENCE: Duration = Duration::from_secs(5);

    /// A watchdog that interrupts a step which takes longer. Where a step cannot be interrupted, the watchdog names it
    /// on standard error, and ends the process with exit code 101, as a panic does.
    pub fn new(patience: Duration) -> Watchdog {
        let then = |stuck: &Stuck| {
            // Not by a macro: the harness of the tests captures what those print, and keeps it for a result that never comes.
            let _ = writeln!(std::io::stderr(), "{stuck}");
            std::process::exit(101);
        };
        Watchdog { program: None, patience, interrupts: true, then }
    }

    /// The same, for the program or the test of this name.
    pub fn of(self, program: impl Into<String>) -> Watchdog {
        Watchdog { program: Some(program.into()), ..self }
    }
}

/// A step that does not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The program or the test, if it has a name.
    pub program: Option<String>,
    /// Whose step it is.
    pub task: TaskId,
    /// The name of the task.
    pub name: Option<String>,
    /// Where it began: the last place at which the task was seen. `None` for the first step of a program.
    pub location: Option<Place>,
    /// How many steps were made since the watchdog was set up.
    pub steps: u64,
    /// How long the watchdog waited for it.
    pub patience: Duration,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(program) = &self.program {
            write!(f, "{program}: ")?;
        }
        let who = self.name.clone().unwrap_or_else(|| task_name(self.task));
        write!(
            f,
            "{who} made no step for {}: it loops without synchronising, or waits for something outside control (a lock or a \
             channel of the real std, a file, a socket); ",
            Seconds(self.patience)
        )?;
        match self.location {
            Some(location) => write!(f, "its last step was at {location}"),
            None => f.write_str("the program has made no step yet"),
        }
    }
}

/// A time in seconds or milliseconds: `5 s`.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            whole if whole % 1000 == 0 => write!(f, "{} s", whole / 1000),
            millis => write!(f, "{millis} ms"),
        }
    }
}

/// What the engine leaves for its watchdog.
#[derive(Debug, Default)]
pub(super) struct Beat {
    running: AtomicBool,
    steps: AtomicU64,
    task: AtomicU32,
    location: AtomicPtr<std::panic::Location<'static>>,
    /// The names of the tasks that have one. Changed when a task is spawned, not at each step.
    names: Mutex<BTreeMap<u32, String>>,
    /// The thread that makes the steps, as the system names it; 0 before the first one.
    thread: AtomicU64,
    /// The step that must be interrupted, counted from 1, or 0: the handler of the signal reads this.
    asked: AtomicU64,
    /// The step that was interrupted last.
    stuck: Mutex<Option<Stuck>>,
}

impl Beat {
    #[inline]
    pub(super) fn step(&self, task: usize, location: Place) {
        self.task.store(task as u32, Ordering::Relaxed);
        self.location.store(ptr::from_ref(location).cast_mut(), Ordering::Relaxed);
        // No other thread writes it.
        self.steps.store(self.steps.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Forgets the place: what was seen so far did not belong to the program.
    pub(super) fn forget_place(&self) {
        self.location.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Whether an execution, or a call, is going on.
    #[inline]
    pub(super) fn running(&self, running: bool) {
        self.running.store(running, Ordering::Relaxed);
    }

    /// A task has this name.
    pub(super) fn name(&self, task: usize, name: &str) {
        self.names().insert(task as u32, name.to_owned());
    }

    /// This thread makes the steps from now on.
    pub(super) fn on_this_thread(&self) {
        self.thread.store(escape::this_thread(), Ordering::Relaxed);
    }

    /// Whether the current step of this thread must be interrupted; answers yes only once. A handler of signals may
    /// call this.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(super) fn is_interrupted(&self) -> bool {
        let step = self.steps.load(Ordering::Relaxed) + 1;
        self.asked.compare_exchange(step, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The step that was interrupted.
    pub(super) fn take_stuck(&self) -> Stuck {
        let stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner).take();
        stuck.expect("internal error: an interrupted step has been described")
    }

    /// Asks the thread to leave its step. Returns whether it left, or the step has ended.
    fn interrupt(&self, stuck: &Stuck) -> bool {
        const ATTEMPTS: u32 = 200;
        *self.stuck.lock().unwrap_or_else(PoisonError::into_inner) = Some(stuck.clone());
        // The thread may be where it must not be interrupted (in the allocator, say); then the watchdog asks again.
        for _ in 0..ATTEMPTS {
            self.asked.store(stuck.steps + 1, Ordering::Release);
            if self.steps() != Some(stuck.steps) || !escape::interrupt(self.thread.load(Ordering::Relaxed)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
            if self.asked.load(Ordering::Acquire) == 0 {
                return true;
            }
        }
        self.asked.swap(0, Ordering::AcqRel) == 0 || self.steps() != Some(stuck.steps)
    }

    fn names(&self) -> MutexGuard<'_, BTreeMap<u32, String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many steps there have been, if an execution is going on.
    fn steps(&self) -> Option<u64> {
        self.running.load(Ordering::Relaxed).then(|| self.steps.load(Ordering::Acquire))
    }

    /// The step of this number, if it is still the last one.
    fn stuck(&self, steps: u64, watchdog: &Watchdog) -> Option<Stuck> {
        let location = self.location.load(Ordering::Acquire);
        let task = TaskId(self.task.load(Ordering::Acquire));
        // SAFETY: the pointer is null, or was made from a reference that lives for ever.
        let location = unsafe { location.as_ref() };
        let name = self.names().get(&task.0).cloned();
        let Watchdog { program, patience, .. } = watchdog.clone();
        (self.steps() == Some(steps)).then_some(Stuck { program, task, name, location, steps, patience })
    }
}

/// An engine that is watched until it ends.
pub(super) struct Watched {
    beat: Arc<Beat>,
    watch: Arc<Watch>,
}

/// An execution that is being watched.
pub(super) struct Watching<'a>(&'a Beat);

impl Watched {
    pub(super) fn new(watchdog: Watchdog) -> Watched {
        let beat = Arc::new(Beat::default());
        let watch = Watch::begin(watchdog, beat.clone());
        Watched { beat, watch }
    }

    pub(super) fn beat(&self) -> Arc<Beat> {
        self.beat.clone()
    }

    #[inline]
    pub(super) fn watch(&self) -> &Beat {
        &self.beat
    }

    pub(super) fn begin(&self) -> Watching<'_> {
        self.beat.names().clear();
        self.beat.on_this_thread();
        self.beat.running(true);
        Watching(&self.beat)
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.running(false);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.end();
    }
}
