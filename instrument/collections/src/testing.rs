//! A session that records what it is told and compares each effect with the model at once.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use interloper_commutativity::{Domain, Invocation, MethodId, Model, Value, invocations, states};

use interloper_std::runtime;

use crate::session::{
    Effect, Instrumented, LockId, Mode, Needs, PartId, RunId, Session, Step, with_session, without_session,
};

/// Runs in each announced step: it receives the number of the announcement, from 1, and the step, and returns whether
/// it changed a collection.
type Hook = Box<dyn FnMut(usize, &Step<'_>) -> bool>;

#[derive(Default)]
pub(crate) struct Recorder {
    parts: RefCell<Vec<Part>>,
    held: RefCell<Vec<(PartId, Needs)>>,
    log: RefCell<Vec<String>>,
    announced: Cell<usize>,
    hook: RefCell<Option<Hook>>,
    after_hook: RefCell<Option<Box<dyn FnMut()>>>,
}

struct Part {
    collection: Rc<dyn Instrumented>,
    model: Arc<dyn Model>,
    state: Value,
}

impl Recorder {
    pub(crate) fn new() -> Recorder {
        Recorder::default()
    }

    /// Makes a collection as the driver does: inside the session, then bound.
    pub(crate) fn make<C: Instrumented + 'static>(&self, make: impl FnOnce() -> C) -> Rc<C> {
        let collection = Rc::new(with_session(self, make));
        let mut parts = self.parts.borrow_mut();
        collection.handle().bind(RunId::new(), PartId(parts.len() as u32));
        parts.push(Part {
            collection: Rc::clone(&collection) as Rc<dyn Instrumented>,
            model: collection.model(),
            state: collection.snapshot(),
        });
        collection
    }

    /// Runs `hook` in every announced step.
    pub(crate) fn on_step(&self, hook: impl FnMut(usize, &Step<'_>) -> bool + 'static) {
        *self.hook.borrow_mut() = Some(Box::new(hook));
    }

    /// Runs `hook` at every effect.
    pub(crate) fn on_effect(&self, hook: impl FnMut() + 'static) {
        *self.after_hook.borrow_mut() = Some(Box::new(hook));
    }

    /// Runs the program under this session and returns its result and what was recorded since the last run. At the end
    /// all locks must be free, and the bound collections must be in the states that the effects lead to.
    pub(crate) fn run<R>(&self, program: impl FnOnce() -> R) -> (R, Vec<String>) {
        self.resynchronise();
        let result = with_session(self, program);
        assert_eq!(*self.held.borrow(), [], "locks held at the end");
        for part in self.parts.borrow().iter().filter(|part| part.collection.handle().part().is_some()) {
            assert_eq!(part.collection.snapshot(), part.state, "the state that the effects lead to");
        }
        (result, self.log.take())
    }

    /// Runs a program that waits for itself, and returns what was recorded up to there.
    pub(crate) fn run_to_deadlock(&self, program: impl FnOnce()) -> Vec<String> {
        self.resynchronise();
        match catch_unwind(AssertUnwindSafe(|| with_session(self, program))) {
            Ok(()) => panic!("no deadlock"),
            Err(payload) if runtime::is_abort(&*payload) => {}
            Err(payload) => resume_unwind(payload),
        }
        assert_eq!(*self.held.borrow(), [], "locks held at the end");
        self.log.take()
    }

    /// How many steps were announced since the beginning.
    pub(crate) fn announced(&self) -> usize {
        self.announced.get()
    }

    fn resynchronise(&self) {
        for part in self.parts.borrow_mut().iter_mut() {
            part.state = part.collection.snapshot();
        }
    }

    fn write(&self, line: String) {
        self.log.borrow_mut().push(line);
    }
}

impl Session for Recorder {
    fn before(&self, step: &Step<'_>) {
        self.announced.set(self.announced.get() + 1);
        let what = {
            let parts = self.parts.borrow();
            let call = step.method.map(|method| Invocation::new(method, step.arguments.iter().cloned()));
            call.map_or("section".to_owned(), |call| call.text(&*parts[step.part.0 as usize].model))
        };
        self.write(format!("? {what} {}", lock_text(step.needs)));
        if self.held.borrow().iter().any(|(part, held)| *part == step.part && conflict(*held, step.needs)) {
            runtime::unwind();
        }
        if let Some(hook) = &mut *self.hook.borrow_mut()
            && without_session(|| hook(self.announced.get(), step))
        {
            self.resynchronise();
        }
    }

    fn after(&self, part: PartId, effect: Effect<'_>, location: &'static Location<'static>) {
        assert!(!location.file().ends_with("iter/traits/iterator.rs"), "a location in the program: {location}");
        let mut parts = self.parts.borrow_mut();
        let Part { model, state, .. } = &mut parts[part.0 as usize];
        match effect {
            Effect::Call { method, arguments, result } => {
                let call = Invocation::new(method, arguments.iter().cloned());
                let expected = model.apply(state, &call);
                self.write(format!("{} -> {result}", call.text(&**model)));
                assert_eq!(*result, expected, "the model's result of {}", call.text(&**model));
            }
            Effect::Section { state: new } => {
                self.write(format!("section -> {new}"));
                *state = new.clone();
            }
        }
        if let Some(hook) = &mut *self.after_hook.borrow_mut() {
            hook();
        }
    }

    fn hold(&self, part: PartId, needs: Needs, _location: &'static Location<'static>) {
        self.write(format!("hold {}", lock_text(needs)));
        self.held.borrow_mut().push((part, needs));
    }

    fn release(&self, part: PartId, needs: Needs) {
        self.write(format!("free {}", lock_text(needs)));
        let mut held = self.held.borrow_mut();
        let index = held.iter().position(|one| *one == (part, needs)).expect("released without being held");
        held.remove(index);
    }

    fn pause(&self, what: &'static str, _location: &'static Location<'static>) {
        self.announced.set(self.announced.get() + 1);
        self.write(format!("pause {what}"));
    }

    fn stalled(&self, what: &'static str, _location: &'static Location<'static>) {
        self.write(format!("stalled {what}"));
        runtime::unwind();
    }

    fn progressed(&self) {
        self.write("progressed".to_owned());
    }

    fn mark(&self) {
        self.write("mark".to_owned());
    }
}

/// Two keys and two values.
pub(crate) fn small_domain() -> Domain {
    let two = vec![Value::Int(1), Value::Int(2)];
    Domain { keys: two.clone(), values: two.clone(), amounts: two }
}

/// Compares the environment operations of `collection` with its model: every method except those in `without`, in every
/// state with up to two elements over the small domain. Returns the number of comparisons.
pub(crate) fn check_environment(collection: &dyn Instrumented, without: &[MethodId]) -> usize {
    let model = collection.model();
    let states = states(&*model, &small_domain(), 2);
    let mut compared = 0;
    for state in &states {
        for call in invocations(&*model, |_| true, &small_domain()) {
            collection.restore(state).expect("a state over the domain");
            assert_eq!(collection.snapshot(), *state, "a restored state");
            let text = call.text(&*model);
            if without.contains(&call.method) {
                assert!(collection.apply(&call).is_err(), "{text}");
                continue;
            }
            let mut expected_state = state.clone();
            let expected = model.apply(&mut expected_state, &call);
            let outcome = collection.apply(&call).unwrap_or_else(|part| panic!("{text}: {part}"));
            assert_eq!((outcome.now, collection.snapshot()), (expected, expected_state), "{text} in {state}");
            assert!(outcome.later.is_none());
            compared += 1;
        }
    }
    for from in &states {
        for to in &states {
            collection.restore(from).expect("a state over the domain");
            collection.restore_from(from, to).expect("a state over the domain");
            assert_eq!(collection.snapshot(), *to, "from {from}");
        }
    }
    compared
}

/// Drops a value that the test does not need.
pub(crate) fn done<T>(_: T) {}

fn lock_text(needs: Needs) -> String {
    let letter = |mode| if mode == Mode::Shared { "r" } else { "w" };
    match needs {
        Needs::Nothing => "-".to_owned(),
        Needs::One(_, mode) => letter(mode).to_owned(),
        Needs::All(mode) => format!("all {}", letter(mode)),
    }
}

fn conflict(held: Needs, wanted: Needs) -> bool {
    let locks = |needs| match needs {
        Needs::Nothing => None,
        Needs::One(lock, mode) => Some((Some(lock), mode)),
        Needs::All(mode) => Some((None::<LockId>, mode)),
    };
    let (Some((one, mode)), Some((other, other_mode))) = (locks(held), locks(wanted)) else { return false };
    let meet = one.is_none() || other.is_none() || one == other;
    meet && (mode == Mode::Exclusive || other_mode == Mode::Exclusive)
}
