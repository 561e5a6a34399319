//! Two methods of a type at once, the smallest schema first.
//!
//! A schema is a program of two tasks, and the calls that lead to the state in which it begins. The schemas of all pairs are
//! searched shape by shape, so the first violation of a pair is one of the smallest. What the same calls do one after the other is
//! the specification; a method that fails alone does not make the pair a violation.

use std::collections::{BTreeSet, HashMap};

use interloper_report::explorer::Exploration;
use interloper_report::replay_file::{About, ReplayFile};
use interloper_report::{Event, Order, text};
use interloper_scheduler::decisions::{Decisions, ReplaySource};

use super::{Draw, Planned, Program, Rules, SeveralCalls, rules};
use crate::composed::explore;
use crate::composed::explored::{Again, explored};
use crate::composed::method::{Search, Settings};
use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Coverage, Violation};
use crate::composed::pairs::{Explored, Pair, PairVerdict, PairsReport};
use crate::composed::runner::Runner;
use crate::composed::world::StateId;
use crate::recorded::with;

mod two;

use two::{Two, Wrong, orders};

/// The most executions of a pair in one shape of schemas.
const EXECUTIONS: u64 = 1_000;
/// The most states that so many calls lead to.
const STATES: usize = 8;
/// The most calls before the two methods.
const BEFORE: usize = 2;
/// So many calls of the first method are tried with all calls of the second.
const FIRST: usize = 2;

/// What is searched.
pub(crate) struct Asked<'a> {
    pub name: &'a str,
    /// Each method with its calls.
    pub methods: &'a [(String, Vec<usize>)],
    pub invariants: &'a [String],
    /// Whether the type may keep more than its collections show.
    pub hides: bool,
    /// Whether the page of the first violation is wanted.
    pub page: bool,
}

/// The shapes of schemas, from small to large: how many calls lead to the state, and how many calls each task makes.
#[derive(Clone, Copy)]
struct Shape {
    before: usize,
    second: usize,
}

const SHAPES: [Shape; 5] = [
    Shape { before: 0, second: 1 },
    Shape { before: 1, second: 1 },
    Shape { before: 0, second: 2 },
    Shape { before: 2, second: 1 },
    Shape { before: 1, second: 2 },
];

/// A state that calls reach, one after the other.
struct Start {
    state: StateId,
    calls: Vec<usize>,
}

/// What a call does alone, from all states that are begun in.
#[derive(Clone, Copy, Default)]
struct Facts {
    steps: usize,
    changes: bool,
}

/// A pair, as far as it was searched.
struct Searched {
    methods: [usize; 2],
    executions: u64,
    complete: bool,
    found: Option<Kept>,
    misuse: Option<Misuse>,
}

/// The violation of a pair.
struct Kept {
    verdict: PairVerdict,
    violation: Violation,
    program: Program,
    /// The calls that lead to the state in which it begins.
    before: Vec<usize>,
    /// The shape of its schema.
    shape: usize,
}

/// Searches all pairs.
pub(crate) fn search(runner: &mut Runner<'_>, settings: &Settings, asked: &Asked<'_>) -> Result<Explored, Misuse> {
    let settings = &Settings { search: Search::Exhaustive, ..settings.clone() };
    let (kind, mut report) = Kind::looked_at(runner, asked)?;
    let mut all = kind.pairs(&mut report.plain);
    let (mut broken_alone, mut page) = (vec![None; asked.invariants.len()], None);
    for shape in 0..SHAPES.len() {
        for pair in all.iter_mut().filter(|pair| pair.found.is_none() && pair.misuse.is_none()) {
            if runner.must_stop() {
                pair.complete = false;
                continue;
            }
            match kind.try_shape(runner, settings, pair, shape, &mut broken_alone, &mut page) {
                Err(Misuse::CutShort) => pair.complete = false,
                Err(misuse) => pair.misuse = Some(misuse),
                Ok(()) => {}
            }
        }
    }
    // The first is that of the violation that was found first, which has the page.
    all.sort_by_key(|pair| pair.found.as_ref().map_or(SHAPES.len(), |kept| kept.shape));
    let files = all.iter().filter_map(|pair| kind.file(settings, pair)).collect();
    all.sort_by_key(|pair| pair.methods);
    report.pairs = all.into_iter().map(|pair| kind.told(runner, pair)).collect();
    let broken = broken_alone.into_iter().zip(asked.invariants);
    report.broken_alone = broken.filter_map(|(calls, name)| Some((name.clone(), calls?))).collect();
    Ok(Explored { report, page, files })
}

