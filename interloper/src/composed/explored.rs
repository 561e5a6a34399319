//! A violating run as its page shows it: what each step acts on, which steps depend on each other, and which decision mattered.

use interloper_report::Counterexample;
use interloper_report::explorer::{Choices, Exploration, Point, Texts};
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
    exploration.choices = choices(runner, (rules, initial), (decisions, &source.options), &events);
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
/// random. None if it is not known which step comes after which decision, and for a run that only did not return.
fn choices(
    runner: &mut Runner<'_>,
    (rules, initial): (&Rules, &[StateId]),
    (decisions, options): (&Decisions, &[u32]),
    events: &[Event],
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
    let verdict = |abort: Option<Abort>| abort.and_then(Abort::verdict);
    let rules = Rules { audit: false, describes: false, ..rules.clone() };
    let seed = runner.seed();
    let (mut number, mut steps) = (0, 0);
    let mut points = Vec::new();
    'points: for choice in plan.points.iter().map(|&at| &open[at]) {
        let mut point = Point { step: choice.steps as u32, kept: choice.kept as u32, failed: 0, of: 0 };
        for _ in 0..plan.continuations {
            if steps > plan.steps || runner.must_stop() {
                break 'points;
            }
            let mut source = Continued::new(decisions, choice.kept, RandomSource::new(seed, number));
            number += 1;
            let made = make_run(runner, &mut source, &rules, initial).ok()?;
            steps += runner.log.events.len() as u64 + 1;
            // An operation that had to wait was not enabled: there is no such run.
            if runner.log.abort != Some(Abort::NotEnabled) {
                point.of += 1;
                point.failed += u32::from(made.refuted && verdict(runner.log.abort) == verdict(abort));
            }
        }
        if point.of > 0 {
            points.push(point);
        }
    }
    let end = events.len() as u32 + 1;
    points.push(Point { step: end, kept: decisions.0.len() as u32, failed: 1, of: 1 });
    Some(Choices { seed, points, swaps: Vec::new() })
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
    chance: RandomSource,
    /// Whether the environment does nothing after the list.
    ends: bool,
    /// Whether a question was another than the one of the list.
    diverged: bool,
    /// How many answers each question of the list had.
    options: Vec<u32>,
}

impl Continued<'_> {
    fn new(decisions: &Decisions, kept: usize, chance: RandomSource) -> Continued<'_> {
        let kept = &decisions.0[..kept];
        Continued { kept, next: 0, chance, ends: false, diverged: false, options: Vec::new() }
    }
}

impl Source for Continued<'_> {
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        let Some(decision) = self.kept.get(self.next) else { return self.chance.decide(question, options) };
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
            let points = page.choices.expect("choices").points;
            let kept = |point: &Point| &violation.decisions.0[..point.kept as usize];
            let (_, points) = points.split_last().expect("the whole execution");
            let exact: Vec<f64> =
                points.iter().map(|point| probability(runner, &rules, &initial, kept(point))).collect();
            Ok((points.to_vec(), exact))
        })
        .expect("the method can be checked");
        assert!(drawn.len() > 3 && exact.iter().any(|share| *share > 0.5) && exact[0] < 0.5, "{exact:?}");
        for (point, exact) in drawn.iter().zip(exact) {
            let share = f64::from(point.failed) / f64::from(point.of);
            assert!(point.of == 200 && (share - exact).abs() < 0.15, "{point:?}: {exact}");
        }
    }
}
