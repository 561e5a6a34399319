//! The invocations of a program on one thread.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, Location};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use interloper_commutativity::Value;
use interloper_linearize::program::Behaviour;
use interloper_scheduler::panics::{self, Panicked};
use interloper_scheduler::runtime::{self, Exit, TaskId};
use interloper_scheduler::strategies::FirstRun;
use interloper_scheduler::{Config, End, Engine, Executions, Lost, OwnStack, Stopped};
use interloper_std::panic::catch_unwind;
use interloper_std::time::real_uses;

use super::{AnyCall, Erased, Invoked, MethodId};
use crate::systematic::{Limits, blocked, unreached};

/// The sequential behaviour of an object, as far as one program can show it: its invocations run on one thread, on a
/// fresh object, in any order.
///
/// The state of the object itself is not read. A state stands for the invocations that led to it, without those that
/// only read. No invocation runs from the same state twice. Each run repeats the invocations that led to its state, and
/// must see the same results as before.
///
/// Under control (see `Waits`) a call that cannot return from a state gives `blocked`, as in an execution: no order goes on after it.
/// The only calls left are those that block there, too, and those that come after a blocked one and are `unreached`. Any other call
/// would have returned before the program stood still, and gives `late`.
pub struct Sequential {
    calls: Calls,
    reads: Vec<bool>,
    /// For each invocation those that happen before it.
    before: Vec<Vec<usize>>,
    under_control: bool,
    nodes: Vec<Node>,
    /// The states in which calls are blocked: by the state before them, and the calls that never return.
    stuck: BTreeMap<(u32, BTreeSet<usize>), State>,
    /// The invocations that blocked from some state, and those that returned from some state.
    blocked: BTreeSet<usize>,
    returned: BTreeSet<usize>,
    trouble: Option<Trouble>,
    pulse: Arc<Pulse>,
}

/// Where a sequential run is, for a watch on another thread.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: AtomicU64,
    /// Set when the results are no longer needed.
    stopped: AtomicBool,
}

impl Pulse {
    const NOWHERE: u64 = 0xFFFF;

    /// The call with this index in text order begins; `None`: the last call has ended.
    fn beat(&self, call: Option<usize>) {
        let count = (self.beats.load(Ordering::Relaxed) >> 16) + 1;
        self.beats.store(count << 16 | call.map_or(Pulse::NOWHERE, |index| index as u64), Ordering::Relaxed);
    }

    /// The run is to end before its next call.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// A number that changes at each beat, and the call under way.
    pub(crate) fn read(&self) -> (u64, Option<usize>) {
        let pulse = self.beats.load(Ordering::Relaxed);
        let call = pulse & 0xFFFF;
        (pulse, (pulse != 0 && call != Pulse::NOWHERE).then_some(call as usize))
    }
}

/// A state of [`Sequential`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(u32);

struct Node {
    /// The invocations that led here, and what they gave.
    path: Vec<usize>,
    results: Vec<Value>,
    /// For each invocation the next state and the result, once they are known.
    next: Vec<Option<(State, Value)>>,
    /// Where calls are blocked: the state in which they are, and these calls.
    stuck: Option<(State, BTreeSet<usize>)>,
}

/// What stands for the result of a call that comes after a blocked call although it would not block: it belongs before that call,
/// so no outcome has this result.
pub(crate) fn late() -> Value {
    Value::variant("late", [])
}

/// Why an object has no sequential behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The object cannot be created or dropped: the message of the panic.
    NoObject(String),
    /// A call that ran alone used up its stack, or would have ended the process.
    Lost {
        /// The invocation, as its index in text order; `None` for making or dropping the object.
        call: Option<usize>,
        /// What happened: `stack overflow`.
        how: String,
    },
    /// The same invocations gave other results the second time.
    Varies {
        /// The invocations, as indices in text order, in the order in which they were run.
        order: Vec<usize>,
        /// Which invocation, as an index into `order`, gave another result.
        place: usize,
        /// What it gave first.
        first: Value,
        /// What it gave then.
        then: Value,
    },
}

