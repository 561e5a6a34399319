//! Atomics and fences.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};
use std::thread;

static TICKETS: AtomicUsize = AtomicUsize::new(0);
static CELLS: [AtomicU8; 3] = [const { AtomicU8::new(7) }; 3];
static POINTER: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

macro_rules! integer {
    ($atomic:ident, $value:ident) => {{
        let mut atomic = $atomic::new(5);
        assert_eq!(atomic.load(Ordering::Relaxed), 5);
        atomic.store(6, Ordering::Release);
        assert_eq!(atomic.swap(7, Ordering::AcqRel), 6);
        assert_eq!(atomic.compare_exchange(7, 8, Ordering::SeqCst, Ordering::Acquire), Ok(7));
        assert_eq!(atomic.compare_exchange(7, 9, Ordering::SeqCst, Ordering::Relaxed), Err(8));
        assert_eq!(atomic.compare_exchange_weak(1, 9, Ordering::Relaxed, Ordering::Relaxed), Err(8));
        while atomic.compare_exchange_weak(8, 9, Ordering::AcqRel, Ordering::Acquire).is_err() {}
        #[allow(deprecated)]
        let there = atomic.compare_and_swap(9, 5, Ordering::AcqRel);
        assert_eq!(there, 9);
        assert_eq!(atomic.fetch_add(3, Ordering::Relaxed), 5);
        assert_eq!(atomic.fetch_sub(2, Ordering::Relaxed), 8);
        assert_eq!(atomic.fetch_and(3, Ordering::Relaxed), 6);
        assert_eq!(atomic.fetch_or(5, Ordering::Relaxed), 2);
        assert_eq!(atomic.fetch_xor(1, Ordering::Relaxed), 7);
        assert_eq!(atomic.fetch_nand(6, Ordering::Relaxed), 6);
        assert_eq!(atomic.load(Ordering::SeqCst), !6);
        assert_eq!(atomic.swap(4, Ordering::SeqCst), !6);
        assert_eq!(atomic.fetch_max(9, Ordering::SeqCst), 4);
        assert_eq!(atomic.fetch_min(3, Ordering::SeqCst), 9);
        assert_eq!(atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |value| value.checked_add(1)), Ok(3));
        assert_eq!(atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |_| None), Err(4));
        assert_eq!(format!("{atomic:?}"), "4");
        *atomic.get_mut() = $value::MAX;
        assert_eq!(atomic.fetch_add(1, Ordering::SeqCst), $value::MAX);
        // SAFETY: nobody else uses the atomic.
        assert_eq!(unsafe { *atomic.as_ptr() }, $value::MIN);
        assert_eq!(atomic.into_inner(), $value::MIN);
        assert_eq!($atomic::default().into_inner(), $atomic::from(0).into_inner());
        const CONSTANT: $value = $atomic::new(3).into_inner();
        assert_eq!(CONSTANT, 3);
    }};
}

programs! {
    fn integers() {
        integer!(AtomicI8, i8);
        integer!(AtomicU8, u8);
        integer!(AtomicI16, i16);
        integer!(AtomicU16, u16);
        integer!(AtomicI32, i32);
        integer!(AtomicU32, u32);
        integer!(AtomicI64, i64);
        integer!(AtomicU64, u64);
        integer!(AtomicIsize, isize);
        integer!(AtomicUsize, usize);
    }

    fn booleans() {
        let mut flag = AtomicBool::new(false);
        assert!(!flag.swap(true, Ordering::SeqCst));
        assert!(flag.fetch_and(false, Ordering::SeqCst));
        assert!(!flag.fetch_or(true, Ordering::SeqCst));
        assert!(flag.fetch_xor(true, Ordering::SeqCst));
        assert!(!flag.fetch_nand(true, Ordering::SeqCst));
        assert!(flag.fetch_not(Ordering::SeqCst));
        assert_eq!(flag.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst), Ok(false));
        assert_eq!(flag.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |value| Some(!value)), Ok(true));
        assert_eq!(format!("{flag:?}"), "false");
        *flag.get_mut() = true;
        assert!(flag.into_inner());
        assert!(AtomicBool::from(true).load(Ordering::Acquire) && !AtomicBool::default().load(Ordering::Relaxed));
    }

    fn pointers() {
        let (mut first, mut second) = (1, 2);
        let mut pointer = AtomicPtr::new(&raw mut first);
        assert_eq!(pointer.swap(&raw mut second, Ordering::SeqCst), &raw mut first);
        let (old, new) = (&raw mut second, &raw mut first);
        assert_eq!(pointer.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst), Ok(old));
        assert_eq!(pointer.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |_| Some(old)), Ok(new));
        assert_eq!(format!("{pointer:p} {pointer:?}"), format!("{old:p} {old:?}"));
        *pointer.get_mut() = new;
        // SAFETY: it points to the variable above.
        unsafe { *pointer.load(Ordering::Acquire) = 5 };
        assert_eq!(pointer.into_inner(), new);
        assert_eq!(first, 5);
        assert!(POINTER.load(Ordering::Relaxed).is_null() && AtomicPtr::<u8>::default().into_inner().is_null());
        assert_eq!(AtomicPtr::from(new).into_inner(), new);
    }

    fn statics() {
        let before = TICKETS.fetch_add(1, Ordering::Relaxed);
        assert!(TICKETS.load(Ordering::Relaxed) > before);
        assert!(CELLS.iter().all(|cell| cell.load(Ordering::Relaxed) == 7));
    }

    fn nothing_is_lost() {
        let counter = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || {
                    counter.fetch_add(1, Ordering::Relaxed);
                    let increment = |value| Some(value + 1);
                    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, increment).unwrap();
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(counter.load(Ordering::Relaxed), 6);
    }

    fn a_flag_publishes() {
        let shared = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
        let writer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.0.store(42, Ordering::Relaxed);
                fence(Ordering::Release);
                compiler_fence(Ordering::SeqCst);
                shared.1.store(true, Ordering::Relaxed);
            })
        };
        while !shared.1.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
        fence(Ordering::Acquire);
        assert_eq!(shared.0.load(Ordering::Relaxed), 42);
        writer.join().unwrap();
    }

    fn orderings_that_make_no_sense() {
        let panics = |order: Ordering, f: fn(&AtomicU8, Ordering)| {
            let outcome = std::panic::catch_unwind(|| f(&AtomicU8::new(0), order));
            outcome.unwrap_err().downcast_ref::<&str>().is_some_and(|text| text.starts_with("there is no such thing"))
        };
        assert!(panics(Ordering::Release, |atomic, order| assert_eq!(atomic.load(order), 0)));
        assert!(panics(Ordering::Acquire, |atomic, order| atomic.store(1, order)));
        assert!(panics(Ordering::Relaxed, |_, order| fence(order)));
    }
}
