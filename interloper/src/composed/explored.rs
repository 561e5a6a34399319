//! A violating run as its page shows it: what each step acts on, which steps depend on each other, and which decision mattered.

use std::time::Duration;

use interloper_report::Counterexample;
use interloper_report::explorer::{Choices, Exploration, Point, Swap, Texts};
use interloper_scheduler::choices::{Budget, Choice, Plan};
use interloper_scheduler::decisions::{Decision, Decisions, Question, RandomSource, Source};

use crate::composed::misuse::Misuse;
use crate::composed::run::{Abort, Did, Event, Rules};
use crate::composed::runner::Runner;
use crate::composed::world::{StateId, World};

use super::check::{Made, make_run};

/// A program that can be rerun under any decisions.
pub(crate) trait Again<'m> {
    /// What it runs on.
    fn runner(&mut self) -> &mut Runner<'m>;

    /// Runs the program once, as `source` decides. Returns the state in which it began, and whether no order explains it.
    fn again(&mut self, source: &mut dyn Source) -> Result<(StateId, bool), Misuse>;

    /// Whether runs are described from now on.
    fn describes(&mut self, describes: bool);

    /// Whether there are several calls.
    fn is_several(&self) -> bool;
}

/// Runs of one call with the environment.
pub(crate) struct OneCall<'a, 'm> {
    pub(crate) runner: &'a mut Runner<'m>,
    pub(crate) rules: Rules,
    pub(crate) initial: &'a [StateId],
}

impl<'m> Again<'m> for OneCall<'_, 'm> {
    fn runner(&mut self) -> &mut Runner<'m> {
        self.runner
    }

    fn again(&mut self, source: &mut dyn Source) -> Result<(StateId, bool), Misuse> {
        make_run(self.runner, source, &self.rules, self.initial).map(|Made { initial, refuted, .. }| (initial, refuted))
    }

    fn describes(&mut self, describes: bool) {
        (self.rules.audit, self.rules.describes) = (describes, describes);
    }

    fn is_several(&self) -> bool {
        false
    }
}

/// What the page shows of the run that `decisions` determine, beyond its counterexample. Nothing more if these decisions no longer
/// lead to a violation.
pub(crate) fn explored<'m>(
    program: &mut dyn Again<'m>,
    decisions: &Decisions,
    counterexample: &Counterexample,
) -> Result<Exploration, Misuse> {
    let mut exploration = Exploration::of(counterexample);
    let mut source = Continued::new(decisions, decisions.0.len(), RandomSource::new(0, 0));
    source.ends = true;
    program.describes(true);
    let (start, refuted) = program.again(&mut source)?;
    // Several calls end with events of their own.
    let is_cut = program.runner().log.abort.is_some();
    let ends = usize::from(is_cut || !program.is_several());
    let events = program.runner().log.events.clone();
    if !refuted || source.diverged || exploration.steps.len() != events.len() + ends {
        return Ok(exploration);
    }
    // What was decided before the run began comes before its first event.
    let asked = &program.runner().log.asked;
    let before = decisions.0.len().saturating_sub(asked.len());
    let places: Vec<usize> = std::iter::repeat_n(0, before).chain(asked.iter().copied()).collect();
    let run = Explored { decisions, options: &source.options, places: &places, events: &events, start };
    let interior = program.runner().interior();
    add_order(&mut program.runner().world, &mut exploration, &run, interior);
    exploration.choices = choices(program, &run, interior);
    Ok(exploration)
}

/// The violating run, after it was rerun.
struct Explored<'a> {
    decisions: &'a Decisions,
    /// How many answers each decision had.
    options: &'a [u32],
    /// For each decision, the event that comes next.
    places: &'a [usize],
    events: &'a [Event],
    /// The state at the start.
    start: StateId,
}

impl Explored<'_> {
    /// The events that are steps: neither the beginning nor the end of a call.
    fn steps(&self) -> Vec<usize> {
        (0..self.events.len()).filter(|&at| self.events[at].did.is_step()).collect()
    }

    /// Whether two events of different tasks, or of one and the environment, depend on each other.
    fn depend(&self, world: &mut World, one: usize, other: usize, interior: bool) -> bool {
        let [first, second] = [one, other].map(|index| &self.events[index]);
        let states = [one, other].map(|index| self.before(index));
        first.actor != second.actor && depend(world, (first.did, second.did), states, interior)
    }

    /// The state before an event.
    fn before(&self, index: usize) -> StateId {
        index.checked_sub(1).map_or(self.start, |last| self.events[last].state)
    }
}

