//! The description of a method under test.

use std::num::NonZeroU32;
use std::panic::Location;
use std::time::Duration;

use interloper_collections::Subject;
use interloper_commutativity::{Datum, ToValue, Value};
use interloper_linearize::composed::Mode;

use crate::composed::adversary::{Adversary, Environment};
use crate::composed::check::Check;
use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Report, Verdict};

/// How executions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// All executions, by increasing number of environment operations.
    Exhaustive,
    /// Random executions.
    Random {
        /// How many.
        executions: u64,
    },
}

/// How a method is checked. [`Settings::default`] suits most methods.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How executions are chosen.
    pub search: Search,
    /// How the environment chooses its operations.
    pub adversary: Adversary,
    /// Which environment acts.
    pub environment: Environment,
    /// The most environment operations in one execution.
    pub bound: u32,
    /// The seed of every random choice.
    pub seed: u64,
    /// A search ends as unfinished after this many executions; `None` for no limit.
    pub executions: Option<u64>,
    /// A check ends as unfinished after this time, whatever it is doing; `None` for no limit. A violation is described
    /// even when the time is over. With a limit, results depend on the machine.
    pub time: Option<Duration>,
    /// How long a call may take, in real time, until its next step. A call that takes longer loops without
    /// synchronising, or waits for something outside control. It cannot be unwound, so a message names the method and
    /// the place, and the process ends with code 101. `None` waits without limit.
    pub patience: Option<Duration>,
    /// How an execution is compared with the sequential orders.
    pub mode: Mode,
    /// The most operations that lead to an initial state.
    pub initial_size: u32,
    /// The most steps of one execution: a method that takes more does not return.
    pub step_bound: u32,
    /// Compare the state of the model with the state read back from the collections, at each step of each execution.
    pub audit: bool,
    /// Continue after the first violation, and count further violations.
    pub keep_going: bool,
}

/// How long a call may go without a step.
const PATIENCE: Duration = Duration::from_secs(5);

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            search: Search::Exhaustive,
            adversary: Adversary::Preceding,
            environment: Environment::Open,
            bound: 3,
            seed: 42,
            executions: Some(20_000_000),
            time: None,
            patience: Some(PATIENCE),
            mode: Mode::Linearizations,
            initial_size: 2,
            step_bound: 10_000,
            audit: false,
            keep_going: false,
        }
    }
}

type Method<S, A, R> = Box<dyn Fn(&S, A) -> R>;

/// A composed operation, wrapped so that it can be run against an adversary.
///
/// ```
/// use interloper::MethodUnderTest;
/// use interloper::collections::DashMap;
///
/// fn memoize(cache: &DashMap<u64, u64>, key: u64) -> u64 {
///     if let Some(known) = cache.get(&key) {
///         return *known;
///     }
///     let value = key * 2;
///     cache.insert(key, value); // by now, another thread may have inserted
///     value
/// }
///
/// let report = MethodUnderTest::new("memoize", DashMap::new, memoize).arguments([7]).check().unwrap();
/// assert_eq!(report.verdict, interloper::Verdict::NotLinearizable);
/// ```
pub struct MethodUnderTest<S, A, R> {
    pub(crate) make: Box<dyn Fn() -> S>,
    pub(crate) method: Method<S, A, R>,
    /// The object's other methods; their names are in the description.
    pub(crate) beside: Vec<Method<S, A, R>>,
    pub(crate) arguments: Vec<A>,
    /// In a box, since each of the functions below moves the method.
    pub(crate) description: Box<Description>,
}

/// The description of a method under test, without its types.
pub(crate) struct Description {
    pub name: String,
    /// Where it is described.
    pub place: &'static Location<'static>,
    pub beside: Vec<Beside>,
    /// Whether its name is that of a call, `insert(7)`.
    pub is_call: bool,
    pub keys: Vec<Value>,
    pub values: Vec<Value>,
    pub initial_states: Vec<Vec<Value>>,
    pub names: Vec<String>,
    pub without: Vec<String>,
    pub calls: usize,
    pub abstraction: Option<fn(&Value) -> Option<Value>>,
    pub replay: Option<String>,
    pub settings: Settings,
}

