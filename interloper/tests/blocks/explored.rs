//! What the page of a finding knows.

use interloper::blocks::{Grade, Schedule};
use interloper::report::explorer::{Exploration, Extent, Kind, VERSION};
use interloper::{Checker, atomic};

use crate::support::{Atomic, Mutex, spawn};
use std::sync::Arc;

/// The page of a program's finding.
fn explored<R: interloper::ToValue>(program: impl Fn() -> R + Sync) -> Exploration {
    let checker = Checker::new("program").executions(500).settings(|settings| settings.explore = true);
    let report = checker.check(program).unwrap();
    let page = report.violation().expect("a finding").page();
    assert_eq!(Exploration::parse(&page.to_json()).expect("sound data"), page);
    page
}

fn text(page: &Exploration, index: usize) -> &str {
    &page.texts[page.steps[index].text as usize]
}

/// The first step of a task that says this.
fn find(page: &Exploration, task: &str, says: &str) -> usize {
    let is = |index: &usize| {
        page.tasks[page.steps[*index].task as usize].title == task && text(page, *index).starts_with(says)
    };
    (0..page.steps.len()).find(is).unwrap_or_else(|| panic!("{task} {says}: {page:?}"))
}

fn lost_update() -> i64 {
    let number = Arc::new(Atomic::default());
    let increment = |number: &Atomic| {
        atomic("increment", || {
            let value = number.load();
            number.store(value + 1);
        });
    };
    let shared = Arc::clone(&number);
    let task = spawn(move || increment(&shared));
    increment(&number);
    task.join();
    number.load()
}

#[test]
fn a_lost_update_has_its_block_its_reads_and_its_order() {
    let page = explored(lost_update);
    assert_eq!((page.version, page.is_wrong, page.verdict.as_str()), (VERSION, true, "not atomic"));
    let blocks: Vec<_> = page.spans.iter().filter(|span| span.what == Extent::Block).collect();
    assert_eq!(blocks.len(), 2);
    assert!(blocks.iter().all(|span| page.texts[span.text as usize] == "increment" && span.until.is_some()));
    // The triple is in the marked block, and one step of it is another task's.
    let marked: Vec<usize> = (0..page.steps.len()).filter(|&step| page.steps[step].marked).collect();
    let marked_steps: Vec<usize> =
        marked.iter().copied().filter(|&step| page.steps[step].kind == Kind::Operation).collect();
    assert_eq!(marked_steps.len(), 3, "{page:?}");
    assert_eq!(blocks.iter().filter(|span| span.marked).count(), 1);
    // Both loads read what was there at first, and the last load reads what the last store left.
    let last = page.steps.iter().rposition(|step| step.reads.is_some()).expect("a load");
    let from = page.steps[last].reads.as_ref().expect("a load").from.expect("a store") as usize;
    assert!(text(&page, from).starts_with("writes atomic 1"), "{page:?}");
    assert!(page.steps[..last].iter().filter_map(|step| step.reads.as_ref()).all(|reads| reads.from.is_none()));
    // Each store comes after a load of the other task.
    let middle = &page.steps[marked_steps[1]];
    assert!(middle.after.iter().all(|&before| page.steps[before as usize].task != middle.task));
    let spawned = page.steps.iter().find(|step| step.task == 1).expect("a step of the other task");
    assert_eq!(text(&page, spawned.woken_by.expect("it was spawned") as usize), "spawns thread 1");
    assert!(!page.orders.is_empty() && page.sources.iter().any(|source| source.file.ends_with("explored.rs")));
}

#[test]
fn the_choices_lead_to_the_failure() {
    let page = explored(lost_update);
    let choices = page.choices.as_ref().expect("choices");
    let (first, last) = (choices.points.first().expect("a point"), choices.points.last().expect("the end"));
    assert_eq!((last.step as usize, last.failed, last.of), (page.steps.len(), 1, 1));
    // Without any decision it fails sometimes; with all but the last more often than not.
    assert!(first.kept == 0 && 0 < first.failed && first.failed < first.of, "{choices:?}");
    assert!(choices.points.iter().any(|point| point.of > 1 && point.failed == point.of), "{choices:?}");
    assert!(choices.points.is_sorted_by_key(|point| point.kept), "{choices:?}");
    // The same seed, the same page.
    assert_eq!(explored(lost_update), page);
}

