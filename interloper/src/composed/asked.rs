//! Operations that `cargo interloper composed --run` has asked for: it writes a test for each, which calls [`judge`], and runs
//! each test in a process of its own.

use std::path::Path;
use std::task::{Context, Poll, Waker};

use interloper_collections::Subject;
use interloper_report::explorer::Exploration;
use interloper_report::replay_file::{About, ReplayFile};
use interloper_report::{Counterexample, text};
use interloper_scheduler::decisions::Decisions;

use crate::composed::adversary::{Adversary, Environment};
use crate::composed::alone::{self, Alone, Compared};
use crate::composed::bench::Bench;
use crate::composed::check::Check;
use crate::composed::method::Settings;
use crate::composed::misuse::Misuse;
use crate::composed::outcome::{Report, Verdict, Violation};
use crate::composed::pairs::{Explored, Pairs, Plan};
use crate::recorded::{self, Again};
use crate::{Datum, ToValue, Value};

/// The variable of the environment that names the file for the page of a violation.
pub const PAGE: &str = "INTERLOPER_COMPOSED_PAGE";

/// What begins the result of an operation in the output of its test: then come the verdict, the number of executions, a line
/// end, and the report.
pub const BEGIN: &str = "\u{2}interloper ";
/// What says that low numbers were the arguments of an operation.
pub const LOW: &str = "\u{2}low\u{3}";
/// What begins the result where only other methods of the type act: the verdict, a line end, and the report of a violation.
pub const OWN: &str = "\u{2}own ";
/// What begins the names of the methods of published collections that the executions of an operation called, with spaces between them.
pub const CALLED: &str = "\u{2}called ";
/// What begins the comparison of a rewritten operation with the operation.
pub const FIX: &str = "\u{2}fix ";
/// What begins the report on the methods of a type, two at once: one line of JSON, or [`MISUSE`] and why there is no report.
pub const PAIRS: &str = "\u{2}pairs ";
/// What begins the reason, where there is no report.
pub const MISUSE: &str = "misuse ";
/// What ends each of them.
pub const END: &str = "\u{3}interloper";

/// The value that a report shows for a result: its own, if it is [`ToValue`](crate::ToValue), or else the text of its `Debug`, or else
/// `()`. What `cargo interloper composed` generates and writes says this of the results of methods.
#[macro_export]
macro_rules! shown {
    ($result:expr) => {{
        #[allow(unused_imports, reason = "the result decides which of them is used")]
        use $crate::operations::{ShownAsNothing as _, ShownAsText as _, ShownAsValue as _};
        (&&&$crate::operations::Shown(&$result)).shown()
    }};
}

/// A result: a method call on references to it takes the first of the three traits that it has.
#[doc(hidden)]
pub struct Shown<'a, R>(pub &'a R);

#[doc(hidden)]
pub trait ShownAsValue {
    fn shown(&self) -> Value;
}

#[doc(hidden)]
pub trait ShownAsText {
    fn shown(&self) -> Value;
}

#[doc(hidden)]
pub trait ShownAsNothing {
    fn shown(&self) -> Value;
}

impl<R: ToValue> ShownAsValue for &&Shown<'_, R> {
    fn shown(&self) -> Value {
        self.0.to_value()
    }
}

impl<R: std::fmt::Debug> ShownAsText for &Shown<'_, R> {
    fn shown(&self) -> Value {
        format!("{:?}", self.0).to_value()
    }
}

impl<R> ShownAsNothing for Shown<'_, R> {
    fn shown(&self) -> Value {
        Value::Unit
    }
}

/// A copy of a value of a type that has no `Clone`: what is made from its plain form. What `cargo interloper composed` generates says
/// this of types whose values the environment makes.
///
/// # Panics
/// If the form is not one of the type.
pub fn copied<T: Datum>(value: &T) -> T {
    T::from_value(&value.to_value()).expect("a value is made from its own form")
}

/// What an async function gives that never has to wait. What `cargo interloper composed` generates and writes says this of async
/// methods that await nothing but each other.
///
/// # Panics
/// If it waits.
pub fn ready<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits, and nothing is there that could wake it"),
    }
}

/// Checks an operation, and prints the result between [`BEGIN`] and [`END`], and the replay file of a violation. Whether there is a
/// violation. Where a recorded execution is asked for, runs this one instead, and says what came of it.
pub fn judge(method: &dyn Check) -> bool {
    if let Some(file) = recorded::asked() {
        let again = replayed(method, &file);
        again.print();
        return again.divergence.is_some() && is_of_own(method, &file);
    }
    print(method, method.check_with(method.settings()))
}

/// Whether a file is about an execution of an operation beside other methods of its type alone, and the operation has a wider
/// environment. Then [`judge_own`] may have the methods with which the execution was found.
fn is_of_own(method: &dyn Check, file: &ReplayFile) -> bool {
    let own = method.settings().environment.word();
    matches!(&file.about, About::Case { environment, .. } if environment != own)
}

