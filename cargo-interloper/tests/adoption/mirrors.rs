//! Crates that interloper has mirrors of: the mirror stands in for the crate unless the real one is asked for, or the mirror
//! has less than the project uses.

use super::*;

const MANIFEST: &str = "[dependencies]\nparking_lot = { version = \"0.12\", features = [FEATURES] }\n";

/// Two guards in the wrong order. Who holds a lock is known of a lock of the mirror alone; a lock of the real crate is a word
/// and a place to park.
const LIBRARY: &str = r#"
#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

#[cfg(all(test, interloper))]
mod tests {
    use std::sync::Arc;

    use interloper_scheduler::strategies::Exhaustive;
    use interloper_scheduler::{Blocked, Config, End, Engine, Strategy};
    use parking_lot::{Condvar, Mutex, MutexGuard, Once, RwLock};

    /// Where nothing is under control, the lock is that of the original.
    #[test]
    fn outside_of_an_execution_it_is_a_lock() {
        static LOCK: Mutex<u32> = parking_lot::const_mutex(0);
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| *LOCK.lock() += 1)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let guard: MutexGuard<'_, u32> = LOCK.lock();
        assert_eq!((*guard, LOCK.try_lock().is_none()), (4, true));
        Once::new().call_once(|| ());
        assert!(!Condvar::new().notify_one());
    }

    #[test]
    fn a_task_that_waits_for_a_lock() {
        let mut engine = Engine::new(Config::default());
        let mut strategy = Exhaustive::new();
        assert!(strategy.begin());
        let execution = engine.run(&mut strategy, || {
            let lock = Arc::new(RwLock::new(0));
            let _guard = lock.read();
            let other = Arc::clone(&lock);
            std::thread::spawn(move || *other.write() += 1).join().unwrap();
        });
        let End::Deadlock(tasks) = &execution.end else { panic!("{:?}", execution.end) };
        let waits: Vec<bool> = tasks.iter().map(|task| task.blocked == Blocked::Lock).collect();
        let holds = tasks.iter().map(|task| task.holds.len()).sum::<usize>();
        println!("blocked by a lock: {}, held: {holds}", waits.contains(&true));
    }
}
"#;

fn project(features: &str) -> Project {
    let scheduler = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scheduler").canonicalize().expect("it is there");
    let manifest = MANIFEST.replace("FEATURES", features);
    let project = Project::new(&format!("{manifest}\n[dev-dependencies.interloper-scheduler]\npath = {scheduler:?}\n"));
    project.put("src/lib.rs", LIBRARY);
    project
}

fn planned(project: &Project, arguments: &[&str]) -> String {
    let plan = project.run(&[&["plan"], arguments].concat()).expect(0).out;
    let line = plan.lines().find(|line| line.contains(" parking_lot 0.12.")).unwrap_or_else(|| panic!("{plan}"));
    let mut words = line.split_whitespace();
    let class = words.next().unwrap_or_default().to_owned();
    format!("{class} {}", words.skip(2).collect::<Vec<_>>().join(" "))
}

#[test]
fn the_plan_says_which_one_is_built_and_why() {
    let usual = project("\"arc_lock\"");
    assert_eq!(planned(&usual, &[]), "replace a mirror that takes fewer steps and knows who holds a lock");
    let real = planned(&usual, &["--real", "parking_lot"]);
    assert!(real.starts_with("instrument no mirror, since the real one is asked for: core::sync::atomic"), "{real}");
    let lacking = planned(&project("\"hardware-lock-elision\""), &[]);
    let why = "cannot no mirror, since the mirror has no feature `hardware-lock-elision`: ";
    assert!(lacking.starts_with(why), "{lacking}");
    let wrong = usual.run(&["plan", "--real", "parking_lot,dashmap"]).expect(2).err;
    assert!(
        wrong.contains("dashmap has no mirror, so it is the real one anyway; there are mirrors of parking_lot"),
        "{wrong}"
    );
}

#[test]
fn the_mirror_knows_who_holds_a_lock_and_the_real_one_does_not() {
    let project = project("\"send_guard\"");
    let test = |more: &[&str]| {
        let arguments = [&["test", "--instrument", "parking_lot"], more, &["--", "--nocapture"]].concat();
        let ran = project.run(&arguments).expect(0);
        let said = ran.out.lines().find_map(|line| line.split_once("blocked by a lock: ")).expect("a line").1;
        (said.to_owned(), ran.compiled())
    };
    let real = &["--real", "parking_lot"];
    let ([mirror, original], again) = alone(|| ([test(&[]), test(real)], [test(&[]), test(real)]));
    assert_eq!((mirror.0.as_str(), original.0.as_str()), ("true, held: 1", "false, held: 0"));
    // Neither undoes the build of the other.
    assert_eq!(again, [(mirror.0, 0), (original.0, 0)]);
}

/// parking_lot 0.11 waits in parking_lot_core 0.8, and 0.13 in 0.10: locks of the two are taken in both orders, and in one.
#[test]
fn the_versions_before_and_after_wait_under_control_too() {
    let project = Project::of_tests(
        "old = { package = \"parking_lot\", version = \"0.11\" }\nnew = { package = \"parking_lot\", version = \"0.13\" }\n",
        r#"
    use interloper_scheduler::strategies::Exhaustive;
    use interloper_scheduler::{Config, End, Engine, Strategy};

    fn ends(reversed: bool) -> Vec<bool> {
        let (mut engine, mut strategy) = (Engine::new(Config::default()), Exhaustive::new());
        let mut ends = Vec::new();
        while strategy.begin() {
            let execution = engine.run(&mut strategy, || {
                let (old, new) = (old::Mutex::new(0), new::RwLock::new(0));
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        let mut first = old.lock();
                        *first += *new.read();
                    });
                    if reversed {
                        let mut first = new.write();
                        *first += *old.lock();
                    } else {
                        let second = old.lock();
                        *new.write() += *second;
                    }
                });
            });
            strategy.end(&execution, &engine.trace());
            ends.push(matches!(execution.end, End::Deadlock(_)));
            assert!(ends.last() == Some(&true) || execution.end == End::Finished, "{:?}", execution.end);
        }
        assert!(ends.len() > 1, "the threads have an order");
        ends
    }

    #[test]
    fn two_orders_are_a_deadlock() {
        assert!(ends(true).contains(&true));
    }

    #[test]
    fn one_order_is_no_deadlock() {
        assert!(!ends(false).contains(&true));
    }
"#,
    );
    let plan = project.run(&["plan"]).expect(0).out;
    assert_eq!(plan.matches("replace     parking_lot_core 0.").count(), 2, "{plan}");
    project
        .run(&["test", "--instrument", "parking_lot"])
        .expect(0)
        .assert_passed(&["two_orders_are_a_deadlock", "one_order_is_no_deadlock"]);
}
