//! Where a program was at each of its steps: the calls that led there.
//!
//! Many crates implement their own locks, with a word and a place to park. The engine does not see such a lock: it does
//! not know who holds it, and the places of its steps are inside the crate. So an execution that is stuck is rerun with
//! the stack of each step. The stacks show which line of the program waits. Which line took the lock is a guess from
//! the names of the functions on the stacks, so the report says "probably".

use std::backtrace::Backtrace;
use std::rc::Rc;

use interloper_report::{Counterexample, Deadlock, Event as Shown, Place, Row};
use interloper_scheduler::{Around, Blocked, End, Event, Pending, Strategy, TaskReport};
use interloper_std::runtime::{Action, ObjectId, ObjectKind, TaskId};

use super::lines::{below_workspace, package};

/// A strategy, and the stack of each step.
pub(crate) struct Callers<S> {
    strategy: S,
    /// The task that was chosen last: the one that asks.
    asks: Option<TaskId>,
    /// Where each task was when it asked last.
    last: Vec<Option<Rc<Backtrace>>>,
    /// The stacks of the steps that do not continue another step; `None` for the first step of a task.
    steps: Vec<Option<Rc<Backtrace>>>,
}

impl<S: Strategy> Callers<S> {
    pub(crate) fn new(strategy: S) -> Callers<S> {
        Callers { strategy, asks: None, last: Vec::new(), steps: Vec::new() }
    }

    fn last(&mut self, task: TaskId) -> &mut Option<Rc<Backtrace>> {
        if self.last.len() <= task.index() {
            self.last.resize(task.index() + 1, None);
        }
        &mut self.last[task.index()]
    }
}

impl<S: Strategy> Around for Callers<S> {
    interloper_scheduler::inner_strategy!(strategy: S);

    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        // A task asks on its own stack, before its next step.
        if let Some(task) = self.asks {
            *self.last(task) = Some(Rc::new(Backtrace::force_capture()));
        }
        let index = self.strategy.choose(current, pending);
        let task = pending[index].task;
        self.asks = Some(task);
        let stack = self.last(task).clone();
        self.steps.push(stack);
        index
    }
}

/// A task that waits for a lock of the program's own making.
#[derive(Debug)]
pub(crate) struct Waiting {
    task: TaskId,
    /// What it is called.
    name: String,
    /// The line of the program that waits.
    at: String,
    /// Who has probably taken what it waits for, and the line.
    taken: Vec<(TaskId, String)>,
    /// What they are called.
    takers: Vec<String>,
}

impl Waiting {
    pub(super) fn task(&self) -> TaskId {
        self.task
    }

    /// Gives the tasks their names.
    pub(super) fn name(&mut self, name: impl Fn(TaskId) -> String) {
        self.name = name(self.task);
        self.takers = self.taken.iter().map(|(who, _)| name(*who)).collect();
    }
}

impl<S> Callers<S> {
    /// Which of the tasks that are stuck wait for what the lock of a crate keeps from them.
    pub(crate) fn waiting(
        &self,
        end: &End,
        trace: &[Event],
        kind: impl Fn(ObjectId) -> Option<ObjectKind>,
    ) -> Vec<Waiting> {
        let (End::Deadlock(tasks) | End::Leaked(tasks)) = end else { return Vec::new() };
        let stuck = tasks.iter().filter(|report| matches!(report.blocked, Blocked::Queue | Blocked::Token));
        let steps = self.placed(trace, &kind);
        stuck.filter_map(|report| self.of(report, &steps)).collect()
    }

    /// What the tasks did to atomics, in order.
    fn placed<'e>(&self, trace: &'e [Event], kind: impl Fn(ObjectId) -> Option<ObjectKind>) -> Vec<Step<'e>> {
        let asked = trace.iter().filter(|event| !event.continues).zip(&self.steps);
        let of_atomics = asked.filter(|(event, _)| kind(event.operation.object) == Some(ObjectKind::Atomic));
        let step = |(event, stack): (&'e Event, &Option<Rc<Backtrace>>)| {
            let call = stack.as_ref().and_then(|stack| Call::of(&stack.to_string()));
            Step { event, call }
        };
        of_atomics.map(step).collect()
    }

    fn of(&self, report: &TaskReport, steps: &[Step<'_>]) -> Option<Waiting> {
        let task = report.task;
        let at = Call::of(&self.last.get(task.index())?.as_ref()?.to_string())?.place;
        // The task waits on the word that it read last.
        let word = steps.iter().rev().find(|step| step.event.task == task)?.event.operation.object;
        let waits = |step: &Step<'_>| step.call.as_ref().is_some_and(|call| call.place == at);
        // What it did while it waited has not taken anything.
        let began = steps.iter().rposition(|step| step.event.task == task && !waits(step)).map_or(0, |last| last + 1);
        let mut taken: Vec<(TaskId, String)> = Vec::new();
        for (index, Step { event, call }) in steps.iter().enumerate() {
            let Event { task: who, operation, only_read, .. } = **event;
            let changes = matches!(operation.action, Action::Write | Action::ReadWrite) && !only_read;
            if operation.object != word || !changes || who == task && index >= began {
                continue;
            }
            let Some(call) = call else { continue };
            match call.does {
                Does::Unlock => {
                    // A guard can be passed to another task, which then holds the lock.
                    let own = taken.iter().rposition(|(other, _)| *other == who);
                    if let Some(index) = own.or(taken.len().checked_sub(1)) {
                        taken.remove(index);
                    }
                }
                // A lock may change its word more than once until it is taken.
                Does::Lock if !taken.contains(&(who, call.place.clone())) => taken.push((who, call.place.clone())),
                Does::Lock | Does::Else => {}
            }
        }
        Some(Waiting { task, at, taken, name: String::new(), takers: Vec::new() })
    }
}

