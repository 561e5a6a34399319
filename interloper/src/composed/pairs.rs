//! The methods of one type, two at once.

use std::panic::Location;

use interloper_collections::Subject;
use interloper_collections::session::{Instrumented, without_session};
use interloper_commutativity::Value;
use interloper_report::explorer::Exploration;
use interloper_report::replay_file::{About, ReplayFile};
use serde::{Deserialize, Serialize};

use crate::composed::bench::{Argument, Bench, Instance};
use crate::composed::check::with_runner;
use crate::composed::concurrent::pairs::{self, Asked};
use crate::composed::method::{Beside, Description, Settings};
use crate::composed::misuse::Misuse;
use crate::recorded::{self, Again};

/// The methods of one type, each of which is the environment of each other one.
///
/// Two methods run at once, interleaved at each call of a collection. The states are those that the methods reach from a fresh
/// value, and what the methods do one after the other is their specification. So nobody has to say how the
/// fields belong together: if a map and its counter disagree after two calls, and never after one call and then the other, the pair
/// is not atomic.
///
/// ```
/// use interloper::collections::{AtomicU64, DashMap};
/// use interloper::{Pairs, shown};
///
/// #[derive(Default)]
/// struct Stock {
///     items: DashMap<u32, u32>,
///     number: AtomicU64,
/// }
///
/// interloper::subject!(Stock { items, number });
///
/// impl Stock {
///     fn add(&self, id: u32) {
///         self.items.insert(id, 1);
///         self.number.store(self.items.len() as u64, std::sync::atomic::Ordering::SeqCst);
///     }
/// }
///
/// let report = Pairs::new("Stock", Stock::default)
///     .call("add", "(7)", |stock| shown!(stock.add(7)))
///     .call("add", "(8)", |stock| shown!(stock.add(8)))
///     .check()
///     .unwrap();
/// assert!(report.pairs[0].is_violation());
/// ```
pub struct Pairs<S> {
    make: Box<dyn Fn() -> S>,
    calls: Vec<Body<S, Value>>,
    invariants: Vec<Body<S, bool>>,
    pub(crate) plan: Box<Plan>,
}

/// What was said of the methods, without their types. The search is compiled once, not once for each type of a user.
pub(crate) struct Plan {
    name: String,
    /// The names of the methods, each with its calls.
    methods: Vec<(String, Vec<usize>)>,
    /// How many calls there are.
    calls: usize,
    /// The names of the invariants.
    names: Vec<String>,
    hides: bool,
    /// The one execution that is made, with the names of its methods.
    replay: Option<([String; 2], String)>,
    description: Description,
}

type Body<S, R> = Box<dyn Fn(&S) -> R>;

impl<S: Subject> Pairs<S> {
    /// The type that `make` gives a new value of, called `name` in reports.
    #[track_caller]
    pub fn new(name: impl Into<String>, make: impl Fn() -> S + 'static) -> Pairs<S> {
        let plan = Box::new(Plan::new(name.into(), Location::caller()));
        Pairs { make: Box::new(make), calls: Vec::new(), invariants: Vec::new(), plan }
    }

    /// A call of the method `method` with these arguments, as text: `"(7)"`. A method may have several calls; those that come
    /// first are tried most.
    #[must_use]
    pub fn call(mut self, method: &str, arguments: &str, body: impl Fn(&S) -> Value + 'static) -> Self {
        self.plan.call(method, arguments);
        self.calls.push(Box::new(body));
        self
    }

    /// Says whether a value is consistent. It is asked after each execution, and after each sequential order of the same calls if it
    /// is false then: what sequential calls leave as well is no violation.
    #[must_use]
    pub fn invariant(mut self, name: &str, holds: impl Fn(&S) -> bool + 'static) -> Self {
        self.plan.names.push(name.to_owned());
        self.invariants.push(Box::new(holds));
        self
    }

    /// The type may keep more than its collections show. Then all calls begin with a fresh value, and what a pair does is compared
    /// with what the same calls do when they are really made one after the other.
    #[must_use]
    pub fn hides_state(mut self) -> Self {
        self.plan.hides = true;
        self
    }

    /// Changes how the pairs are checked.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.plan.description.settings);
        self
    }

    /// Makes exactly one execution of two methods; the report of a violation prints what to write here.
    #[must_use]
    pub fn replay(mut self, one: &str, other: &str, execution: impl Into<String>) -> Self {
        self.plan.replay = Some(([one.to_owned(), other.to_owned()], execution.into()));
        self
    }

    /// Searches, and asserts that these pairs of methods have a violation, and no others.
    ///
    /// # Panics
    /// With the reports of the pairs that differ, or with the reason if the description does not fit the type.
    #[track_caller]
    pub fn assert_violations<const N: usize>(&self, expected: [[&str; 2]; N]) {
        self.plan.assert_violations(self, &expected);
    }

    /// Searches for two methods that are not atomic together.
    ///
    /// # Errors
    /// When the description does not fit the type.
    pub fn check(&self) -> Result<PairsReport, Misuse> {
        self.plan.check(self)
    }
}

