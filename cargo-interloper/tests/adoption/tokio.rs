//! tokio under control: the order in which it runs ready tasks, and the first branch of `select!`, are decisions.

use super::*;

const TESTED: &str = r#"
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    use interloper_scheduler::strategies::*;
    use interloper_scheduler::{Config, End, Engine, Strategy};
    use tokio::runtime::{Builder, Runtime};
    use tokio::task::{LocalSet, yield_now};

    fn current_thread() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    fn workers(number: usize) -> Runtime {
        Builder::new_multi_thread().worker_threads(number).build().unwrap()
    }

    type Log = Arc<Mutex<Vec<u32>>>;

    /// What some executions under a strategy write down.
    fn logs(mut strategy: impl Strategy, executions: u32, program: impl Fn(Log)) -> BTreeSet<Vec<u32>> {
        let mut engine = Engine::new(Config { step_bound: 50_000, ..Config::default() });
        let all = Mutex::new(BTreeSet::new());
        for number in 1..=executions {
            if !strategy.begin() {
                break;
            }
            let execution = engine.run(&mut strategy, || {
                let log = Log::default();
                program(log.clone());
                let log = log.lock().unwrap().clone();
                all.lock().unwrap().insert(log);
            });
            strategy.end(&execution, &engine.trace());
            assert_eq!(execution.end, End::Finished, "execution {number}");
        }
        all.into_inner().unwrap()
    }

    fn random(program: impl Fn(Log)) -> BTreeSet<Vec<u32>> {
        logs(RandomWalk::new(1), 200, program)
    }

    /// Three tasks are spawned in this order.
    async fn three(log: Log) {
        let tasks = [0, 1, 2].map(|number| {
            let log = log.clone();
            tokio::spawn(async move { log.lock().unwrap().push(number) })
        });
        for task in tasks {
            task.await.unwrap();
        }
    }

    /// A random walk misses one of 6 orders in 200 executions with probability below 6 * (5/6)^200 < 2^-50.
    #[test]
    fn ready_tasks_run_in_any_order() {
        assert_eq!(random(|log| current_thread().block_on(three(log))).len(), 6);
        // The tasks are spawned by a worker: the last one is in its slot, and the others are in its queue.
        let inside = |log| workers(1).block_on(async { tokio::spawn(three(log)).await.unwrap() });
        assert_eq!(random(inside).len(), 6);
        let beside = |log| workers(2).block_on(async { tokio::spawn(three(log)).await.unwrap() });
        assert_eq!(random(beside).len(), 6);
    }

    #[test]
    fn tasks_that_another_thread_spawns_run_in_any_order() {
        let outside = |log: Log| {
            let runtime = current_thread();
            let handle = runtime.handle().clone();
            let tasks = [0, 1, 2].map(|number| {
                let log = log.clone();
                handle.spawn(async move { log.lock().unwrap().push(number) })
            });
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
        };
        assert_eq!(random(outside).len(), 6);
    }

    #[test]
    fn block_on_has_its_turn_at_any_time() {
        let program = |log: Log| {
            current_thread().block_on(async {
                let other = log.clone();
                let task = tokio::spawn(async move {
                    for _ in 0..3 {
                        other.lock().unwrap().push(0);
                        yield_now().await;
                    }
                });
                let wakes = tokio::spawn(async {});
                wakes.await.unwrap();
                log.lock().unwrap().push(1);
                task.await.unwrap();
            });
        };
        // Where the 1 stands among the three zeros.
        let all = random(program);
        assert!(all.len() >= 3, "{all:?}");
    }

    #[test]
    fn tasks_of_a_local_set_run_in_any_order() {
        let program = |log: Log| {
            let set = LocalSet::new();
            set.block_on(&current_thread(), async {
                let tasks = [0, 1, 2].map(|number| {
                    let log = log.clone();
                    tokio::task::spawn_local(async move { log.lock().unwrap().push(number) })
                });
                for task in tasks {
                    task.await.unwrap();
                }
            });
        };
        assert_eq!(random(program).len(), 6);
    }

    #[test]
    fn select_begins_with_any_branch() {
        let program = |log: Log| {
            current_thread().block_on(async {
                let number = tokio::select! { _ = async {} => 0, _ = async {} => 1 };
                log.lock().unwrap().push(number);
            });
        };
        assert_eq!(random(program), BTreeSet::from([vec![0], vec![1]]));
        let biased = |log: Log| {
            current_thread().block_on(async {
                let number = tokio::select! { biased; _ = async {} => 0, _ = async {} => 1 };
                log.lock().unwrap().push(number);
            });
        };
        assert_eq!(random(biased), BTreeSet::from([vec![0]]));
    }

    /// This program has choices only if tokio makes some.
    #[test]
    fn a_task_that_is_awaited_comes_first() {
        let program = |log: Log| {
            current_thread().block_on(async {
                for number in 0..3 {
                    let log = log.clone();
                    tokio::spawn(async move { log.lock().unwrap().push(number) }).await.unwrap();
                }
            });
        };
        assert_eq!(random(program), BTreeSet::from([vec![0, 1, 2]]));
        assert_eq!(logs(Exhaustive::new(), 100, program), BTreeSet::from([vec![0, 1, 2]]));
    }

    #[test]
    fn outside_of_an_execution_the_order_is_that_of_the_queue() {
        let log = Log::default();
        current_thread().block_on(three(log.clone()));
        assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
    }
