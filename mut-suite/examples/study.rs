//! The study of concurrent objects, as Markdown:
//! `cargo run --profile bench -p interloper-suite --features study --example study -- 1 'where and when' > docs/STUDY.md`.
//!
//! The first argument is the number of seconds that each method of an object on real threads is searched for, 1 unless it
//! is said. The second is a line about the machine and the day, for what depends on them. Objects that are written over
//! the mirror of std are run under the scheduler; what is said of them is a function of the seed. How the study gets on is
//! said on standard error.

#[path = "study/document.rs"]
mod document;
#[path = "study/under_control.rs"]
mod under_control;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use interloper::objects::derive::{Derivation, Derived};
use interloper::objects::hunt::{Campaign, Found, Hunted, Searched, What};
use interloper::objects::judged::{self, PATIENCE};
use interloper::objects::stress::{self, Budget};
use interloper::objects::systematic::Deadline;
use interloper::objects::{Level, Next, Object, Role, Visibility};
use interloper_suite::objects::{Studied, all};

const SEED: u64 = 1;

/// So many schemas by rank, and as many at random, are tried to derive a visibility under the scheduler.
const DERIVED_WITH: u64 = 1_000;

/// What real threads have found is made small, and then counted, for so many times the time of a search.
const LONGER: u32 = 4;

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).map_or(Ok(1.0), |seconds| seconds.parse::<f64>());
    let time = seconds.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let Some(time) = time.filter(|time| !time.is_zero()) else {
        eprintln!("the first argument is a number of seconds above 0");
        return ExitCode::from(2);
    };
    let machine = std::env::args().nth(2).unwrap_or_else(|| "a machine that nobody has described".to_owned());
    let start = Instant::now();
    let entries = entries(time);
    print!("{}", document::document(&entries, time, &machine));
    eprintln!("{:.0} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

/// Under the scheduler several objects are studied at a time; real threads need all processors.
fn entries(time: Duration) -> Vec<Entry> {
    let (own, published): (Vec<Studied>, Vec<Studied>) = all().into_iter().partition(|studied| studied.instrumented);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(studied) = own.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let entry = Entry::systematic(*studied);
                    done.lock().expect("no panic under the lock").push(entry);
                }
            });
        }
    });
    let mut entries = done.into_inner().expect("no panic under the lock");
    entries.sort_by_key(|entry| own.iter().position(|studied| studied.name == entry.studied.name));
    // When the processors are free again.
    for entry in &mut entries {
        entry.count_on_real_threads(time);
    }
    entries.extend(published.into_iter().map(|studied| Entry::stress(studied, time)));
    entries
}

/// What was found out about an object.
struct Entry {
    studied: Studied,
    object: Object,
    methods: Vec<Method>,
    /// The search of core methods by themselves. Where they are not atomic, what is said of the others means nothing.
    core: Hunted,
    derived: Derived,
}

/// What was found out about a method under test.
struct Method {
    label: String,
    searched: Searched,
    /// What was found, as small as it was made.
    found: Option<Found>,
    /// Of how many executions of that on real threads how many were not right.
    frequency: Option<(u64, u64)>,
}

impl Entry {
    fn systematic(studied: Studied) -> Entry {
        let object = studied.object();
        let campaign = Campaign::systematic(&object, SEED);
        let few = |stage: &Option<(_, u64)>| stage.clone().map(|(bounds, _)| (bounds, DERIVED_WITH));
        let deriving = Campaign { by_rank: few(&campaign.by_rank), random: few(&campaign.random), ..campaign.clone() };
        let methods = studied_methods(&studied, &object, &campaign);
        let core = deriving.core(&mut |_| Next::Continue);
        let derived = derived(&methods, &Derivation::new(deriving));
        Entry { studied, object, methods, core, derived }
    }

    fn stress(studied: Studied, time: Duration) -> Entry {
        let object = studied.object();
        let campaign = Campaign { time: Some(time), ..Campaign::stress(&object, SEED) };
        let longer = Campaign { time: Some(time * LONGER), ..campaign.clone() };
        let mut methods = studied_methods(&studied, &object, &campaign);
        for method in &mut methods {
            method.found = method.found.take().map(|found| longer.minimised(found).found);
        }
        let core = longer.core(&mut |_| Next::Continue);
        let derived = derived(&methods, &Derivation::new(campaign));
        let mut entry = Entry { studied, object, methods, core, derived };
        entry.count_on_real_threads(time * LONGER);
        entry
    }

    fn count_on_real_threads(&mut self, time: Duration) {
        for method in &mut self.methods {
            method.frequency = method.found.as_ref().and_then(|found| frequency(&self.object, found, time));
        }
    }
}

fn studied_methods(studied: &Studied, object: &Object, campaign: &Campaign) -> Vec<Method> {
    let method = |method| {
        let label = object.label(method);
        eprintln!("{}.{label}", studied.name);
        let searched = campaign.method(method, &mut |_| Next::Continue);
        let found = searched.found().filter(|_| !searched.of_core).cloned();
        Method { label, searched, found, frequency: None }
    };
    object.with_role(Role::UnderTest).map(method).collect()
}

/// What was found counts, whether or not it is seen again.
fn derived(methods: &[Method], derivation: &Derivation) -> Derived {
    let method = |method: &Method| {
        eprintln!("visibility of {}.{}", derivation.campaign.object.name(), method.label);
        let known: Vec<Found> = method.found.iter().chain(method.searched.hunted.found()).cloned().collect();
        derivation.method(method.searched.method, &known, &mut |_| ())
    };
    let methods: Vec<_> = methods.iter().map(method).collect();
    let together = derivation.together(&methods, &mut |_| ());
    Derived { methods, together }
}

/// How many executions on real threads show an outcome that is not right, and of how many.
fn frequency(object: &Object, found: &Found, time: Duration) -> Option<(u64, u64)> {
    let program = object.program(&found.schema).ok()?;
    let bound = Campaign::stress(object, SEED).bound;
    let (judge, _) = judged::within(&program, object.visibility(), bound, PATIENCE, Deadline::NEVER).ok()?;
    let settings = stress::Settings { seed: SEED, budget: Budget::Time(time), ..stress::Settings::default() };
    let observed = stress::run(&program, &settings, &mut |_| Next::Continue);
    let wrong = observed.outcomes.iter().filter(|(outcome, _)| !judge.admits(outcome)).map(|(_, count)| count).sum();
    Some((wrong, observed.executions))
}

/// The weakest level that refuses an outcome: those below it admit it, if there are any.
fn violated(entry: &Entry, method: &Method, found: &Found) -> Option<Level> {
    let What::Outcome { outcome, .. } = &found.what else { return None };
    let program = entry.object.program(&found.schema).ok()?;
    let name = &entry.object.method(method.searched.method).name;
    let bound = Campaign::stress(&entry.object, SEED).bound;
    let refuses = |level: &Level| {
        let visibility: Visibility = entry.object.visibility().clone().with(name, *level);
        let judged = judged::within(&program, &visibility, bound, PATIENCE, Deadline::NEVER);
        judged.is_ok_and(|(judge, _)| !judge.admits(outcome))
    };
    Level::ALL.into_iter().find(refuses)
}
