use std::panic::Location;

use interloper_scheduler::runtime::{Action, Operation};

use super::*;

const MAIN: TaskId = TaskId::MAIN;
const WORKER: TaskId = TaskId(1);
/// The first two tasks of an execution with two threads.
const FIRST: TaskId = TaskId(2);
const SECOND: TaskId = TaskId(3);

/// An execution of two threads, written down as it runs.
#[derive(Default)]
struct Script {
    trace: Vec<Event>,
    notices: Vec<Notice>,
}

impl Script {
    fn step(mut self, task: TaskId) -> Script {
        let object = ObjectId::from_index(0);
        let operation = Operation { object, action: Action::Write, location: Location::caller() };
        self.trace.push(Event { task, operation, continues: false, only_read: false, cause: Cause::Ready });
        self
    }

    fn tell(mut self, by: TaskId, about: usize, told: Told) -> Script {
        self.notices.push(Notice { before: self.trace.len() as u32, by, about, told });
        self
    }

    /// A poll of the task with one step; with a waker that is kept, if there is one.
    fn polls(self, by: TaskId, about: usize, keeps: bool) -> Script {
        let begun = self.tell(by, about, Told::Begins).step(by).tell(by, about, Told::Polled).step(by);
        let begun = if keeps { begun.tell(by, about, Told::Kept).step(by) } else { begun };
        begun.tell(by, about, Told::Suspended).tell(by, about, Told::Leaves)
    }

    fn polls_seen(&self) -> Polls {
        Polls::new(&self.trace, &self.notices, 2)
    }

    fn names(&self) -> Names {
        let mut names = Names::default();
        self.polls_seen().name(&mut names);
        names
    }

    fn never_polled(&self) -> String {
        self.polls_seen().never_polled(&self.names()).unwrap_or_default()
    }
}

fn two_tasks() -> Script {
    let script = Script::default().step(MAIN).tell(MAIN, 16, Told::Spawned).step(MAIN);
    script.tell(MAIN, 32, Told::Spawned).step(MAIN)
}

#[test]
fn steps_of_a_poll_are_those_of_the_task() {
    let script = two_tasks().step(WORKER).polls(WORKER, 32, true).step(WORKER).polls(MAIN, 16, true).step(MAIN);
    let polls = script.polls_seen();
    let actors: Vec<TaskId> = (0..script.trace.len()).map(|event| polls.actor(event)).collect();
    let expected = [MAIN, MAIN, MAIN, WORKER, SECOND, SECOND, SECOND, WORKER, FIRST, FIRST, FIRST, MAIN];
    assert_eq!(actors, expected);
    assert_eq!((polls.columns(), polls.many), (4, true));
    assert_eq!(script.names().task(SECOND), "task 2");
}

#[test]
fn the_line_that_runs_an_executor_is_none_of_its_tasks() {
    // A poll of the first task: its first step is outside of the future, as the last one.
    let script = two_tasks().tell(MAIN, 16, Told::Begins).step(MAIN).step(MAIN).step(MAIN).tell(MAIN, 16, Told::Leaves);
    let script = script.step(MAIN);
    let line = |line: u32| Some(SourcePlace { file: "src/lib.rs".to_owned(), line, column: 1 });
    let lines = [1, 1, 1, 9, 5, 9, 9].map(line).to_vec();
    let expected = [line(1), line(1), line(1), None, line(5), None, line(9)];
    assert_eq!(script.polls_seen().inside(lines), expected);
    assert!(script.polls_seen().inside(Vec::new()).is_empty());
}

#[test]
fn without_notices_all_steps_are_those_of_threads() {
    let script = Script::default().step(MAIN).step(WORKER);
    let polls = script.polls_seen();
    assert!(!polls.any() && polls.columns() == 2 && polls.edges.is_empty());
    assert_eq!((polls.actor(0), polls.actor(1), polls.at_end(WORKER)), (MAIN, WORKER, WORKER));
    assert_eq!(script.never_polled(), "");
}

