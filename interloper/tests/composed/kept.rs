//! A check that another process continues gives the report of a check that was never interrupted.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interloper::blocks::progress::{InMemory, Keep, Keeper, Progress, Resumed};
use interloper::collections::DashMap;
use interloper::{Adversary, Check, Environment, MethodUnderTest, Report, Search, Settings, Value, Verdict};

use crate::cones::{LEAVES, Step, method};

/// Keeps every progress, as if each were the last one before the process was killed, and goes on after an earlier one.
#[derive(Default)]
struct Every {
    earlier: Option<Progress>,
    all: Mutex<Vec<Progress>>,
    heard: Mutex<Vec<Resumed>>,
    /// So many times nothing is due.
    early: AtomicUsize,
}

impl Every {
    /// After another process, whose progress comes through its text.
    fn after(progress: &Progress) -> Every {
        let text = serde_json::to_string(progress).expect("plain data");
        Every { earlier: Some(serde_json::from_str(&text).expect("what was written")), ..Every::default() }
    }

    fn taken(&self) -> Vec<Progress> {
        std::mem::take(&mut *self.all.lock().expect("no test panics here"))
    }

    fn heard(&self) -> Vec<Resumed> {
        self.heard.lock().expect("no test panics here").clone()
    }
}

impl Keep for Every {
    fn earlier(&self) -> Option<Progress> {
        self.earlier.clone()
    }

    fn is_due(&self) -> bool {
        self.early.fetch_update(Relaxed, Relaxed, |early| early.checked_sub(1)).is_err()
    }

    fn keep(&self, progress: Progress) {
        self.all.lock().expect("no test panics here").push(progress);
    }

    fn hear(&self, resumed: Resumed) {
        self.heard.lock().expect("no test panics here").push(resumed);
    }
}

fn kept(method: &dyn Check, settings: &Settings, keep: Arc<dyn Keep>) -> Report {
    method.kept_with(settings, Keeper::new(keep)).expect("well described")
}

/// All of a report.
fn all(report: &Report) -> String {
    format!("{report}{:?}", report.coverage)
}

/// Some of them: the first, the last, and some between.
fn some<T>(all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().step_by((all.len() / 12).max(1)).chain(all.last())
}

#[track_caller]
fn assert_goes_on(method: &dyn Check, settings: &Settings) -> Report {
    let whole = method.check_with(settings).expect("well described");
    let every = Arc::new(Every::default());
    assert_eq!(all(&kept(method, settings, every.clone())), all(&whole));
    assert_eq!(every.heard(), []);
    for progress in some(&every.taken()) {
        let again = Arc::new(Every::after(progress));
        assert_eq!(all(&kept(method, settings, again.clone())), all(&whole), "{progress:?}");
        assert_eq!(again.heard(), [Resumed::GoesOn]);
        // That process was killed, too.
        let moments = again.taken();
        for progress in
            [moments.len() / 2, moments.len().saturating_sub(1)].into_iter().filter_map(|at| moments.get(at))
        {
            assert_eq!(all(&kept(method, settings, Arc::new(Every::after(progress)))), all(&whole), "{progress:?}");
        }
    }
    whole
}

/// Steps of a method on atomics, with this verdict.
#[track_caller]
fn assert_steps(steps: &[Step], verdict: Verdict, change: impl FnOnce(&mut Settings)) {
    let method = method(steps, Adversary::Preceding, 2);
    let mut settings = Check::settings(&method).clone();
    change(&mut settings);
    let report = assert_goes_on(&method, &settings);
    assert_eq!(report.verdict, verdict, "{report}");
}

#[test]
fn a_check_goes_on_with_each_of_its_runs() {
    assert_steps(&[Step::Swap(0)], Verdict::Linearizable, |_| ());
    assert_steps(&[Step::Load(0), Step::Swap(1)], Verdict::NotLinearizable, |_| ());
    assert_steps(&[Step::Load(0), Step::Load(0)], Verdict::NotLinearizable, |_| ());
    // The search without a cone comes after the one in the cone.
    let longer = [Step::Load(0), Step::Load(1), Step::Load(1), Step::SwapIfAll(2)];
    assert_steps(&LEAVES, Verdict::NotLinearizable, |_| ());
    assert_steps(&longer, Verdict::NotLinearizable, |_| ());
    // A limit on the executions cuts the search; its progress is kept all the same.
    assert_steps(&[Step::Load(0), Step::Swap(1)], Verdict::Unfinished, |settings| settings.executions = Some(9));
    assert_steps(&[Step::Swap(0)], Verdict::NothingFound, |settings| {
        (settings.adversary, settings.search) = (Adversary::Naive, Search::Random { executions: 60 });
    });
}