/// Makes one execution of a pair again: `text` is what [`recorded`] says of it.
pub(crate) fn replay(
    runner: &mut Runner<'_>,
    settings: &Settings,
    asked: &Asked<'_>,
    ([one, other], text): (&[String; 2], &str),
) -> Result<Explored, Misuse> {
    let diverged = |reason: String| Misuse::Diverged { reason };
    let settings = &Settings { search: Search::Exhaustive, ..settings.clone() };
    let (shape, decisions) = text
        .split_once(':')
        .and_then(|(shape, rest)| Some((shape.parse::<usize>().ok().filter(|at| *at < SHAPES.len())?, rest)))
        .ok_or_else(|| diverged(format!("`{text}` begins with no shape of schemas, as in `0:…`")))?;
    let decisions = decisions.parse::<Decisions>().map_err(|error| diverged(error.to_string()))?;
    let (kind, mut report) = Kind::looked_at(runner, asked)?;
    let is_it = |pair: &Searched| pair.methods.map(|method| &asked.methods[method].0) == [one, other];
    let mut pair = kind
        .pairs(&mut report.plain)
        .into_iter()
        .find(is_it)
        .ok_or_else(|| diverged(format!("`{one}` and `{other}` are no pair that is searched")))?;
    let mut page = None;
    let methods = pair.methods;
    let made = kind.with_two(runner, settings, methods, shape, |two| {
        let mut source = ReplaySource::new(decisions.clone());
        let (_, wrong) = two.again(&mut source)?;
        if let Some(divergence) = source.divergence() {
            return Err(diverged(divergence.to_string()));
        }
        pair.executions = 1;
        if wrong {
            let violation = explore::Program::describe(two, &decisions, 1)?;
            kind.keep(two, &mut pair, shape, violation, &mut page)?;
        }
        Ok(())
    })?;
    if made.is_none() {
        return Err(diverged("no state is known in which it could begin".to_owned()));
    }
    report.plain = 0;
    let files = kind.file(settings, &pair).into_iter().collect();
    report.pairs = vec![kind.told(runner, pair)];
    Ok(Explored { report, page, files })
}

/// An execution of a pair, as text that [`replay`] reads.
pub(crate) fn recorded(shape: usize, decisions: &Decisions) -> String {
    format!("{shape}:{decisions}")
}

/// The type that is searched.
struct Kind<'a> {
    asked: &'a Asked<'a>,
    facts: HashMap<usize, Facts>,
    starts: Vec<Start>,
    /// The calls that are not made in some state: alone they do not return from it.
    never: BTreeSet<(usize, StateId)>,
}

impl<'a> Kind<'a> {
    /// Looks at what the calls do alone, and begins the report.
    ///
    /// # Errors
    /// When no method can be judged.
    fn looked_at(runner: &mut Runner<'_>, asked: &'a Asked<'a>) -> Result<(Kind<'a>, PairsReport), Misuse> {
        let mut kind = Kind { asked, facts: HashMap::new(), starts: Vec::new(), never: BTreeSet::new() };
        let mut report = PairsReport { name: asked.name.to_owned(), ..PairsReport::default() };
        report.more_states = kind.look(runner, &mut report.left_out)?;
        report.states = kind.starts.len();
        if let Some(places) = &runner.places {
            places.settle();
            if !places.any() {
                return Err(Misuse::CallsNotSeen { collection: runner.published(), place: None });
            }
        }
        Ok((kind, report))
    }