#[test]
fn whoever_wakes_a_task_is_known_at_its_next_poll() {
    let script = two_tasks().polls(WORKER, 16, true).tell(MAIN, 32, Told::Begins).step(MAIN);
    let script = script.tell(MAIN, 16, Told::WokenOnce).step(MAIN).tell(MAIN, 32, Told::Leaves);
    let woken = script.trace.len() - 1;
    let script = script.tell(WORKER, 16, Told::Begins).step(WORKER);
    let polls = script.polls_seen();
    assert_eq!(polls.edges[&1], [Edge::Spawns(FIRST)]);
    assert_eq!(polls.edges[&woken], [Edge::Wakes(FIRST)]);
    assert_eq!(
        polls.edges[&(woken + 1)],
        [Edge::Begins { thread: WORKER, woken: Some((SECOND, woken)), from: Some(5) }]
    );
    assert_eq!((polls.at_end(WORKER), polls.at_end(MAIN)), (FIRST, MAIN));
}

#[test]
fn a_thread_that_blocks_on_a_future_is_woken_by_a_task() {
    let script = two_tasks().tell(MAIN, 48, Told::BlocksOn).step(MAIN).tell(MAIN, 48, Told::Suspended);
    assert!(script.polls_seen().blocks(MAIN));
    let mut script = script.polls(WORKER, 16, true).step(MAIN);
    let woken = script.trace.len() - 2;
    script.trace.last_mut().expect("it is there").cause = Cause::Event(woken as u32);
    let script = script.tell(MAIN, 48, Told::BlocksOn).step(MAIN);
    let polls = script.polls_seen();
    assert_eq!(polls.edges[&(script.trace.len() - 1)], [Edge::Resumes { woken: (FIRST, woken) }]);
    assert!(!polls.blocks(MAIN));
}

#[test]
fn a_task_that_is_never_polled_again_has_a_waker_or_none() {
    let kept = two_tasks().polls(WORKER, 16, true);
    assert_eq!(kept.never_polled(), "task 1 is never polled again: nobody calls its waker");
    let forgot = two_tasks().polls(WORKER, 16, false);
    assert_eq!(forgot.never_polled(), "task 1 is never polled again: no waker left");
    let dropped = two_tasks().polls(WORKER, 16, true).step(MAIN).tell(MAIN, 16, Told::Dropped).step(MAIN);
    assert_eq!(dropped.never_polled(), "task 1 is never polled again: no waker left");
    assert_eq!(dropped.polls_seen().tasks[0].dropped, Some((MAIN, Some(6))));
    let both = two_tasks().polls(WORKER, 16, true).polls(WORKER, 32, true);
    assert_eq!(both.never_polled(), "task 1, task 2 are never polled again: nobody calls their wakers");
    // A task that was not polled yet is not suspended.
    assert_eq!(two_tasks().never_polled(), "");
}

#[test]
fn a_task_that_has_ended_is_not_suspended() {
    let ends = two_tasks().tell(WORKER, 16, Told::Begins).step(WORKER).tell(WORKER, 16, Told::Polled).step(WORKER);
    let ends = ends.tell(WORKER, 16, Told::Ended).step(WORKER).tell(WORKER, 16, Told::Leaves);
    let polls = ends.polls_seen();
    assert!(ends.never_polled().is_empty() && polls.cancelled.is_empty() && polls.tasks[0].has_ended);
    // Another task at the same address.
    let again = ends.tell(MAIN, 16, Told::Spawned).step(MAIN).polls(WORKER, 16, true);
    assert_eq!(again.never_polled(), "task 3 is never polled again: nobody calls its waker");
}

#[test]
fn a_future_that_is_dropped_before_it_is_ready_was_cancelled() {
    let aborted = two_tasks().polls(WORKER, 16, true).tell(MAIN, 16, Told::Begins).step(MAIN);
    let aborted = aborted.tell(MAIN, 16, Told::Ended).step(MAIN).tell(MAIN, 16, Told::Leaves);
    assert_eq!(aborted.polls_seen().cancelled, [(7, FIRST, Some(5))]);
    let never_ran = two_tasks().tell(MAIN, 16, Told::Ended).step(MAIN);
    assert_eq!(never_ran.polls_seen().cancelled, [(3, FIRST, None)]);
}

#[test]
fn what_is_said_of_unknown_tasks_is_ignored() {
    // A worker of tokio is a task of its own, for which nobody spawns.
    let script = two_tasks().tell(WORKER, 64, Told::Begins).step(WORKER).tell(WORKER, 64, Told::Polled);
    let script = script.polls(WORKER, 16, true).step(WORKER).tell(WORKER, 64, Told::Leaves);
    let polls = script.polls_seen();
    let actors: Vec<TaskId> = (3..8).map(|event| polls.actor(event)).collect();
    assert_eq!(actors, [WORKER, FIRST, FIRST, FIRST, WORKER]);
}