"#;

#[test]
fn the_order_of_ready_tasks_is_a_decision() {
    let tokio = format!("tokio = {{ version = \"1\", features = [{WITH_WORKERS}] }}\n");
    let project = Project::of_tests(&tokio, TESTED);
    let ran = project.run(&["test", "--offline", "--instrument", "tokio"]).expect(0);
    assert!(!ran.err.contains("not as expected"), "{}", ran.err);
    ran.assert_passed(&[
        "ready_tasks_run_in_any_order",
        "tasks_that_another_thread_spawns_run_in_any_order",
        "block_on_has_its_turn_at_any_time",
        "tasks_of_a_local_set_run_in_any_order",
        "select_begins_with_any_branch",
        "a_task_that_is_awaited_comes_first",
        "outside_of_an_execution_the_order_is_that_of_the_queue",
    ]);
}

/// Six bugs, found with the default search within 200 executions, and their fixed twins.
#[test]
fn the_example_finds_its_bugs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tokio");
    let ran = interloper(&folder, &["test"]).expect(0);
    let wrong = ["tasks_run_in_any_order", "a_wake_up_is_lost", "a_part_is_lost", "a_permit_is_lost"];
    let fixed = ["a_task_that_is_awaited_comes_first", "no_wake_up_is_lost", "no_part_is_lost", "no_permit_is_lost"];
    ran.assert_passed(&[wrong, fixed].concat());
    // `#[tokio::test]` below `#[interloper::test]`.
    ran.assert_passed(&["a_test_of_tokio_relies_on_an_order", "a_test_of_tokio_takes_any_order"]);
    let network =
        ["a_message_is_cut", "a_message_is_whole", "a_client_comes_too_early", "a_client_waits_for_its_server"];
    let reports = ["a_lost_wake_up_is_named", "a_task_that_keeps_no_waker_is_named", "a_cancelled_future_is_a_row"];
    let all = network
        .map(|test| format!("network::{test}"))
        .into_iter()
        .chain(reports.map(|test| format!("reports::{test}")));
    for test in all {
        assert!(ran.out.contains(&format!("test {test} ... ok\n")), "{}", ran.out);
    }
    assert!(!ran.err.contains("not as expected"), "{}", ran.err);
}

/// A version whose queue has another text: the crate is built as it is, and the command says what it does not vary.
#[test]
fn an_order_that_is_not_found_is_named() {
    let project = Project::new("[dependencies]\ntokio = { path = \"tokio\" }\n");
    project.dependency("tokio", "pub fn lock() -> std::sync::Mutex<u8> { std::sync::Mutex::new(1) }\n");
    let ran = project.run(&["test", "--offline", "--no-run", "--instrument", "tokio"]);
    let line = "not under control: the order of ready tasks of tokio 1.0.0: \
                src/runtime/scheduler/current_thread/mod.rs is not as expected, so its own order is kept\n";
    assert_eq!(ran.err.matches(line).count(), 1, "{}", ran.err);
}

