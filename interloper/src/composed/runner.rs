//! Runs of one method under test, one after the other, on the same collections.

use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use interloper_collections::foreign::expect;
use interloper_collections::session::{Instrumented, PartId, RunId, with_session};
use interloper_collections::stray;
use interloper_commutativity::Value;
use interloper_linearize::composed::Observed;
use interloper_scheduler::decisions::{Question, Source};
use interloper_scheduler::{Engine, OwnStack};

use crate::composed::adversary::Environment;
use crate::composed::bench::{Arguments, Bench, Instance};
use crate::composed::clock::Clock;
use crate::composed::concurrent::{self, Came};
use crate::composed::domain::flattened;
use crate::composed::method::Description;
use crate::composed::method::Settings;
use crate::composed::misuse::Misuse;
use crate::composed::parts::Split;
use crate::composed::run::{Abort, Did, Log, Places, Rules, Run, Stage, Stray};
use crate::composed::world::{CallId, Part, ResultId, StateId, World};

mod call;
mod judge;

pub(crate) use call::{STACK, make, returned_value, stack, watchdog};
use call::{given, task_of};

/// A search ends after this many calls that were lost with their stacks, whose memory stays allocated.
const MOST_LOST: u32 = 16;

/// Where a run ended and what its method returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub end: StateId,
    pub returned: ResultId,
}

/// What a run leaves behind.
pub(crate) trait Ending {
    /// The state that the collections are in.
    fn state(&self) -> StateId;
}

impl Ending for Ended {
    fn state(&self) -> StateId {
        self.end
    }
}

impl Ending for Came {
    fn state(&self) -> StateId {
        self.end
    }
}

/// A source for runs of the method alone: no environment.
pub(crate) struct Alone;

impl Source for Alone {
    fn decide(&mut self, _question: Question, _options: u32) -> u32 {
        0
    }

    fn wants(&self, _question: Question) -> bool {
        false
    }
}

pub(crate) struct Runner<'m> {
    bench: &'m dyn Bench,
    pub description: &'m Description,
    subject: &'m dyn Instance,
    pub parts: &'m [&'m dyn Instrumented],
    settings: &'m Settings,
    pub arguments: Arguments,
    /// Whether the argument is drawn anew for each run. Then each reference run runs only once, since the runs that
    /// chose the domain ran twice.
    drawn: bool,
    pub world: World,
    pub log: Log,
    pub clock: Clock,
    /// How much of its searches the check makes.
    pub split: Split,
    /// What calls run on.
    stack: OwnStack,
    /// What calls run on if the collections are as they were published; made when it is needed.
    engine: Option<Engine>,
    /// Where such collections are called.
    pub places: Option<Rc<Places>>,
    /// The subject has a lock that no call will release, or is half changed: from then on, each run has its own
    /// subject.
    spoilt: bool,
    /// How many calls were lost.
    lost: u32,
    /// What [`stray::runs`] was when it was last looked at.
    strays: u64,
    /// By method (first the method under test, then those beside it), argument and state: what it does alone.
    references: Vec<Vec<Vec<Option<Ended>>>>,
    /// What methods did when they were looked at alone, before the search: a first run of each reference.
    looked: HashMap<(usize, usize, StateId), (Ended, Vec<Did>)>,
    /// The state that the collections hold, when it is known.
    holds: Option<StateId>,
    /// The contents of the collections after their creation.
    base: Vec<Value>,
    run: RunId,
    last: Option<Ended>,
    environment: Vec<Observed<CallId, ResultId>>,
}