impl Sequential {
    pub(super) fn new(calls: Calls, reads: Vec<bool>, before: Vec<Vec<usize>>, under_control: bool) -> Sequential {
        let root = Node { path: vec![], results: vec![], next: vec![None; reads.len()], stuck: None };
        Sequential {
            calls,
            reads,
            before,
            under_control,
            nodes: vec![root],
            stuck: BTreeMap::new(),
            blocked: BTreeSet::new(),
            returned: BTreeSet::new(),
            trouble: None,
            pulse: Arc::default(),
        }
    }

    /// The first invocation that blocked from a state so far.
    pub(crate) fn blocks(&self) -> Option<usize> {
        self.blocked.first().copied()
    }

    /// The pairs of invocations that block beside each other in some state: neither comes after the other in its sequence.
    pub(crate) fn blocked_together(&self) -> impl Iterator<Item = (usize, usize)> {
        self.stuck.keys().flat_map(|(_, calls)| {
            let is_behind = |call: &usize| self.before[*call].iter().any(|before| calls.contains(before));
            let blocked: Vec<usize> = calls.iter().copied().filter(|call| !is_behind(call)).collect();
            let pairs = (0..blocked.len()).flat_map(|one| (one + 1..blocked.len()).map(move |other| (one, other)));
            pairs.map(|(one, other)| (blocked[one], blocked[other])).collect::<Vec<_>>()
        })
    }

    /// The first invocation that blocked from every state so far.
    pub(crate) fn never_returns(&self) -> Option<usize> {
        self.blocked.difference(&self.returned).next().copied()
    }

    /// Whether calls run under control, be it since one of them has used the clock.
    pub(crate) fn is_under_control(&self) -> bool {
        self.under_control
    }

    /// Where it is.
    pub(crate) fn pulse(&self) -> Arc<Pulse> {
        self.pulse.clone()
    }

    /// What went wrong, if anything did. Results are meaningless then.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// Runs the invocations in this order, including those that only read, and compares the results with the known
    /// ones. This also finds a method that changes the object although its description says that it only reads.
    pub fn confirm(&mut self, order: &[usize]) {
        let (mut state, mut expected) = (self.initial(), Vec::new());
        for &invocation in order {
            let (next, result) = self.apply(&state, invocation);
            state = next;
            expected.push(result);
        }
        if self.trouble.is_none()
            && let Some(results) = self.run(order)
        {
            self.compare(order, &expected, &results);
        }
    }

    /// The invocations that led to a state, without those that only read.
    pub fn path(&self, state: State) -> &[usize] {
        &self.nodes[state.0 as usize].path
    }

    fn run(&mut self, order: &[usize]) -> Option<Vec<Value>> {
        let uses = real_uses();
        let mut ran = match self.under_control {
            true => self.calls.run_under_control(order, &self.pulse),
            false => self.calls.run(order, &self.pulse),
        };
        // What comes of the real clock depends on the machine, and a sleep by it takes its time. The orders before this one have not
        // used it.
        if real_uses() != uses {
            self.under_control = true;
            ran = self.calls.run_under_control(order, &self.pulse);
        }
        match ran {
            Ok(results) => Some(results),
            Err(trouble) => {
                self.trouble.get_or_insert(trouble);
                None
            }
        }
    }

    /// The state in which these calls are blocked and no other call can return.
    fn stuck(&mut self, at: State, calls: BTreeSet<usize>) -> State {
        let key = (at.0, calls);
        if let Some(known) = self.stuck.get(&key) {
            return *known;
        }
        let Node { path, results, next, .. } = &self.nodes[at.0 as usize];
        let (path, results, next) = (path.clone(), results.clone(), vec![None; next.len()]);
        self.nodes.push(Node { path, results, next, stuck: Some((at, key.1.clone())) });
        let state = State(self.nodes.len() as u32 - 1);
        self.stuck.insert(key, state);
        state
    }

    /// An invocation after those that are blocked.
    fn apply_stuck(&mut self, (at, mut calls): (State, BTreeSet<usize>), invocation: usize) -> (State, Value) {
        let is_behind = self.before[invocation].iter().any(|before| calls.contains(before));
        let result = if is_behind { unreached() } else { self.apply(&at, invocation).1 };
        if !is_behind && result != blocked() {
            return (self.stuck(at, calls), late());
        }
        calls.insert(invocation);
        (self.stuck(at, calls), result)
    }

