//! Threads, scopes, parking, thread-locals.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, JoinHandle, ThreadId};
use std::time::Duration;

/// Says so when it is dropped.
struct Dropped(Arc<Mutex<Vec<&'static str>>>, &'static str);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(self.1);
    }
}

thread_local! {
    /// With an initialiser that runs.
    static LAZY: RefCell<Vec<u32>> = RefCell::new(vec![1]);
    pub static CONSTANT: Cell<u32> = const { Cell::new(3) };
    static OWNED: RefCell<Option<Dropped>> = const { RefCell::new(None) };
    static USES: Uses = const { Uses };
    static TEXT: &str = const { "text" }
}

thread_local!(static COUNT: Cell<u8> = Cell::default());
thread_local! {}

/// Its destructor uses another thread-local.
struct Uses;

impl Drop for Uses {
    fn drop(&mut self) {
        COUNT.with(|count| count.set(count.get() + 1));
        assert!(COUNT.try_with(Cell::get).is_ok());
    }
}

programs! {
    fn a_thread_gives_its_result() {
        let text = String::from("moved");
        let thread: JoinHandle<String> = thread::spawn(move || text + " back");
        assert_eq!(format!("{thread:?}"), "JoinHandle { .. }");
        assert_eq!(thread.join().unwrap(), "moved back");
    }

    fn a_panic_is_the_result() {
        let thread = thread::spawn(|| -> u32 { resume_unwind(Box::new(5_u8)) });
        assert_eq!(*thread.join().unwrap_err().downcast::<u8>().unwrap(), 5);
        assert!(!thread::panicking());
    }

    fn names_and_numbers() {
        let builder = Builder::new().name("worker".into()).stack_size(1 << 20);
        let thread = builder.spawn(|| (thread::current().id(), thread::current().name().map(String::from))).unwrap();
        let id: ThreadId = thread.thread().id();
        assert_eq!(thread.thread().name(), Some("worker"));
        let (inner, name) = thread.join().unwrap();
        assert_eq!((inner, name.as_deref()), (id, Some("worker")));
        assert_ne!(id, thread::current().id());
        assert_eq!(thread::current().id(), thread::current().clone().id());
        assert!(thread::spawn(|| thread::current().name().is_none()).join().unwrap());
        assert!(format!("{:?}", id).starts_with("ThreadId("));
        assert!(format!("{:?}", thread::current()).starts_with("Thread { id: ThreadId("));
        assert!(thread::available_parallelism().unwrap().get() >= 1);
        let panics = std::panic::catch_unwind(|| drop(Builder::new().name("\0".into()).spawn(|| ())));
        assert!(panics.is_err());
    }

    fn a_thread_finishes() {
        let thread = thread::spawn(|| ());
        while !thread.is_finished() {
            thread::yield_now();
        }
        thread.join().unwrap();
    }

    fn threads_in_a_scope_borrow() {
        let mut numbers = vec![1, 2, 3];
        let mut sum = 0;
        let length = thread::scope(|scope| {
            let first = scope.spawn(|| numbers.iter().sum::<i32>());
            scope.spawn(|| assert_eq!(numbers.len(), 3));
            sum += first.join().unwrap();
            let named = Builder::new().name("inner".into()).spawn_scoped(scope, || {
                scope.spawn(|| numbers[0]).join().unwrap() + thread::current().name().map_or(0, |_| 1)
            });
            let named = named.unwrap();
            assert_eq!(named.thread().name(), Some("inner"));
            assert_eq!(format!("{named:?}"), "ScopedJoinHandle { .. }");
            while !named.is_finished() {
                thread::yield_now();
            }
            assert_eq!(named.join().unwrap(), 2);
            numbers.len()
        });
        numbers.push(sum);
        assert_eq!((length, numbers), (3, vec![1, 2, 3, 6]));
    }

    fn a_scope_waits_for_its_threads() {
        let counter = AtomicU32::new(0);
        thread::scope(|outer| {
            for _ in 0..2 {
                outer.spawn(|| {
                    thread::scope(|inner| {
                        inner.spawn(|| counter.fetch_add(1, Ordering::Relaxed));
                    });
                    counter.fetch_add(10, Ordering::Relaxed)
                });
            }
        });
        assert_eq!(counter.into_inner(), 22);
    }

    fn a_panic_in_a_scope() {
        let scope = std::panic::catch_unwind(|| {
            thread::scope(|scope| {
                scope.spawn(|| resume_unwind(Box::new(1)));
            });
        });
        assert_eq!(*scope.unwrap_err().downcast::<&str>().unwrap(), "a scoped thread panicked");
        let joined = thread::scope(|scope| scope.spawn(|| resume_unwind(Box::new(2))).join().unwrap_err());
        assert_eq!(*joined.downcast::<i32>().unwrap(), 2);
        let done = AtomicU32::new(0);
        let body = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            thread::scope(|scope| {
                scope.spawn(|| done.fetch_add(1, Ordering::Relaxed));
                resume_unwind(Box::new(3));
            })
        }));
        assert_eq!(*body.unwrap_err().downcast::<i32>().unwrap(), 3);
        assert_eq!(done.into_inner(), 1);
    }

    fn a_token_is_kept() {
        thread::current().unpark();
        thread::park();
        let main = thread::current();
        let ready = Arc::new(AtomicU32::new(0));
        let other = {
            let ready = Arc::clone(&ready);
            thread::spawn(move || {
                ready.store(1, Ordering::SeqCst);
                main.unpark();
            })
        };
        while ready.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
        other.join().unwrap();
        // There may be a token left.
        thread::park_timeout(Duration::from_millis(1));
        thread::park_timeout(Duration::from_millis(1));
    }

    fn each_thread_has_its_own_locals() {
        LAZY.with(|list| list.borrow_mut().push(2));
        CONSTANT.set(4);
        thread::spawn(|| {
            assert_eq!(LAZY.with_borrow(Vec::clone), [1]);
            assert_eq!((CONSTANT.get(), CONSTANT.replace(9), CONSTANT.take(), CONSTANT.get()), (3, 3, 9, 0));
            LAZY.set(vec![7]);
            assert_eq!(LAZY.take(), [7]);
            assert_eq!(LAZY.replace(vec![8]), []);
            LAZY.with_borrow_mut(|list| list.push(9));
            assert_eq!(LAZY.with_borrow(|list| list.len()), 2);
        })
        .join()
        .unwrap();
        assert_eq!(LAZY.take().last(), Some(&2));
        assert_eq!(CONSTANT.get(), 4);
        CONSTANT.set(3);
        assert_eq!(TEXT.with(|text| text.len()), 4);
        assert_eq!(format!("{CONSTANT:?}"), "LocalKey { .. }");
    }

    fn locals_are_dropped_with_their_thread() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let inner = Arc::clone(&log);
        thread::spawn(move || {
            OWNED.set(Some(Dropped(Arc::clone(&inner), "first")));
            OWNED.set(Some(Dropped(Arc::clone(&inner), "second")));
            USES.with(|_| COUNT.set(1));
            inner.lock().unwrap().push("end");
        })
        .join()
        .unwrap();
        assert_eq!(*log.lock().unwrap(), ["first", "end", "second"]);
    }

    fn ids_are_keys() {
        let ids: BTreeSet<String> = (0..3)
            .map(|_| thread::spawn(|| format!("{:?}", thread::current().id())))
            .map(|thread| thread.join().unwrap())
            .collect();
        assert_eq!(ids.len(), 3);
    }
}