    /// Makes each call alone, from the states that calls reach. Returns whether some states were left out.
    ///
    /// # Errors
    /// When no method can be judged.
    fn look(&mut self, runner: &mut Runner<'_>, left_out: &mut Vec<(String, String)>) -> Result<bool, Misuse> {
        self.starts = vec![Start { state: runner.read(), calls: Vec::new() }];
        let mut unfit: Vec<Option<Misuse>> = self.asked.methods.iter().map(|_| None).collect();
        let (mut begin, mut more) = (0, false);
        let most = if self.asked.hides { 0 } else { BEFORE };
        for before in 0..=most {
            let (end, mut reached) = (self.starts.len(), Vec::new());
            for start in begin..end {
                let Start { state, ref calls } = self.starts[start];
                let calls = calls.clone();
                for (method, (_, own)) in self.asked.methods.iter().enumerate() {
                    for &call in own {
                        let next = match self.alone(runner, call, state) {
                            Ok(next) => next,
                            // Nothing is known of the methods that come later.
                            Err(Misuse::CutShort) => return Err(Misuse::CutShort),
                            Err(misuse) => {
                                unfit[method].get_or_insert(misuse);
                                None
                            }
                        };
                        let is_known = |next: &StateId| {
                            self.starts
                                .iter()
                                .map(|start| start.state)
                                .chain(reached.iter().map(|(state, _)| *state))
                                .any(|known| known == *next)
                        };
                        if let Some(next) = next.filter(|next| unfit[method].is_none() && !is_known(next)) {
                            reached.push((next, [&calls[..], &[call]].concat()));
                        }
                    }
                }
            }
            if before == most {
                break;
            }
            begin = end;
            more |= reached.len() > STATES;
            self.starts.extend(reached.into_iter().take(STATES).map(|(state, calls)| Start { state, calls }));
        }
        for ((name, calls), misuse) in self.asked.methods.iter().zip(unfit) {
            let returns = |call: &usize| self.starts.iter().any(|start| !self.never.contains(&(*call, start.state)));
            let hangs = !calls.iter().any(returns);
            let reason = misuse.map(|misuse| misuse.to_string());
            if let Some(reason) = reason.or(hangs.then(|| "it does not return when it runs alone".to_owned())) {
                self.facts.retain(|call, _| !calls.contains(call));
                self.starts.retain(|start| !start.calls.iter().any(|call| calls.contains(call)));
                left_out.push((name.clone(), reason));
            }
        }
        Ok(more)
    }

    /// What a call does alone. `None` if it does not return.
    fn alone(&mut self, runner: &mut Runner<'_>, call: usize, state: StateId) -> Result<Option<StateId>, Misuse> {
        runner.look(call, 0, state)?;
        let abort = runner.log.abort;
        let steps = runner.log.events.iter().filter(|event| event.did.is_step()).count();
        let changes = runner.log.events.iter().any(|event| event.state != state);
        if abort.is_some() {
            self.never.insert((call, state));
        }
        let ended = runner.reference(call, 0, state)?;
        let facts = self.facts.entry(call).or_default();
        facts.steps = facts.steps.max(steps);
        facts.changes |= changes || ended.end != state;
        Ok(abort.is_none().then_some(ended.end))
    }

    /// The pairs that have to be searched. Counts the others.
    fn pairs(&self, plain: &mut usize) -> Vec<Searched> {
        let facts = |method: usize| self.calls(method).map(|call| self.facts[&call]);
        let is_one_step = |method| facts(method).all(|facts| facts.steps <= 1);
        let only_reads = |method| facts(method).all(|facts| !facts.changes);
        let fit: Vec<usize> =
            (0..self.asked.methods.len()).filter(|method| self.calls(*method).next().is_some()).collect();
        let mut all = Vec::new();
        for (at, &one) in fit.iter().enumerate() {
            for &other in &fit[at..] {
                if is_one_step(one) && is_one_step(other) || only_reads(one) && only_reads(other) {
                    *plain += 1;
                } else {
                    let methods = [one, other];
                    all.push(Searched { methods, executions: 0, complete: true, found: None, misuse: None });
                }
            }
        }
        all
    }

    /// The calls of a method that can be judged.
    fn calls(&self, method: usize) -> impl Iterator<Item = usize> {
        self.asked.methods[method].1.iter().copied().filter(|call| self.facts.contains_key(call))
    }

    /// The programs of a shape.
    fn programs(&self, [one, other]: [usize; 2], shape: Shape) -> Vec<Program> {
        let few = |method| self.calls(method).take(FIRST).collect::<Vec<_>>();
        let planned = |calls: &[usize]| calls.iter().map(|&method| Planned { method, argument: 0 }).collect::<Vec<_>>();
        let mut programs: Vec<Program> = Vec::new();
        let mut add = |first: &[usize], second: &[usize]| {
            let program = vec![planned(first), planned(second)];
            let turned: Program = program.iter().rev().cloned().collect();
            if !programs.contains(&program) && !programs.contains(&turned) {
                programs.push(program);
            }
        };
        match shape.second {
            1 => {
                for first in few(one) {
                    self.calls(other).for_each(|second| add(&[first], &[second]));
                }
            }
            _ => {
                let mut both = few(one);
                both.extend(few(other).into_iter().filter(|call| !self.asked.methods[one].1.contains(call)));
                for first in few(one).into_iter().take(1).chain(few(other).into_iter().take(1)) {
                    for &second in &both {
                        for &third in &both {
                            let has = |method: usize| {
                                [first, second, third].iter().any(|call| self.asked.methods[method].1.contains(call))
                            };
                            if has(one) && has(other) {
                                add(&[first], &[second, third]);
                            }
                        }
                    }
                }
            }
        }
        if self.asked.hides {
            // What comes before the first step of a call comes in the order of the tasks.
            let turned: Vec<Program> = programs.iter().map(|program| program.iter().rev().cloned().collect()).collect();
            programs.extend(turned);
        }
        programs
    }

