//! A program as tasks under the scheduler.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use interloper_commutativity::Value;
use interloper_linearize::schema::Schema;
use interloper_scheduler::runtime::{self, Action, NewTask, Operation, TaskId};
use interloper_scheduler::{Around, Event, Execution, Pending, Strategy, panics};
use interloper_std::panic::catch_unwind;
use interloper_std::plain::{self, Handed};
use interloper_std::sync::atomic::{AtomicUsize, Ordering};

use super::control::{Asked, Mark, Marks};
use crate::object::{AnyCall, Erased, Invoked, Program};

/// Steps at a place in this file belong to the code that runs the sequences, not to calls.
pub(super) const FILE: &str = file!();

/// A program ready to run under control.
pub(super) struct ControlledProgram {
    maker: Arc<dyn Erased>,
    schema: Schema,
    calls: Vec<Invoked>,
    last: RefCell<Option<Rc<Running>>>,
    asked: Rc<Cell<usize>>,
    marks: Marks,
    interrupted: Rc<Cell<bool>>,
}

/// One execution.
struct Running {
    object: RefCell<Option<Rc<dyn Any>>>,
    sequences: Vec<Sequence>,
    /// The tasks in the order in which they were spawned.
    spawned: RefCell<Vec<TaskId>>,
    asked: Rc<Cell<usize>>,
    marks: Marks,
}

struct Sequence {
    /// The number of its first call in text order.
    first: usize,
    calls: RefCell<Vec<Box<dyn AnyCall>>>,
    results: RefCell<Vec<Option<Value>>>,
    when: RefCell<Vec<Option<Asked>>>,
    task: Cell<Option<TaskId>>,
    /// How many of the sequences before this one have not ended. It is under control, because the sequence that ends
    /// last starts this one, which depends on the order of the ends.
    waits_for: AtomicUsize,
    /// The sequences that wait for this one.
    later: Vec<usize>,
}

impl Drop for Running {
    /// The object of an execution that ended early stays as it is. Its tasks were led out of their calls, so its destructor may find a
    /// lock taken for ever, and would act in the next execution.
    fn drop(&mut self) {
        std::mem::forget(self.object.take());
    }
}

impl ControlledProgram {
    pub(super) fn new(program: &Program) -> ControlledProgram {
        let (schema, calls) = (program.schema().clone(), program.calls().to_vec());
        let maker = program.object().erased().clone();
        let (asked, marks, interrupted) = Default::default();
        ControlledProgram { maker, schema, calls, last: RefCell::new(None), asked, marks, interrupted }
    }

    fn prepared(&self) -> Rc<Running> {
        let before = self.schema.happens_before();
        let mut calls = self.maker.bind(&self.calls).into_iter();
        let firsts = self.schema.sequences().iter().scan(0, |next, sequence| {
            let first = *next;
            *next += sequence.len();
            Some(first)
        });
        let sequence = |((number, sequence), first): ((usize, &Vec<_>), usize)| Sequence {
            first,
            calls: RefCell::new(calls.by_ref().take(sequence.len()).collect()),
            results: RefCell::new(vec![None; sequence.len()]),
            when: RefCell::new(vec![None; sequence.len()]),
            task: Cell::new(None),
            waits_for: AtomicUsize::new(before.iter().filter(|pair| pair.1 == number).count()),
            later: before.iter().filter(|pair| pair.0 == number).map(|pair| pair.1).collect(),
        };
        let sequences = self.schema.sequences().iter().enumerate().zip(firsts).map(sequence).collect();
        let (object, spawned) = (RefCell::new(None), RefCell::default());
        self.marks.borrow_mut().clear();
        Rc::new(Running { object, sequences, spawned, asked: self.asked.clone(), marks: self.marks.clone() })
    }

    /// One execution: what the main task does.
    pub(super) fn main(&self) {
        let running = self.prepared();
        *self.last.borrow_mut() = Some(running.clone());
        let object = self.maker.make();
        plain::hand_over(Rc::as_ptr(&object).addr(), Handed::Object);
        *running.object.borrow_mut() = Some(object);
        for number in 0..running.sequences.len() {
            let first = self.schema.happens_before().iter().all(|pair| pair.1 != number);
            if first {
                running.spawn(number);
            }
        }
        // Tasks spawn others before they end, so there are no more when all that are known have been joined.
        let mut joined = 0;
        while let Some(task) = running.spawned(joined) {
            let ended = runtime::with(|current| current.runtime().join(task, Location::caller()));
            if let Some(Err(payload)) = ended {
                resume_unwind(payload);
            }
            joined += 1;
        }
        // The object is dropped under control, too.
        running.object.borrow_mut().take();
    }

    /// What the calls of the last execution gave.
    pub(super) fn outcome(&self) -> Vec<Value> {
        let last = self.last.borrow();
        let sequences = last.iter().flat_map(|running| &running.sequences);
        sequences.flat_map(Sequence::outcome).collect()
    }

    /// Which task ran each sequence in the last execution.
    pub(super) fn tasks(&self) -> Vec<Option<TaskId>> {
        let last = self.last.borrow();
        last.iter().flat_map(|running| &running.sequences).map(|sequence| sequence.task.get()).collect()
    }