    fn compare(&mut self, order: &[usize], expected: &[Value], results: &[Value]) {
        if let Some(place) = expected.iter().zip(results).position(|(expected, result)| expected != result) {
            let (first, then) = (expected[place].clone(), results[place].clone());
            self.trouble.get_or_insert(Trouble::Varies { order: order[..=place].to_vec(), place, first, then });
        }
    }
}

impl Behaviour for Sequential {
    type State = State;

    fn initial(&mut self) -> State {
        State(0)
    }

    fn apply(&mut self, state: &State, invocation: usize) -> (State, Value) {
        if self.pulse.stopped.load(Ordering::Relaxed) {
            // The results are no longer needed, and this thread has nothing else to do.
            runtime::unwind();
        }
        let at = state.0 as usize;
        if let Some(known) = &self.nodes[at].next[invocation] {
            return known.clone();
        }
        if let Some(stuck) = self.nodes[at].stuck.clone() {
            let found = self.apply_stuck(stuck, invocation);
            self.nodes[at].next[invocation] = Some(found.clone());
            return found;
        }
        let mut path = self.nodes[at].path.clone();
        path.push(invocation);
        let Some(results) = self.run(&path) else { return (*state, Value::None) };
        let before = self.nodes[at].results.clone();
        self.compare(&path, &before, &results);
        let result = results.last().cloned().unwrap_or_default();
        let blocks = self.under_control && result == blocked();
        if blocks {
            self.blocked.insert(invocation)
        } else {
            self.returned.insert(invocation)
        };
        let next = if blocks {
            self.stuck(*state, BTreeSet::from([invocation]))
        } else if self.reads[invocation] {
            *state
        } else {
            self.nodes.push(Node { path, results, next: vec![None; self.reads.len()], stuck: None });
            State(self.nodes.len() as u32 - 1)
        };
        self.nodes[at].next[invocation] = Some((next, result.clone()));
        (next, result)
    }
}

impl fmt::Debug for Sequential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Sequential({} states)", self.nodes.len())
    }
}

/// The calls of a program, on objects of a type that is not known.
pub(crate) struct Calls {
    object: Arc<dyn Erased>,
    calls: Vec<Box<dyn AnyCall>>,
}

impl Calls {
    pub(super) fn new(object: &Arc<dyn Erased>, calls: &[Invoked]) -> Calls {
        Calls { object: object.clone(), calls: object.bind(calls) }
    }

    /// Runs these calls, in this order, on a fresh object, and returns their results.
    ///
    /// # Errors
    /// When the object cannot be created, or a call was lost.
    fn run(&mut self, order: &[usize], pulse: &Pulse) -> Result<Vec<Value>, Trouble> {
        let message = |panicked: Panicked| panicked.message;
        let run = || {
            let object = panics::caught(|| self.object.make()).map_err(message)?;
            let mut results = Vec::with_capacity(order.len());
            for &index in order {
                let call = &mut self.calls[index];
                pulse.beat(Some(index));
                let number =
                    panics::caught(|| call.call(&*object)).unwrap_or_else(|panicked| call.panicked(&panicked.message));
                pulse.beat(None);
                results.push(call.result(number));
            }
            panics::caught(move || drop(object)).map_err(message)?;
            Ok(results)
        };
        match contained(run) {
            Ok(results) => results.map_err(Trouble::NoObject),
            Err(lost) => Err(Trouble::Lost { call: pulse.read().1, how: lost.to_string() }),
        }
    }

