//! The least that a program needs: the mirror of `std` in a few lines.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use interloper_scheduler::decisions::{Deviations, Question, Source};
use interloper_scheduler::runtime::{
    self, Action, Count, Handle, Mode, NewTask, ObjectId, ObjectKind, Operation, Place, Runtime, TaskId, Wakes, Woken,
};
use interloper_scheduler::strategies::Guided;
use interloper_scheduler::{Config, Engine, Execution, Pending, Strategy};

pub fn runtime<R>(use_it: impl FnOnce(&dyn Runtime) -> R) -> R {
    runtime::with(|current| use_it(current.runtime())).expect("in a controlled run")
}

#[derive(Default)]
pub struct Lock {
    handle: Handle,
}

pub struct Guard<'a>(&'a Lock, Mode, Place);

impl Lock {
    pub const fn new() -> Lock {
        Lock { handle: Handle::new() }
    }

    pub fn id(&self) -> ObjectId {
        runtime::with(|current| self.handle.object(&current, ObjectKind::Mutex)).expect("in a controlled run")
    }

    #[track_caller]
    pub fn lock(&self) -> Guard<'_> {
        self.lock_as(Mode::Exclusive)
    }

    #[track_caller]
    pub fn lock_as(&self, mode: Mode) -> Guard<'_> {
        let location = Location::caller();
        let acquire = |current: runtime::Current<'_>| {
            current.runtime().acquire(self.handle.object(&current, ObjectKind::Mutex), mode, location);
        };
        runtime::with(acquire).expect("in a controlled run");
        Guard(self, mode, location)
    }

    #[track_caller]
    pub fn try_lock_as(&self, mode: Mode) -> Option<Guard<'_>> {
        let location = Location::caller();
        let free = runtime(|runtime| runtime.try_acquire(self.id(), mode, location));
        free.then(|| Guard(self, mode, location))
    }
}

impl Guard<'_> {
    #[track_caller]
    pub fn convert(&mut self, mode: Mode) {
        let location = Location::caller();
        runtime(|runtime| runtime.convert(self.0.id(), self.1, mode, location));
        self.1 = mode;
    }

    #[track_caller]
    pub fn wait(&self, condition: &Condition, timeout: Option<Duration>) -> Woken {
        let location = Location::caller();
        runtime(|runtime| runtime.wait(condition.id(), (self.0.id(), self.1), timeout, Wakes::AlsoUnasked, location))
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let release = |current: runtime::Current<'_>| {
            current.runtime().release(self.0.handle.object(&current, ObjectKind::Mutex), self.1, self.2);
        };
        runtime::with(release).expect("in a controlled run");
    }
}

#[derive(Default)]
pub struct Condition {
    handle: Handle,
}

impl Condition {
    pub fn id(&self) -> ObjectId {
        runtime::with(|current| self.handle.object(&current, ObjectKind::Condvar)).expect("in a controlled run")
    }

    #[track_caller]
    pub fn notify(&self, count: Count) -> u32 {
        let location = Location::caller();
        runtime(|runtime| runtime.notify(self.id(), count, location))
    }
}

/// An atomic variable.
#[derive(Default)]
pub struct Variable {
    handle: Handle,
    value: Cell<i32>,
}

impl Variable {
    #[track_caller]
    fn step(&self, action: Action) {
        let location = Location::caller();
        runtime::with(|current| {
            let object = self.handle.object(&current, ObjectKind::Atomic);
            current.runtime().step(Operation { object, action, location });
        });
    }

    #[track_caller]
    pub fn get(&self) -> i32 {
        self.step(Action::Read);
        self.value.get()
    }

    #[track_caller]
    pub fn set(&self, value: i32) {
        self.step(Action::Write);
        self.value.set(value);
    }

    #[track_caller]
    pub fn add(&self, value: i32) -> i32 {
        self.step(Action::ReadWrite);
        self.value.replace(self.value.get() + value)
    }
}

#[track_caller]
pub fn spawn(body: impl FnOnce() + 'static) -> TaskId {
    spawn_as(None, body)
}

#[track_caller]
pub fn spawn_named(name: &str, body: impl FnOnce() + 'static) -> TaskId {
    spawn_as(Some(name.to_owned()), body)
}

#[track_caller]
fn spawn_as(name: Option<String>, body: impl FnOnce() + 'static) -> TaskId {
    let location = Location::caller();
    let task = NewTask { name, location };
    runtime(|runtime| runtime.spawn(task, Box::new(body)))
}

#[track_caller]
pub fn join(task: TaskId) -> Result<(), String> {
    let location = Location::caller();
    let result = runtime(|runtime| runtime.join(task, location));
    result.map_err(|payload| payload.downcast_ref::<&str>().map_or_else(|| "?".to_owned(), |text| (*text).to_owned()))
}

/// An atomic block.
#[track_caller]
pub fn atomic<R>(name: &'static str, body: impl FnOnce() -> R) -> R {
    struct End(Place);
    impl Drop for End {
        fn drop(&mut self) {
            runtime(|runtime| runtime.block_end(self.0));
        }
    }
    let location = Location::caller();
    runtime(|runtime| runtime.block_begin(name, location));
    let _end = End(location);
    body()
}

/// Runs a program under every schedule; gives the executions. `seen` is told which operations were chosen.
pub fn all_schedules(config: Config, program: impl Fn()) -> Vec<Execution> {
    let mut engine = Engine::new(config);
    let mut search = Deviations::new(0);
    let mut executions = Vec::new();
    while search.next_run() {
        executions.push(engine.run(&mut Guided::new(&mut search), &program));
        search.end_run();
    }
    assert!(search.coverage().complete, "the program is deterministic");
    executions
}

/// Answers every question with 0: runs without preemptions.
pub struct Zeros;

impl Source for Zeros {
    fn decide(&mut self, _: Question, _: u32) -> u32 {
        0
    }
}

/// Runs a program once without preemptions.
pub fn run_once(program: impl FnOnce()) -> Execution {
    Engine::new(Config::default()).run(&mut Guided::new(Zeros), program)
}

/// A list that tasks write to.
#[derive(Clone, Default)]
pub struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub fn say(&self, what: impl Into<String>) {
        self.0.borrow_mut().push(what.into());
    }

    pub fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

/// Says so when it is dropped.
pub struct Dropped(pub Log, pub &'static str);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.say(self.1);
    }
}

/// The first task, the main one, for as long as it is offered.
pub struct Unfair;

impl Strategy for Unfair {
    fn choose(&mut self, _: Option<TaskId>, _: &[Pending]) -> usize {
        0
    }
}
