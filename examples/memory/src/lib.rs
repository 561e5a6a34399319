//! Small types with `unsafe` code, each wrong in one way and right in the other. Under `cargo interloper test` the loads and
//! stores of this crate are announced, and what is freed is kept, so that a wrong one is found whatever comes of it.
//!
//! ```text
//! cargo interloper test
//! ```

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};

/// A cell that one thread sets once. `stored` is how it stores the flag: `Release` is right, `Relaxed` is not.
pub struct SetOnce<T> {
    ready: AtomicBool,
    value: UnsafeCell<Option<T>>,
    stored: Ordering,
}

// SAFETY: the value is read after it was set, if the flag orders the two.
unsafe impl<T: Send + Sync> Sync for SetOnce<T> {}

impl<T> SetOnce<T> {
    pub fn new(stored: Ordering) -> SetOnce<T> {
        SetOnce { ready: AtomicBool::new(false), value: UnsafeCell::new(None), stored }
    }

    /// One thread calls it, once.
    pub fn set(&self, value: T) {
        // SAFETY: nobody reads the value before the flag is set.
        unsafe { *self.value.get() = Some(value) };
        self.ready.store(true, self.stored);
    }

    pub fn get(&self) -> Option<&T> {
        if !self.ready.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: nobody writes the value after the flag is set.
        unsafe { (*self.value.get()).as_ref() }
    }
}

/// A spinning lock. `unlocks` is how it stores that it is free: `Release` is right, `Relaxed` is not.
pub struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
    unlocks: Ordering,
}

// SAFETY: one thread at a time holds the lock, if unlocking orders them.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    pub fn new(value: T, unlocks: Ordering) -> SpinLock<T> {
        SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(value), unlocks }
    }

    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        // SAFETY: this thread holds the lock.
        let result = change(unsafe { &mut *self.value.get() });
        self.taken.store(false, self.unlocks);
        result
    }
}

/// A shared value with a count of its owners. The last owner drops the value, after an acquire fence if `fences`.
pub struct Counted<T> {
    inner: NonNull<Inner<T>>,
    fences: bool,
}

struct Inner<T> {
    owners: AtomicUsize,
    value: T,
}

// SAFETY: the value is shared, and dropped by one of the owners.
unsafe impl<T: Send + Sync> Send for Counted<T> {}

impl<T> Counted<T> {
    pub fn new(value: T, fences: bool) -> Counted<T> {
        let inner = Box::new(Inner { owners: AtomicUsize::new(1), value });
        Counted { inner: NonNull::from(Box::leak(inner)), fences }
    }
}

impl<T> Clone for Counted<T> {
    fn clone(&self) -> Counted<T> {
        // SAFETY: this owner keeps the value.
        unsafe { self.inner.as_ref() }.owners.fetch_add(1, Ordering::Relaxed);
        Counted { inner: self.inner, fences: self.fences }
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this owner keeps the value.
        &unsafe { self.inner.as_ref() }.value
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        // SAFETY: this owner keeps the value until here.
        if unsafe { self.inner.as_ref() }.owners.fetch_sub(1, Ordering::Release) == 1 {
            if self.fences {
                fence(Ordering::Acquire);
            }
            // SAFETY: there is no other owner. Without the fence nothing orders what they did before this.
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}

/// Treiber's stack. If `frees`, a node is freed as soon as it is popped, while another thread may still look at it.
pub struct Stack<T> {
    head: AtomicPtr<Node<T>>,
    frees: bool,
    /// Nodes that are freed with the stack.
    retired: AtomicPtr<Node<T>>,
}

struct Node<T> {
    value: MaybeUninit<T>,
    next: *mut Node<T>,
    retired: *mut Node<T>,
}

// SAFETY: values are moved in and out, never shared.
unsafe impl<T: Send> Sync for Stack<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Stack<T> {}

impl<T> Stack<T> {
    pub fn new(frees: bool) -> Stack<T> {
        Stack { head: AtomicPtr::new(ptr::null_mut()), frees, retired: AtomicPtr::new(ptr::null_mut()) }
    }

    pub fn push(&self, value: T) {
        let retired = ptr::null_mut();
        let node = Box::into_raw(Box::new(Node { value: MaybeUninit::new(value), next: ptr::null_mut(), retired }));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: no other thread knows the node.
            unsafe { (*node).next = head };
            match self.head.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }

    pub fn pop(&self) -> Option<T> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            if head.is_null() {
                return None;
            }
            // SAFETY: a node is freed with the stack; or as soon as it is popped, and then this is the bug.
            let next = unsafe { (*head).next };
            match self.head.compare_exchange_weak(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(found) => head = found,
            }
        }
        // SAFETY: this thread alone has popped the node.
        let value = unsafe { (*head).value.assume_init_read() };
        if self.frees {
            // SAFETY: it was made by a box.
            drop(unsafe { Box::from_raw(head) });
        } else {
            self.retire(head);
        }
        Some(value)
    }