impl Plan {
    fn new(name: String, place: &'static Location<'static>) -> Plan {
        let mut description = Description::new(String::new(), place);
        description.is_call = true;
        Plan { name, methods: Vec::new(), calls: 0, names: Vec::new(), hides: false, replay: None, description }
    }

    fn call(&mut self, method: &str, arguments: &str) {
        let name = format!("{method}{arguments}");
        match self.calls {
            0 => self.description.name = name,
            _ => self.description.beside.push(Beside { name, is_call: true, is_further: false }),
        }
        match self.methods.iter_mut().find(|(name, _)| name == method) {
            Some((_, calls)) => calls.push(self.calls),
            None => self.methods.push((method.to_owned(), vec![self.calls])),
        }
        self.calls += 1;
    }

    #[track_caller]
    fn assert_violations(&self, bench: &dyn Bench, expected: &[[&str; 2]]) {
        let report = self.check(bench).unwrap_or_else(|misuse| panic!("{misuse}"));
        let replayed = self.replay.as_ref().map(|(methods, _)| methods);
        let differs = report.differences(expected, replayed);
        assert!(differs.is_empty(), "not as expected:\n{differs}");
    }

    fn check(&self, bench: &dyn Bench) -> Result<PairsReport, Misuse> {
        self.explored(bench, false).map(|explored| explored.report)
    }

    /// Searches, and gives the page of the first violation if that is wanted.
    pub(crate) fn explored(&self, bench: &dyn Bench, page: bool) -> Result<Explored, Misuse> {
        let replay = self.replay.as_ref().map(|(methods, execution)| (methods, execution.as_str()));
        explored_on(bench, &self.asked(page), replay)
    }

    /// Runs the execution of a file again, and gives its page if that is wanted.
    pub(crate) fn replayed(&self, bench: &dyn Bench, file: &ReplayFile, page: bool) -> (Again, Option<Exploration>) {
        replayed_on(bench, &self.asked(page), file)
    }

    fn asked(&self, page: bool) -> Asked<'_> {
        Asked { name: &self.name, methods: &self.methods, invariants: &self.names, hides: self.hides, page }
    }
}

/// Searches, or makes the one execution of a replay.
fn explored_on(bench: &dyn Bench, asked: &Asked<'_>, replay: Option<(&[String; 2], &str)>) -> Result<Explored, Misuse> {
    if asked.methods.is_empty() {
        return Err(Misuse::NoArguments);
    }
    let settings = &bench.description().settings;
    with_runner(bench, settings, |runner| match replay {
        Some(execution) => pairs::replay(runner, settings, asked, execution),
        None => pairs::search(runner, settings, asked),
    })
}

fn replayed_on(bench: &dyn Bench, asked: &Asked<'_>, file: &ReplayFile) -> (Again, Option<Exploration>) {
    let About::Pair { methods, shape, .. } = &file.about else {
        return (Again::diverged(format!("the file is about {}, and not a type", file.about.what())), None);
    };
    let execution = match recorded::decisions(file) {
        Ok(decisions) => pairs::recorded(*shape as usize, &decisions),
        Err(damaged) => return (Again::diverged(damaged), None),
    };
    let Explored { page, files, .. } = match explored_on(bench, asked, Some((methods, &execution))) {
        Ok(explored) => explored,
        Err(Misuse::Diverged { reason }) => return (Again::diverged(reason), None),
        Err(misuse) => return (Again::diverged(misuse.to_string()), None),
    };
    let shown = files.into_iter().next().and_then(|shown| Some((shown.counterexample?, shown.finding, shown.history)));
    let Some((counterexample, finding, history)) = shown else {
        return (Again::diverged("a sequential order now explains the execution".to_owned()), None);
    };
    let again = Again::showed(file, &finding, &history, counterexample);
    let page = page.map(|page| again.named(page));
    (again, page)
}

/// What came of a search of pairs.
pub(crate) struct Explored {
    pub report: PairsReport,
    /// What the page of the first violation shows, if that is wanted.
    pub page: Option<Exploration>,
    /// The replay files of the violations.
    pub files: Vec<ReplayFile>,
}