/// The search makes one of several runs that differ in the order of independent steps. Which ones it need not make is kept, too.
#[test]
fn calls_at_once_go_on_with_each_of_their_runs() {
    let closed = |settings: &mut Settings| settings.environment = Environment::Closed;
    assert_steps(&[Step::Load(0), Step::Swap(1), Step::Swap(2)], Verdict::NotLinearizable, closed);
    assert_steps(&[Step::Load(0), Step::Load(1), Step::Load(2)], Verdict::Linearizable, closed);
    assert_steps(&[Step::Swap(0), Step::Load(1), Step::Load(2)], Verdict::Linearizable, closed);
    let increment = |map: &DashMap<u32, u32>, key: u32| {
        let mut count = map.entry(key).or_insert(0);
        *count += 1;
        *count
    };
    for environment in [Environment::Closed, Environment::Open] {
        let method = MethodUnderTest::new("increment", DashMap::new, increment)
            .arguments([7, 7])
            .keys([7u32])
            .initial_states([vec![Value::map([])]])
            .concurrent(2)
            .settings(|settings| (settings.environment, settings.bound) = (environment, 1));
        let report = assert_goes_on(&method, Check::settings(&method));
        assert_eq!(report.verdict, Verdict::Linearizable);
    }
}

/// The second search, in the environment of the program, goes on after the first one has found its violation again.
#[test]
fn the_second_search_of_a_check_goes_on() {
    let memoize = |cache: &DashMap<u64, u64>, key: u64| {
        cache.entry(key).or_insert(2 * key);
        cache.get(&key).map_or(0, |known| *known)
    };
    let method = MethodUnderTest::new("memoize", DashMap::new, memoize)
        .arguments([7])
        .without("remove")
        .settings(|settings| settings.bound = 2);
    let report = assert_goes_on(&method, Check::settings(&method));
    assert_eq!(report.coverage.len(), 2, "{report}");

    // Nothing is kept of the first search if its violation comes before anything is due.
    let (settings, mut kept_later) = (Check::settings(&method), 0);
    for early in 0.. {
        let every = Arc::new(Every { early: early.into(), ..Every::default() });
        assert_eq!(all(&kept(&method, settings, every.clone())), all(&report));
        let Some(progress) = every.taken().into_iter().next() else { break };
        let again = Arc::new(Every::after(&progress));
        assert_eq!(all(&kept(&method, settings, again.clone())), all(&report));
        assert_eq!(again.heard(), [Resumed::GoesOn], "{early}");
        kept_later = early;
    }
    assert!(kept_later >= report.coverage[0].executions as usize, "the second search alone is kept: {kept_later}");
}

/// The time ends each process after some runs, or within one: the last one comes to the end.
#[test]
fn a_check_that_time_cuts_again_and_again_comes_to_its_end() {
    let (two, three) = ([Step::Load(0), Step::Swap(1)], [Step::Load(0), Step::Load(1), Step::Load(2)]);
    for (steps, environment) in [(&two[..], Environment::Open), (&three, Environment::Closed)] {
        let method = method(steps, Adversary::Preceding, 2);
        let mut settings = Settings { environment, ..Check::settings(&method).clone() };
        let whole = all(&method.check_with(&settings).expect("well described"));
        let (mut last, mut cuts) = (None, 0);
        let end = loop {
            // At first there is no time for a single run.
            settings.time = Some(Duration::from_micros(100 * cuts));
            let memory = Arc::new(last.map_or_else(InMemory::default, InMemory::after));
            let report = kept(&method, &settings, memory.clone());
            if report.verdict != Verdict::Unfinished {
                break all(&report);
            }
            last = memory.take().or_else(|| memory.earlier());
            cuts += 1;
        };
        assert_eq!(end, whole);
        assert!(cuts > 1);
    }
}

#[test]
fn what_does_not_fit_begins_anew_and_says_so() {
    let steps = [Step::Load(0), Step::Swap(1)];
    let with = |bound| method(&steps, Adversary::Preceding, bound);
    let every = Arc::new(Every::default());
    kept(&with(3), Check::settings(&with(3)), every.clone());
    let progress = every.taken().pop().expect("it was kept at the end");
    let again = Arc::new(Every::after(&progress));
    let report = kept(&with(2), Check::settings(&with(2)), again.clone());
    assert_eq!(all(&report), all(&with(2).check().expect("well described")));
    assert_eq!(again.heard(), [Resumed::Anew]);
}
