//! The concurrent object of a request, how it runs, and how its progress is shown.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use interloper::objects::findings::schedules;
use interloper::objects::hunt::{Campaign, Engine, Progress};
use interloper::objects::stress::Budget;
use interloper::objects::systematic::{self, Executions, FREE_EVERY};
use interloper::objects::{MethodId, Object, Role, Schema};
use interloper_suite::objects::{self, Studied, study_only};

use crate::args::{EngineArg, ObjectArgs, SearchArgs};
use crate::counts::{grouped, plural};
use crate::failure::Failure;
use crate::nearest::{nearest, unknown};
use crate::output;
use crate::progress::Heartbeat;
use crate::progress::events::{self, Event, Tell as _};
use crate::strategy;

/// A random strategy has no end: this is how many executions of each schema it runs, unless `--executions` sets another
/// number.
const AT_RANDOM: u64 = 1_000;

/// The object called `name`.
pub fn studied(name: &str) -> Result<Studied, Failure> {
    let all = objects::all();
    let names = all.iter().map(|studied| studied.name);
    let hint = "'interloper objects' lists them";
    all.iter().find(|studied| studied.name == name).copied().ok_or_else(|| {
        Failure::Request(match study_only().any(|only| only == name) {
            true => format!("'{name}' needs the feature 'study': cargo run --release --features study -- …"),
            false => unknown("object", name, names, hint),
        })
    })
}

/// What was asked about.
pub struct Subject {
    pub studied: Studied,
    pub object: Object,
    /// The methods under test that were asked for.
    pub methods: Vec<MethodId>,
    pub engine: EngineArg,
}

impl Subject {
    /// Looks up the names that were typed. A method that is asked for is one under test.
    pub fn find(args: &ObjectArgs) -> Result<Subject, Failure> {
        Subject::with(args, &[Role::UnderTest])
    }

    /// The same for a hunt, in which the method can be a core method: what is trusted in the search of another method can be
    /// searched itself.
    pub fn hunted(args: &ObjectArgs) -> Result<Subject, Failure> {
        Subject::with(args, &[Role::UnderTest, Role::Core])
    }

    fn with(args: &ObjectArgs, roles: &[Role]) -> Result<Subject, Failure> {
        let studied = studied(&args.name)?;
        let object = studied.object();
        let methods = match &args.method {
            None => object.with_role(Role::UnderTest).collect(),
            Some(name) => vec![method(&object, name, roles)?],
        };
        let engine = match args.engine {
            Some(EngineArg::Systematic) if !studied.instrumented => {
                return Err(Failure::Request(format!(
                    "{} is not written over the mirror of std, so the scheduler does not see its steps; use '--engine \
                     stress'",
                    studied.name
                )));
            }
            Some(engine) => engine,
            None if studied.instrumented => EngineArg::Systematic,
            None => EngineArg::Stress,
        };
        Ok(Subject { studied, object, methods, engine })
    }

    /// The engine with the budget that was asked for.
    pub fn engine(&self, search: &SearchArgs) -> Result<Engine, Failure> {
        let executions = search.executions.map(NonZeroU64::get);
        match self.engine {
            EngineArg::Stress => {
                if let Some(option) = search.given().find(|option| strategy::OPTIONS.contains(option)) {
                    return Err(Failure::Request(format!(
                        "{option} is for the systematic engine, and {} runs on real threads, which no strategy controls",
                        self.studied.name
                    )));
                }
                let mut engine = Engine::stress(search.seed());
                if let (Engine::Stress(settings), Some(executions)) = (&mut engine, executions) {
                    settings.budget = Budget::Executions(executions);
                }
                Ok(engine)
            }
            EngineArg::Systematic => {
                let mut settings = systematic::Settings { seed: search.seed(), ..systematic::Settings::default() };
                settings.schedule = strategy::chosen(settings.schedule, search)?;
                let freedoms = search.freedoms.unwrap_or_else(|| settings.schedule.freedoms());
                settings.limits.freedoms = search.memory.map_or(freedoms, |memory| memory.within(freedoms));
                // All objects here are written over the mirror of std, so nothing that orders their accesses is out of sight.
                settings.memory = search.memory;
                if settings.schedule.is_random() {
                    settings.free_every = FREE_EVERY;
                    settings.executions = Executions::AtMost(AT_RANDOM);
                }
                if let Some(executions) = executions {
                    settings.executions = Executions::AtMost(executions);
                }
                Ok(Engine::Systematic(settings))
            }
        }
    }

