//! Methods under test over locks and atomics of the mirror of std, as a crate under control uses them: no wrapper is around them.

use std::collections::VecDeque;

use interloper::collections::session::Instrumented;
use interloper::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use interloper::sync::{Mutex, RwLock};
use interloper::{MethodUnderTest, Report, Subject, Verdict};

#[derive(Default)]
struct Jobs {
    queue: Mutex<VecDeque<u32>>,
    closed: AtomicBool,
    /// The environment does not know it.
    seen: AtomicU64,
}

impl Subject for Jobs {
    fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
        vec![("queue".to_owned(), &self.queue), ("closed".to_owned(), &self.closed)]
    }
}

#[track_caller]
fn check(name: &str, method: impl Fn(&Jobs, u32) -> bool + 'static, expected: Verdict) -> Report {
    let method = MethodUnderTest::new(name, Jobs::default, move |jobs: &Jobs, job: u32| method(jobs, job));
    let report = method.arguments([7]).settings(|settings| settings.bound = 2).check().expect("it fits");
    assert_eq!(report.verdict, expected, "{report}");
    report
}

fn push_once(jobs: &Jobs, job: u32) -> bool {
    if jobs.queue.lock().unwrap().contains(&job) {
        return false;
    }
    jobs.queue.lock().unwrap().push_back(job);
    true
}

fn push_once_in_one_section(jobs: &Jobs, job: u32) -> bool {
    let mut queue = jobs.queue.lock().unwrap();
    let new = !queue.contains(&job);
    if new {
        queue.push_back(job);
    }
    new
}

#[test]
fn a_critical_section_is_one_step() {
    let report = check("push_once", push_once, Verdict::NotLinearizable);
    let text = report.to_string();
    let line = |wanted: &str| text.lines().position(|line| line.contains(wanted)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("lock ") < line("unlock"), "{text}");
    assert!(text.contains("tests/composed/mirrored.rs:"), "the place of the call is named: {text}");
    check("push_once_in_one_section", push_once_in_one_section, Verdict::Linearizable);
}

/// Under the lock, the environment acts on what the lock does not protect, and on nothing else.
#[test]
fn a_lock_keeps_the_environment_from_its_content_alone() {
    let twice = |jobs: &Jobs, _| {
        let queue = jobs.queue.lock().unwrap();
        let before = queue.len();
        jobs.closed.load(Ordering::SeqCst);
        before == 0 && before == queue.len()
    };
    check("the queue stays", twice, Verdict::Linearizable);
    let flag = |jobs: &Jobs, job| {
        let mut queue = jobs.queue.lock().unwrap();
        queue.push_back(job);
        jobs.closed.load(Ordering::SeqCst) == jobs.closed.load(Ordering::SeqCst)
    };
    check("the flag does not", flag, Verdict::NotLinearizable);
}

#[test]
fn what_is_no_part_makes_no_step() {
    let with = |jobs: &Jobs, job: u32| {
        jobs.seen.fetch_add(1, Ordering::SeqCst);
        push_once_in_one_section(jobs, job)
    };
    let counted = |report: Report| report.coverage.iter().map(|coverage| coverage.executions).sum::<u64>();
    let alone = counted(check("push", push_once_in_one_section, Verdict::Linearizable));
    assert_eq!(counted(check("push and count", with, Verdict::Linearizable)), alone);
}

#[track_caller]
fn count(name: &str, method: fn(&AtomicU64) -> u64, expected: Verdict) {
    let method = MethodUnderTest::new(name, AtomicU64::default, move |n: &AtomicU64, (): ()| method(n));
    let report = method.arguments([()]).settings(|settings| settings.bound = 2).check().expect("it fits");
    assert_eq!(report.verdict, expected, "{report}");
}

#[test]
fn each_call_of_an_atomic_is_one_step() {
    count(
        "load and store",
        |n| {
            let old = n.load(Ordering::SeqCst);
            n.store(old.wrapping_add(1), Ordering::SeqCst);
            old
        },
        Verdict::NotLinearizable,
    );
    count("fetch_add", |n| n.fetch_add(1, Ordering::SeqCst), Verdict::Linearizable);
    count(
        "compare_exchange",
        |n| {
            let mut old = n.load(Ordering::SeqCst);
            while let Err(other) = n.compare_exchange(old, old.wrapping_add(1), Ordering::SeqCst, Ordering::SeqCst) {
                old = other;
            }
            old
        },
        Verdict::Linearizable,
    );
}

#[track_caller]
fn memoize(name: &str, method: fn(&RwLock<Option<u32>>) -> u32, expected: Verdict) {
    let method =
        MethodUnderTest::new(name, || RwLock::new(None), move |known: &RwLock<Option<u32>>, (): ()| method(known));
    let report = method.arguments([()]).settings(|settings| settings.bound = 2).check().expect("it fits");
    assert_eq!(report.verdict, expected, "{report}");
}

#[test]
fn readers_and_writers_are_sections() {
    memoize(
        "two sections",
        |known| {
            if let Some(known) = *known.read().unwrap() {
                return known;
            }
            *known.write().unwrap() = Some(7);
            7
        },
        Verdict::NotLinearizable,
    );
    memoize(
        "the second looks again",
        |known| {
            if let Some(known) = *known.read().unwrap() {
                return known;
            }
            *known.write().unwrap().get_or_insert(7)
        },
        Verdict::Linearizable,
    );
}