    /// Searches the schemas of one shape.
    fn try_shape(
        &self,
        runner: &mut Runner<'_>,
        settings: &Settings,
        pair: &mut Searched,
        shape: usize,
        broken_alone: &mut [Option<String>],
        page: &mut Option<Exploration>,
    ) -> Result<(), Misuse> {
        let limit = settings.executions.unwrap_or(EXECUTIONS).min(EXECUTIONS);
        let settings = Settings { executions: Some(limit), ..settings.clone() };
        self.with_two(runner, &settings, pair.methods, shape, |two| {
            let found = explore::explore(two, &settings, 0, Coverage::default())?;
            pair.executions += found.coverage.executions;
            pair.complete &= found.violation.is_some() || !found.cut && !two.spun;
            for (number, (state, calls)) in std::mem::take(&mut two.broken) {
                broken_alone[number].get_or_insert_with(|| self.texts(two.calls.runner, &self.before(state), &calls));
            }
            match found.violation {
                Some(violation) => self.keep(two, pair, shape, violation, page),
                None => Ok(()),
            }
        })?;
        Ok(())
    }

    /// Gives the executions of a shape to `body`. Returns `None` if the shape has no executions.
    fn with_two<R>(
        &self,
        runner: &mut Runner<'_>,
        settings: &Settings,
        methods: [usize; 2],
        shape: usize,
        body: impl FnOnce(&mut Two<'_, '_>) -> Result<R, Misuse>,
    ) -> Result<Option<R>, Misuse> {
        let shape = SHAPES[shape];
        let programs = self.programs(methods, shape);
        let is_left = |state: StateId| {
            let mut calls = programs.iter().flatten().flatten();
            calls.all(|call| !self.never.contains(&(call.method, state)))
        };
        let starts = self.starts.iter().filter(|start| start.calls.len() == shape.before && is_left(start.state));
        let initial: Vec<StateId> = starts.map(|start| start.state).collect();
        if initial.is_empty() {
            return Ok(None);
        }
        let rules = Rules { bound: 0, ..rules(runner, settings, 0) };
        let calls = SeveralCalls::new(runner, settings, rules, &initial, Draw::OneOf(programs));
        body(&mut Two::new(calls, self.asked)).map(Some)
    }

    /// Keeps the violation that was described last, with the words of a pair.
    fn keep(
        &self,
        two: &mut Two<'_, '_>,
        pair: &mut Searched,
        shape: usize,
        mut violation: Violation,
        page: &mut Option<Exploration>,
    ) -> Result<(), Misuse> {
        let Some((program, start, wrong)) = two.last.take() else { return Ok(()) };
        let runner = &*two.calls.runner;
        let [one, other] = pair.methods.map(|method| self.asked.methods[method].0.as_str());
        let shown = &mut violation.counterexample;
        let at_once =
            if pair.methods[0] == pair.methods[1] { format!("{one} and itself") } else { format!("{one} and {other}") };
        shown.name = format!("{}: {at_once}", self.asked.name);
        let before = self.before(start);
        shown.detail = format!(
            "{} calls, execution {}",
            before.len() + program.iter().map(Vec::len).sum::<usize>(),
            pair.executions
        );
        if !before.is_empty() {
            shown.start = format!("{}, after {}", shown.start, names(runner, &before).join(", "));
        }
        let recorded = recorded(shape, &violation.decisions);
        shown.replay = Some(format!(".replay({one:?}, {other:?}, {recorded:?})"));
        let verdict = match wrong {
            Wrong::Invariants(broken) => {
                let broken: Vec<String> = broken.iter().map(|at| format!("`{}`", self.asked.invariants[*at])).collect();
                let broken = broken.join(" and ");
                shown.verdict = format!("{broken} is false");
                let order = |order: Vec<usize>| {
                    let calls: Vec<usize> = order.iter().map(|call| program.concat()[*call].method).collect();
                    Order { sequence: names(runner, &calls).join(", "), disagreement: format!("{broken} holds") }
                };
                shown.orders = orders(&program).into_iter().map(order).collect();
                PairVerdict::InvariantBroken
            }
            Wrong::Results => PairVerdict::NotAtomic,
        };
        if self.asked.page && page.is_none() {
            *page = Some(explored(two, &violation.decisions, &violation.counterexample)?);
        }
        pair.found = Some(Kept { verdict, violation, program, before, shape });
        Ok(())
    }

