//! Six bugs of programs with tokio, each with its fixed twin: run `cargo interloper test` in this folder.
//!
//! Each test runs at most 200 executions. The wrong program must fail (`expect = "bug"`), and the fixed one must pass.

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

#[cfg(all(test, interloper))]
mod network;
#[cfg(all(test, interloper))]
mod reports;

#[cfg(all(test, interloper))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};
    use tokio::sync::{mpsc, Notify, Semaphore};
    use tokio::task::yield_now;

    fn current_thread() -> Runtime {
        Builder::new_current_thread().enable_time().build().unwrap()
    }

    fn workers() -> Runtime {
        Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap()
    }

    /// A test that relies on the order in which tasks were spawned.
    fn two_lines(waits: bool) {
        current_thread().block_on(async {
            let log = Arc::new(Mutex::new(Vec::new()));
            let writes = |line: &'static str| {
                let log = Arc::clone(&log);
                tokio::spawn(async move { log.lock().unwrap().push(line) })
            };
            let other = tokio::spawn(yield_now());
            let open = writes("open");
            if waits {
                open.await.unwrap();
                writes("close").await.unwrap();
            } else {
                let close = writes("close");
                open.await.unwrap();
                close.await.unwrap();
            }
            other.await.unwrap();
            assert_eq!(*log.lock().unwrap(), ["open", "close"]);
        });
    }

    #[interloper::test(executions = 200, expect = "bug")]
    fn tasks_run_in_any_order() {
        two_lines(false);
    }

    #[interloper::test(executions = 200)]
    fn a_task_that_is_awaited_comes_first() {
        two_lines(true);
    }

    /// A test of tokio as it is, with one line before it.
    async fn two_numbers(in_order: bool) {
        let numbers = Arc::new(Mutex::new(Vec::new()));
        let push = |number: u32| {
            let numbers = Arc::clone(&numbers);
            tokio::spawn(async move { numbers.lock().unwrap().push(number) })
        };
        let (first, second) = (push(1), push(2));
        let _ = tokio::join!(first, second);
        let mut numbers = numbers.lock().unwrap().clone();
        if !in_order {
            numbers.sort_unstable();
        }
        assert_eq!(numbers, [1, 2]);
    }

    #[interloper::test(executions = 200, expect = "bug")]
    #[tokio::test]
    async fn a_test_of_tokio_relies_on_an_order() {
        two_numbers(true).await;
    }

    #[interloper::test(executions = 200)]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_test_of_tokio_takes_any_order() {
        two_numbers(false).await;
    }

    /// `notify_waiters` wakes those that wait already. A future that looks at the flag first may come too late.
    fn waits_for_flag(registers_first: bool) {
        workers().block_on(async {
            let shared = Arc::new((AtomicBool::new(false), Notify::new()));
            let own = Arc::clone(&shared);
            let sets = tokio::spawn(async move {
                own.0.store(true, SeqCst);
                own.1.notify_waiters();
            });
            let (flag, set) = &*shared;
            if registers_first {
                let notified = set.notified();
                if !flag.load(SeqCst) {
                    notified.await;
                }
            } else if !flag.load(SeqCst) {
                set.notified().await;
            }
            sets.await.unwrap();
        });
    }

    #[interloper::test(executions = 200, expect = "bug")]
    fn a_wake_up_is_lost() {
        waits_for_flag(false);
    }

    #[interloper::test(executions = 200)]
    fn no_wake_up_is_lost() {
        waits_for_flag(true);
    }

    /// Takes messages of two parts.
    struct Reader {
        parts: mpsc::Receiver<u32>,
        first: Option<u32>,
    }

    impl Reader {
        /// If it is dropped after the first part, the part is lost.
        async fn message_wrong(&mut self) -> (u32, u32) {
            let first = self.parts.recv().await.unwrap();
            (first, self.parts.recv().await.unwrap())
        }

        async fn message_fixed(&mut self) -> (u32, u32) {
            if self.first.is_none() {
                self.first = self.parts.recv().await;
            }
            let second = self.parts.recv().await.unwrap();
            (self.first.take().unwrap(), second)
        }
    }

    /// A `select!` in a loop drops the future that takes a message whenever a tick comes first.
    fn ticks_and_messages(fixed: bool) {
        current_thread().block_on(async {
            let ((sender, parts), (ticks, mut ticked)) = (mpsc::channel(2), mpsc::channel(1));
            let sends = tokio::spawn(async move {
                for part in [1, 2] {
                    sender.send(part).await.unwrap();
                    yield_now().await;
                }
                // The channel stays open until the message was taken.
                sender.closed().await;
            });
            let tick = tokio::spawn(async move { ticks.send(()).await });
            let mut reader = Reader { parts, first: None };
            let message = loop {
                let message = async {
                    if fixed {
                        reader.message_fixed().await
                    } else {
                        reader.message_wrong().await
                    }
                };
                tokio::select! {
                    message = message => break message,
                    Some(()) = ticked.recv() => {}
                }
            };
            assert_eq!(message, (1, 2));
            drop(reader);
            sends.await.unwrap();
            let _ = tick.await;
        });
    }

    #[interloper::test(executions = 200, expect = "bug")]
    fn a_part_is_lost() {
        ticks_and_messages(false);
    }

    #[interloper::test(executions = 200)]
    fn no_part_is_lost() {
        ticks_and_messages(true);
    }

    /// A task that is aborted while it works does not return its permit.
    fn works(fixed: bool) {
        current_thread().block_on(async {
            let semaphore = Arc::new(Semaphore::new(1));
            let own = Arc::clone(&semaphore);
            let task = tokio::spawn(async move {
                let permit = own.acquire().await.unwrap();
                if fixed {
                    yield_now().await;
                    drop(permit);
                } else {
                    permit.forget();
                    yield_now().await;
                    own.add_permits(1);
                }
            });
            yield_now().await;
            task.abort();
            let _ = task.await;
            let permit = tokio::time::timeout(Duration::from_secs(60), semaphore.acquire()).await;
            assert!(permit.is_ok(), "the permit is lost");
        });
    }

    #[interloper::test(executions = 200, expect = "bug")]
    fn a_permit_is_lost() {
        works(false);
    }

    #[interloper::test(executions = 200)]
    fn no_permit_is_lost() {
        works(true);
    }
}