/// The features of all tests with workers: so tokio is compiled once for them.
const WITH_WORKERS: &str = "\"macros\", \"rt-multi-thread\", \"sync\", \"time\"";

/// A crate with tokio and interloper, whose library is put under control with tokio.
fn service(features: &str) -> Project {
    let interloper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interloper");
    let interloper = interloper.canonicalize().expect("it is in this workspace");
    Project::new(&format!(
        "[dependencies]\ntokio = {{ version = \"1\", features = [{features}] }}\n\n\
         [dev-dependencies.interloper]\npath = {interloper:?}\n\n\
         [package.metadata.interloper]\ninstrument = [\"tokio\"]\n"
    ))
}

const HEAD: &str = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n";

/// Two tasks add to a number, in two steps or in one.
const ADDS: &str = r#"
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

struct Sum(AtomicU32);

impl Sum {
    fn add(&self, number: u32) {
        ADD
    }
}
"#;

const IN_TWO_STEPS: &str = "let before = self.0.load(SeqCst);\n        self.0.store(before + number, SeqCst);";
const IN_ONE_STEP: &str = "self.0.fetch_add(number, SeqCst);";

/// The report of a test that failed.
#[track_caller]
fn report_of<'a>(ran: &'a Ran, test: &str) -> &'a str {
    let begin = format!("---- {test} stdout ----");
    let report = ran.out.split_once(&begin).unwrap_or_else(|| panic!("no report of {test}: {}", ran.out)).1;
    report.split("\n---- ").next().expect("there is a first part")
}

/// The functions with `#[tokio::main]` of a binary and its library are called by tests. The program itself, outside of an execution,
/// runs as it always does.
#[test]
fn main_of_tokio_runs_under_control_as_it_is() {
    let project = service(WITH_WORKERS);
    let main = r#"
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sum = Arc::new(Sum(AtomicU32::new(0)));
    let add = |number| {
        let sum = Arc::clone(&sum);
        tokio::spawn(async move { sum.add(number) })
    };
    let tasks = [add(1), add(2)];
    tokio::time::sleep(std::time::Duration::from_secs(WAITS)).await;
    for task in tasks {
        task.await?;
    }
    let sum = sum.0.load(SeqCst);
    println!("the sum is {sum}");
    if sum == 3 { Ok(()) } else { Err(format!("an addition is lost: {sum}").into()) }
}

#[cfg(test)]
mod tests {
    #[interloper::test(executions = 200)]
    fn nothing_is_lost() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
"#;
    // Under control an hour takes no time.
    let binary = |add: &str, waits: &str| format!("{HEAD}{}{}", ADDS.replace("ADD", add), main.replace("WAITS", waits));
    project.put("src/bin/lossy.rs", &binary(IN_TWO_STEPS, "if cfg!(test) { 3600 } else { 0 }"));
    project.put("src/bin/exact.rs", &binary(IN_ONE_STEP, "if cfg!(test) { 3600 } else { 0 }"));
    // A function that starts its own runtime need not be `main`.
    let of_library = r#"
#[tokio::main(flavor = "current_thread")]
pub async fn order(waits: bool) -> Vec<u32> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let push = |number| {
        let log = Arc::clone(&log);
        tokio::spawn(async move { log.lock().unwrap().push(number) })
    };
    let first = push(1);
    if waits {
        first.await.unwrap();
        push(2).await.unwrap();
    } else {
        let second = push(2);
        first.await.unwrap();
        second.await.unwrap();
    }
    log.lock().unwrap().clone()
}

#[cfg(test)]
mod tests {
    #[interloper::test(executions = 200)]
    fn spawned_first_is_first() {
        assert_eq!(super::order(false), [1, 2]);
    }

