//! The thread's side of an execution: it resumes one fiber after the other.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use interloper_std::runtime::{self, Exit, Place, TaskId};

use super::core::{Core, MAIN};
use super::escape::Escape;
use super::fiber::Fibers;
use super::state::State;
use super::{escape, panics};
use crate::execution::{End, Execution, PanicReport};
use crate::freedoms::Freedom;
use crate::strategy::Strategy;

/// Runs one execution.
pub(super) fn run(
    core: &Core,
    fibers: &mut Fibers,
    strategy: &mut dyn Strategy,
    main: &mut dyn FnMut(),
    location: Place,
) -> Execution {
    // SAFETY: only lifetimes change. Only the fibers of this execution use the two pointers, while they run; when this
    // function returns all of them have ended or are never resumed again.
    let (strategy, main) = unsafe {
        (
            std::mem::transmute::<*mut (dyn Strategy + '_), *mut (dyn Strategy + 'static)>(strategy),
            std::mem::transmute::<*mut (dyn FnMut() + '_), *mut (dyn FnMut() + 'static)>(main),
        )
    };
    core.begin(strategy, main, location);
    let panicking = std::thread::panicking();
    escape::install_handlers();
    panics::observed(core, || {
        core.with_runtime(|runtime| runtime::enter(runtime, || core.watching(|| drive(core, fibers))))
    });
    if !panicking {
        panics::forget_unfinished();
    }
    if let Some(payload) = core.finish_run() {
        resume_unwind(payload);
    }
    summary(core)
}

// `drive`, `run_tasks`, `start` and `resume` are inlined, although most of them have two callers: a short execution takes 3 % fewer
// instructions.
#[inline(always)]
fn drive(core: &Core, fibers: &mut Fibers) {
    run_tasks(core, fibers);
    let keeps = |state: &State| !(state.shared.is_empty() && state.tasks[MAIN].locals.is_empty());
    if keeps(&core.state.borrow()) && !core.state.borrow().escaped {
        core.restart_main();
        run_tasks(core, fibers);
    }
    if !core.state.borrow().panics.is_empty() {
        runtime::leave(|| drop_payloads(core));
    }
    // SAFETY: the execution is over. Nothing of it runs any more, so nothing looks at the frames of these tasks.
    unsafe { fibers.reclaim() };
}

#[inline(always)]
fn run_tasks(core: &Core, fibers: &mut Fibers) {
    while !core.over.get() {
        let task = core.next.get();
        if !fibers.has(task) {
            start(core, fibers, task);
        }
        resume(core, fibers, task);
    }
    if core.note_escape() {
        // Its frames are gone, without destructors: nothing that may refer to them runs again.
        fibers.abandon();
    } else if core.state.borrow().unfinished > 0 {
        unwind_all(core, fibers);
    }
}

/// Runs the fiber of a task, and those that are resumed from there. What the thread's side does afterwards is no task's doing,
/// least of all with how much stack: its own stack may be below those of the fibers.
#[inline(always)]
fn resume(core: &Core, fibers: &mut Fibers, task: usize) {
    core.enter_task(true);
    let left = fibers.resume(task);
    core.enter_task(false);
    if let Some(stack) = left {
        fibers.take_back(stack);
    }
}

#[inline(always)]
fn start(core: &Core, fibers: &mut Fibers, task: usize) {
    let pointer: *const Core = core;
    // SAFETY: the core outlives its fibers: the engine that owns both borrows it for the whole run, at the end of which
    // they have ended or are never resumed again.
    unsafe {
        let forget = |start, length| {
            core.addresses.forget_range(start, length);
            core.synchronise(|kept| kept.plain.begin_stack(start, length));
        };
        fibers.start(task, forget, move |link| (*pointer).root(task, link));
    }
}

/// Unwinds the remaining tasks. A task that cannot be unwound (it waits in a destructor for another such task, or
/// catches the unwinding again and again) is abandoned with its stack.
#[cold]
fn unwind_all(core: &Core, fibers: &mut Fibers) {
    loop {
        let before = core.state.borrow().abort_progress;
        let mut task = 0;
        while task < core.state.borrow().live {
            if core.to_unwind(task) {
                if core.is_fragile(task) {
                    core.state.borrow_mut().tasks[task].lost = true;
                    continue;
                }
                if !fibers.has(task) {
                    start(core, fibers, task);
                }
                resume(core, fibers, task);
                if core.note_escape() {
                    break;
                }
            }
            task += 1;
        }
        let state = core.state.borrow();
        if state.unfinished == 0 || state.abort_progress == before || state.escaped {
            break;
        }
    }
    let mut state = core.state.borrow_mut();
    if matches!(state.end, None | Some(End::Exited { .. })) && !state.escaped {
        fibers.give_up();
    } else {
        fibers.abandon();
    }
    let live = state.live;
    state.tasks[..live].iter_mut().for_each(|task| task.lost = !task.done);
    state.suspended_unwinding = 0;
}