impl<'m> Runner<'m> {
    /// Takes over `subject`, whose collections are `parts` and which was created on `stack`.
    pub fn new(
        bench: &'m dyn Bench,
        settings: &'m Settings,
        subject: &'m dyn Instance,
        parts: &'m [&'m dyn Instrumented],
        names: &[String],
        stack: OwnStack,
    ) -> Result<Self, Misuse> {
        let arguments = Arguments::of(bench).ok_or(Misuse::NoArguments)?;
        let described = parts.iter().zip(names).map(|(part, name)| Part::new(name.clone(), part.model()));
        let world = World::new(described.collect());
        let published = is_published(parts)?;
        let run = RunId::new();
        bind(parts, run);
        Ok(Runner {
            bench,
            description: bench.description(),
            subject,
            parts,
            settings,
            arguments,
            drawn: false,
            world,
            log: Log::default(),
            clock: Clock::new(settings.time),
            split: Split::Whole,
            stack,
            engine: None,
            places: published.then(Rc::default),
            spoilt: false,
            lost: 0,
            strays: stray::runs(),
            references: Vec::new(),
            looked: HashMap::new(),
            holds: None,
            base: parts.iter().map(|part| part.snapshot()).collect(),
            run,
            last: None,
            environment: Vec::new(),
        })
    }

    /// The seed of the check.
    pub fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// What acts on the collections besides the method under test.
    pub fn environment(&self) -> Environment {
        self.settings.environment
    }

    /// Whether values of a collection can change by themselves.
    pub fn interior(&self) -> bool {
        self.places.is_some() || self.parts.iter().any(|part| part.domain().interior)
    }

    /// Forgets all numbers: random operations would fill the tables without end.
    pub fn forget(&mut self) {
        self.world.forget();
        self.references.clear();
        self.looked.clear();
        self.holds = None;
    }

    /// Calls the method with a random argument from now on; it has no reference runs yet.
    pub fn draw_argument(&mut self, bits: u64) {
        if let Some(argument) = self.bench.draw(bits) {
            self.arguments = Arguments::made(argument);
            self.drawn = true;
            self.looked.clear();
            self.references.clear();
        }
    }

    /// Whether a search has to end here: the time or the memory is used up, or too many calls were lost.
    #[inline]
    pub fn must_stop(&mut self) -> bool {
        self.clock.late() || self.lost >= MOST_LOST || self.world.is_full()
    }

    /// Whether the subject must not be touched any more, not even to drop it.
    pub fn is_spoilt(&self) -> bool {
        self.spoilt
    }

    /// Runs a method alone from `state`, for what its log shows.
    ///
    /// # Errors
    /// When the method cannot be checked, and when a limit ends the check here.
    pub fn look(&mut self, method: usize, argument: usize, state: StateId) -> Result<Ended, Misuse> {
        if self.must_stop() {
            return Err(Misuse::CutShort);
        }
        let rules = Rules::alone(self.settings, self.interior(), self.clock.deadline);
        let rules = Rules { places: self.places.clone(), ..rules };
        self.run_method(&mut Alone, method, argument, state, &rules)
    }

    /// As [`Runner::look`], before the search. What is seen is the first run of the reference, which takes one more run then.
    ///
    /// # Errors
    /// As [`Runner::look`].
    pub fn look_first(&mut self, method: usize, argument: usize, state: StateId) -> Result<Ended, Misuse> {
        let ended = self.look(method, argument, state)?;
        if self.places.is_some() && self.log.abort.is_none() && !self.log.lost {
            let did = self.log.events.iter().map(|event| event.did).collect();
            self.looked.insert((method, argument, state), (ended, did));
        }
        Ok(ended)
    }

    /// What the collections hold, one value for each.
    pub fn base(&self) -> Vec<Value> {
        self.base.clone()
    }

    /// The state that the collections hold now.
    pub fn read(&mut self) -> StateId {
        let values: Vec<Value> = self.parts.iter().map(|part| part.snapshot()).collect();
        let state = self.world.state(&values);
        self.holds = Some(state);
        state
    }

    /// One run of the method under test with `argument` from `initial`, as `source` decides.
    pub fn run(
        &mut self,
        source: &mut dyn Source,
        argument: usize,
        initial: StateId,
        rules: &Rules,
    ) -> Result<Ended, Misuse> {
        let ended = self.run_method(source, 0, argument, initial, rules)?;
        self.last = Some(ended);
        Ok(ended)
    }

    /// How the last [`Runner::run`] ended.
    pub fn last(&self) -> Ended {
        self.last.expect("a run was made")
    }

    fn run_method(
        &mut self,
        source: &mut dyn Source,
        method: usize,
        argument: usize,
        initial: StateId,
        rules: &Rules,
    ) -> Result<Ended, Misuse> {
        if self.places.is_some() {
            expect(self.arguments.values.get(argument).cloned().into_iter().flat_map(flattened));
            return self.run_published(source, (method, argument), initial, rules);
        }
        self.with_subject(initial, rules, |runner, subject, parts| {
            runner.execute(subject, parts, source, method, argument, initial, rules)
        })
    }

    /// As [`Runner::run_method`], on collections as they were published: the engine sees their steps, and they are made anew
    /// in each run.
    fn run_published(
        &mut self,
        source: &mut dyn Source,
        call: (usize, usize),
        initial: StateId,
        rules: &Rules,
    ) -> Result<Ended, Misuse> {
        self.log.clear();
        let mut engine = self.engine.take().unwrap_or_else(|| concurrent::engine(self.settings));
        let came = concurrent::one_call(self, &mut engine, source, rules, call, initial);
        self.engine = Some(engine);
        self.came(&came)?;
        let returned = given(came.outcome, &self.log);
        Ok(Ended { end: came.end, returned: self.world.result(&returned) })
    }

    /// Takes note of a run on new collections.
    ///
    /// # Errors
    /// What keeps it from saying anything about the method.
    pub fn came(&mut self, came: &Came) -> Result<(), Misuse> {
        self.lost += u32::from(self.log.lost);
        if let Some((index, value)) = &came.unfit {
            return Err(Misuse::BadState { collection: self.part_name(*index), value: value.to_string() });
        }
        self.misuse().map_or(Ok(()), Err)
    }

    /// How subjects are made.
    pub fn bench(&self) -> &'m dyn Bench {
        self.bench
    }

    /// The published collections, by their types.
    pub fn published(&self) -> String {
        let types = self.parts.iter().filter_map(|part| part.as_published());
        types.collect::<Vec<_>>().join(", ")
    }

    /// Readies a subject in the state `initial`, runs `body` on it and takes note of the state that it is left in.
    pub fn with_subject<T: Ending>(
        &mut self,
        initial: StateId,
        rules: &Rules,
        body: impl FnOnce(&mut Self, &dyn Instance, &[&dyn Instrumented]) -> T,
    ) -> Result<T, Misuse> {
        self.log.clear();
        let ended = if self.bench.reusable() && !self.spoilt {
            self.restore(self.parts, initial, self.holds)?;
            self.holds = None;
            let ended = body(self, self.subject, self.parts);
            self.spoilt = self.left_behind();
            if self.log.abort.is_none() && !rules.interior && !self.spoilt {
                self.holds = Some(ended.state());
            }
            ended
        } else {
            let subject = ManuallyDrop::new(make(self.bench, &self.stack)?);
            let parts = subject.collections();
            bind(&parts, self.run);
            self.restore(&parts, initial, None)?;
            let ended = body(self, &**subject, &parts);
            if !self.left_behind() {
                drop(parts);
                drop(ManuallyDrop::into_inner(subject));
            }
            ended
        };
        self.lost += u32::from(self.log.lost);
        self.misuse().map_or(Ok(ended), Err)
    }

    /// Whether a call of the last run left a lock that no call will release, or was lost.
    fn left_behind(&self) -> bool {
        self.log.lost || self.log.kept().is_some()
    }

    /// Why the last run says nothing about the method, if it does not.
    fn misuse(&mut self) -> Option<Misuse> {
        if self.strays != stray::runs() {
            self.strays = stray::runs();
            if let Some(place) = stray::take(self.run) {
                self.log.stray.get_or_insert(Stray::Thread(place));
            }
        }
        if let Some(stuck) = self.log.stuck.take() {
            return Some(Misuse::Stuck(stuck));
        }
        if let Some((kind, place)) = self.log.foreign {
            return Some(Misuse::ForeignCollection { kind: kind.to_owned(), place: place.to_string() });
        }
        let kept = self.log.kept().filter(|_| self.log.abort.is_none());
        match (self.log.stray, kept) {
            (Some(Stray::Thread(place)), _) => Some(Misuse::OtherThread { place: place.to_string() }),
            (Some(Stray::Waits(place)), _) => Some(Misuse::WaitsElsewhere { place: place.to_string() }),
            (Some(Stray::Unreadable), _) => Some(Misuse::StateNotReadable { collection: self.published() }),
            (Some(Stray::Interrupted(abort)), _) => {
                Some(Misuse::LostInOperation { how: abort.verdict().unwrap_or("lost call").to_owned() })
            }
            (None, Some(claim)) => Some(Misuse::GuardOutlivesCall { place: claim.location.to_string() }),
            (None, None) if self.log.abort == Some(Abort::CutShort) => Some(Misuse::CutShort),
            (None, None) => self.log.contradiction.take().map(|contradiction| Misuse::Contradiction(contradiction.0)),
        }
    }

    /// Makes the collections hold `state`; `holds` is what they hold already.
    fn restore(&self, parts: &[&dyn Instrumented], state: StateId, holds: Option<StateId>) -> Result<(), Misuse> {
        if holds == Some(state) {
            return Ok(());
        }
        let wanted = self.world.values(state);
        let held = holds.map(|holds| self.world.values(holds));
        for (index, part) in parts.iter().enumerate() {
            let restored = match held.map(|held| &held[index]) {
                Some(held) if *held == wanted[index] => Ok(()),
                Some(held) => part.restore_from(held, &wanted[index]),
                None => part.restore(&wanted[index]),
            };
            restored
                .map_err(|value| Misuse::BadState { collection: self.part_name(index), value: value.to_string() })?;
        }
        Ok(())
    }

    /// The result of a call that has not returned in the last run.
    pub fn not_returned(&mut self) -> ResultId {
        let value = given(None, &self.log);
        self.world.result(&value)
    }

    pub fn part_name(&self, index: usize) -> String {
        let part = &self.world.parts()[index];
        if part.name.is_empty() { format!("the {}", part.model.name()) } else { part.name.clone() }
    }

    #[allow(clippy::too_many_arguments)] // a run is all of these
    fn execute(
        &mut self,
        subject: &dyn Instance,
        parts: &[&dyn Instrumented],
        source: &mut dyn Source,
        method: usize,
        argument: usize,
        initial: StateId,
        rules: &Rules,
    ) -> Ended {
        let argument = self.arguments.get(argument);
        let name = task_of(method);
        let stage = Stage::Alone(&self.stack, name);
        let run = Run::new(&mut self.world, source, parts, rules, &mut self.log, initial, stage);
        let call = || subject.call(method, argument, &|| run.before_return());
        let made = with_session(&run, || {
            self.stack.run(name, self.description.place, || catch_unwind(AssertUnwindSafe(call)))
        });
        let (end, outcome) = match made {
            Ok(outcome) => (run.end(), Some(outcome)),
            Err(lost) => (run.lost(lost), None),
        };
        let returned = given(outcome, &self.log);
        Ended { end, returned: self.world.result(&returned) }
    }

    /// What a method does alone from `state`: its own specification. Computed once, twice over, so that a method that
    /// depends on anything else is noticed.
    pub fn reference(&mut self, method: usize, argument: usize, state: StateId) -> Result<Ended, Misuse> {
        if let Some(Some(known)) = self
            .references
            .get(method)
            .and_then(|by_argument| by_argument.get(argument))
            .and_then(|by_state| by_state.get(state.index()))
        {
            return Ok(*known);
        }
        self.compute_reference(method, argument, state)
    }

    #[cold]
    fn compute_reference(&mut self, method: usize, argument: usize, state: StateId) -> Result<Ended, Misuse> {
        // Keeps the log of the run that is being judged.
        let judged = std::mem::take(&mut self.log);
        let computed = self.run_alone_twice(method, argument, state);
        self.log = judged;
        let ended = computed?;
        let by_argument = at(&mut self.references, method);
        let by_state = at(by_argument, argument);
        *at(by_state, state.index()) = Some(ended);
        Ok(ended)
    }

    fn run_alone_twice(&mut self, method: usize, argument: usize, state: StateId) -> Result<Ended, Misuse> {
        // Calls at quiet places are events before the search and none during it. Without such places, both runs have the same events.
        let looked = self.looked.remove(&(method, argument, state));
        if let Some((first, did)) = looked.filter(|_| self.places.as_ref().is_some_and(|places| !places.any_quiet())) {
            let second = self.look(method, argument, state)?;
            if self.log.abort.is_none() && first == second && self.log.events.iter().map(|event| event.did).eq(did) {
                return Ok(first);
            }
        }
        let first = self.look(method, argument, state)?;
        if self.log.abort == Some(Abort::StepBound) {
            return Err(Misuse::SequentialStepBound {
                call: self.call_text(method, argument),
                state: self.world.state_text(state),
                bound: self.settings.step_bound,
            });
        }
        if self.drawn {
            return Ok(first);
        }
        let first_log = std::mem::take(&mut self.log);
        let second = self.look(method, argument, state)?;
        let same_steps =
            first_log.events.iter().map(|event| event.did).eq(self.log.events.iter().map(|event| event.did));
        if first == second && same_steps {
            return Ok(first);
        }
        Err(Misuse::Nondeterministic {
            call: self.call_text(method, argument),
            state: self.world.state_text(state),
            first: self.steps_text(&first_log, first),
            second: self.steps_text(&self.log, second),
        })
    }

    /// A call of the method as text: `memoize(7)`.
    pub fn call_text(&self, method: usize, argument: usize) -> String {
        let name = self.method_name(method);
        match &self.arguments.values[argument] {
            _ if self.description.is_call(method) => name.to_owned(),
            Value::Unit => format!("{name}()"),
            tuple @ Value::Tuple(_) => format!("{name}{tuple}"),
            other => format!("{name}({other})"),
        }
    }

    pub fn method_name(&self, method: usize) -> &str {
        self.description.method_name(method)
    }

    /// The calls of its methods: the method under test with each argument, then those beside it. What is a call already has no other.
    pub fn calls(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let arguments = self.arguments.len();
        let of = |method: usize| (method, if self.description.is_call(method) { 1 } else { arguments });
        let all: Vec<(usize, usize)> = (0..=self.description.beside.len()).map(of).collect();
        all.into_iter().flat_map(|(method, arguments)| (0..arguments).map(move |argument| (method, argument)))
    }

    fn steps_text(&self, log: &Log, ended: Ended) -> String {
        let steps = log.events.iter().filter_map(|event| match event.did {
            Did::Call(call, result) => Some(format!("{} → {}", self.world.call_text(call), self.world.value(result))),
            _ => None,
        });
        let steps: Vec<String> = steps.collect();
        let (returned, end) = (self.world.value(ended.returned), self.world.state_text(ended.end));
        format!("{returned} and {end} [{}]", steps.join("; "))
    }
}

/// Collections as they were published are never part of a run: others may use them at the same time.
fn bind(parts: &[&dyn Instrumented], run: RunId) {
    for (index, part) in (0..).zip(parts).filter(|(_, part)| part.as_published().is_none()) {
        part.handle().bind(run, PartId(index));
    }
}

/// Whether the collections of a subject are as they were published.
fn is_published(parts: &[&dyn Instrumented]) -> Result<bool, Misuse> {
    let published = parts.iter().filter(|part| part.as_published().is_some()).count();
    if published > 0 && published < parts.len() {
        return Err(Misuse::MixedSubject);
    }
    Ok(published > 0)
}

/// The element of a growing list.
fn at<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}