    /// The same as the only task of an execution, which sees at once that a call waits for something that no call is going to do.
    /// The last result is [`blocked`] then, and the calls after it have none.
    ///
    /// # Errors
    /// As [`Calls::run`].
    fn run_under_control(&mut self, order: &[usize], pulse: &Pulse) -> Result<Vec<Value>, Trouble> {
        let results = RefCell::new(Vec::with_capacity(order.len()));
        let made = || {
            // An object that a call never came back from stays as it is: its destructor may wait for the same.
            let object = ManuallyDrop::new(self.object.make());
            for &index in order {
                let call = &mut self.calls[index];
                pulse.beat(Some(index));
                let number = match catch_unwind(AssertUnwindSafe(|| call.call(&**object))) {
                    Ok(number) => number,
                    Err(payload) => call.panicked(&panics::message(&*payload)),
                };
                pulse.beat(None);
                results.borrow_mut().push(call.result(number));
            }
            drop(ManuallyDrop::into_inner(object));
        };
        let explored = CONTROLLED.with_borrow_mut(|engine| {
            engine.explore(&mut FirstRun, Executions::AtMost(1), made, |_, execution| ControlFlow::Break(execution.end))
        });
        let call = pulse.read().1;
        pulse.beat(None);
        let Stopped::Broken(end) = explored.stopped else { unreachable!("a first run has no end") };
        let mut results = results.into_inner();
        let lost = |how: String| Err(Trouble::Lost { call, how });
        match end {
            End::Finished | End::Leaked(_) => Ok(results),
            // Outcomes say nothing of how the object is dropped.
            End::Deadlock(_) | End::Livelock(_) if results.len() == order.len() => Ok(results),
            End::Deadlock(_) | End::Livelock(_) if call.is_some() => {
                results.push(blocked());
                Ok(results)
            }
            End::Panicked(report) => Err(Trouble::NoObject(report.message)),
            End::Aborted(report) => lost(format!("a panic that cannot unwind: {}", report.message)),
            End::StackOverflow { .. } => lost("stack overflow".to_owned()),
            End::Crashed { crash, .. } => lost(crash.to_string()),
            End::Exited { exit: Exit::Code(_), .. } => lost("exit of the process".to_owned()),
            End::Exited { exit: Exit::Abort, .. } => lost("abort of the process".to_owned()),
            End::StepBound(_) => lost("it has no end within the bound on the steps".to_owned()),
            other => lost(other.to_string()),
        }
    }
}

thread_local! {
    /// The watch of [`judged`](crate::judged) looks after steps that do not end.
    static CONTROLLED: RefCell<Engine> = RefCell::new(Engine::new(Config {
        stack_size: STACK,
        step_bound: Limits::default().step_bound,
        livelock_rounds: Limits::default().livelock_rounds,
        ..Config::default()
    }));
}

/// How the calls of an object run in a sequential order. They run as they are, which is fast, until one of them does not return in time.
/// From then on they run under control, where a call that waits is known to wait, at once and on a machine of any speed.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    under_control: AtomicBool,
    /// The methods whose calls did not return in time under control either: they wait for something that nobody sees.
    outside: Mutex<BTreeSet<MethodId>>,
}

impl Waits {
    pub(crate) fn is_under_control(&self) -> bool {
        self.under_control.load(Ordering::SeqCst)
    }

    /// From now on, calls run under control. Says whether they did before.
    pub(crate) fn take_control(&self) -> bool {
        self.under_control.swap(true, Ordering::SeqCst)
    }

    /// A call of this method did not return under control.
    pub(crate) fn is_outside(&self, method: MethodId) {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner).insert(method);
    }

    /// The first of the calls whose method waits for something that nobody sees.
    pub(crate) fn first_outside(&self, calls: &[Invoked]) -> Option<usize> {
        let outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().position(|(method, _)| outside.contains(method))
    }
}

/// How much stack a call that runs alone has, in bytes: as much as the main thread of a process.
const STACK: usize = 8 << 20;

thread_local! {
    static CONTAINED: OwnStack = OwnStack::new(STACK, None);
}