/// Adds what each step acts on, and for each step the last one of another task that it depends on.
fn add_order(world: &mut World, exploration: &mut Exploration, run: &Explored<'_>, interior: bool) {
    let mut objects = Texts::default();
    for (index, event) in run.events.iter().enumerate() {
        let part = match event.did {
            Did::Call(call, _) => Some(world.call_of(call).part),
            Did::Section(part) => Some(part),
            Did::Turn(_) | Did::Pause(_) | Did::Begin | Did::End(_) => None,
        };
        let step = &mut exploration.steps[index];
        step.object = part.map(|part| {
            let part = &world.parts()[part.0 as usize];
            objects.index(if part.name.is_empty() { part.model.name() } else { &part.name })
        });
        let last = (0..index).rev().find(|&other| run.depend(world, other, index, interior));
        exploration.steps[index].after = last.map(|last| last as u32).into_iter().collect();
    }
    exploration.objects = objects.into_all();
}

/// Whether two steps depend on each other: whether their order makes a difference in one of the states that they were made in.
/// Steps of which less is known depend on all that may touch the same collection.
fn depend(world: &mut World, steps: (Did, Did), states: [StateId; 2], interior: bool) -> bool {
    match steps {
        (Did::Pause(_) | Did::Begin | Did::End(_), _) | (_, Did::Pause(_) | Did::Begin | Did::End(_)) => false,
        (Did::Turn(_), _) | (_, Did::Turn(_)) => true,
        (Did::Section(one), Did::Section(other)) => one == other,
        (Did::Section(part), Did::Call(call, _)) | (Did::Call(call, _), Did::Section(part)) => {
            world.call_of(call).part == part
        }
        (Did::Call(one, _), Did::Call(other, _)) => {
            world.call_of(one).part == world.call_of(other).part
                && (interior
                    || world.unknown(one)
                    || world.unknown(other)
                    || states.into_iter().any(|state| world.conflict(state, one, other)))
        }
    }
}

/// How much each decision mattered: how often a run fails in the same way that keeps the decisions before it, and goes on at
/// random; and the same with neighbouring steps of two tasks, or of one and the environment, exchanged. None if it is not known
/// which step comes after which decision, and for a run that only did not return.
fn choices<'m>(program: &mut dyn Again<'m>, run: &Explored<'_>, interior: bool) -> Option<Choices> {
    let abort = program.runner().log.abort;
    if abort.is_some_and(|abort| !abort.speaks_for_itself()) || run.places.len() != run.decisions.0.len() {
        return None;
    }
    let choice = |(kept, _): (usize, &u32)| Choice { steps: run.places[kept], kept, of: None };
    // Where there is one answer, nothing is decided.
    let open = run.options.iter().enumerate().filter(|(_, options)| **options > 1);
    let open: Vec<Choice> = open.map(choice).collect();
    let plan = Plan::new(&open, |_, _| false, Duration::ZERO);
    let steps = run.steps();
    let world = &mut program.runner().world;
    let exchanged: Vec<usize> =
        (1..steps.len()).filter(|&at| run.depend(world, steps[at - 1], steps[at], interior)).collect();
    program.describes(false);
    let mut trying = Trying { program, run, abort, plan: &plan, number: 0, budget: Budget::new() };
    let mut points = Vec::new();
    for choice in plan.points.iter().map(|&at| &open[at]) {
        let Some((failed, of)) = trying.share(choice.kept, &[]) else { break };
        if of > 0 {
            points.push(Point { step: choice.steps as u32, kept: choice.kept as u32, failed, of });
        }
    }
    let mut swaps = Vec::new();
    for at in exchanged {
        let Some((kept, forced)) = trying.answers(&steps, at) else { continue };
        let Some((failed, of)) = trying.share(kept, &forced) else { break };
        if of > 0 {
            swaps.push(Swap { first: steps[at - 1] as u32, second: steps[at] as u32, failed, of });
        }
    }
    let end = run.events.len() as u32 + 1;
    points.push(Point { step: end, kept: run.decisions.0.len() as u32, failed: 1, of: 1 });
    Some(Choices { seed: trying.program.runner().seed(), points, swaps, cut: trying.budget.is_over() })
}

/// Runs continuations of a run.
struct Trying<'t, 'm> {
    program: &'t mut dyn Again<'m>,
    run: &'t Explored<'t>,
    /// How the run itself ended.
    abort: Option<Abort>,
    plan: &'t Plan,
    /// How many have run.
    number: u64,
    /// How long they may go on.
    budget: Budget,
}

/// So many lists of answers are tried to exchange two steps.
const TRIES: usize = 200;

