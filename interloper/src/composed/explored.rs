//! A violating run as its page shows it: what each step acts on, which steps depend on each other, and which decision mattered.

use interloper_report::Counterexample;
use interloper_report::explorer::{Choices, Exploration, Point, Swap, Texts};
use interloper_scheduler::choices::{Choice, Plan};
use interloper_scheduler::decisions::{Decision, Decisions, Question, RandomSource, Source};

use crate::composed::misuse::Misuse;
use crate::composed::run::{Abort, Actor, Did, Event, Rules};
use crate::composed::runner::Runner;
use crate::composed::world::{StateId, World};

use super::check::{Made, make_run};

/// What the page shows of the run that `decisions` determine, beyond its counterexample. Nothing more if these decisions no longer
/// lead to a violation.
pub(crate) fn explored(
    runner: &mut Runner<'_>,
    rules: &Rules,
    initial: &[StateId],
    decisions: &Decisions,
    counterexample: &Counterexample,
) -> Result<Exploration, Misuse> {
    let mut exploration = Exploration::of(counterexample);
    let mut source = Continued::new(decisions, decisions.0.len(), RandomSource::new(0, 0));
    source.ends = true;
    let Made { initial: start, refuted, .. } = make_run(runner, &mut source, rules, initial)?;
    let events = runner.log.events.clone();
    if !refuted || source.diverged || exploration.steps.len() != events.len() + 1 {
        return Ok(exploration);
    }
    add_order(&mut runner.world, &mut exploration, &events, start, rules.interior);
    exploration.choices = choices(runner, (rules, initial), (decisions, &source.options), (&events, start));
    Ok(exploration)
}