/// Runs `body`, whose panics are not printed, on a stack of its own.
///
/// # Errors How `body` left the stack, if it used up the stack or would have ended the process. What it was changing
/// stays half changed.
fn contained<R>(body: impl FnOnce() -> R) -> Result<R, Lost> {
    CONTAINED.with(|stack| stack.run(TaskId::MAIN, Location::caller(), body))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use interloper_linearize::schema::Schema;

    use super::*;
    use crate::object::{Object, panicked};

    fn sequential(object: &Object, schema: &str) -> Sequential {
        object.program(&Schema::parse(schema).expect("a schema")).expect("a schema of the object").sequential()
    }

    /// Runs invocations one after the other, from a fresh object.
    fn results(sequential: &mut Sequential, order: &[usize]) -> Vec<Value> {
        let mut state = sequential.initial();
        let step = |&invocation: &usize| {
            let (next, result) = sequential.apply(&state, invocation);
            state = next;
            result
        };
        order.iter().map(step).collect()
    }

    fn stack() -> Object {
        Object::describe("stack", || Mutex::new(Vec::new()))
            .core("push", |stack, (item,): (i64,)| stack.lock().unwrap().push(item))
            .core("pop", |stack, ()| stack.lock().unwrap().pop())
            .core("top", |stack, ()| {
                let top = stack.lock().unwrap().last().copied();
                top.expect("something on the stack")
            })
            .reads()
            .build()
    }

    #[test]
    fn invocations_run_in_any_order_on_fresh_objects() {
        let mut sequential = sequential(&stack(), "{ push(3); top() } || { push(4); pop() }");
        let int = Value::Int;
        assert_eq!(results(&mut sequential, &[0, 1, 2, 3]), [Value::Unit, int(3), Value::Unit, int(4)]);
        assert_eq!(results(&mut sequential, &[2, 0, 1, 3]), [Value::Unit, Value::Unit, int(3), int(3)]);
        assert_eq!(results(&mut sequential, &[3]), [Value::None]);
        assert_eq!(results(&mut sequential, &[1]), [panicked("something on the stack")]);
        assert_eq!(sequential.trouble(), None);
    }

    /// The clock of the orders is that of executions: it goes on by sleeps alone, and those take no time.
    #[test]
    fn calls_that_use_the_clock_run_under_control() {
        use interloper_std::thread::sleep;
        use interloper_std::time::{Duration, Instant};
        let object = Object::describe("watch", Instant::now)
            .core("sleep", |_, (seconds,): (i64,)| sleep(Duration::from_secs(seconds as u64)))
            .core("look", |start, ()| start.elapsed().as_nanos() as i64)
            .reads()
            .build();
        let mut sequential = sequential(&object, "{ sleep(1); look() } || { sleep(100000); look() }");
        assert!(!sequential.is_under_control());
        let begin = std::time::Instant::now();
        let seconds = |seconds: i64| Value::Int(seconds * 1_000_000_000);
        assert_eq!(
            results(&mut sequential, &[1, 0, 1, 2, 3]),
            [seconds(0), Value::Unit, seconds(1), Value::Unit, seconds(100_001)]
        );
        assert!(sequential.is_under_control() && sequential.trouble().is_none());
        assert!(begin.elapsed() < std::time::Duration::from_secs(1_000));
        sequential.confirm(&[0, 1, 2, 3]);
        assert_eq!(sequential.trouble(), None);
    }

    #[test]
    fn methods_that_read_lead_nowhere() {
        let mut sequential = sequential(&stack(), "{ push(3); top() } || { push(4); pop() }");
        results(&mut sequential, &[0, 1, 2, 1, 3]);
        results(&mut sequential, &[0, 2, 1, 1, 3]);
        // Fresh, after 0, after 0 2, after 0 2 3.
        assert_eq!(format!("{sequential:?}"), "Sequential(4 states)");
    }

    #[test]
    fn an_object_that_varies_is_found() {
        let calls = AtomicI64::new(0);
        let object = Object::describe("lottery", || ())
            .core("draw", move |(), ()| calls.fetch_add(1, Ordering::Relaxed))
            .build();
        let mut sequential = sequential(&object, "{ draw() } || { draw() }");
        results(&mut sequential, &[0, 1]);
        let varies = Trouble::Varies { order: vec![0], place: 0, first: Value::Int(0), then: Value::Int(1) };
        assert_eq!(sequential.trouble(), Some(&varies));
    }

    #[test]
    fn a_method_that_only_claims_to_read_is_found() {
        let object = Object::describe("counter", || AtomicI64::new(0))
            .core("next", |counter, ()| counter.fetch_add(1, Ordering::Relaxed))
            .reads()
            .build();
        let mut sequential = sequential(&object, "{ next(); next() }");
        assert_eq!(results(&mut sequential, &[0, 1]), [Value::Int(0), Value::Int(0)]);
        assert_eq!(sequential.trouble(), None);
        sequential.confirm(&[0, 1]);
        let varies = Trouble::Varies { order: vec![0, 1], place: 1, first: Value::Int(0), then: Value::Int(1) };
        assert_eq!(sequential.trouble(), Some(&varies));
    }

    #[test]
    fn a_constructor_that_panics_is_named() {
        let object = Object::describe("none", || -> () { panic!("out of order") }).core("call", |(), ()| ()).build();
        let mut sequential = sequential(&object, "{ call() }");
        results(&mut sequential, &[0]);
        assert_eq!(sequential.trouble(), Some(&Trouble::NoObject("out of order".to_owned())));
    }
}