impl Trying<'_, '_> {
    /// How many continuations fail in the same way that keep the first decisions and then have these answers, of how many. None when
    /// the budget is spent.
    fn share(&mut self, kept: usize, forced: &[u32]) -> Option<(u32, u32)> {
        let verdict = |abort: Option<Abort>| abort.and_then(Abort::verdict);
        let (mut failed, mut of) = (0, 0);
        for _ in 0..self.plan.continuations {
            let refuted = self.run(kept, forced)?.1;
            let abort = self.program.runner().log.abort;
            // An operation that had to wait was not enabled: there is no such run.
            if !abort.is_some_and(Abort::is_no_run) {
                of += 1;
                failed += u32::from(refuted && verdict(abort) == verdict(self.abort));
            }
        }
        Some((failed, of))
    }

    /// One continuation: how many answers each forced question had, and whether no order explains it.
    fn run(&mut self, kept: usize, forced: &[u32]) -> Option<(Vec<u32>, bool)> {
        if self.budget.is_over() || self.program.runner().must_stop() {
            return None;
        }
        let seed = self.program.runner().seed();
        let mut source = Continued::new(self.run.decisions, kept, RandomSource::new(seed, self.number));
        source.forced = forced;
        self.number += 1;
        let (_, refuted) = self.program.again(&mut source).ok()?;
        let steps = self.program.runner().log.events.len() as u64 + 1;
        self.budget.spend(steps);
        Some((source.options.get(kept..).unwrap_or_default().to_vec(), refuted))
    }

    /// The answers that exchange a step and the one before it, in the place of the decisions before them, and how many decisions
    /// they follow. None if no such answers are found.
    fn answers(&mut self, steps: &[usize], at: usize) -> Option<(usize, Vec<u32>)> {
        // What is decided between the step before the two and the second one.
        let after = at.checked_sub(2).map(|before| steps[before]);
        let between = |place: usize| after.is_none_or(|after| place > after) && place <= steps[at];
        let places =
            self.run.places.iter().enumerate().filter(|&(kept, place)| between(*place) && !self.is_first(kept));
        let (kept, number) = (places.clone().next()?.0, places.count());
        let mut forced = vec![0; number];
        for _ in 0..TRIES {
            let (options, _) = self.run(kept, &forced)?;
            if exchanges(&self.program.runner().log.events, self.run.events, at - 1) {
                return Some((kept, forced));
            }
            // The next list: what was not asked for has a single answer.
            let options = |at: usize| options.get(at).copied().unwrap_or(1);
            let last = (0..number).rev().find(|&at| forced[at] + 1 < options(at))?;
            forced[last] += 1;
            forced[last + 1..].fill(0);
        }
        None
    }

    /// Whether a decision determines where the run begins.
    fn is_first(&self, kept: usize) -> bool {
        matches!(self.run.decisions.0[kept].question, Question::Argument | Question::InitialState)
    }
}

/// Whether one run has the steps of another one up to `first`, and then the next two the other way round.
fn exchanges(now: &[Event], events: &[Event], first: usize) -> bool {
    let steps = |events: &[Event]| events.iter().filter(|event| event.did.is_step()).copied().collect::<Vec<_>>();
    let (now, steps) = (steps(now), steps(events));
    now.len() > first + 1
        && (0..first).all(|at| is_same(&now[at], &steps[at]))
        && is_same(&now[first], &steps[first + 1])
        && is_same(&now[first + 1], &steps[first])
}

/// Whether two steps are the same, whatever came of them.
fn is_same(one: &Event, other: &Event) -> bool {
    one.actor == other.actor
        && match (one.did, other.did) {
            (Did::Call(one, _), Did::Call(other, _)) => one == other,
            (one, other) => one == other,
        }
}

/// The first decisions of a list, and then chance.
struct Continued<'d> {
    kept: &'d [Decision],
    next: usize,
    /// The answers after the list. An answer that a question does not have is 0.
    forced: &'d [u32],
    chance: RandomSource,
    /// Whether the first answer follows each question after the list: the environment does nothing.
    ends: bool,
    /// Whether a question was another than the one of the list.
    diverged: bool,
    /// How many answers each question of the list, and each forced one, had.
    options: Vec<u32>,
}

impl Continued<'_> {
    fn new(decisions: &Decisions, kept: usize, chance: RandomSource) -> Continued<'_> {
        let kept = &decisions.0[..kept];
        Continued { kept, next: 0, forced: &[], chance, ends: false, diverged: false, options: Vec::new() }
    }
}