/// What was found of the methods of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairsReport {
    /// The type.
    pub name: String,
    /// Every pair that was searched, in the order of the methods.
    pub pairs: Vec<Pair>,
    /// How many pairs need no search: each of the two makes one step, or neither changes anything.
    pub plain: usize,
    /// In how many states the calls begin.
    pub states: usize,
    /// Whether the methods reach further states with so few calls, which were left out.
    pub more_states: bool,
    /// The methods that cannot be judged in pairs, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// The invariants that calls leave false one after the other, each with such calls. Where they do, it is no violation.
    pub broken_alone: Vec<(String, String)>,
}

impl PairsReport {
    /// How the pairs with a violation differ from those that were expected; empty if they do not. If one pair was `replayed`, that
    /// says nothing of the others.
    fn differences(&self, expected: &[[&str; 2]], replayed: Option<&[String; 2]>) -> String {
        let mut differs = String::new();
        let is_expected = |pair: &Pair| expected.iter().any(|names| pair.methods == *names);
        for pair in self.pairs.iter().filter(|pair| pair.is_violation() && !is_expected(pair)) {
            differs.push_str(&format!("{}\n", pair.report));
        }
        for names in expected.iter().filter(|names| replayed.is_none_or(|replayed| replayed == *names)) {
            let found = self.pairs.iter().find(|pair| pair.methods == *names);
            if !found.is_some_and(Pair::is_violation) {
                let [one, other] = names;
                let verdict = found.map_or("not searched", |pair| pair.verdict.words());
                differs.push_str(&format!("{}: {one} and {other}: {verdict}\n", self.name));
            }
        }
        differs
    }
}

/// Two methods at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Their names.
    pub methods: [String; 2],
    /// What the search said.
    pub verdict: PairVerdict,
    /// How many executions there were.
    pub executions: u64,
    /// The calls of the smallest violation, as a schema: `{ add(7) } || { len() }`.
    pub schema: Option<String>,
    /// The methods whose calls another one has interrupted in it.
    pub interrupted: Vec<String>,
    /// The violation as text, or why the pair was not judged.
    pub report: String,
    /// The execution of the violation, as [`Pairs::replay`] takes it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replay: Option<String>,
}

impl Pair {
    /// Whether an execution was found that no sequential order explains.
    pub fn is_violation(&self) -> bool {
        matches!(self.verdict, PairVerdict::NotAtomic | PairVerdict::InvariantBroken)
    }
}

/// What a search says of two methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// A sequential order explains each execution.
    Atomic,
    /// No sequential order explains some execution.
    NotAtomic,
    /// An order explains each execution, and an invariant is false after one, which it is after none of the orders.
    InvariantBroken,
    /// The search found nothing, and a limit has ended it.
    Unfinished,
    /// The two cannot be judged.
    NotJudged,
}

impl PairVerdict {
    /// The verdict as one word, for replay files.
    pub fn word(self) -> &'static str {
        match self {
            PairVerdict::Atomic => "atomic",
            PairVerdict::NotAtomic => "not-atomic",
            PairVerdict::InvariantBroken => "invariant-broken",
            PairVerdict::Unfinished => "unfinished",
            PairVerdict::NotJudged => "not-judged",
        }
    }

    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            PairVerdict::Atomic => "atomic together",
            PairVerdict::NotAtomic => "not atomic together",
            PairVerdict::InvariantBroken => "an invariant is broken",
            PairVerdict::Unfinished => "unfinished",
            PairVerdict::NotJudged => "not judged",
        }
    }
}

impl<S: Subject> Bench for Pairs<S> {
    fn description(&self) -> &Description {
        &self.plan.description
    }

    fn make(&self) -> Box<dyn Instance + '_> {
        Box::new(Made { pairs: self, subject: (self.make)() })
    }

    fn reusable(&self) -> bool {
        S::REUSABLE
    }

    fn given(&self) -> Vec<Value> {
        Vec::new()
    }

    fn made_up(&self) -> Option<Value> {
        Some(Value::Unit)
    }

    fn draw(&self, _bits: u64) -> Option<Value> {
        None
    }

    fn invariants(&self) -> usize {
        self.invariants.len()
    }
}

struct Made<'m, S> {
    pairs: &'m Pairs<S>,
    subject: S,
}

impl<S: Subject> Instance for Made<'_, S> {
    fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
        self.subject.parts()
    }

    fn collections(&self) -> Vec<&dyn Instrumented> {
        self.subject.collections()
    }

    fn call(&self, method: usize, _argument: Argument<'_>, before_return: &dyn Fn()) -> Value {
        let returned = (self.pairs.calls[method])(&self.subject);
        before_return();
        without_session(|| returned)
    }

    fn holds(&self, invariant: usize) -> bool {
        (self.pairs.invariants[invariant])(&self.subject)
    }
}