    /// How often the strategy was asked in the current execution. The caller of the strategy counts here.
    pub(super) fn asked(&self) -> Rc<Cell<usize>> {
        self.asked.clone()
    }

    /// The beginnings and ends of calls in the current execution that no strategy knows yet. The code that tells a
    /// strategy takes them out.
    pub(super) fn marks(&self) -> Marks {
        self.marks.clone()
    }

    /// Whether a call that was to run as one step was interrupted in the current execution: see [`Whole`](super::whole::Whole).
    pub(super) fn interrupted(&self) -> &Rc<Cell<bool>> {
        &self.interrupted
    }

    /// When each call of the last execution began and ended, in text order; `None` for a call that never started.
    pub(super) fn calls(&self) -> Vec<Option<Asked>> {
        let last = self.last.borrow();
        last.iter().flat_map(|running| &running.sequences).flat_map(|sequence| sequence.when.borrow().clone()).collect()
    }
}

impl Running {
    fn spawned(&self, index: usize) -> Option<TaskId> {
        self.spawned.borrow().get(index).copied()
    }

    /// Starts the task of a sequence.
    fn spawn(self: &Rc<Self>, number: usize) {
        let running = self.clone();
        let task = NewTask { name: Some(format!("sequence {number}")), location: Location::caller() };
        let body = Box::new(move || running.sequence(number));
        let task = runtime::with(|current| current.runtime().spawn(task, body)).expect("inside of an execution");
        self.sequences[number].task.set(Some(task));
        self.spawned.borrow_mut().push(task);
    }

    /// A sequence begins a call, or ends one.
    fn mark(&self, sequence: &Sequence, place: usize, begins: bool) {
        let task = sequence.task.get().expect("a task that runs has been spawned");
        self.marks.borrow_mut().push(Mark { task, call: sequence.first + place, begins });
    }

    /// What the task of a sequence does.
    fn sequence(self: &Rc<Self>, number: usize) {
        let object = self.object.borrow().clone().expect("the object is dropped after all tasks");
        let sequence = &self.sequences[number];
        let calls = std::mem::take(&mut *sequence.calls.borrow_mut());
        for (place, mut call) in calls.into_iter().enumerate() {
            let begin = self.asked.get();
            self.mark(sequence, place, true);
            sequence.when.borrow_mut()[place] = Some(Asked { begin, end: None });
            let number = match catch_unwind(AssertUnwindSafe(|| call.call(&*object))) {
                Ok(number) => number,
                Err(payload) => call.panicked(&panics::message(&*payload)),
            };
            sequence.results.borrow_mut()[place] = Some(call.result(number));
            sequence.when.borrow_mut()[place] = Some(Asked { begin, end: Some(self.asked.get()) });
            self.mark(sequence, place, false);
        }
        drop(object);
        for &later in &sequence.later {
            if self.sequences[later].waits_for.fetch_sub(1, Ordering::SeqCst) == 1 {
                self.spawn(later);
            }
        }
    }
}

impl Sequence {
    fn outcome(&self) -> Vec<Value> {
        let mut stuck = false;
        let result = |result: &Option<Value>| match result {
            Some(result) => result.clone(),
            None if stuck || self.task.get().is_none() => unreached(),
            None => {
                stuck = true;
                blocked()
            }
        };
        self.results.borrow().iter().map(result).collect()
    }
}

/// What stands for the result of a call that never returned.
pub fn blocked() -> Value {
    Value::variant("blocked", [])
}

/// What stands for the result of a call that never started, because an earlier call never returned.
pub fn unreached() -> Value {
    Value::variant("unreached", [])
}

/// A strategy, and how often it was asked in the current execution, which tells calls where they are. The engine asks
/// it before each step that does not continue another step.
pub(super) struct Counting<S> {
    pub(super) strategy: S,
    pub(super) asked: Rc<Cell<usize>>,
    /// Whether the last execution is a sample: see [`Strategy::is_sample`].
    pub(super) sample: Rc<Cell<bool>>,
}

impl<S: Strategy> Around for Counting<S> {
    interloper_scheduler::inner_strategy!(strategy: S);

    fn around_begin(&mut self) -> bool {
        self.asked.set(0);
        self.strategy.begin()
    }

    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        self.asked.set(self.asked.get() + 1);
        self.strategy.choose(current, pending)
    }

    fn around_end(&mut self, execution: &Execution, trace: &[Event]) {
        self.sample.set(self.strategy.is_sample());
        self.strategy.end(execution, trace);
    }
}

/// Tells a strategy where calls begin and end, as if they were marked as atomic blocks.
pub(super) struct Announcing<S> {
    pub(super) strategy: S,
    pub(super) marks: Marks,
}

impl<S: Strategy> Around for Announcing<S> {
    interloper_scheduler::inner_strategy!(strategy: S);

    /// The calls of an execution that another strategy ran were told to nobody.
    fn around_begin(&mut self) -> bool {
        self.marks.take();
        self.strategy.begin()
    }

    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        for Mark { task, begins, .. } in self.marks.take() {
            let action = if begins { Action::BlockBegin(0) } else { Action::BlockEnd };
            // There is nothing to choose: the strategy only sees a step of the task.
            let operation = Operation { action, ..pending[0].operation };
            self.strategy.choose(current, &[Pending { task, operation }]);
        }
        self.strategy.choose(current, pending)
    }
}