    /// The calls that lead to a state.
    fn before(&self, state: StateId) -> Vec<usize> {
        self.starts.iter().find(|start| start.state == state).map_or(Vec::new(), |start| start.calls.clone())
    }

    fn texts(&self, runner: &Runner<'_>, before: &[usize], calls: &[usize]) -> String {
        names(runner, &[before, calls].concat()).join(", ")
    }

    /// The replay file of a pair with a violation.
    fn file(&self, settings: &Settings, pair: &Searched) -> Option<ReplayFile> {
        let Kept { verdict, violation, shape, .. } = pair.found.as_ref()?;
        let methods = pair.methods.map(|method| self.asked.methods[method].0.clone());
        let about = About::Pair { name: self.asked.name.to_owned(), methods, shape: *shape as u32 };
        let (decisions, history) = (format!("{:#}", violation.decisions), violation.history.clone());
        let file = ReplayFile::new(about, settings.seed, pair.executions, verdict.word(), decisions, history);
        Some(with(file, &violation.counterexample))
    }

    fn told(&self, runner: &Runner<'_>, pair: Searched) -> Pair {
        let methods = pair.methods.map(|method| self.asked.methods[method].0.clone());
        let Searched { executions, complete, found, misuse, .. } = pair;
        if let Some(Kept { verdict, violation, program, before, shape }) = found {
            let tasks = program.iter().map(|calls| {
                let calls: Vec<usize> = calls.iter().map(|call| call.method).collect();
                format!("{{ {} }}", names(runner, &calls).join("; "))
            });
            let before: String = names(runner, &before).iter().map(|name| format!("{name}; ")).collect();
            let schema = format!("{before}{}", tasks.collect::<Vec<_>>().join(" || "));
            let report = text::render(&violation.counterexample, text::Style::default());
            let interrupted = self.interrupted(&violation, &program);
            let (schema, replay) = (Some(schema), Some(recorded(shape, &violation.decisions)));
            return Pair { methods, verdict, executions, schema, interrupted, report, replay };
        }
        let (verdict, report) = match (misuse, complete) {
            (Some(misuse), _) => (PairVerdict::NotJudged, misuse.to_string()),
            (None, true) if executions == 0 => {
                (PairVerdict::NotJudged, "no state is known from which both return when they run alone".to_owned())
            }
            (None, true) => (PairVerdict::Atomic, String::new()),
            (None, false) => (PairVerdict::Unfinished, String::new()),
        };
        Pair { methods, verdict, executions, schema: None, interrupted: Vec::new(), report, replay: None }
    }

    /// The methods with a call in which a step of the other task comes between two steps.
    fn interrupted(&self, violation: &Violation, program: &Program) -> Vec<String> {
        let mut calls = BTreeSet::new();
        for (task, own) in program.iter().enumerate() {
            let mut left = own.iter();
            let (mut call, mut inside, mut between) = (None, false, false);
            for row in &violation.counterexample.rows {
                match &row.event {
                    Event::Called(_) if row.column == task => {
                        (call, inside) = (left.next(), false);
                    }
                    Event::Operation(_) | Event::Blocked(_) if row.column == task => {
                        calls.extend(call.filter(|_| inside && between).map(|call| call.method));
                        (inside, between) = (true, false);
                    }
                    Event::Operation(_) => between = true,
                    _ => {}
                }
            }
        }
        let has_one = |own: &[usize]| own.iter().any(|call| calls.contains(call));
        let methods = self.asked.methods.iter().filter(|(_, own)| has_one(own));
        methods.map(|(name, _)| name.clone()).collect()
    }
}

fn names(runner: &Runner<'_>, calls: &[usize]) -> Vec<String> {
    calls.iter().map(|&call| runner.method_name(call).to_owned()).collect()
}