/// A method beside the one under test, or one call of such a method.
pub(crate) struct Beside {
    /// The method, or the call: `insert(7)`.
    pub name: String,
    /// Whether it is a call, which ignores the argument.
    pub is_call: bool,
    /// Whether it is a call of a method that has another call before it. The environment's keys and values are not taken from it,
    /// since it differs from that call in its values alone.
    pub is_further: bool,
}

impl Description {
    /// The method under test (0) or one beside it.
    pub fn method_name(&self, method: usize) -> &str {
        match method {
            0 => &self.name,
            beside => &self.beside[beside - 1].name,
        }
    }

    /// Whether the number stands for one call, whatever the argument.
    pub fn is_call(&self, method: usize) -> bool {
        match method {
            0 => self.is_call,
            beside => self.beside[beside - 1].is_call,
        }
    }

    fn beside(&mut self, name: String) {
        self.beside.push(Beside { name, is_call: false, is_further: false });
    }

    fn beside_call(&mut self, method: &str, arguments: &str) {
        let is_of_method = |other: &Beside| other.is_call && other.name.split('(').next() == Some(method);
        let is_under_test = self.name.rsplit("::").next() == Some(method);
        let is_further = is_under_test || self.beside.iter().any(is_of_method);
        self.beside.push(Beside { name: format!("{method}{arguments}"), is_call: true, is_further });
    }

    pub fn new(name: String, place: &'static Location<'static>) -> Description {
        Description {
            name,
            place,
            beside: Vec::new(),
            is_call: false,
            keys: Vec::new(),
            values: Vec::new(),
            initial_states: Vec::new(),
            names: Vec::new(),
            without: Vec::new(),
            calls: 1,
            abstraction: None,
            replay: None,
            settings: Settings::default(),
        }
    }
}