    #[interloper::test(executions = 200, allow_trivial)]
    fn awaited_first_is_first() {
        assert_eq!(super::order(true), [1, 2]);
    }

    // A test may be such a function itself; the attributes stand in either order.
    async fn two(at_once: bool) -> u32 {
        use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
        let number = super::Arc::new(AtomicU32::new(0));
        let tasks = [0, 1].map(|_| {
            let number = super::Arc::clone(&number);
            tokio::spawn(async move {
                if at_once {
                    number.fetch_add(1, SeqCst);
                } else {
                    let before = number.load(SeqCst);
                    number.store(before + 1, SeqCst);
                }
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        number.load(SeqCst)
    }

    #[interloper::test(executions = 200)]
    #[tokio::main(worker_threads = 2)]
    async fn below_in_two_steps() {
        assert_eq!(two(false).await, 2);
    }

    #[interloper::test(executions = 200)]
    #[tokio::main(worker_threads = 2)]
    async fn below_in_one_step() {
        assert_eq!(two(true).await, 2);
    }

    #[tokio::main(worker_threads = 2)]
    #[interloper::test(executions = 200)]
    async fn above_in_two_steps() {
        assert_eq!(two(false).await, 2);
    }

    #[tokio::main(worker_threads = 2)]
    #[interloper::test(executions = 200)]
    async fn above_in_one_step() {
        assert_eq!(two(true).await, 2);
    }
}
"#;
    project.put("src/lib.rs", &format!("{HEAD}use std::sync::{{Arc, Mutex}};\n{of_library}"));

    let ran = project.run(&["test", "--offline", "--lib"]).expect(1);
    ran.assert_passed(&["awaited_first_is_first", "below_in_one_step", "above_in_one_step"]);
    let report = report_of(&ran, "tests::spawned_first_is_first");
    assert!(report.contains("left: [2, 1]") && report.contains("src/lib.rs:"), "{report}");
    for test in ["tests::below_in_two_steps", "tests::above_in_two_steps"] {
        let report = report_of(&ran, test);
        assert!(report.contains("left: 1") && report.contains("src/lib.rs:"), "{report}");
    }

    let ran = project.run(&["test", "--offline", "--bin", "lossy"]).expect(1);
    let report = report_of(&ran, "tests::nothing_is_lost");
    assert!(report.contains("an addition is lost: ") && report.contains("src/bin/lossy.rs:"), "{report}");
    project.run(&["test", "--offline", "--bin", "exact"]).expect(0).assert_passed(&["nothing_is_lost"]);

    let ran = project.run(&["run", "--offline", "--bin", "exact"]).expect(0);
    assert_eq!(ran.out, "the sum is 3\n");
}

/// The two programs for a runtime without workers: a lost update over an await, and its twin.
const WITHOUT_WORKERS: &str = r#"
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

async fn add(number: Arc<AtomicU32>, at_once: bool) {
    if at_once {
        number.fetch_add(1, SeqCst);
    } else {
        let before = number.load(SeqCst);
        tokio::task::yield_now().await;
        number.store(before + 1, SeqCst);
    }
}

/// What two tasks make of a number. One begins after the other: only a task that yields lets it come between.
pub async fn two(at_once: bool) -> u32 {
    let number = Arc::new(AtomicU32::new(0));
    let tasks = [0, 1].map(|_| tokio::spawn(add(Arc::clone(&number), at_once)));
    for task in tasks {
        task.await.unwrap();
    }
    number.load(SeqCst)
}
"#;

/// tokio with the feature `rt` alone: neither its workers nor its macros, time, and sync are built.
#[test]
fn a_runtime_without_workers_is_under_control() {
    let project = service("\"rt\"");
    let tests = r#"
#[cfg(test)]
mod tests {
    fn two(at_once: bool) -> u32 {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(super::two(at_once))
    }

    #[interloper::test(executions = 200)]
    fn in_two_steps() {
        assert_eq!(two(false), 2);
    }

    #[interloper::test(executions = 200)]
    fn in_one_step() {
        assert_eq!(two(true), 2);
    }
}
"#;
    project.put("src/lib.rs", &format!("{HEAD}{WITHOUT_WORKERS}{tests}"));
    finds_the_lost_update(&project);
}

/// With its macros: `#[tokio::test]` and `#[tokio::main]` start such a runtime.
#[test]
fn tests_of_tokio_without_workers_are_under_control() {
    let project = service("\"macros\", \"rt\"");
    let tests = r#"
#[tokio::main(flavor = "current_thread")]
pub async fn started() -> u32 {
    two(false).await
}

#[cfg(test)]
mod tests {
    #[interloper::test(executions = 200)]
    #[tokio::test]
    async fn in_two_steps() {
        assert_eq!(super::two(false).await, 2);
    }

    #[interloper::test(executions = 200)]
    #[tokio::test]
    async fn in_one_step() {
        assert_eq!(super::two(true).await, 2);
    }

    #[interloper::test(executions = 200, expect = "bug")]
    fn a_started_runtime() {
        assert_eq!(super::started(), 2);
    }
}
"#;
    project.put("src/lib.rs", &format!("{HEAD}{WITHOUT_WORKERS}{tests}"));
    finds_the_lost_update(&project).assert_passed(&["a_started_runtime"]);
}

#[track_caller]
fn finds_the_lost_update(project: &Project) -> Ran {
    let ran = project.run(&["test", "--offline"]).expect(1);
    ran.assert_passed(&["in_one_step"]);
    let report = report_of(&ran, "tests::in_two_steps");
    // Each task has a column, and the places are those of the crate.
    for part in ["left: 1", "right: 2", "task 1", "task 2", "at src/lib.rs:"] {
        assert!(report.contains(part), "{part} is not in it: {report}");
    }
    assert!(!ran.err.contains("not as expected"), "{}", ran.err);
    ran
}

/// Each execution with a lost wake-up ends early, with workers that wait. They leave no stack behind: the search for serial orders
/// makes 20,000 such executions, and two stacks of each would be more mappings than Linux admits by default. They print nothing, and
/// the places of the report are those of the crate, with the lines of tokio below them.
#[test]
fn workers_end_with_their_execution() {
    let project = service(WITH_WORKERS);
    let tests = r#"
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Notify;

    async fn letter(send: fn(&Notify)) {
        let arrived = Arc::new(Notify::new());
        let theirs = Arc::clone(&arrived);
        let reader = tokio::spawn(async move { theirs.notified().await });
        send(&arrived);
        reader.await.unwrap();
    }

    #[interloper::test(executions = 200)]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nobody_may_wait_yet() {
        letter(Notify::notify_waiters).await;
    }

    #[interloper::test(executions = 200)]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_next_one_is_told() {
        letter(Notify::notify_one).await;
    }
}
"#;
    project.put("src/lib.rs", &format!("{HEAD}{tests}"));
    let ran = project.run(&["test", "--offline"]).expect(1);
    ran.assert_passed(&["the_next_one_is_told"]);
    let report = report_of(&ran, "tests::nobody_may_wait_yet");
    assert!(report.contains("nobody_may_wait_yet: deadlock (main, task 1 are never polled again"), "{report}");
    assert!(!report.contains("worker thread panicking"), "{report}");
    assert!(report.contains("' panicked at src/lib.rs:") || report.contains(") panicked at src/lib.rs:"), "{report}");
    let steps: Vec<&str> = report.lines().skip_while(|line| !line.contains('─')).collect();
    let steps: Vec<&str> = steps.into_iter().take_while(|line| !line.contains("replay: ")).collect();
    let places = steps.iter().filter_map(|line| line.trim_start().strip_prefix("at "));
    let (own, others): (Vec<&str>, Vec<&str>) = places.partition(|place| place.starts_with("src/lib.rs:"));
    assert!(own.len() > 5 && others.is_empty(), "{others:?} in {report}");
    assert!(steps.iter().any(|line| line.contains("in tokio-1.")), "{report}");
}
