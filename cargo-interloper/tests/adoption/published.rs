//! Published crates under control, as they are: rayon and its global pool, flume, thingbuf, the channels and executors of
//! futures.

use super::*;

const TESTED: &str = r#"
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::sync::{Arc, Barrier, Condvar, Mutex};
    use std::task::Poll;
    use std::thread;
    use std::time::Duration;

    use futures_channel::{mpsc, oneshot};
    use futures_executor::{LocalPool, block_on, block_on_stream};
    use futures_task::LocalSpawn;
    use interloper_scheduler::strategies::*;
    use interloper_scheduler::{Config, End, Engine, Freedom, Freedoms, Strategy};
    use rayon::prelude::*;

    fn strategies() -> [(&'static str, Box<dyn Strategy>); 8] {
        [
            ("random", Box::new(RandomWalk::new(1))),
            ("pct", Box::new(Pct::new(1, 3))),
            ("pos", Box::new(Pos::new(1))),
            ("surw", Box::new(Surw::new(1, Selection::OneObject))),
            ("urw", Box::new(Surw::new(1, Selection::All))),
            ("atomfuzzer", Box::new(AtomFuzzer::new(1))),
            ("preemptions", Box::new(PreemptionBound::new(2))),
            ("exhaustive", Box::new(Exhaustive::new())),
        ]
    }

    /// In how many of the first executions a strategy finds that the program panics; nothing else may go wrong, and nothing
    /// may go on for long.
    fn first_panic(strategy: &mut dyn Strategy, executions: u32, program: impl Fn()) -> Option<u32> {
        first_panic_with(Freedoms::NONE, strategy, executions, program)
    }

    /// As above, where executions may do what std leaves open.
    fn first_panic_with(
        freedoms: Freedoms,
        strategy: &mut dyn Strategy,
        executions: u32,
        program: impl Fn(),
    ) -> Option<u32> {
        let mut engine = Engine::new(Config { step_bound: 20_000, freedoms, ..Config::default() });
        for number in 1..=executions {
            if !strategy.begin() {
                break;
            }
            let execution = engine.run(strategy, &program);
            strategy.end(&execution, &engine.trace());
            match execution.end {
                End::Finished => {}
                End::Panicked(_) => return Some(number),
                end => panic!("execution {number}: {end:?}"),
            }
        }
        None
    }

    fn finishes(program: impl Fn()) {
        for (name, mut strategy) in strategies() {
            let executions = if name == "exhaustive" { 5 } else { 25 };
            let found = first_panic(&mut *strategy, executions, &program);
            assert_eq!(found, None, "{name}");
        }
    }

    /// Found by a random walk and by PCT.
    fn is_found(program: impl Fn()) {
        for (name, mut strategy) in strategies().into_iter().take(2) {
            let found = first_panic(&mut *strategy, 500, &program);
            assert!(found.is_some(), "{name}");
        }
    }

    #[test]
    fn rayon_sums_joins_and_scopes() {
        finishes(|| assert_eq!((0..4_u32).into_par_iter().map(|x| x * x).sum::<u32>(), 14));
        finishes(|| assert_eq!(rayon::join(|| 1, || rayon::join(|| 2, || 3)), (1, (2, 3))));
        finishes(|| {
            let number = AtomicU32::new(0);
            rayon::scope(|scope| (0..3).for_each(|_| scope.spawn(|_| _ = number.fetch_add(1, SeqCst))));
            assert_eq!(number.into_inner(), 3);
        });
        is_found(|| {
            let number = AtomicU32::new(0);
            let add = || number.store(number.load(SeqCst) + 1, SeqCst);
            rayon::join(add, add);
            assert_eq!(number.load(SeqCst), 2);
        });
    }

    /// Two workers have a job each, and neither can run it; the third one steals both. Without a choice it would always begin
    /// with the same one: nothing else differs between the executions.
    fn steals(expected: impl Fn(&[usize]) -> bool + Sync) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let (log, logged) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Condvar::new()));
        let all_here = Barrier::new(3);
        pool.broadcast(|worker| {
            if worker.index() < 2 {
                let (log, logged, index) = (log.clone(), logged.clone(), worker.index());
                rayon::spawn(move || {
                    log.lock().unwrap().push(index);
                    logged.notify_all();
                });
            }
            all_here.wait();
            if worker.index() < 2 {
                drop(logged.wait_while(log.lock().unwrap(), |log| log.len() < 2).unwrap());
            }
        });
        assert!(expected(&log.lock().unwrap()));
    }

    #[test]
    fn rayon_steals_from_any_worker() {
        for wrong in [[0, 1], [1, 0]] {
            is_found(move || steals(|log| log == wrong));
        }
        for (name, mut strategy) in strategies().into_iter().take(2) {
            let both = |log: &[usize]| log.len() == 2 && log.contains(&0) && log.contains(&1);
            assert_eq!(first_panic(&mut *strategy, 25, || steals(both)), None, "{name}");
        }
    }

    #[test]
    fn flume_sends_and_times_out() {
        for bound in [Some(0), Some(1), None] {
            let channel = move || bound.map_or_else(flume::unbounded, flume::bounded);
            finishes(move || {
                let (sender, receiver) = channel();
                let other = thread::spawn(move || (0..3).for_each(|number| sender.send(number).unwrap()));
                assert_eq!(receiver.iter().collect::<Vec<i32>>(), [0, 1, 2]);
                other.join().unwrap();
            });
            is_found(move || {
                let (sender, receiver) = channel();
                let both = [1, 2].map(|number| (number, sender.clone()));
                drop(sender);
                let both = both.map(|(number, sender)| thread::spawn(move || sender.send(number).unwrap()));
                assert_eq!(receiver.iter().collect::<Vec<i32>>(), [1, 2]);
                both.into_iter().for_each(|thread| thread.join().unwrap());
            });
        }
        finishes(|| {
            let (sender, receiver) = flume::bounded::<u8>(0);
            for time in [Duration::ZERO, Duration::from_millis(10)] {
                assert_eq!(receiver.recv_timeout(time), Err(flume::RecvTimeoutError::Timeout));
            }
            assert!(sender.send_timeout(1, Duration::from_millis(10)).is_err());
            let other = thread::spawn(move || receiver.recv_timeout(Duration::from_secs(1)));
            let sent = sender.send_timeout(1, Duration::from_secs(1)).is_ok();
            assert_eq!(other.join().unwrap().is_ok(), sent);
        });
    }

    fn works_and_sends(sender: flume::Sender<u32>) {
        let work = AtomicU32::new(0);
        (0..50).for_each(|_| _ = work.fetch_add(1, SeqCst));
        // Who receives may have left.
        let _ = sender.send(7);
    }

    /// The planted bug: who receives takes a second to be enough, and does not look whether it was.
    #[test]
    fn flume_times_out_early() {
        let program = || {
            let (sender, receiver) = flume::bounded(1);
            let other = thread::spawn(move || works_and_sends(sender));
            let received = receiver.recv_timeout(Duration::from_secs(1));
            other.join().unwrap();
            assert_eq!(received, Ok(7));
        };
        // Without the freedom the clock stands still as long as the other thread can send.
        finishes(program);
        // One wait ends early, as in the default.
        let early = Freedoms::NONE.with(Freedom::Time, 1);
        // Found by a random walk, PCT and POS.
        for (name, mut strategy) in strategies().into_iter().take(3) {
            let found = first_panic_with(early, &mut *strategy, 500, program);
            assert!(found.is_some(), "{name}");
        }
        // The twin looks, and receives again.
        let looks = || {
            let (sender, receiver) = flume::bounded(1);
            let other = thread::spawn(move || works_and_sends(sender));
            let received = receiver.recv_timeout(Duration::from_secs(1)).or_else(|_| receiver.recv());
            other.join().unwrap();
            assert_eq!(received, Ok(7));
        };
        for (name, mut strategy) in strategies() {
            assert_eq!(first_panic_with(early, &mut *strategy, 50, looks), None, "{name}");
        }
    }

    /// A pop that finds a place claimed and not yet filled spins for three rounds and then says that the queue is empty,
    /// although the task's own push came before it.
    #[test]
    fn thingbuf_pops_nothing_after_a_push() {
        let program = |gives_up: bool| {
            move || {
                let queue = Arc::new(thingbuf::ThingBuf::<u32>::new(2));
                let theirs = queue.clone();
                let other = thread::spawn(move || theirs.push(0).unwrap());
                queue.push(1).unwrap();
                while queue.pop().is_none() {
                    assert!(!gives_up);
                }
                other.join().unwrap();
            }
        };
        let hints = Freedoms::NONE.with(Freedom::Hints, 2);
        for (name, mut strategy) in strategies() {
            if let "pct" | "exhaustive" = name {
                assert!(first_panic_with(hints, &mut *strategy, 100, program(true)).is_some(), "{name}");
            }
        }
        for (name, mut strategy) in strategies() {
            assert_eq!(first_panic_with(hints, &mut *strategy, 100, program(false)), None, "{name}");
        }
    }

    #[test]
    fn futures_channels_and_executors() {
        finishes(|| {
            let (sender, receiver) = oneshot::channel();
            let other = thread::spawn(move || sender.send(7).unwrap());
            assert_eq!(block_on(receiver), Ok(7));
            other.join().unwrap();
        });
        finishes(|| {
            let (mut sender, receiver) = mpsc::channel(0);
            let other = thread::spawn(move || {
                for number in 0..3 {
                    block_on(std::future::poll_fn(|context| sender.poll_ready(context))).unwrap();
                    sender.start_send(number).unwrap();
                }
            });
            assert_eq!(block_on_stream(receiver).collect::<Vec<_>>(), [0, 1, 2]);
            other.join().unwrap();
        });
        let two_send = |check: fn(Vec<i32>)| {
            move || {
                let (sender, receiver) = mpsc::unbounded();
                let both = [1, 2].map(|number| (number, sender.clone()));
                drop(sender);
                let both = both.map(|(number, sender)| thread::spawn(move || sender.unbounded_send(number).unwrap()));
                check(block_on_stream(receiver).collect());
                both.into_iter().for_each(|thread| thread.join().unwrap());
            }
        };
        finishes(two_send(|got| assert_eq!(got.iter().sum::<i32>(), 3)));
        is_found(two_send(|got| assert_eq!(got, [1, 2])));
        finishes(|| {
            let mut pool = LocalPool::new();
            let (sender, receiver) = oneshot::channel();
            let sum = Arc::new(Mutex::new(0));
            let theirs = sum.clone();
            let other = thread::spawn(move || sender.send(7).unwrap());
            let add = async move { *theirs.lock().unwrap() += receiver.await.unwrap() };
            pool.spawner().spawn_local_obj(Box::pin(add).into()).unwrap();
            pool.run();
            assert_eq!(*sum.lock().unwrap(), 7);
            other.join().unwrap();
        });
        // It wakes itself until another thread has done its part.
        finishes(|| {
            let flag = Arc::new(AtomicU32::new(0));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(1, SeqCst));
            block_on(std::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                if flag.load(SeqCst) == 1 { Poll::Ready(()) } else { Poll::Pending }
            }));
            other.join().unwrap();
        });
    }
"#;

#[test]
fn published_crates_run_as_they_are() {
    let project = Project::of_tests(
        "rayon = \"1\"\nflume = \"0.11\"\nfutures-channel = \"0.3\"\nfutures-executor = \"0.3\"\n\
         futures-task = \"0.3\"\nthingbuf = \"0.1\"\n",
        TESTED,
    );
    let crates = "rayon,rayon-core,flume,futures-channel,futures-executor,thingbuf";
    let mut test = command(project.folder(), &["test", "--offline", "--instrument", crates]);
    let ran = ran(test.env_remove("RUST_TEST_THREADS")).expect(0);
    let tests = [
        "rayon_sums_joins_and_scopes",
        "rayon_steals_from_any_worker",
        "flume_sends_and_times_out",
        "flume_times_out_early",
        "thingbuf_pops_nothing_after_a_push",
        "futures_channels_and_executors",
    ];
    ran.assert_passed(&tests);
}