    /// The name of the engine.
    pub fn engine_name(&self) -> &'static str {
        match self.engine {
            EngineArg::Stress => "stress",
            EngineArg::Systematic => "systematic",
        }
    }

    /// How a campaign chooses schedules, for a report; `None` for real threads.
    pub fn strategy(campaign: &Campaign, search: &SearchArgs) -> Option<String> {
        let Engine::Systematic(settings) = &campaign.engine else { return None };
        let freedoms = search.freedoms.map(|freedoms| format!(", freedoms {freedoms}")).unwrap_or_default();
        let memory = search.memory.map(|memory| format!(", memory {memory}")).unwrap_or_default();
        let schedules = schedules(campaign);
        Some(format!("{schedules}, seed {}{freedoms}{memory}", settings.seed))
    }

    /// The core methods.
    pub fn core(&self) -> Vec<String> {
        self.object.with_role(Role::Core).map(|method| self.object.label(method)).collect()
    }
}

/// The method with this name and one of these roles.
fn method(object: &Object, name: &str, roles: &[Role]) -> Result<MethodId, Failure> {
    let methods = roles.iter().flat_map(|&role| object.with_role(role));
    let labels: Vec<(MethodId, String)> = methods.map(|method| (method, object.label(method))).collect();
    if let Some((method, _)) = labels.iter().find(|(_, label)| label == name) {
        return Ok(*method);
    }
    if object.named(name).any(|method| object.method(method).role == Role::Core) {
        return Err(Failure::Request(format!(
            "'{name}' is a core method of {}, which is trusted and not searched",
            object.name()
        )));
    }
    let names: Vec<&str> = labels.iter().map(|(_, label)| label.as_str()).collect();
    let meant = nearest(name, names.iter().copied()).map(|name| format!("; did you mean '{name}'?"));
    let otherwise = || format!("; the methods are {}", names.join(", "));
    Err(Failure::Request(format!("{} has no method '{name}'{}", object.name(), meant.unwrap_or_else(otherwise))))
}

/// Says on standard error how a search gets on: on a terminal in one line that changes, elsewhere in a line now and then.
pub struct Watcher {
    /// What was noted last.
    last: Arc<Mutex<Noted>>,
    heartbeat: Heartbeat,
    bar: ProgressBar,
    started: Instant,
    said: Instant,
    executions: u64,
    schemas: u64,
}

/// How far a search had come.
#[derive(Clone, Default)]
struct Noted {
    line: String,
    method: String,
    schemas: u64,
    executions: u64,
}

/// How often a line is written.
const NOW_AND_THEN: Duration = Duration::from_millis(100);