/// Adds what each step acts on, and for each step the last one of another task that it depends on.
fn add_order(world: &mut World, exploration: &mut Exploration, events: &[Event], start: StateId, interior: bool) {
    let before = |index: usize| index.checked_sub(1).map_or(start, |last| events[last].state);
    let mut objects = Texts::default();
    for (index, event) in events.iter().enumerate() {
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
        let depends = |other: &usize| {
            let states = [before(*other), before(index)];
            events[*other].actor != event.actor && depend(world, (events[*other].did, event.did), states, interior)
        };
        let last = (0..index).rev().find(depends);
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
/// random; and the same with an operation of the environment exchanged with the step of the method beside it. None if it is not
/// known which step comes after which decision, and for a run that only did not return.
fn choices(
    runner: &mut Runner<'_>,
    (rules, initial): (&Rules, &[StateId]),
    (decisions, options): (&Decisions, &[u32]),
    (events, start): (&[Event], StateId),
) -> Option<Choices> {
    let abort = runner.log.abort;
    if abort.is_some_and(|abort| !abort.speaks_for_itself()) {
        return None;
    }
    let places = places(decisions, events)?;
    let choice = |(kept, _): (usize, &u32)| Choice { steps: places[kept], kept, of: None };
    // Where there is one answer, nothing is decided.
    let open = options.iter().enumerate().filter(|(_, options)| **options > 1);
    let open: Vec<Choice> = open.map(choice).collect();
    let plan = Plan::new(&open, |_, _| false);
    let exchanged = exchanged(&mut runner.world, (decisions, &places), (events, start), rules.interior);
    let rules = Rules { audit: false, describes: false, ..rules.clone() };
    let mut trying = Trying { rules, initial, decisions, abort, plan: &plan, number: 0, steps: 0 };
    let mut points = Vec::new();
    for choice in plan.points.iter().map(|&at| &open[at]) {
        let Some((failed, of)) = trying.share(runner, choice.kept, &[]) else { break };
        if of > 0 {
            points.push(Point { step: choice.steps as u32, kept: choice.kept as u32, failed, of });
        }
    }
    let mut swaps = Vec::new();
    for kept in exchanged {
        let Some(forced) =
            trying.answers(runner, kept, places[kept], [&events[places[kept]], &events[places[kept] + 1]])
        else {
            continue;
        };
        let Some((failed, of)) = trying.share(runner, kept, &forced) else { break };
        let first = places[kept] as u32;
        if of > 0 {
            swaps.push(Swap { first, second: first + 1, failed, of });
        }
    }
    let end = events.len() as u32 + 1;
    points.push(Point { step: end, kept: decisions.0.len() as u32, failed: 1, of: 1 });
    Some(Choices { seed: runner.seed(), points, swaps })
}

/// The decisions with a step of the method after them and an operation of the environment after the next one, or the other way
/// round, where the order of the two makes a difference.
fn exchanged(
    world: &mut World,
    (decisions, places): (&Decisions, &[usize]),
    (events, start): (&[Event], StateId),
    interior: bool,
) -> Vec<usize> {
    let before = |index: usize| index.checked_sub(1).map_or(start, |last| events[last].state);
    let mut exchanged = |kept: &usize| {
        let both = [kept, &(kept + 1)].map(|&at| decisions.0[at].question == Question::Environment);
        let (one, other) = (places[*kept], places[kept + 1]);
        // After the last event the method returns: that is the end of the run.
        both == [true; 2]
            && other < events.len()
            && events[one].actor != events[other].actor
            && depend(world, (events[one].did, events[other].did), [before(one), before(other)], interior)
    };
    (0..decisions.0.len().saturating_sub(1)).filter(|kept| exchanged(kept)).collect()
}

/// Runs continuations of a run.
struct Trying<'t> {
    rules: Rules,
    initial: &'t [StateId],
    decisions: &'t Decisions,
    /// How the run itself ended.
    abort: Option<Abort>,
    plan: &'t Plan,
    /// How many have run.
    number: u64,
    /// How many steps they have made.
    steps: u64,
}

impl Trying<'_> {
    /// How many continuations fail in the same way that keep the first decisions and then have these answers, of how many. None when
    /// there were too many steps before.
    fn share(&mut self, runner: &mut Runner<'_>, kept: usize, forced: &[u32]) -> Option<(u32, u32)> {
        let verdict = |abort: Option<Abort>| abort.and_then(Abort::verdict);
        let (mut failed, mut of) = (0, 0);
        for _ in 0..self.plan.continuations {
            let refuted = self.run(runner, kept, forced)?.1;
            // An operation that had to wait was not enabled: there is no such run.
            if runner.log.abort != Some(Abort::NotEnabled) {
                of += 1;
                failed += u32::from(refuted && verdict(runner.log.abort) == verdict(self.abort));
            }
        }
        Some((failed, of))
    }

    /// One continuation: how many answers each forced question had, and whether no order explains it.
    fn run(&mut self, runner: &mut Runner<'_>, kept: usize, forced: &[u32]) -> Option<(Vec<u32>, bool)> {
        if self.steps > self.plan.steps || runner.must_stop() {
            return None;
        }
        let mut source = Continued::new(self.decisions, kept, RandomSource::new(runner.seed(), self.number));
        source.forced = forced;
        self.number += 1;
        let made = make_run(runner, &mut source, &self.rules, self.initial).ok()?;
        self.steps += runner.log.events.len() as u64 + 1;
        Some((source.options.get(kept..).unwrap_or_default().to_vec(), made.refuted))
    }

    /// The answers that exchange the steps at `place` and after it, of which one is of the environment. None if the environment does
    /// not have its operation in the other gap, or the method makes another step then.
    fn answers(&mut self, runner: &mut Runner<'_>, kept: usize, place: usize, steps: [&Event; 2]) -> Option<[u32; 2]> {
        let acts = usize::from(steps[1].actor != Actor::Environment);
        let mut answer = 1;
        loop {
            let mut forced = [0; 2];
            forced[acts] = answer;
            let (options, _) = self.run(runner, kept, &forced)?;
            if answer >= *options.get(acts)? {
                return None;
            }
            let now = runner.log.events.get(place..place + 2);
            if now.is_some_and(|now| is_same(&now[0], steps[1]) && is_same(&now[1], steps[0])) {
                return Some(forced);
            }
            answer += 1;
        }
    }
}

/// Whether two steps are the same, whatever came of them.
fn is_same(one: &Event, other: &Event) -> bool {
    one.actor == other.actor
        && match (one.did, other.did) {
            (Did::Call(one, _), Did::Call(other, _)) => one == other,
            (one, other) => one == other,
        }
}

/// For each decision, the step that comes next. Each decision of the environment is one step: an operation of its own, or, as it
/// does nothing, the next step of the method. None if the steps are not these.
fn places(decisions: &Decisions, events: &[Event]) -> Option<Vec<usize>> {
    let mut next = 0;
    let mut places = Vec::new();
    for Decision { question, answer, .. } in &decisions.0 {
        places.push(next);
        match question {
            Question::Argument | Question::InitialState => {}
            Question::Environment => {
                // After the last event the method returns.
                let acts = events.get(next).is_some_and(|event| event.actor == Actor::Environment);
                if next > events.len() || acts != (*answer > 0) {
                    return None;
                }
                next += 1;
            }
            _ => return None,
        }
    }
    Some(places)
}

