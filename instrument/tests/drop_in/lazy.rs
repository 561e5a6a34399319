//! What is initialised once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, OnceLock, OnceState};
use std::thread;

static LIST: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![1]));
static NAME: OnceLock<String> = OnceLock::new();
static START: Once = Once::new();

programs! {
    fn a_static_is_initialised_once() {
        LIST.lock().unwrap().push(2);
        assert!(LIST.lock().unwrap().starts_with(&[1, 2]));
        let threads: Vec<_> = ["a", "b"]
            .map(|name| thread::spawn(move || NAME.get_or_init(|| name.to_owned()).as_str()))
            .map(|thread| thread.join().unwrap())
            .into();
        assert_eq!(threads[0], threads[1]);
        assert_eq!(NAME.get().map(String::as_str), Some(threads[0]));
        assert!(NAME.set(String::new()).is_err());
        START.call_once(|| ());
        assert!(START.is_completed());
    }

    fn one_of_many_initialises() {
        let shared = Arc::new((OnceLock::new(), AtomicU32::new(0)));
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    *shared.0.get_or_init(|| {
                        shared.1.fetch_add(1, Ordering::Relaxed);
                        thread::yield_now();
                        number
                    })
                })
            })
            .collect();
        let first = *shared.0.wait();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == first));
        assert_eq!(shared.1.load(Ordering::Relaxed), 1);
    }

    fn a_cell_is_filled_once() {
        let mut cell = OnceLock::new();
        assert_eq!(format!("{cell:?}"), "OnceLock(<uninit>)");
        assert!(cell.get().is_none() && cell.get_mut().is_none());
        assert_eq!((cell.set(1), cell.set(2)), (Ok(()), Err(2)));
        assert_eq!((cell.get(), cell.get_or_init(|| 3), cell.wait()), (Some(&1), &1, &1));
        *cell.get_mut().unwrap() += 4;
        assert_eq!(format!("{cell:?}"), "OnceLock(5)");
        assert!(cell.clone() == cell && cell == OnceLock::from(5) && cell != OnceLock::default());
        assert_eq!((cell.take(), cell.take()), (Some(5), None));
        assert_eq!(OnceLock::from("value").into_inner(), Some("value"));
    }

    fn an_initialiser_that_panics_leaves_the_cell_empty() {
        let cell = OnceLock::new();
        assert!(catch_unwind(AssertUnwindSafe(|| cell.get_or_init(|| resume_unwind(Box::new(1))))).is_err());
        assert_eq!(cell.get_or_init(|| 2), &2);
    }

    fn senders_race_to_fill_a_cell() {
        let cell = Arc::new(OnceLock::new());
        let threads = [1, 2].map(|number| {
            let cell = Arc::clone(&cell);
            thread::spawn(move || cell.set(number).is_ok())
        });
        let winners = threads.map(|thread| thread.join().unwrap());
        assert_eq!(winners, [cell.get() == Some(&1), cell.get() == Some(&2)]);
    }

    fn a_value_is_lazy() {
        let calls = AtomicU32::new(0);
        let lazy = LazyLock::new(|| calls.fetch_add(1, Ordering::Relaxed) + 5);
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
        assert_eq!((*lazy, *LazyLock::force(&lazy)), (5, 5));
        assert_eq!(format!("{lazy:?}"), "LazyLock(5)");
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(*LazyLock::<u8>::default(), 0);
    }

    fn a_lazy_value_is_poisoned() {
        let lazy: LazyLock<u32, Box<dyn FnOnce() -> u32>> = LazyLock::new(Box::new(|| resume_unwind(Box::new(1))));
        assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).unwrap_err().is::<i32>());
        let message = catch_unwind(AssertUnwindSafe(|| *lazy)).unwrap_err();
        assert_eq!(*message.downcast::<&str>().unwrap(), "LazyLock instance has previously been poisoned");
    }

    fn threads_share_a_lazy_value() {
        let lazy = Arc::new(LazyLock::new(|| Mutex::new(0)));
        let threads = [1, 2].map(|number| {
            let lazy = Arc::clone(&lazy);
            thread::spawn(move || *lazy.lock().unwrap() += number)
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*lazy.lock().unwrap(), 3);
    }

    fn once_runs_once() {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let threads = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.0.call_once(|| {
                    shared.1.fetch_add(1, Ordering::Relaxed);
                });
                assert_eq!(shared.1.load(Ordering::Relaxed), 1);
            })
        });
        shared.0.wait();
        assert!(shared.0.is_completed());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(format!("{:?}", shared.0), "Once { .. }");
    }

    fn once_is_poisoned() {
        let once = Once::new();
        assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| resume_unwind(Box::new(1))))).unwrap_err().is::<i32>());
        assert!(!once.is_completed());
        assert!(catch_unwind(|| once.call_once(|| ())).is_err());
        assert!(catch_unwind(|| once.wait()).is_err());
        let mut poisoned = false;
        once.call_once_force(|state: &OnceState| poisoned = state.is_poisoned());
        assert!(poisoned && once.is_completed());
        once.wait_force();
        once.call_once_force(|_| unreachable!());
        once.call_once(|| unreachable!());
    }
}
