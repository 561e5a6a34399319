//! A task of an executor: a future, and the thread that polls it.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::thread::JoinHandle as RealHandle;

use interloper_std::runtime::{self, ExecutionId, NewTask, Place, Suspension, TaskId, Woken};

use super::executor::{Shared, Turn};
use super::join::{JoinHandle, Joint, State};
use super::known;
use super::time::Timers;
use super::turns::Token;
use super::waking::Wakers;

/// Spawns a future on the executor that polls the caller. The future starts to run even if nobody awaits the handle.
///
/// # Panics
/// Outside of a task: see [`block_on`](super::block_on).
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Builder::new().spawn(future)
}

/// A task before it is spawned.
#[derive(Clone, Debug, Default)]
#[must_use = "it spawns nothing until `spawn` is called"]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// A task without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Gives the task a name, for reports.
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.name = Some(name.into());
        self
    }

    /// As [`spawn`].
    ///
    /// # Panics
    /// Outside of a task: see [`block_on`](super::block_on).
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let place = Location::caller();
        let Some(parent) = Task::current() else {
            panic!("spawn was called outside of an executor: call it in a future that block_on runs");
        };
        let task = Task::spawned(parent.shared(), self.name, place);
        let joint = Arc::new(Joint::new());
        let (own, own_joint) = (Arc::clone(&task), Arc::clone(&joint));
        task.start(Box::new(move || own.run(future, &own_joint, place)), place);
        JoinHandle::new(joint, task)
    }
}

/// What came of a future.
pub(super) enum Drive<T> {
    Ready(T),
    /// It was dropped before it was ready.
    Cancelled,
    Panicked(Box<dyn Any + Send>),
}

/// What a task shares with its wakers and its handles.
pub(super) struct Task {
    shared: Arc<Shared>,
    is_main: bool,
    name: Option<String>,
    place: Place,
    /// Under control: the execution, and the task of the engine.
    id: OnceLock<(ExecutionId, TaskId)>,
    /// Outside of control.
    thread: Mutex<Option<RealHandle<()>>>,
    pub(super) token: Token,
    pub(super) timers: Timers,
    wakers: Wakers,
    /// The future is to be dropped instead of being polled again.
    cancelled: AtomicBool,
    /// The future asks for others to be polled first.
    yields: AtomicBool,
    ready: AtomicBool,
    /// The future panicked, and no handle has told.
    panicked: AtomicBool,
    ended: AtomicBool,
}

interloper_std::thread_local! {
    static CURRENT: RefCell<Option<Arc<Task>>> = const { RefCell::new(None) };
}

/// The thread polls for a task, until this is dropped.
pub(super) struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.take());
    }
}

impl Task {
    /// The task that the caller runs in.
    pub(super) fn current() -> Option<Arc<Task>> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    /// The task of the future that is given to `block_on`.
    pub(super) fn main(shared: &Arc<Shared>, place: Place) -> Arc<Task> {
        let task = Task::new(shared, true, None, place);
        if let Some(id) = runtime::with(|current| (current.execution(), current.runtime().task())) {
            task.is_known_as(id);
        }
        task
    }

    fn spawned(shared: &Arc<Shared>, name: Option<String>, place: Place) -> Arc<Task> {
        Task::new(shared, false, name, place)
    }

    fn new(shared: &Arc<Shared>, is_main: bool, name: Option<String>, place: Place) -> Arc<Task> {
        let task = Arc::new(Task {
            shared: Arc::clone(shared),
            is_main,
            name,
            place,
            id: OnceLock::new(),
            thread: Mutex::default(),
            token: Token::default(),
            timers: Timers::default(),
            wakers: Wakers::default(),
            cancelled: AtomicBool::new(false),
            yields: AtomicBool::new(false),
            ready: AtomicBool::new(true),
            panicked: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        });
        shared.add(&task);
        task
    }

    fn is_known_as(&self, id: (ExecutionId, TaskId)) {
        self.id.set(id).expect("a task is started once");
        let spawned = (!self.is_main).then_some(self.place);
        known::begin(id.1, self.name.clone(), spawned, self.shared.turns.is_one_at_a_time());
    }

    /// Starts the thread that polls the future.
    fn start(&self, body: Box<dyn FnOnce() + Send>, place: Place) {
        let new = NewTask { name: self.name.clone(), location: place };
        let mut body = Some(body);
        let mut take = || body.take().expect("a task is started once");
        let id = runtime::with(|current| (current.execution(), current.runtime().spawn(new, take())));
        match id {
            Some(id) => self.is_known_as(id),
            None => {
                let name = self.name.clone().unwrap_or_else(|| "task".to_owned());
                let thread = std::thread::Builder::new().name(name).spawn(take()).expect("failed to spawn thread");
                *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
            }
        }
    }

    /// The body of the thread.
    fn run<F: Future>(self: Arc<Task>, future: F, joint: &Arc<Joint<F::Output>>, place: Place) {
        let entered = self.enter();
        self.shared.turns.begin(&self, place);
        let turn = Turn { task: &self, place };
        let mut future = Some(Box::pin(future));
        let mut output = if self.is_cancelled() {
            Drive::Cancelled
        } else {
            let has_handle = || Arc::strong_count(joint) > 1;
            self.drive(future.as_mut().expect("it is there").as_mut(), has_handle, place)
        };
        if matches!(output, Drive::Cancelled) {
            joint.drops_future(last_place().unwrap_or(place));
        }
        // The future is dropped while no other task runs, as tokio does.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(future.take()))) {
            output = Drive::Panicked(unless_over(payload));
        }
        let (end, panic) = match output {
            Drive::Ready(output) => (State::Ready(output), None),
            Drive::Cancelled => (State::Cancelled, None),
            Drive::Panicked(payload) => (State::Panicked, Some(payload)),
        };
        self.panicked.store(panic.is_some(), Relaxed);
        joint.ends(end, place);
        self.ended.store(true, Relaxed);
        drop(turn);
        drop(entered);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    pub(super) fn enter(self: &Arc<Task>) -> Entered {
        CURRENT.with(|current| *current.borrow_mut() = Some(Arc::clone(self)));
        Entered
    }