/// The first decisions of a list, and then chance.
struct Continued<'d> {
    kept: &'d [Decision],
    next: usize,
    /// The answers after the list. An answer that a question does not have is 0.
    forced: &'d [u32],
    chance: RandomSource,
    /// Whether the environment does nothing after the list.
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
            let Some((&answer, rest)) = self.forced.split_first() else { return self.chance.decide(question, options) };
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

    use super::super::check::{rules, with_runner};
    use super::super::domain;
    use super::super::method::{MethodUnderTest, Settings};
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
    fn probability(runner: &mut Runner<'_>, rules: &Rules, initial: &[StateId], kept: &[Decision]) -> f64 {
        let answers = kept.iter().map(|decision| decision.answer).collect();
        let mut given = Some(Given::new(answers, kept.len()));
        let (mut failing, mut all) = (0.0, 0.0);
        while let Some(mut source) = given {
            let made = make_run(runner, &mut source, rules, initial).expect("the method can be checked");
            all += source.weight;
            failing += if made.refuted { source.weight } else { 0.0 };
            given = source.next();
        }
        assert!((all - 1.0).abs() < 1e-9, "{all}");
        failing
    }

    /// All lists that exchange two neighbouring steps of the run, each with the first of the two steps: any two answers are tried.
    fn exchanges(
        runner: &mut Runner<'_>,
        rules: &Rules,
        initial: &[StateId],
        decisions: &Decisions,
    ) -> Vec<(usize, Vec<Decision>)> {
        let mut run = |kept: usize, forced: &[u32]| {
            let mut source = Continued::new(decisions, kept, RandomSource::new(0, 0));
            (source.forced, source.ends) = (forced, forced.is_empty());
            make_run(runner, &mut source, rules, initial).expect("the method can be checked");
            runner.log.events.clone()
        };
        let all = run(decisions.0.len(), &[]);
        let first = decisions.0.iter().take_while(|decision| decision.question != Question::Environment).count();
        let mut found = Vec::new();
        for place in 0..all.len() - 1 {
            let kept = first + place;
            for (one, other) in (0..40).flat_map(|one| (0..40).map(move |other| (one, other))) {
                let events = run(kept, &[one, other]);
                let now = events.get(place..place + 2);
                let is_exchanged =
                    now.is_some_and(|now| is_same(&now[0], &all[place + 1]) && is_same(&now[1], &all[place]));
                // An answer that a question does not have is 0: such a list is found once.
                if is_exchanged && all[place].actor != all[place + 1].actor && (one == 0) != (other == 0) {
                    let mut list = decisions.0[..kept + 2].to_vec();
                    (list[kept].answer, list[kept + 1].answer) = (one, other);
                    found.push((place, list));
                    break;
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

    /// The shares that are drawn are the probabilities that all continuations together have. Each of the points is drawn 200
    /// times, so it is off by 0.15 with probability below 0.0003; the seed is fixed.
    #[test]
    fn shares_are_probabilities() {
        let settings = Settings { bound: 2, seed: 7, ..Settings::default() };
        let method = MethodUnderTest::new("memoize", DashMap::new, memoize).arguments([7]);
        let report = super::super::Check::check_with(&method, &settings).expect("a report");
        let violation = report.violation.expect("memoize is not atomic");
        let (drawn, exact) = with_runner(&method, &settings, |runner| {
            let initial = domain::choose(runner)?;
            let rules = rules(runner, &settings, runner.world.all_letters());
            let page = explored(runner, &rules, &initial, &violation.decisions, &violation.counterexample)?;
            let Choices { points, swaps, .. } = page.choices.expect("choices");
            let kept = |point: &Point| &violation.decisions.0[..point.kept as usize];
            let (_, points) = points.split_last().expect("the whole execution");
            let mut exact: Vec<f64> =
                points.iter().map(|point| probability(runner, &rules, &initial, kept(point))).collect();
            let exchanged = exchanges(runner, &rules, &initial, &violation.decisions);
            assert_eq!(exchanged.iter().map(|(first, _)| *first).collect::<Vec<_>>(), [0, 1]);
            assert!(swaps.iter().all(|swap| swap.second == swap.first + 1));
            assert_eq!(swaps.iter().map(|swap| swap.first).collect::<Vec<_>>(), [0, 1]);
            exact.extend(exchanged.iter().map(|(_, list)| probability(runner, &rules, &initial, list)));
            let shares = points.iter().map(|point| (point.failed, point.of));
            Ok((shares.chain(swaps.iter().map(|swap| (swap.failed, swap.of))).collect::<Vec<_>>(), exact))
        })
        .expect("the method can be checked");
        assert!(drawn.len() > 3 && exact.iter().any(|share| *share > 0.5) && exact[0] < 0.5, "{exact:?}");
        assert_eq!(drawn.len(), exact.len());
        for ((failed, of), exact) in drawn.into_iter().zip(exact) {
            let share = f64::from(failed) / f64::from(of);
            assert!(of == 200 && (share - exact).abs() < 0.15, "{failed} of {of}: {exact}");
        }
    }
}
