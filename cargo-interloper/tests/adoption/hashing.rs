//! Hashers that are seeded with addresses and the time.

use super::*;

/// Two maps have different orders, the same ones in each execution: locks that are taken in the order of a map can deadlock, and the
/// deadlock can be replayed. Without the copies' numbers from the seed, the program is not deterministic.
#[test]
fn hashers_of_other_crates_are_seeded_from_the_run() {
    let dependencies = "ahash = \"0.8\"\nfoldhash = \"0.2\"\nhashbrown = \"0.17\"\nrapidhash = \"4.5\"\n";
    let project = Project::of_tests(
        dependencies,
        r#"
    use std::hash::BuildHasher;
    use std::sync::{Arc, Mutex};
    use std::thread;

    use interloper_scheduler::strategies::RandomWalk;
    use interloper_scheduler::{Config, End, Engine, Strategy};

    /// Two threads lock four accounts, each in the order of a map of its own, or in the order of the keys.
    fn lock_all<S: BuildHasher + Default>(sorted: bool) {
        let accounts: Arc<Vec<Mutex<u64>>> = Arc::new((0..4).map(|_| Mutex::new(1)).collect());
        let sum = move |accounts: &[Mutex<u64>]| {
            let map: hashbrown::HashMap<usize, (), S> = (0..4).map(|key| (key, ())).collect();
            let mut keys: Vec<usize> = map.into_keys().collect();
            if sorted {
                keys.sort_unstable();
            }
            let guards: Vec<_> = keys.iter().map(|key| accounts[*key].lock().unwrap()).collect();
            guards.iter().map(|guard| **guard).sum::<u64>()
        };
        let theirs = Arc::clone(&accounts);
        let other = thread::spawn(move || sum(&theirs));
        assert_eq!(sum(&accounts), 4);
        assert_eq!(other.join().unwrap(), 4);
    }

    /// How many of 200 executions are deadlocks. Each runs twice, and must end the second time as it did the first time.
    fn deadlocks<S: BuildHasher + Default + 'static>(sorted: bool) -> usize {
        let run = || {
            let mut engine = Engine::new(Config::default());
            let mut strategy = RandomWalk::new(1);
            let one = |_| {
                assert!(strategy.begin());
                let execution = engine.run(&mut strategy, move || lock_all::<S>(sorted));
                strategy.end(&execution, &engine.trace());
                matches!(execution.end, End::Deadlock(_))
            };
            (0..200).map(one).collect::<Vec<bool>>()
        };
        let first = run();
        assert_eq!(first, run());
        first.into_iter().filter(|deadlock| *deadlock).count()
    }

    fn check<S: BuildHasher + Default + 'static>() {
        assert!(deadlocks::<S>(false) > 0);
        assert_eq!(deadlocks::<S>(true), 0);
    }

    #[test]
    fn ahash() {
        check::<ahash::RandomState>();
    }

    #[test]
    fn foldhash() {
        check::<foldhash::fast::RandomState>();
        check::<foldhash::quality::RandomState>();
    }

    #[test]
    fn hashbrown() {
        check::<hashbrown::DefaultHashBuilder>();
    }

    #[test]
    fn rapidhash() {
        check::<rapidhash::fast::RandomState>();
    }
"#,
    );
    let ran = project.run(&["test", "--instrument", "all", "--allow-trivial"]).expect(0);
    ran.assert_passed(&["ahash", "foldhash", "hashbrown", "rapidhash"]);
    assert!(!ran.err.contains("the random numbers of"), "{}", ran.err);
}
