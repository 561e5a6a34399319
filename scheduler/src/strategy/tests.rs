//! A strategy around another one passes on all calls that it does not replace.

use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;

use interloper_std::runtime::{Action, ObjectId};

use super::*;
use crate::strategies::{FirstRun, Portfolio};
use crate::{Config, Engine, Event, Execution, Freedom};

/// Writes down what it is asked and told, and answers unlike the defaults of [`Strategy`].
#[derive(Clone, Default)]
struct Listener(Rc<RefCell<Vec<&'static str>>>);

struct Nothing;

impl Stores for Nothing {
    fn step(&self, _: u32) -> u64 {
        0
    }

    fn latest(&self, _: TaskId) -> u64 {
        0
    }

    fn is_passed(&self, _: u32, _: TaskId) -> bool {
        false
    }
}

impl Listener {
    fn hears(&self, what: &'static str) {
        self.0.borrow_mut().push(what);
    }
}

// A method that is missing here would not be tested.
#[deny(clippy::missing_trait_methods)]
impl Strategy for Listener {
    fn begin(&mut self) -> bool {
        self.hears("begin");
        false
    }

    fn choose(&mut self, _: Option<TaskId>, pending: &[Pending]) -> usize {
        self.hears("choose");
        pending.len() - 1
    }

    fn decide(&mut self, _: Question, options: u32) -> u32 {
        self.hears("decide");
        options - 1
    }

    fn pick(&mut self, options: u32) -> u32 {
        self.hears("pick");
        options - 1
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        self.hears("freedoms");
        admitted.with(Freedom::Time, 7)
    }

    fn departs(&mut self, _: Freedom) -> bool {
        self.hears("departs");
        true
    }

    fn place(&mut self, options: u32, _: &dyn Stores) -> u32 {
        self.hears("place");
        options - 1
    }

    fn wants_marks(&self) -> bool {
        self.hears("wants_marks");
        false
    }

    fn wants_parts(&self) -> bool {
        self.hears("wants_parts");
        true
    }

    fn part(&mut self, _: TaskId, _: Operation) {
        self.hears("part");
    }

    fn only_read(&mut self, _: TaskId, _: Operation) {
        self.hears("only_read");
    }

    fn wants_local_states(&self) -> bool {
        self.hears("wants_local_states");
        true
    }

    fn wants_local_state_at(&mut self, _: TaskId, _: Place) -> bool {
        self.hears("wants_local_state_at");
        false
    }

    fn local_state(&mut self, _: TaskId, _: u64) {
        self.hears("local_state");
    }

    fn hint(&mut self, _: TaskId, _: Place, _: bool) -> Hint {
        self.hears("hint");
        Hint::Wait
    }

    fn discards(&self) -> bool {
        self.hears("discards");
        true
    }

    fn is_idle(&self) -> bool {
        self.hears("is_idle");
        true
    }

    fn is_sample(&self) -> bool {
        self.hears("is_sample");
        false
    }

    fn watch(&mut self, _: &[Event]) {
        self.hears("watch");
    }

    /// A portfolio asks, whoever asks the portfolio, so this is not written down.
    fn novelty(&self) -> Option<Novelty> {
        Some(Novelty::Set)
    }

    fn end(&mut self, _: &Execution, _: &[Event]) {
        self.hears("end");
    }

    fn saved(&self) -> Option<Vec<u64>> {
        self.hears("saved");
        Some(vec![3])
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        self.hears("restore");
        saved == [3]
    }
}

/// Replaces no call.
struct Plain<S>(S);

impl<S: Strategy> Around for Plain<S> {
    crate::inner_strategy!(0: S);
}

/// What [`everything`] calls, in this order.
const ALL: [&str; 20] = [
    "begin",
    "choose",
    "decide",
    "pick",
    "freedoms",
    "departs",
    "place",
    "wants_marks",
    "wants_parts",
    "wants_local_states",
    "wants_local_state_at",
    "local_state",
    "part",
    "only_read",
    "hint",
    "discards",
    "is_idle",
    "is_sample",
    "watch",
    "end",
];

/// Asks and tells a strategy everything, and gives what it answered.
fn everything(strategy: &mut dyn Strategy) -> (bool, usize, [u32; 4], [bool; 5]) {
    let operation =
        Operation { object: ObjectId::from_index(0), action: Action::ReadWrite, location: Location::caller() };
    let pending = [0, 1, 2].map(|task| Pending { task: TaskId(task), operation });
    let begun = strategy.begin();
    let chosen = strategy.choose(None, &pending);
    let decided = strategy.decide(Question::Other, 6);
    let picked = strategy.pick(5);
    let early = strategy.freedoms(Freedoms::NONE).count(Freedom::Time);
    let departs = strategy.departs(Freedom::Weak);
    let place = strategy.place(9, &Nothing);
    let wants = [strategy.wants_marks(), strategy.wants_parts()];
    assert!(strategy.wants_local_states() && !strategy.wants_local_state_at(TaskId(0), operation.location));
    strategy.local_state(TaskId(0), 5);
    strategy.part(TaskId(0), operation);
    strategy.only_read(TaskId(0), operation);
    assert!(strategy.hint(TaskId(0), operation.location, false) == Hint::Wait && strategy.discards());
    let answers = [departs, wants[0], wants[1], strategy.is_idle(), strategy.is_sample()];
    strategy.watch(&[]);
    assert_eq!(strategy.novelty(), Some(Novelty::Set));
    let execution = Engine::new(Config::default()).run(&mut FirstRun, || {});
    strategy.end(&execution, &[]);
    (begun, chosen, [decided, picked, early, place], answers)
}

#[test]
fn everything_is_handed_on_and_every_answer_comes_back() {
    let check = |listener: &Listener, around: &mut dyn Strategy| {
        listener.0.borrow_mut().clear();
        assert_eq!(everything(around), (false, 2, [5, 4, 7, 8], [true, false, true, true, false]));
        assert_eq!(*listener.0.borrow(), ALL);
    };
    let listener = Listener::default();
    let inner = || listener.clone();
    check(&listener, &mut inner());
    check(&listener, &mut Plain(&mut inner()));
    check(&listener, &mut Box::new(inner()));
    check(&listener, &mut Plain(Box::new(inner()) as Box<dyn Strategy>));
    check(&listener, &mut Portfolio::new().with("only", inner()));
}

/// Who replaces the calls answers for itself; a portfolio keeps what it knows beside what its members keep.
#[test]
fn what_is_kept_is_handed_on() {
    let listener = Listener::default();
    let check = |around: &mut dyn Strategy, is_kept: bool| {
        listener.0.borrow_mut().clear();
        assert_eq!(around.saved(), is_kept.then(|| vec![3]));
        assert_eq!((around.restore(&[3]), around.restore(&[4])), (is_kept, false));
        let heard = ["saved", "restore", "restore"];
        assert_eq!(*listener.0.borrow(), heard[..if is_kept { 3 } else { 0 }]);
    };
    check(&mut listener.clone(), true);
    check(&mut Plain(&mut listener.clone()), true);
    check(&mut Plain(Box::new(listener.clone()) as Box<dyn Strategy>), true);
    check(&mut Taking(listener.clone()), false);
    listener.0.borrow_mut().clear();
    let portfolio = || Portfolio::new().with("only", listener.clone());
    let saved = portfolio().saved().expect("its member is saved");
    assert_eq!(saved.last(), Some(&3));
    assert!(portfolio().restore(&saved));
    let other = [&saved[..saved.len() - 1], &[4]].concat();
    assert!(!portfolio().restore(&other), "its member refuses");
    assert!(!portfolio().with("another", listener.clone()).restore(&saved), "another number of members");
    assert_eq!(*listener.0.borrow(), ["saved", "restore", "restore"]);
    assert_eq!(portfolio().with("mute", Taking(listener.clone())).saved(), None, "a member that cannot be saved");
}

/// Replaces each call that can be replaced.
struct Taking(Listener);

impl Around for Taking {
    crate::inner_strategy!(0: Listener);

    fn around_begin(&mut self) -> bool {
        true
    }

    fn around_choose(&mut self, _: Option<TaskId>, _: &[Pending]) -> usize {
        1
    }

    fn around_freedoms(&mut self, _: Freedoms) -> Freedoms {
        Freedoms::NONE
    }

    fn around_departs(&mut self, _: Freedom) -> bool {
        false
    }

    fn around_end(&mut self, _: &Execution, _: &[Event]) {}

    fn around_saved(&self) -> Option<Vec<u64>> {
        None
    }

    fn around_restore(&mut self, _: &[u64]) -> bool {
        false
    }
}

#[test]
fn what_is_taken_is_not_handed_on() {
    let mut taking = Taking(Listener::default());
    let heard = taking.0.clone();
    assert_eq!(everything(&mut taking), (true, 1, [5, 4, 0, 8], [false, false, true, true, false]));
    let taken = ["begin", "choose", "freedoms", "departs", "end"];
    let others: Vec<&str> = ALL.into_iter().filter(|call| !taken.contains(call)).collect();
    assert_eq!(*heard.0.borrow(), others);
}