    fn retire(&self, node: *mut Node<T>) {
        let mut last = self.retired.load(Ordering::Relaxed);
        loop {
            // SAFETY: others read no more than `next` of a node that was popped.
            unsafe { (*node).retired = last };
            match self.retired.compare_exchange_weak(last, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => last = found,
            }
        }
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        let mut node = *self.retired.get_mut();
        while !node.is_null() {
            // SAFETY: nobody else has the stack, and each node is in the list once.
            let retired = unsafe { Box::from_raw(node) };
            node = retired.retired;
        }
    }
}

#[cfg(all(test, interloper))]
mod sources;

#[cfg(all(test, interloper))]
mod tests {
    mod fills;

    use std::cell::Cell;
    use std::collections::HashMap;
    use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
    use std::thread;

    use interloper::blocks::{Checker, Grade};

    use super::*;

    /// What a check finds, as one word.
    fn found(program: impl Fn() + Sync) -> Option<&'static str> {
        let report = Checker::new("program").executions(1_000).check(program).unwrap();
        report.bug.map(|bug| bug.finding.word())
    }

    #[track_caller]
    fn is_clean(program: impl Fn() + Sync) {
        let report = Checker::new("program").executions(300).check(program).unwrap();
        assert_eq!(report.grade, Grade::Clean, "{report}");
    }

    fn publish(stored: Ordering) {
        let cell = Arc::new(SetOnce::new(stored));
        let reader = thread::spawn({
            let cell = cell.clone();
            move || cell.get().map(Vec::len)
        });
        cell.set(vec![1, 2, 3]);
        assert!(matches!(reader.join().unwrap(), None | Some(3)));
    }

    #[test]
    fn a_cell_needs_release() {
        assert_eq!(found(|| publish(Ordering::Relaxed)), Some("data-race"));
        is_clean(|| publish(Ordering::Release));
    }

    fn count(unlocks: Ordering) {
        let lock = Arc::new(SpinLock::new(0, unlocks));
        let other = thread::spawn({
            let lock = lock.clone();
            move || lock.with(|number| *number += 1)
        });
        lock.with(|number| *number += 1);
        other.join().unwrap();
        assert_eq!(lock.with(|number| *number), 2);
    }

    #[test]
    fn a_lock_needs_release() {
        assert_eq!(found(|| count(Ordering::Relaxed)), Some("data-race"));
        is_clean(|| count(Ordering::Release));
    }

    fn own(fences: bool) {
        let first = Counted::new((Mutex::new(vec![0; 4]), AtomicUsize::new(0)), fences);
        let second = first.clone();
        thread::spawn(move || second.0.lock().unwrap().push(1));
        first.0.lock().unwrap().push(2);
    }

    #[test]
    fn the_last_owner_needs_a_fence() {
        assert_eq!(found(|| own(false)), Some("data-race"));
        is_clean(|| own(true));
    }

    fn pop_together(frees: bool) {
        let stack = Arc::new(Stack::new(frees));
        stack.push(1);
        stack.push(2);
        let other = thread::spawn({
            let stack = stack.clone();
            move || stack.pop()
        });
        let popped = [stack.pop(), other.join().unwrap()];
        assert_eq!(popped.into_iter().flatten().sum::<i32>(), 3);
    }

    #[test]
    fn a_node_that_others_read_must_not_be_freed() {
        let word = found(|| pop_together(true));
        assert!(matches!(word, Some("use-after-free" | "data-race" | "double-free")), "{word:?}");
        is_clean(|| pop_together(false));
    }

    #[test]
    fn an_old_pointer_is_used_after_its_block_was_freed() {
        fn program(waits: bool) {
            let current = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(1_u64))));
            let reader = thread::spawn({
                let current = current.clone();
                // SAFETY: the writer waits before it frees, or does not, and then this is the bug.
                move || unsafe { *current.load(Ordering::Acquire) }
            });
            let old = current.swap(Box::into_raw(Box::new(2)), Ordering::AcqRel);
            let free = |block| {
                // SAFETY: it was made by a box.
                drop(unsafe { Box::from_raw(block) });
            };
            if waits {
                assert!(matches!(reader.join().unwrap(), 1 | 2));
                free(old);
            } else {
                free(old);
                let _ = reader.join();
            }
            free(current.load(Ordering::Relaxed));
        }
        assert!(matches!(found(|| program(false)), Some("use-after-free" | "data-race")));
        is_clean(|| program(true));
    }

    #[test]
    fn a_block_is_freed_twice_or_never() {
        fn program(frees: usize) {
            let block = Arc::new(AtomicPtr::new(Box::into_raw(Box::new([1_u64; 5]))));
            let free = |block: &AtomicPtr<[u64; 5]>| {
                // SAFETY: it was made by a box. Freeing it twice is the bug.
                drop(unsafe { Box::from_raw(block.load(Ordering::SeqCst)) });
            };
            let other = thread::spawn({
                let block = block.clone();
                move || _ = block.load(Ordering::SeqCst)
            });
            other.join().unwrap();
            (0..frees).for_each(|_| free(&block));
        }
        let word = |frees| {
            let checker = Checker::new("program").executions(10).allow_trivial().leaks();
            checker.check(move || program(frees)).unwrap().bug.map(|bug| bug.finding.word())
        };
        assert_eq!([word(0), word(1), word(2)], [Some("leak"), None, Some("double-free")]);
    }

    thread_local! {
        static PLAIN: Cell<u64> = const { Cell::new(0) };
        static DROPPED: (Cell<u64>, Vec<u64>) = (Cell::new(0), vec![1]);
    }

    /// Another thread writes through a pointer to a thread-local: while its thread waits, or when it has perhaps ended.
    fn write_to_a_local(is_dropped: bool, waits: bool) {
        let (tell, told) = mpsc::channel();
        let (allow, allowed) = mpsc::channel();
        let owner = thread::spawn(move || {
            let pointer = if is_dropped { DROPPED.with(|local| local.0.as_ptr()) } else { PLAIN.with(Cell::as_ptr) };
            tell.send(AtomicPtr::new(pointer)).unwrap();
            if waits {
                allowed.recv().unwrap();
            }
        });
        // SAFETY: the thread waits for this, or does not, and then this is the bug.
        unsafe { told.recv().unwrap().into_inner().write(7) };
        allow.send(()).unwrap_or_default();
        owner.join().unwrap();
    }

    #[test]
    fn a_thread_local_ends_with_its_thread() {
        let report = Checker::new("program").executions(1_000).check(|| write_to_a_local(false, false)).unwrap();
        let shown = report.bug.expect("the memory is freed").counterexample.to_string();
        assert!(shown.contains("a thread-local of 8 bytes, of thread 1"), "{shown}");
        for is_dropped in [false, true] {
            let word = found(|| write_to_a_local(is_dropped, false));
            assert!(matches!(word, Some("use-after-free" | "data-race")), "{word:?}");
            is_clean(|| write_to_a_local(is_dropped, true));
            let leaks = Checker::new("program").executions(100).leaks().check(|| write_to_a_local(is_dropped, true));
            assert_eq!(leaks.unwrap().grade, Grade::Clean);
        }
    }

    /// The thread itself uses its thread-local by a method of the key.
    #[test]
    fn a_thread_local_that_another_thread_writes_needs_an_order() {
        fn program(waits: bool) {
            let (tell, told) = mpsc::channel();
            let (allow, allowed) = mpsc::channel();
            let owner = thread::spawn(move || {
                tell.send(AtomicPtr::new(PLAIN.with(Cell::as_ptr))).unwrap();
                if waits {
                    allowed.recv().unwrap();
                }
                let read = PLAIN.get();
                if !waits {
                    allowed.recv().unwrap();
                }
                read
            });
            // SAFETY: the thread is there until it is allowed to go on. Without an order to its read this is the bug.
            unsafe { told.recv().unwrap().into_inner().write(7) };
            allow.send(()).unwrap();
            assert!(matches!(owner.join().unwrap(), 0 | 7));
        }
        assert_eq!(found(|| program(false)), Some("data-race"));
        is_clean(|| program(true));
    }

    #[test]
    fn a_map_needs_a_lock() {
        #[derive(Default)]
        struct Shared(UnsafeCell<HashMap<u64, String>>, Mutex<()>);
        // SAFETY: who uses the map holds the lock; or does not, and then this is the bug.
        unsafe impl Sync for Shared {}
        let program = |locks: bool| {
            move || {
                let shared = Arc::new(Shared::default());
                let other = thread::spawn({
                    let shared = shared.clone();
                    move || {
                        let _guard = shared.1.lock();
                        // SAFETY: this thread holds the lock.
                        unsafe { &mut *shared.0.get() }.insert(1, "one".to_owned());
                    }
                });
                let guard = locks.then(|| shared.1.lock());
                // SAFETY: as above, if it locks.
                std::hint::black_box(unsafe { &*shared.0.get() }.get(&1).cloned());
                drop(guard);
                other.join().unwrap();
            }
        };
        assert_eq!(found(program(false)), Some("data-race"));
        is_clean(program(true));
    }

    /// Accesses that std orders do not race.
    #[test]
    fn what_std_orders_is_no_race() {
        is_clean(|| {
            let shared = Arc::new((Mutex::new(HashMap::new()), RwLock::new(String::new()), Condvar::new()));
            let other = thread::spawn({
                let shared = shared.clone();
                move || {
                    shared.0.lock().unwrap().insert(1, vec![1; 3]);
                    shared.1.write().unwrap().push('a');
                    shared.2.notify_one();
                }
            });
            let mut map = shared.0.lock().unwrap();
            while map.is_empty() {
                map = shared.2.wait(map).unwrap();
            }
            map.remove(&1);
            drop(map);
            let _ = shared.1.read().unwrap().len();
            drop(shared);
            other.join().unwrap();
        });
        is_clean(|| {
            let (send, receive) = mpsc::channel::<Vec<u64>>();
            let threads: Vec<_> = (0..2)
                .map(|number| {
                    let send = send.clone();
                    thread::spawn(move || send.send(vec![number; 3]).unwrap())
                })
                .collect();
            drop(send);
            assert_eq!(receive.iter().flatten().sum::<u64>(), 3);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        is_clean(|| {
            let mut numbers = [1_u8, 2, 3, 4];
            let (low, high) = numbers.split_at_mut(1);
            let (barrier, once) = (Barrier::new(2), OnceLock::new());
            thread::scope(|scope| {
                scope.spawn(|| {
                    low[0] += once.get_or_init(|| 7);
                    barrier.wait();
                });
                scope.spawn(|| {
                    high[0] += once.get_or_init(|| 7);
                    barrier.wait();
                });
            });
            assert_eq!(numbers, [8, 9, 3, 4]);
        });
    }

    /// Of two threads, the second one frees the node that both use. Who was first is said under its lock, or by a flag that orders
    /// nothing.
    fn the_second_frees(under_the_lock: bool) {
        let node = AtomicPtr::new(Box::into_raw(Box::new((Mutex::new(false), AtomicBool::new(false)))));
        let uses = || {
            // SAFETY: the node is there until both threads have used it.
            let (lock, flag) = unsafe { &*node.load(Ordering::Relaxed) };
            let is_used = std::mem::replace(&mut *lock.lock().unwrap(), true);
            if if under_the_lock { is_used } else { flag.swap(true, Ordering::Relaxed) } {
                // SAFETY: the other thread has used the node, if the lock or the flag orders that.
                drop(unsafe { Box::from_raw(node.load(Ordering::Relaxed)) });
            }
        };
        thread::scope(|scope| {
            scope.spawn(uses);
            uses();
        });
    }

    /// Giving back a lock touches its memory for the last time before the next thread has the lock.
    #[test]
    fn a_lock_is_freed_by_the_last_who_had_it() {
        assert_eq!(found(|| the_second_frees(false)), Some("data-race"));
        is_clean(|| the_second_frees(true));
    }

    /// Without a handle, the thread itself drops its result; without a result yet, the thread that has the handle lets go of it.
    #[test]
    fn the_result_of_a_thread_that_nobody_joins_is_no_race() {
        is_clean(|| {
            let shared = Arc::new(AtomicUsize::new(0));
            let theirs = shared.clone();
            let other = thread::spawn(move || {
                theirs.fetch_add(1, Ordering::Relaxed);
                theirs
            });
            shared.load(Ordering::Relaxed);
            drop((other, shared));
        });
        is_clean(|| {
            let looks = Arc::new(AtomicUsize::new(0));
            let theirs = looks.clone();
            let other = thread::spawn(move || vec![theirs.fetch_add(1, Ordering::Relaxed)]);
            looks.fetch_add(1, Ordering::Relaxed);
            drop(other);
        });
    }

    /// The counts of an `Arc` order what its owners do, in each of the ways in which an owner finds out that it is the last.
    #[test]
    fn what_an_arc_orders_is_no_race() {
        struct Log(Vec<String>, AtomicUsize);
        impl Drop for Log {
            fn drop(&mut self) {
                assert_eq!(self.0.len(), self.1.load(Ordering::Relaxed));
            }
        }
        let program = |how: u8| {
            move || {
                let mut log = Arc::new(Mutex::new(Log(Vec::new(), AtomicUsize::new(0))));
                let add = |log: &Mutex<Log>| {
                    let mut log = log.lock().unwrap();
                    log.0.push("line".to_owned());
                    log.1.fetch_add(1, Ordering::Relaxed);
                };
                let other = thread::spawn({
                    let log = log.clone();
                    move || add(&log)
                });
                add(&log);
                match how {
                    0 => drop(log),
                    1 => drop(Arc::try_unwrap(log).map(|log| log.into_inner().unwrap().0.len())),
                    2 => drop(Arc::into_inner(log)),
                    _ => {
                        if let Some(log) = Arc::get_mut(&mut log) {
                            log.get_mut().unwrap().0.pop();
                            log.get_mut().unwrap().1.fetch_sub(1, Ordering::Relaxed);
                        }
                    }
                }
                other.join().unwrap();
            }
        };
        (0..4).for_each(|how| is_clean(program(how)));
    }
}
