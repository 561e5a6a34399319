//! What a report says about the futures of an execution.

use interloper_scheduler::words::Names;
use interloper_scheduler::{Blocked, End, TaskReport};
use interloper_std::runtime::TaskId;

use crate::tasks::known::{Known, Suspended, Wakers};

/// Calls the tasks of executors by their names, or `task 1` and so on.
pub(super) fn name(known: &Known, names: &mut Names) {
    for (&task, about) in known.tasks.iter().filter(|(_, about)| about.spawned.is_some()) {
        let numbered = names.task(task).replacen("thread", "task", 1);
        let name = about.name.as_ref().map_or(numbered.clone(), |name| format!("{name} ({numbered})"));
        names.call(task, name);
    }
}

/// Whether a task that cannot go on waits to be polled.
pub(super) fn is_suspended(known: &Known, report: &TaskReport) -> bool {
    report.blocked == Blocked::Token && known.tasks.get(&report.task).is_some_and(|task| task.suspended.is_some())
}

/// The tasks that are never polled again: those for which no waker is left.
pub(super) fn never_polled(known: &Known, end: &End, names: &Names) -> Option<String> {
    let (End::Deadlock(tasks) | End::Leaked(tasks)) = end else { return None };
    let has_no_waker = |report: &&TaskReport| {
        is_suspended(known, report) && known.tasks.get(&report.task).is_some_and(|task| task.wakers != Wakers::Left)
    };
    let lost: Vec<String> = tasks.iter().filter(has_no_waker).map(|report| names.task(report.task)).collect();
    let (verb, wakers) = if lost.len() == 1 { ("is", "waker") } else { ("are", "wakers") };
    (!lost.is_empty()).then(|| format!("{} {verb} never polled again: no {wakers} left", lost.join(", ")))
}

/// Where a suspended task was spawned and is suspended, and who could wake it.
pub(super) fn notes(known: &Known, task: TaskId, names: &Names) -> Vec<String> {
    let Some(about) = known.tasks.get(&task) else { return Vec::new() };
    let spawned = about.spawned.map(|place| format!("spawned at {place}"));
    let suspended = about.suspended.map(|suspended| match suspended {
        Suspended::At(place) => format!("suspended at the await at {place}"),
        Suspended::After(place) => format!("suspended after the step at {place}"),
    });
    let own = names.task(task);
    let wakers = wakers(
        &own,
        match about.wakers {
            Wakers::NoneKept => WakersLeft::NoneKept,
            Wakers::Left => WakersLeft::Some,
            Wakers::Dropped(by, after) => WakersLeft::Dropped { by: names.task(by), after: after.to_string() },
        },
    );
    spawned.into_iter().chain(suspended).chain([wakers]).collect()
}

/// Which wakers of a task are left, in words.
pub(super) enum WakersLeft {
    /// The last poll has left none.
    NoneKept,
    /// At least one.
    Some,
    /// Who dropped the last one, and after which step.
    Dropped { by: String, after: String },
}

/// Who could wake a suspended task.
pub(super) fn wakers(own: &str, left: WakersLeft) -> String {
    match left {
        WakersLeft::NoneKept => format!("its last poll kept no waker, so nobody can wake {own}"),
        WakersLeft::Some => format!("a waker of {own} is left, but no task calls it"),
        WakersLeft::Dropped { by, after } => {
            format!(
                "no waker of {own} is left, so nobody can wake it: {by} dropped the last one after the step at {after}"
            )
        }
    }
}