impl<S, A, R> MethodUnderTest<S, A, R>
where
    S: Subject,
    A: Datum,
    R: ToValue,
{
    /// Wraps `method`, called `name` in reports, on the subject that `make` creates: one instrumented collection, a
    /// tuple of collections, or a struct with [`crate::subject!`].
    ///
    /// The method must be deterministic and keep its state in the collections.
    #[track_caller]
    pub fn new(
        name: impl Into<String>,
        make: impl Fn() -> S + 'static,
        method: impl Fn(&S, A) -> R + 'static,
    ) -> MethodUnderTest<S, A, R> {
        let description = Box::new(Description::new(name.into(), Location::caller()));
        MethodUnderTest {
            make: Box::new(make),
            method: Box::new(method),
            beside: Vec::new(),
            arguments: Vec::new(),
            description,
        }
    }

    /// The arguments of the method, each in its own executions. Without arguments, Interloper makes one up.
    #[must_use]
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments = arguments.into_iter().collect();
        self
    }

    /// The keys (elements, for a set) that the environment uses, instead of the method's own.
    #[must_use]
    pub fn keys<K: ToValue>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.description.keys = keys.into_iter().map(|key| key.to_value()).collect();
        self
    }

    /// The values that the environment uses, instead of the method's own and a fresh one.
    #[must_use]
    pub fn values<V: ToValue>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.description.values = values.into_iter().map(|value| value.to_value()).collect();
        self
    }

    /// The states to start from, one value for each collection, instead of all states within [`Settings::initial_size`]
    /// operations of the result of `make`.
    #[must_use]
    pub fn initial_states(mut self, states: impl IntoIterator<Item = Vec<Value>>) -> Self {
        self.description.initial_states = states.into_iter().collect();
        self
    }

    /// What reports call the collections, in order.
    #[must_use]
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.description.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// The program that the method belongs to never calls the collection method `name` (`"remove"`, or `"queue.pop"`
    /// for one of several collections). The open environment is still tried first; a method that fails only there is
    /// classed as [`Verdict::Modular`].
    #[must_use]
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.description.without.push(name.into());
        self
    }

    /// Another method of the same object. Naming one closes the environment of the program: its collections are only
    /// touched by the method under test and the methods named here, running concurrently.
    #[must_use]
    pub fn beside(mut self, name: impl Into<String>, method: impl Fn(&S, A) -> R + 'static) -> Self {
        self.description.beside(name.into());
        self.beside.push(Box::new(method));
        self
    }

    /// One call of another method of the same object with arguments of its own, as text: `"(7)"`. It closes the environment as
    /// [`MethodUnderTest::beside`] does, with this call in the place of calls with the arguments of the method under test. A method may
    /// have several calls, and so may the method under test, which is known by the last part of its name. What differs only when two
    /// values meet needs two of them.
    #[must_use]
    pub fn beside_call(mut self, method: &str, arguments: &str, call: impl Fn(&S) -> R + 'static) -> Self {
        self.description.beside_call(method, arguments);
        self.beside.push(Box::new(move |subject, _| call(subject)));
        self
    }

    /// Runs `calls` concurrent calls of the method in each execution (1 without this), with the environment around them.
    ///
    /// Against an environment that may do anything, one call is enough: the environment does whatever another call
    /// does, one atomic operation after the other.
    #[must_use]
    pub fn concurrent(mut self, calls: usize) -> Self {
        self.description.calls = calls.max(1);
        self
    }

    /// What a value counts as when results and states are compared: itself, another value, or `None` for a value that
    /// does not exist yet, whose key then counts as missing.
    #[must_use]
    pub fn abstraction(mut self, abstraction: fn(&Value) -> Option<Value>) -> Self {
        self.description.abstraction = Some(abstraction);
        self
    }

    /// A value that does not exist yet (an empty cell) counts as missing; a value that a cell gets during the run
    /// counts from the beginning, since every holder of the cell will read it (section 5.5, Figure 12(vii)).
    #[must_use]
    pub fn pending_counts_as_missing(self) -> Self {
        self.abstraction(|value| (*value != interloper_commutativity::pending()).then(|| value.clone()))
    }

    /// Changes how the method is checked.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.description.settings);
        self
    }

    /// The most environment operations in one execution (3 without this).
    #[must_use]
    pub fn bound(self, bound: NonZeroU32) -> Self {
        self.settings(|settings| settings.bound = bound.get())
    }

    /// Runs random executions instead of all executions, for methods with too many.
    #[must_use]
    pub fn random(self, seed: u64, executions: u64) -> Self {
        self.settings(|settings| {
            settings.search = Search::Random { executions };
            settings.seed = seed;
        })
    }

    /// Runs exactly the execution that these decisions determine; a report prints them.
    #[must_use]
    pub fn replay(mut self, decisions: impl Into<String>) -> Self {
        self.description.replay = Some(decisions.into());
        self
    }

    /// Searches for an execution that no sequential order explains.
    ///
    /// # Errors
    /// When the description does not fit the method ([`Misuse`]).
    pub fn check(&self) -> Result<Report, Misuse> {
        self.check_with(&self.description.settings)
    }

    /// Checks, and asserts that no violation was found: that the method is linearizable within the bounds or, with a
    /// random search, that a sequential order explains every execution.
    ///
    /// # Panics With the report if there is a violation, or with the reason if the description does not fit the method.
    #[track_caller]
    pub fn assert_linearizable(&self) {
        self.assert_verdict(match self.description.settings.search {
            Search::Exhaustive => Verdict::Linearizable,
            Search::Random { .. } => Verdict::NothingFound,
        });
    }

    /// Checks, and asserts the verdict.
    ///
    /// # Panics
    /// With the report when the verdict is another, and with the reason when the description does not fit the method.
    #[track_caller]
    pub fn assert_verdict(&self, expected: Verdict) {
        match self.check() {
            Ok(report) if report.verdict == expected => said(&report),
            Ok(report) => panic!("expected {expected}, found {}\n\n{report}", report.verdict),
            Err(misuse) => panic!("{}: {misuse}", self.description.name),
        }
    }
}

/// Prints what a passed test has covered: `cargo test -- --show-output` shows it.
#[allow(clippy::print_stdout, reason = "libtest captures it")]
fn said(report: &Report) {
    for coverage in &report.coverage {
        println!("{}: {coverage}", report.name);
    }
}

/// Says that the last step is the linearization point of the running method under test (the paper's `@LP`), for
/// [`Mode::GivenPoint`] and for reports. Does nothing outside a check.
pub fn linearization_point() {
    interloper_collections::session::mark();
}