#[test]
fn a_deadlock_leads_from_what_waits_to_what_was_taken() {
    let page = explored(|| {
        let locks = Arc::new((Mutex::new(0i64), Mutex::new(0i64)));
        let shared = Arc::clone(&locks);
        let task = spawn(move || {
            let _second = shared.1.lock();
            let _first = shared.0.lock();
        });
        {
            let _first = locks.0.lock();
            let _second = locks.1.lock();
        }
        task.join();
    });
    assert_eq!(page.verdict, "deadlock");
    let stuck: Vec<usize> = (0..page.steps.len()).filter(|&step| page.steps[step].kind == Kind::Blocked).collect();
    assert_eq!(stuck.len(), 2);
    for step in stuck {
        let taken = page.steps[step].blocked_by.expect("a lock that is held") as usize;
        assert_ne!(page.steps[taken].task, page.steps[step].task);
        assert!(text(&page, taken).starts_with("locks mutex"), "{page:?}");
    }
    let kept = page.holds.iter().filter(|hold| hold.until.is_none()).count();
    assert_eq!((page.holds.len(), kept), (2, 2));
}

/// Two tasks of an executor: the lanes are its tasks, and the task that is never woken is blocked where it waits.
#[test]
fn a_lost_wake_has_the_lanes_of_its_tasks() {
    let page = explored(|| {
        interloper::block_on(async {
            let lost = interloper::tasks::Builder::new().name("lost").spawn(std::future::pending::<()>());
            interloper::spawn(interloper::tasks::yield_now()).await.expect("it ends");
            lost.await.expect("it never ends");
        });
    });
    assert_eq!(page.verdict, "deadlock");
    assert!(page.tasks.iter().any(|task| task.title.contains("lost")), "{:?}", page.tasks);
    // Main waits for the task that nobody wakes; the other task's wakes of main are edges.
    let stuck: Vec<&str> =
        page.steps.iter().filter(|step| step.kind == Kind::Blocked).map(|step| text_of(&page, step)).collect();
    assert_eq!(stuck, ["is never polled again"; 2]);
    assert!(page.steps.iter().any(|step| step.woken_by.is_some()));
    assert!(page.sources.iter().any(|source| source.file.ends_with("explored.rs")));
}

#[test]
fn a_task_that_waited_for_a_lock_continues_after_who_gave_it_back() {
    let page = explored(|| {
        let number = Arc::new(Mutex::new(0i64));
        let shared = Arc::clone(&number);
        let increment = |number: &Mutex<i64>| {
            atomic("increment", || {
                let value = *number.lock();
                *number.lock() = value + 1;
            });
        };
        let task = spawn(move || increment(&shared));
        increment(&number);
        task.join();
        *number.lock()
    });
    // Wherever a lock was waited for, the step that gave it back is an earlier one of another task.
    let waited = page.steps.iter().filter(|step| step.woken_by.is_some() && text_of(&page, step).starts_with("locks"));
    for step in waited {
        let by = &page.steps[step.woken_by.expect("it waited") as usize];
        assert!(by.task != step.task, "{page:?}");
    }
    assert!(page.holds.iter().all(|hold| hold.until.is_some()));
    let first = find(&page, "main", "locks mutex 1");
    assert!(page.steps[first].object.is_some_and(|object| page.objects[object as usize] == "mutex 1"));
}

fn text_of<'p>(page: &'p Exploration, step: &interloper::report::explorer::Step) -> &'p str {
    &page.texts[step.text as usize]
}

#[test]
fn without_the_setting_the_page_tells_what_the_report_does() {
    let report = Checker::new("program").executions(500).schedule(Schedule::default()).check(lost_update).unwrap();
    assert_eq!(report.grade, Grade::Bug);
    let violation = report.violation().expect("a finding");
    assert!(violation.exploration.is_none());
    let page = violation.page();
    assert_eq!(page.steps.len(), violation.counterexample.rows.len());
    assert!(page.choices.is_none() && page.holds.is_empty());
}