/// Checks an operation as [`judge`] does, and if nothing was explored, the same operation with low numbers as arguments. Whether there
/// is a violation, and whether it has the low numbers.
pub fn judge_or_low(method: &dyn Check, low: &dyn Check) -> (bool, bool) {
    if let Some(file) = recorded::asked() {
        let again = replayed(method, &file);
        // With the other numbers it shows nothing.
        let again = if again.counterexample.is_none() { replayed(low, &file) } else { again };
        again.print();
        if again.divergence.is_none() || !is_of_own(method, &file) {
            return (false, false);
        }
        // The search had low numbers if this says nothing.
        let checked = method.check_with(method.settings());
        return (true, checked.as_ref().is_err_and(Misuse::explored_nothing));
    }
    let checked = method.check_with(method.settings());
    if checked.as_ref().is_err_and(Misuse::explored_nothing) {
        let checked_low = low.check_with(low.settings());
        if checked_low.is_ok() {
            println!("\n{LOW}");
            return (print(low, checked_low), true);
        }
    }
    (print(method, checked), false)
}

/// Prints what came of an operation. Whether there is a violation.
fn print(method: &dyn Check, checked: Result<Report, Misuse>) -> bool {
    let report = match checked {
        Ok(report) => report,
        Err(misuse) => {
            println!("\n{BEGIN}misuse 0\n{misuse}\n{END}");
            return false;
        }
    };
    let executions: u64 = report.coverage.iter().map(|coverage| coverage.executions).sum();
    println!("\n{BEGIN}{} {executions}\n{report}\n{END}", report.verdict.word());
    if let Some(called) = &report.called {
        println!("\n{CALLED}{}{END}", called.iter().copied().collect::<Vec<_>>().join(" "));
    }
    if let Some(own) = &report.own {
        print_own(Verdict::NotLinearizable, Some(own));
    }
    if let Some(violation) = &report.violation {
        recorded::print(&replay_file(method, method.settings(), violation));
        let own = report.own.as_ref().and_then(|own| own_file(method, own));
        own.iter().for_each(recorded::print);
        if let Some(path) = std::env::var_os(PAGE) {
            let Violation { decisions, counterexample, .. } = violation;
            recorded::write_page(&explored(method, method.settings(), decisions, counterexample), Path::new(&path));
        }
    }
    report.violation.is_some()
}

/// What the replay file of an operation says that its execution shows.
const NOT_LINEARIZABLE: &str = "not-linearizable";

/// The replay file of a violation that the program of an operation can do by itself, in the environment in which its decisions show it.
fn own_file(method: &dyn Check, own: &Violation) -> Option<ReplayFile> {
    let shows = |settings: &Settings| {
        let again = method.replay_with(settings, &own.decisions);
        again.is_ok_and(|report| report.violation.is_some_and(|violation| violation.history == own.history))
    };
    let within = |environment| Settings { environment, ..method.settings().clone() };
    let settings = [Environment::Closed, Environment::Restricted].map(within);
    settings.iter().find(|settings| shows(settings)).map(|settings| replay_file(method, settings, own))
}

fn replay_file(method: &dyn Check, settings: &Settings, violation: &Violation) -> ReplayFile {
    let about = About::Case {
        name: method.name().to_owned(),
        adversary: settings.adversary.word().to_owned(),
        environment: settings.environment.word().to_owned(),
        bound: settings.bound,
    };
    let (decisions, history) = (format!("{:#}", violation.decisions), violation.history.clone());
    let file = ReplayFile::new(about, settings.seed, violation.execution, NOT_LINEARIZABLE, decisions, history);
    recorded::with(file, &violation.counterexample)
}

/// Runs the execution of a file again, and writes its page if that is asked for.
fn replayed(method: &dyn Check, file: &ReplayFile) -> Again {
    let About::Case { adversary, environment, bound, .. } = &file.about else {
        return Again::diverged(format!("the file is about {}, and not an operation", file.about.what()));
    };
    let (Some(adversary), Some(environment)) = (Adversary::of_word(adversary), Environment::of_word(environment))
    else {
        return Again::diverged(format!("no adversary is '{adversary}', or no environment '{environment}'"));
    };
    let decisions = match recorded::decisions(file) {
        Ok(decisions) => decisions,
        Err(damaged) => return Again::diverged(damaged),
    };
    let own = method.settings().clone();
    let settings = Settings { seed: file.seed, adversary, environment, bound: *bound, ..own };
    let violation = match method.replay_with(&settings, &decisions) {
        Ok(report) => report.violation,
        Err(Misuse::Diverged { reason }) => return Again::diverged(reason),
        Err(misuse) => return Again::diverged(misuse.to_string()),
    };
    let Some(violation) = violation else {
        return Again::diverged("a sequential order now explains the execution".to_owned());
    };
    let again = Again::showed(file, NOT_LINEARIZABLE, &violation.history, violation.counterexample);
    if let (Some(counterexample), Some(path)) = (&again.counterexample, std::env::var_os(PAGE)) {
        recorded::write_page(&explored(method, &settings, &decisions, counterexample), Path::new(&path));
    }
    again
}