/// Payloads that no task asked for belong to the program: their destructors may do anything.
#[cold]
fn drop_payloads(core: &Core) {
    let live = core.state.borrow().live;
    for task in 0..live {
        let payload = core.state.borrow_mut().tasks[task].payload.take();
        if let Some(payload) = payload {
            let mut state = core.state.borrow_mut();
            if state.end.is_none() {
                let of_task = |report: &&PanicReport| report.task.index() == task;
                let report = state.panics.iter().find(of_task).unwrap_or(&state.panics[0]).clone();
                state.end = Some(End::Panicked(report));
            }
            drop(state);
            let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        }
    }
}

fn summary(core: &Core) -> Execution {
    let mut state = core.state.borrow_mut();
    let mut kept = core.kept.borrow_mut();
    if let Some(fault) = core.end_plain(&mut kept, &state) {
        state.end = Some(End::Memory(Box::new(fault)));
    }
    let is_weak = state.granted.count(Freedom::Memory) > 0;
    kept.before = (kept.older.len(), kept.accesses.len());
    Execution {
        // Asked first: an end is large, and to move one that is not there takes as long.
        end: if state.end.is_none() { End::Finished } else { taken(&mut state) },
        steps: state.steps,
        preemptions: state.preemptions,
        tasks: state.live,
        clock: state.clock,
        steered: state.steered,
        tried: state.tried,
        departures: state.used,
        older: std::mem::take(&mut kept.older),
        // A search takes them for choices, which they are not where each access sees the newest store.
        accesses: if is_weak { std::mem::take(&mut kept.accesses) } else { Vec::new() },
        weaker: core.addresses.take_weaker(),
        older_left: kept.older_left,
        plain: kept.plain.accesses(),
        plain_steps: kept.plain.steps(),
        hashed: core.hashed.get(),
        withheld: state.withheld || state.tasks[..state.live].iter().any(|task| task.hints.has_left()),
        stuck: std::mem::take(&mut state.stuck),
        panics: std::mem::take(&mut state.panics),
    }
}

#[cold]
#[inline(never)]
fn taken(state: &mut State) -> End {
    state.end.take().unwrap_or(End::Finished)
}

impl Core {
    /// Whether the running task was led out of its fiber; if so, the execution ends here.
    #[inline(always)]
    fn note_escape(&self) -> bool {
        let Some((task, escape)) = self.escaped.take() else { return false };
        self.end_by(task, escape);
        true
    }

    /// The execution ends with what led the task out of its fiber.
    #[cold]
    fn end_by(&self, task: usize, escape: Escape) {
        let mut state = self.state.borrow_mut();
        let end = match escape {
            Escape::StackOverflow => End::StackOverflow { task: TaskId(task as u32), last: state.operation(task) },
            Escape::Crash { crash, code } => {
                End::Crashed { task: TaskId(task as u32), crash, code, last: state.operation(task) }
            }
            Escape::Abort => {
                let location = state.operation(task).location;
                let panicked = self.begun_in(TaskId(task as u32));
                End::Exited { task: TaskId(task as u32), exit: Exit::Abort, location, panicked }
            }
            Escape::Doomed(report) => {
                let report = PanicReport { name: state.tasks[task].name.clone(), ..report };
                state.panics.push(report.clone());
                End::Aborted(report)
            }
            Escape::Stuck => {
                let beat = self.beat.as_ref().expect("internal error: nobody watches this engine");
                End::Stuck(Box::new(beat.take_stuck()))
            }
        };
        // While tasks are unwound the execution has its end already.
        if !state.aborting {
            state.stuck = state.reports();
            state.end = Some(end);
        }
        state.escaped = true;
        state.aborting = true;
    }

    /// Whether unwinding the task, which has started, would abort the process, as far as is known.
    fn is_fragile(&self, task: usize) -> bool {
        let fragile = self.fragile.borrow();
        !fragile.is_empty() && {
            let task = &self.state.borrow().tasks[task];
            task.link.is_some() && fragile.contains(&task.origin)
        }
    }

    /// Whether the task must still be unwound; if so, it becomes the running task.
    fn to_unwind(&self, task: usize) -> bool {
        let mut state = self.state.borrow_mut();
        let left = !state.tasks[task].done && !state.tasks[task].lost;
        if left {
            state.current = task;
            self.next.set(task);
        }
        left
    }

    /// The main task goes on without its closure: it drops the values of the execution.
    fn restart_main(&self) {
        let mut state = self.state.borrow_mut();
        let main = &mut state.tasks[MAIN];
        let done = std::mem::replace(&mut main.done, false);
        (main.lost, main.link) = (false, None);
        state.unfinished += usize::from(done);
        state.current = MAIN;
        self.next.set(MAIN);
        if !state.aborting {
            state.enable(MAIN);
            self.over.set(false);
        }
    }
}