impl Source for Continued<'_> {
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        let Some(decision) = self.kept.get(self.next) else {
            let Some((&answer, rest)) = self.forced.split_first() else {
                return if self.ends { 0 } else { self.chance.decide(question, options) };
            };
            self.forced = rest;
            self.options.push(options);
            return if answer < options { answer } else { 0 };
        };
        self.next += 1;
        self.options.push(options);
        let fits = decision.question == question && decision.answer < options;
        self.diverged |= !fits;
        if fits { decision.answer } else { 0 }
    }

    fn wants(&self, question: Question) -> bool {
        !(self.ends && question == Question::Environment && self.next == self.kept.len())
    }
}

#[cfg(test)]
mod tests {
    use interloper_collections::DashMap;

    use super::super::adversary::Environment;
    use super::super::check::{Check, rules, with_runner};
    use super::super::method::{MethodUnderTest, Settings};
    use super::super::outcome::Violation;
    use super::super::{concurrent, domain};
    use super::*;

    /// Given answers, and then the first one of each question.
    struct Given {
        answers: Vec<u32>,
        options: Vec<u32>,
        /// How likely the answers were together, where chance gave those from the number `kept` on.
        kept: usize,
        weight: f64,
    }

    impl Source for Given {
        fn decide(&mut self, question: Question, options: u32) -> u32 {
            let answer = self.answers.get(self.options.len()).copied().unwrap_or(0);
            if self.options.len() >= self.kept && options > 1 {
                // In half of the gaps the environment does nothing.
                self.weight *= match (question, answer) {
                    (Question::Environment, 0) => 0.5,
                    (Question::Environment, _) => 0.5 / f64::from(options - 1),
                    _ => 1.0 / f64::from(options),
                };
            }
            self.options.push(options);
            answer
        }
    }

    impl Given {
        fn new(answers: Vec<u32>, kept: usize) -> Given {
            Given { answers, options: Vec::new(), kept, weight: 1.0 }
        }

        /// The answers of the next run that keeps the first ones, in the order of the answers; none after the last.
        fn next(self) -> Option<Given> {
            let kept = self.kept;
            let mut answers = self.answers;
            answers.resize(self.options.len(), 0);
            let last = (kept..answers.len()).rev().find(|&at| answers[at] + 1 < self.options[at])?;
            answers[last] += 1;
            answers.truncate(last + 1);
            Some(Given::new(answers, kept))
        }
    }