/// Checks an operation whose environment is the other methods of its type, and prints the verdict and the report of a violation
/// between [`OWN`] and [`END`], and its replay file. Where a recorded execution is asked for that the operation alone has not shown,
/// runs this one instead, and says what came of it.
pub fn judge_own(method: &dyn Check) {
    if let Some(file) = recorded::asked() {
        return replayed(method, &file).print();
    }
    match method.check_with(method.settings()) {
        Ok(report) => {
            print_own(report.verdict, report.violation.as_ref());
            let violation = report.violation.as_ref();
            violation.iter().for_each(|own| recorded::print(&replay_file(method, method.settings(), own)));
        }
        Err(misuse) => println!("\n{OWN}{misuse}{END}"),
    }
}

fn print_own(verdict: Verdict, violation: Option<&Violation>) {
    let report = violation.map(|violation| {
        // To write down these decisions takes this environment, which the one that is written beside the operation does not have. A
        // replay file has it.
        let counterexample = Counterexample { replay: None, ..violation.counterexample.clone() };
        text::render(&counterexample, text::Style::default())
    });
    println!("\n{OWN}{}\n{}{END}", verdict.word(), report.unwrap_or_default());
}

/// Checks the methods of a type, two at once, and prints the report between [`PAIRS`] and [`END`], and the replay file of each
/// violation. Where a recorded execution is asked for, runs this one instead, and says what came of it.
pub fn judge_pairs<S: Subject>(pairs: &Pairs<S>) {
    judge_plan(&pairs.plan, pairs);
}

fn judge_plan(plan: &Plan, bench: &dyn Bench) {
    let path = std::env::var_os(PAGE);
    if let Some(file) = recorded::asked() {
        let (again, page) = plan.replayed(bench, &file, path.is_some());
        again.print();
        if let (Some(page), Some(path)) = (page, path) {
            recorded::write_page(&page.with_sources(), Path::new(&path));
        }
        return;
    }
    match plan.explored(bench, path.is_some()) {
        Ok(Explored { report, page, files }) => {
            println!("\n{PAIRS}{}{END}", serde_json::to_string(&report).expect("plain data is always JSON"));
            files.iter().for_each(recorded::print);
            if let (Some(page), Some(path)) = (page, path) {
                recorded::write_page(&page.with_sources(), Path::new(&path));
            }
        }
        Err(misuse) => println!("\n{PAIRS}{MISUSE}{misuse}{END}"),
    }
}

/// Compares what a rewritten operation does alone with what the operation does, and prints the result between [`FIX`] and [`END`].
/// If they are the same, checks the rewritten operation as [`judge`] does. `gives` says whether they return something.
pub fn judge_fix(operation: &dyn Check, fixed: &dyn Check, gives: bool) {
    let said = match alone::compare(operation, fixed, gives) {
        Ok(Compared::Same { runs }) => format!("same {runs}"),
        Ok(Compared::Differs { one, other }) => {
            let state = texts(&one.state);
            format!("differs {} from {state}: {} instead of {}", one.call, ended(&other), ended(&one))
        }
        Ok(Compared::NotShown) => "not-shown".to_owned(),
        Err(misuse) => format!("misuse {misuse}"),
    };
    println!("\n{FIX}{said}{END}");
    if said.starts_with("same ") {
        judge(fixed);
    }
}

fn ended(run: &Alone) -> String {
    format!("{}, leaving {}", run.returned, texts(&run.end))
}

fn texts(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

fn explored(
    method: &dyn Check,
    settings: &Settings,
    decisions: &Decisions,
    counterexample: &Counterexample,
) -> Exploration {
    let explored = method.explored_with(settings, decisions, counterexample);
    explored.unwrap_or_else(|_| Exploration::of(counterexample)).with_sources()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_that_never_waits_is_ready() {
        async fn seven() -> u32 {
            7
        }
        assert_eq!(ready(async { seven().await + 1 }), 8);
    }

    #[test]
    #[should_panic(expected = "the future waits")]
    fn a_future_that_waits_is_not() {
        ready(std::future::pending::<()>());
    }

    #[test]
    fn a_result_is_shown_as_a_value_or_as_text_or_not_at_all() {
        #[derive(Debug)]
        struct Debugged(#[allow(dead_code, reason = "its text has it")] u32);
        struct Opaque;
        assert_eq!(crate::shown!(7_u32), 7_u32.to_value());
        assert_eq!(crate::shown!(Debugged(7)), "Debugged(7)".to_value());
        assert_eq!(crate::shown!(Opaque), Value::Unit);
    }
}