    /// Polls the future until it is ready. It is the task's turn before and after. The future may be cancelled while
    /// somebody has a handle of the task and could abort it.
    pub(super) fn drive<F: Future>(
        self: &Arc<Task>,
        mut future: Pin<&mut F>,
        has_handle: impl Fn() -> bool,
        place: Place,
    ) -> Drive<F::Output> {
        loop {
            self.begin_poll();
            let waker = self.wakers.waker(self);
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
            match polled {
                Ok(Poll::Ready(output)) => return Drive::Ready(output),
                Ok(Poll::Pending) => {}
                Err(payload) => return Drive::Panicked(unless_over(payload)),
            }
            self.is_suspended();
            drop(waker);
            if !self.is_cancelled() && has_handle() && cancels() {
                self.cancelled.store(true, Relaxed);
                self.ready.store(true, Relaxed);
                let place = last_place().unwrap_or(place);
                self.shared.turns.end(self, place);
                self.shared.turns.begin(self, place);
            } else {
                self.wait(place);
            }
            if self.is_cancelled() {
                return Drive::Cancelled;
            }
        }
    }

    fn begin_poll(&self) {
        self.ready.store(false, Relaxed);
        self.yields.store(false, Relaxed);
        known::begin_poll();
        if self.shared.others_ready(self) {
            known::chose();
        }
    }

    /// Takes note of who can wake the task.
    fn is_suspended(&self) {
        if let Some((_, id)) = self.id.get() {
            known::is_suspended(*id, last_place(), self.wakers.are_kept());
        }
    }

    fn wait(&self, place: Place) {
        // Whether other tasks go on before one that yields is a choice.
        self.ready.store(self.yields.load(Relaxed), Relaxed);
        let suspension = match self.timers.first() {
            _ if self.yields.load(Relaxed) => Suspension::Yields,
            Some(end) => Suspension::Until(end),
            None => Suspension::UntilWoken,
        };
        let place = last_place().unwrap_or(place);
        let woken = self.shared.turns.suspend(self, suspension, place);
        if let (Woken::TimedOut, Suspension::Until(end)) = (woken, suspension) {
            self.timers.fire(end, &self.wakers);
            if self.shared.others_due(self, end) {
                known::chose();
            }
        }
    }

    /// A waker of the task is called.
    pub(super) fn wake(&self) {
        self.ready.store(true, Relaxed);
        match self.id.get() {
            None => self.token.give(),
            Some((execution, task)) => {
                runtime::with(|current| {
                    if current.execution() == *execution {
                        current.runtime().wake_task(*task, current.runtime().last_place());
                    }
                });
            }
        }
    }

    /// Asks the task to drop its future.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
        self.wake();
    }

    /// Drops the future and waits for the end of the thread. A panic that no handle has told is left to the engine.
    pub(super) fn shut_down(&self, place: Place) {
        // One task at a time: whether this one has ended depends on the order of polls alone.
        if !(self.shared.turns.is_one_at_a_time() && self.ended.load(Relaxed)) {
            self.cancel();
        }
        if !self.panicked.load(Relaxed) {
            // A destructor may panic.
            let _ = self.join(place);
        }
    }

    /// Waits for the end of the thread.
    ///
    /// # Errors
    /// The payload of its panic.
    pub(super) fn join(&self, place: Place) -> Result<(), Box<dyn Any + Send>> {
        let joined =
            self.id.get().and_then(|(execution, task)| {
                runtime::with(|current| {
                    if current.execution() == *execution { current.runtime().join(*task, place) } else { Ok(()) }
                })
            });
        let thread = || self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        joined.unwrap_or_else(|| thread().map_or(Ok(()), RealHandle::join))
    }

    /// A handle tells of the panic.
    pub(super) fn panic_is_told(&self) {
        self.panicked.store(false, Relaxed);
    }

    pub(super) fn id(&self) -> Option<TaskId> {
        self.id.get().map(|(_, task)| *task)
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn is_main(&self) -> bool {
        self.is_main
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready.load(Relaxed)
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    /// Whether a waker is this task's own, which needs no call during a poll of the task.
    fn yields_by(&self, waker: &std::task::Waker) -> bool {
        let own = self.wakers.is_own(waker);
        self.yields.store(true, Relaxed);
        own
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Task").field("name", &self.name).field("place", &self.place).finish_non_exhaustive()
    }
}

/// Goes on unwinding if the execution has ended.
fn unless_over(payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    if runtime::is_abort(&*payload) {
        resume_unwind(payload);
    }
    payload
}

/// Whether a future that was just polled is dropped now.
pub(super) fn cancels() -> bool {
    runtime::with(|current| current.runtime().cancels()).unwrap_or(false)
}

fn last_place() -> Option<Place> {
    runtime::with(|current| current.runtime().last_place())
}

/// Lets other tasks be polled first, if any are ready. The task may also go on at once: no executor promises an order.
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.yielded, true) {
            return Poll::Ready(());
        }
        known::awaits(Location::caller());
        let is_own = Task::current().is_some_and(|task| task.yields_by(context.waker()));
        if !is_own {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
