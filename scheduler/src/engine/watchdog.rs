//! A step that never comes to its end (a task that waits for something that is not under control) is named, instead of
//! being waited for in silence.

use std::collections::BTreeMap;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use interloper_std::runtime::{Place, TaskId};

/// Watches the steps of an engine from a thread of its own.
///
/// The time that it waits is made up of many short looks, each of which counts once however late it comes: a machine
/// that was asleep, or a process that was stopped, is no cause for alarm.
#[derive(Clone, Debug)]
pub struct Watchdog {
    /// How long a step may take, in real time. [`Watchdog::PATIENCE`] is meant for any machine.
    pub patience: Duration,
    /// What is done when one takes longer: called on the thread of the watchdog, again after each further `patience`.
    pub then: fn(&Stuck),
}

impl Watchdog {
    /// Two minutes: a step that computes is long done by then, also on a slow and loaded machine.
    pub const PATIENCE: Duration = Duration::from_secs(120);

    /// A watchdog that says which step it is, on standard error, and ends the process with this code.
    pub fn exit_with<const CODE: i32>(patience: Duration) -> Watchdog {
        let then = |stuck: &Stuck| {
            eprintln!("{stuck}");
            std::process::exit(CODE);
        };
        Watchdog { patience, then }
    }
}

/// A step that does not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Whose step it is.
    pub task: TaskId,
    /// The name of the task.
    pub name: Option<String>,
    /// Where it began: the last place at which the task was seen.
    pub location: Place,
    /// How many steps were made since the watchdog was set up.
    pub steps: u64,
    /// How long it was waited for.
    pub patience: Duration,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        write!(
            f,
            "task {}{name} has not come to another step for {:?}; its last one was at {}. It may be blocked in something that \
             is not under control: a lock or a channel of the real std, a file, a socket.",
            self.task.0, self.patience, self.location
        )
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
}

impl Beat {
    #[inline]
    pub(super) fn step(&self, task: usize, location: Place) {
        self.task.store(task as u32, Ordering::Relaxed);
        self.location.store(ptr::from_ref(location).cast_mut(), Ordering::Relaxed);
        // Nobody else writes it.
        self.steps.store(self.steps.load(Ordering::Relaxed) + 1, Ordering::Release);
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

    fn names(&self) -> MutexGuard<'_, BTreeMap<u32, String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many steps there have been, if an execution is going on.
    fn steps(&self) -> Option<u64> {
        self.running.load(Ordering::Relaxed).then(|| self.steps.load(Ordering::Acquire))
    }

    /// The step of this number, if it is still the last one.
    fn stuck(&self, steps: u64, patience: Duration) -> Option<Stuck> {
        let location = self.location.load(Ordering::Acquire);
        let task = TaskId(self.task.load(Ordering::Acquire));
        // SAFETY: it is null, or was made from a reference that lives for ever.
        let location = unsafe { location.as_ref() }?;
        let name = self.names().get(&task.0).cloned();
        (self.steps() == Some(steps)).then_some(Stuck { task, name, location, steps, patience })
    }
}

/// An engine's watchdog. Its thread ends with it.
pub(super) struct Watched {
    beat: Arc<Beat>,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

/// An execution that is being watched.
pub(super) struct Watching<'a>(&'a Beat);

impl Watched {
    pub(super) fn new(watchdog: Watchdog) -> Watched {
        let beat = Arc::new(Beat::default());
        let (ends, end) = mpsc::channel();
        let watched = beat.clone();
        let thread = std::thread::spawn(move || watch(&watchdog, &watched, &end));
        Watched { beat, thread: Some((ends, thread)) }
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
        if let Some((ends, thread)) = self.thread.take() {
            drop(ends);
            let _ = thread.join();
        }
    }
}

fn watch(watchdog: &Watchdog, beat: &Beat, end: &mpsc::Receiver<()>) {
    const LOOKS: u32 = 64;
    let pause = (watchdog.patience / LOOKS).max(Duration::from_micros(1));
    let (mut seen, mut looks) = (None, 0);
    while end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let steps = beat.steps();
        looks = if steps.is_some() && steps == seen { looks + 1 } else { 0 };
        seen = steps;
        if let (Some(steps), LOOKS) = (steps, looks) {
            looks = 0;
            if let Some(stuck) = beat.stuck(steps, watchdog.patience) {
                (watchdog.then)(&stuck);
            }
        }
    }
}