    /// With which probability a continuation fails: all of them run, each with its probability.
    fn probability<'m>(program: &mut dyn Again<'m>, kept: &[Decision]) -> f64 {
        let answers = kept.iter().map(|decision| decision.answer).collect();
        let mut given = Some(Given::new(answers, kept.len()));
        let (mut failing, mut all) = (0.0, 0.0);
        while let Some(mut source) = given {
            let (_, refuted) = program.again(&mut source).expect("the method can be checked");
            all += source.weight;
            failing += if refuted { source.weight } else { 0.0 };
            given = source.next();
        }
        assert!((all - 1.0).abs() < 1e-9, "{all}");
        failing
    }

    /// The first lists that exchange two neighbouring steps of the run, each with the first of the two steps: all beginnings of
    /// the run are tried, with any two answers after them.
    fn all_exchanges<'m>(program: &mut dyn Again<'m>, decisions: &Decisions) -> Vec<(usize, Vec<Decision>)> {
        let mut run = |kept: usize, forced: &[u32]| {
            let mut source = Continued::new(decisions, kept, RandomSource::new(0, 0));
            (source.forced, source.ends) = (forced, forced.is_empty());
            program.again(&mut source).expect("the method can be checked");
            program.runner().log.events.clone()
        };
        let all = run(decisions.0.len(), &[]);
        let begins = |decision: &&Decision| matches!(decision.question, Question::Argument | Question::InitialState);
        let first = decisions.0.iter().take_while(begins).count();
        let mut found = Vec::new();
        let steps: Vec<usize> = (0..all.len()).filter(|&at| all[at].did.is_step()).collect();
        for place in 0..steps.len() - 1 {
            // The later the list departs, the more of the run it keeps.
            'kept: for kept in (first..decisions.0.len() - 1).rev() {
                for (one, other) in (0..40).flat_map(|one| (0..40).map(move |other| (one, other))) {
                    let actors = [place, place + 1].map(|at| all[steps[at]].actor);
                    if actors[0] != actors[1] && exchanges(&run(kept, &[one, other]), &all, place) {
                        let mut list = decisions.0[..kept + 2].to_vec();
                        (list[kept].answer, list[kept + 1].answer) = (one, other);
                        found.push((steps[place], list));
                        break 'kept;
                    }
                }
            }
        }
        found
    }

    fn memoize(cache: &DashMap<u64, u64>, key: u64) -> u64 {
        if let Some(known) = cache.get(&key) {
            return *known;
        }
        cache.insert(key, 2 * key);
        2 * key
    }

    /// The shares that are drawn for points are the probabilities that all continuations together have, and those for exchanged
    /// steps, too: those steps are the ones that some list exchanges. Each point is drawn 200 times, so it is off by 0.15 with
    /// probability below 0.0003; the seed is fixed.
    fn assert_shares<'m>(program: &mut dyn Again<'m>, violation: &Violation, firsts: &[u32]) -> Vec<f64> {
        let page = explored(program, &violation.decisions, &violation.counterexample).expect("a page");
        let Choices { points, swaps, .. } = page.choices.expect("choices");
        let (_, points) = points.split_last().expect("the whole execution");
        let kept = |point: &Point| &violation.decisions.0[..point.kept as usize];
        let mut exact: Vec<f64> = points.iter().map(|point| probability(program, kept(point))).collect();
        let exchanged = all_exchanges(program, &violation.decisions);
        let dependent = exchanged.iter().filter(|(first, _)| firsts.contains(&(*first as u32)));
        let dependent: Vec<&(usize, Vec<Decision>)> = dependent.collect();
        assert_eq!(dependent.iter().map(|(first, _)| *first as u32).collect::<Vec<_>>(), firsts);
        assert_eq!(swaps.iter().map(|swap| swap.first).collect::<Vec<_>>(), firsts);
        assert!(swaps.iter().all(|swap| swap.second > swap.first));
        exact.extend(dependent.iter().map(|(_, list)| probability(program, list)));
        let drawn = points.iter().map(|point| (point.failed, point.of));
        let drawn: Vec<(u32, u32)> = drawn.chain(swaps.iter().map(|swap| (swap.failed, swap.of))).collect();
        assert_eq!(drawn.len(), exact.len());
        for ((failed, of), exact) in drawn.into_iter().zip(&exact) {
            let share = f64::from(failed) / f64::from(of);
            assert!(of == 200 && (share - exact).abs() < 0.15, "{failed} of {of}: {exact}");
        }
        exact
    }

    fn violation(method: &dyn Check, settings: &Settings) -> Violation {
        method.check_with(settings).expect("a report").violation.expect("it is not atomic")
    }

    #[test]
    fn shares_are_probabilities() {
        let settings = Settings { bound: 2, seed: 7, ..Settings::default() };
        let method = MethodUnderTest::new("memoize", DashMap::new, memoize).arguments([7]);
        let violation = violation(&method, &settings);
        let exact = with_runner(&method, &settings, |runner| {
            let initial = domain::choose(runner)?;
            let rules = rules(runner, &settings, runner.world.all_letters());
            let mut program = OneCall { runner, rules, initial: &initial };
            // The environment adds after the method has looked, and takes away before it has returned.
            Ok(assert_shares(&mut program, &violation, &[0, 1]))
        })
        .expect("the method can be checked");
        assert!(exact.len() > 5 && exact.iter().any(|share| *share > 0.5) && exact[0] < 0.5, "{exact:?}");
    }

    #[test]
    fn shares_of_several_calls_are_probabilities() {
        let closed = Environment::Closed;
        let settings = Settings { bound: 1, seed: 7, environment: closed, ..Settings::default() };
        let method = MethodUnderTest::new("claim", DashMap::new, |seats: &DashMap<u64, u64>, seat: u64| {
            let free = !seats.contains_key(&seat);
            if free {
                seats.insert(seat, 1);
            }
            free
        })
        .arguments([7]);
        let violation = violation(&method, &settings);
        let exact = with_runner(&method, &settings, |runner| {
            let initial = domain::choose(runner)?;
            let allowed = runner.world.all_letters();
            Ok(concurrent::with_calls(runner, &settings, &initial, allowed, |program| {
                // Both have looked; it makes no difference who inserts first.
                assert_shares(program, &violation, &[4])
            }))
        })
        .expect("the method can be checked")
        .expect("the states can be reached");
        // In one of two states the seat is taken from the start. Both calls look before one inserts, or not. After that it makes
        // no difference who inserts first, nor to exchange the two.
        let derived = [0.25, 0.5, 0.5, 1.0, 1.0];
        assert!(exact.iter().zip(derived).all(|(exact, derived)| (exact - derived).abs() < 1e-9), "{exact:?}");
        assert_eq!(exact.len(), derived.len());
    }
}