impl Watcher {
    pub fn start() -> Watcher {
        Event::Started { what: "schema", total: None }.tell();
        let bar = if events::for_people() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("a valid template"));
        let now = Instant::now();
        let last = Arc::new(Mutex::new(Noted::default()));
        let (noted, shown) = (Arc::clone(&last), bar.clone());
        // A schema can take long: nothing is noted then.
        let heartbeat = Heartbeat::start(move || {
            let noted = noted.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let line = format!("{}, {} s so far", noted.line, now.elapsed().as_secs());
            match shown.is_hidden() {
                _ if !events::for_people() => {
                    let (done, executions, name) = (noted.schemas, Some(noted.executions), noted.method.as_str());
                    let seconds = now.elapsed().as_secs_f64();
                    Event::Progress { done, total: None, name, executions, seconds }.tell();
                }
                true => output::note(&line),
                false => shown.set_message(line),
            }
        });
        Watcher { last, heartbeat, bar, started: now, said: now, executions: 0, schemas: 0 }
    }

    /// A method is about to be tried with a schema, after this many schemas and executions.
    pub fn note(&mut self, method: &str, schema: &Schema, schemas: u64, executions: u64) {
        if schemas > 0 && self.said.elapsed() < NOW_AND_THEN {
            return;
        }
        let (schemas, executions) = (self.schemas + schemas, self.executions + executions);
        let rate = executions as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let (all, schemas, rate) = (schemas, plural(schemas, "schema"), grouped(rate as u64));
        let line = format!("{method}: {schemas}, {rate} executions/s, now {schema}");
        self.say(Noted { line, method: method.to_owned(), schemas: all, executions });
    }

    fn say(&mut self, noted: Noted) {
        self.said = Instant::now();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = noted;
    }

    /// A finding is being made smaller.
    fn shrinks(&mut self, method: &str, progress: &Progress<'_>, tried: u64) {
        let line = making_smaller(method, progress.schema, tried);
        let (schemas, executions) = (self.schemas + progress.schemas, self.executions + progress.executions);
        self.say(Noted { line, method: method.to_owned(), schemas, executions });
    }

    /// How the search of a method gets on.
    pub fn search(&mut self, method: &str, progress: &Progress<'_>) {
        match progress.smaller {
            None => self.note(method, progress.schema, progress.schemas, progress.executions),
            Some(0) => self.shrinks(method, progress, 0),
            Some(tried) if self.said.elapsed() >= NOW_AND_THEN => {
                self.shrinks(method, progress, tried);
            }
            Some(_) => {}
        }
    }

    /// A method has been searched.
    pub fn done(&mut self, schemas: u64, executions: u64) {
        self.schemas += schemas;
        self.executions += executions;
    }

    /// Says how long it took.
    pub fn finish(self) {
        drop(self.heartbeat);
        self.bar.finish_and_clear();
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = grouped((self.executions as f64 / seconds.max(1e-9)) as u64);
        let (schemas, executions) = (plural(self.schemas, "schema"), plural(self.executions, "execution"));
        let (done, all) = (self.schemas, Some(self.executions));
        Event::Finished { what: "schema", done, executions: all, seconds }.tell();
        if events::for_people() {
            output::note(&format!("{schemas}, {executions} in {seconds:.2} s ({rate}/s)"));
        }
    }
}

/// A finding is being made smaller: `schema` comes next, after `tried` others.
fn making_smaller(method: &str, schema: &Schema, tried: u64) -> String {
    format!("{method}: making the violation smaller, {} tried, now {schema}", plural(tried, "smaller schema"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_says_whether_it_searches_or_makes_a_finding_smaller() {
        let mut watcher = Watcher::start();
        let schema = Schema::parse("{ put(0, 1) } || { size() }").expect("a schema");
        let mut said = |schemas, smaller| {
            let progress = Progress { schema: &schema, schemas, executions: 0, took: Duration::ZERO, smaller };
            watcher.search("size", &progress);
            watcher.last.lock().unwrap().line.clone()
        };
        assert_eq!(said(0, None), "size: 0 schemas, 0 executions/s, now { put(0, 1) } || { size() }");
        let smaller = "size: making the violation smaller, 0 smaller schemas tried, now { put(0, 1) } || { size() }";
        assert_eq!(said(7, Some(0)), smaller);
        // Only now and then.
        assert_eq!(said(7, Some(1)), smaller);
        std::thread::sleep(NOW_AND_THEN);
        assert_eq!(said(7, Some(2)), smaller.replace("0 smaller", "2 smaller"));
    }
}