/// A step, and what the program had called.
struct Step<'e> {
    event: &'e Event,
    call: Option<Call>,
}

/// A call that the program makes into a crate.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    /// Where in the program.
    place: String,
    /// What it does in there.
    does: Does,
}

/// What functions do, by their names: the functions of locks have the names of lock_api.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Lock,
    Unlock,
    Else,
}

impl Does {
    /// What a function of this path does. The words of its name are looked at, as in `try_lock_shared_fast`: a `clock`
    /// and a `block_on` are something else.
    fn by_name(path: &str) -> Does {
        let name = path.rsplit("::").find(|part| !part.starts_with(['<', '{'])).unwrap_or_default();
        let mut words = name.split(|letter: char| !letter.is_alphanumeric());
        if words.clone().any(|word| word == "unlock") {
            Does::Unlock
        } else if words.any(|word| word == "lock") {
            Does::Lock
        } else {
            Does::Else
        }
    }
}

impl Call {
    /// Reads a backtrace. Each frame is a line with its function, and one with its place if that is known; the innermost
    /// comes first.
    fn of(backtrace: &str) -> Option<Call> {
        let mut does = Does::Else;
        let mut function = "";
        for line in backtrace.lines().map(str::trim_start) {
            if let Some(place) = line.strip_prefix("at ") {
                if is_of_program(function, place) {
                    return Some(Call { place: place.to_owned(), does });
                }
                does = match Does::by_name(function) {
                    Does::Lock if does == Does::Else => Does::Lock,
                    Does::Unlock => Does::Unlock,
                    Does::Lock | Does::Else => does,
                };
            } else {
                // Functions that were inlined have no number.
                let numbered = line.split_once(": ").filter(|(number, _)| number.parse::<u32>().is_ok());
                function = numbered.map_or(line, |(_, name)| name);
            }
        }
        None
    }
}

/// Where a function was called, by a backtrace from its line `line` in `file`: the first frame of the program after that
/// one. A backtrace may shorten the paths of files.
#[cfg(any(test, feature = "composed"))]
pub(crate) fn caller_of_line(backtrace: &str, file: &str, line: u32) -> Option<String> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let itself = format!("/{name}:{line}:");
    let within = backtrace.find(&itself)?;
    let from = backtrace[within..].find('\n').map(|end| within + end + 1)?;
    Call::of(&backtrace[from..]).map(|call| call.place)
}

/// Whether a frame belongs to the program itself: not to a dependency, to std or to Interloper.
fn is_of_program(function: &str, place: &str) -> bool {
    const OURS: [&str; 5] =
        ["interloper::", "interloper_", "parking_lot_core::", "corosensei::", "core::ops::function"];
    // What forwards to a strategy has a type parameter for a name.
    let forwards = function.contains(" as interloper_scheduler::");
    let function = function.trim_start_matches(['<', '&']);
    !forwards && !is_elsewhere(place) && !OURS.iter().any(|name| function.starts_with(name))
}

/// Whether a place is in a dependency, or in std.
pub(crate) fn is_elsewhere(place: &str) -> bool {
    const ELSEWHERE: [&str; 5] = ["/registry/src/", "/git/checkouts/", "/rustc/", "/rustlib/src/", "/library/"];
    ELSEWHERE.iter().any(|folder| place.contains(folder))
}

/// Adds the known facts about waiting tasks to a report.
pub(crate) fn add(counterexample: &mut Counterexample, waiting: &[Waiting]) {
    for Waiting { task, name, at, taken, takers } in waiting {
        let column = counterexample.columns.iter().position(|column| column.title == *name);
        let row = counterexample.rows.iter_mut().rev().find(|row| Some(row.column) == column);
        if let Some(row) = row.filter(|row| matches!(row.event, Shown::Blocked(_))) {
            called_at(row, below_workspace(at.clone()));
            let taken = taken.iter().zip(takers);
            let says = |at: &String, name| format!("{name} has probably taken it at {}", below_workspace(at.clone()));
            row.notes.extend(taken.map(|((_, at), name)| says(at, name)));
        }
        if let (None, Some((_, held))) = (&counterexample.deadlock, taken.iter().find(|(who, _)| who == task)) {
            counterexample.deadlock = Some(Deadlock {
                held: Place { operation: format!("{name} has probably taken a lock"), location: held.clone() },
                wanted: Place { operation: "waits for it".to_owned(), location: at.clone() },
            });
        }
    }
}

/// Puts the row of a task that waits in a dependency at the line of the program that called it.
fn called_at(row: &mut Row, at: String) {
    match row.location.take_if(|location| is_elsewhere(location)) {
        Some(inside) => {
            let (package, rest) = package(&inside).unwrap_or(("", &inside));
            row.notes.insert(0, format!("in {package}{rest}"));
            row.location = Some(at);
        }
        None => row.notes.push(format!("called at {at}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_in_a_dependency_is_shown_at_the_line_that_called_it() {
        #[track_caller]
        fn check(location: Option<&str>, expected: Option<&str>, notes: &[&str]) {
            let mut row = Row::event(0, Shown::Blocked("is parked for ever".to_owned()));
            row.location = location.map(str::to_owned);
            called_at(&mut row, "src/lib.rs:7:9".to_owned());
            assert_eq!(row.location.as_deref(), expected);
            assert_eq!(row.notes, notes);
        }
        let inside = "/home/me/.cargo/registry/src/index-1/channel-0.5.1/src/context.rs:3:1";
        check(Some(inside), Some("src/lib.rs:7:9"), &["in channel-0.5.1/src/context.rs:3:1"]);
        check(Some("/rustc/1/thread.rs:3:1"), Some("src/lib.rs:7:9"), &["in /rustc/1/thread.rs:3:1"]);
        check(Some("src/lock.rs:3:1"), Some("src/lock.rs:3:1"), &["called at src/lib.rs:7:9"]);
        check(None, None, &["called at src/lib.rs:7:9"]);
    }

    #[test]
    fn the_caller_of_a_function_is_found_in_a_backtrace() {
        let backtrace = "   0: enter_call\n             at ./src/composed/run/calls.rs:81:33\n\
                         \x20  1: get<i64>\n             at ./src/table.rs:7:9\n\
                         \x20     get_all\n             at /registry/src/other.rs:7:9\n\
                         \x20  2: shop::stock\n             at ./src/lib.rs:12:9\n";
        let found = |file, line| caller_of_line(backtrace, file, line);
        assert_eq!(found("shop/src/table.rs", 7).as_deref(), Some("./src/lib.rs:12:9"));
        assert_eq!(found("src/table.rs", 8), None);
        assert_eq!(found("src/lib.rs", 12), None);
    }

    #[test]
    fn the_program_is_found_in_a_backtrace() {
        let backtrace = "   0: <interloper::blocks::backtraces::Callers<S> as interloper_scheduler::Strategy>::choose\n\
                         \x20            at ./interloper/src/blocks/backtraces.rs:40:50\n\
                         \x20     <A as interloper_scheduler::strategy::Strategy>::choose\n\
                         \x20            at ./scheduler/src/strategy.rs:114:14\n\
                         \x20  1: dashmap::lock::RawRwLock::try_lock_shared_fast\n\
                         \x20            at /home/me/.cargo/registry/src/index/dashmap-6.2.1/src/lock.rs:200:1\n\
                         \x20     <dashmap::lock::RawRwLock as lock_api::rwlock::RawRwLock>::lock_shared\n\
                         \x20            at /home/me/.cargo/registry/src/index/dashmap-6.2.1/src/lock.rs:60:1\n\
                         \x20  2: __rust_begin_short_backtrace\n\
                         \x20  3: shop::tests::stock::{{closure}}\n\
                         \x20            at ./src/lib.rs:12:9\n\
                         \x20  4: shop::main\n\
                         \x20            at ./src/main.rs:3:1\n";
        let call = |place: &str, does| Some(Call { place: place.to_owned(), does });
        assert_eq!(Call::of(backtrace), call("./src/lib.rs:12:9", Does::Lock));
        assert_eq!(
            Call::of(&backtrace.replace("lock_shared", "unlock_shared")),
            call("./src/lib.rs:12:9", Does::Unlock)
        );
        assert_eq!(Call::of(&backtrace.replace("lock_shared", "get")), call("./src/lib.rs:12:9", Does::Else));
        // What ran inside a function that has something else to do with locks is not a lock.
        for other in ["clock", "block_on", "unblock", "locks", "deadlocked", "clock::{{closure}}"] {
            let other = backtrace.replace("try_lock_shared_fast", other).replace("lock_shared", other);
            assert_eq!(Call::of(&other), call("./src/lib.rs:12:9", Does::Else), "{other}");
        }
        for lock in ["lock", "try_lock", "lock_exclusive_slow", "lock::<u8>", "lock::{{closure}}", "lock<T>"] {
            let lock = backtrace.replace("try_lock_shared_fast", "get").replace("lock_shared", lock);
            assert_eq!(Call::of(&lock), call("./src/lib.rs:12:9", Does::Lock), "{lock}");
        }
        assert_eq!(Call::of("   0: std::rt\n             at /rustc/1/library/std/src/rt.rs:1:1\n"), None);
    }
}
