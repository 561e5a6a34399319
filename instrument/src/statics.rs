//! The value of a static: each execution has its own.
//!
//! The compiler has made the value of a static, so the value owns nothing that another copy of its bytes would not own:
//! nothing can be allocated there. The bytes are recorded before the first use of the value, and the value of an
//! execution is a copy of them.
//!
//! This holds for the types of the mirror. Everything else in a static of a chosen crate is restored at the end of an
//! execution: see [`whole`].

pub(crate) mod atomics;
mod elf;
pub(crate) mod image;
mod names;
mod table;
pub(crate) mod whole;

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use crate::mirror::Mirror;
use crate::runtime::{self, Current, Home, Slot};

/// The statics that have been used.
static INITIAL: Mutex<Initial> = Mutex::new(Initial { bytes: Vec::new(), numbers: BTreeMap::new() });

struct Initial {
    /// By their numbers: the bytes of each before its first use.
    bytes: Vec<Box<[MaybeUninit<u8>]>>,
    /// By the start and the length of a value. Several numbers where one execution has made several values at the same
    /// place.
    numbers: BTreeMap<(usize, usize), Vec<usize>>,
}

/// `whole`, which is new, is about to be used outside executions.
#[cold]
pub(crate) fn remember_outside<M: Mirror + ?Sized>(whole: &M) {
    whole::used_outside(address(whole));
    remember(whole, |_| true);
}

/// Records the bytes of `whole`, which is new. A value that an execution makes in a static gets the number of an
/// earlier value at the same place, if that number `is_free`.
#[cold]
fn remember<M: Mirror + ?Sized>(whole: &M, is_free: impl Fn(usize) -> bool) {
    let place = (address(whole), size_of_val(whole));
    if !image::contains(place.0) {
        return whole.handle().settle(Home::Elsewhere);
    }
    let mut initial = INITIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // Another thread may have been quicker.
    if whole.handle().is_new() {
        let start = ptr::from_ref(whole).cast::<MaybeUninit<u8>>();
        // SAFETY: these are the bytes of `whole`, and no thread writes to them: each writer records them first.
        let bytes = unsafe { std::slice::from_raw_parts(start, size_of_val(whole)) };
        if M::OWNS && may_own(whole) {
            return whole.handle().settle(Home::Elsewhere);
        }
        whole::keep(place.0, place.1);
        let number = initial.number(place, is_free);
        initial.bytes[number] = bytes.into();
        whole.handle().settle(Home::Static(number));
    }
}

impl Initial {
    fn number(&mut self, place: (usize, usize), is_free: impl Fn(usize) -> bool) -> usize {
        let numbers = self.numbers.entry(place).or_default();
        numbers.iter().copied().find(|number| is_free(*number)).unwrap_or_else(|| {
            numbers.push(self.bytes.len());
            self.bytes.push(Box::default());
            self.bytes.len() - 1
        })
    }
}

/// The value that the running execution has for `whole`: `whole` itself, unless it is in a static.
pub(crate) fn instance<'a, M: Mirror + ?Sized>(current: &Current<'_>, whole: &'a M) -> &'a M {
    if whole.handle().is_new() {
        // Most values are on the heap, which a few comparisons tell.
        if !image::may_contain(address(whole)) || !image::contains(address(whole)) {
            return whole;
        }
        let instances = Instances::of(current);
        remember(whole, |number| !instances.has(number));
    }
    let Home::Static(number) = whole.handle().home() else { return whole };
    let start = Instances::of(current).start(number, whole);
    // SAFETY: at `start` there is a copy of the value, and the rest of the pointer comes from `whole`. The copy stays
    // there until the end of the execution. A borrow from a static of an execution must not be used after it: see the
    // limits of the crate.
    unsafe { &*with_start(whole, start) }
}

/// From here on, values in the slots of the execution are dropped before the values of statics, which they may use.
pub(crate) fn outlive(current: &Current<'_>) {
    Instances::of(current);
}

/// Does what allocates on behalf of an atomic, unless this thread does so already: then it has come here from an allocator of the
/// program that uses an atomic itself, and would wait for itself.
fn unless_at_work<T>(work: impl FnOnce() -> T) -> Option<T> {
    thread_local! {
        static AT_WORK: Cell<bool> = const { Cell::new(false) };
    }
    if AT_WORK.replace(true) {
        return None;
    }
    let made = work();
    AT_WORK.set(false);
    Some(made)
}

fn address<M: ?Sized>(whole: &M) -> usize {
    ptr::from_ref(whole).addr()
}

/// Whether there is a word in `whole` that could be a pointer to the heap.
fn may_own<M: ?Sized>(whole: &M) -> bool {
    let (start, words) = (ptr::from_ref(whole).cast::<usize>(), size_of_val(whole) / size_of::<usize>());
    if !start.is_aligned() {
        return true;
    }
    (0..words).any(|index| {
        // SAFETY: the word is inside the static, whose memory the loader has filled. The read is volatile because the
        // word may be padding.
        let word = unsafe { start.add(index).read_volatile() };
        image::may_be_mapped(word) && !image::is_loaded(word)
    })
}

/// The pointer to `start` that is otherwise like the pointer to `whole`.
fn with_start<M: ?Sized>(whole: &M, start: NonNull<u8>) -> *mut M {
    let mut pointer = ptr::from_ref(whole).cast_mut();
    // SAFETY: a pointer begins with the address, whatever follows.
    unsafe { (&raw mut pointer).cast::<*mut u8>().write(start.as_ptr()) };
    pointer
}

/// The values of statics in one execution.
#[derive(Default)]
struct Instances {
    /// By the numbers of the statics.
    all: RefCell<Vec<Option<Instance>>>,
}

struct Instance {
    start: NonNull<u8>,
    layout: Layout,
    /// How many instances are older.
    age: usize,
    /// What drops the value, if it may own something.
    drop: Option<Box<dyn FnOnce()>>,
}

static INSTANCES: Slot = Slot::new();

impl Instances {
    fn of(current: &Current<'_>) -> Rc<Instances> {
        let runtime = current.runtime();
        let instances = runtime.shared(INSTANCES.index()).unwrap_or_else(|| {
            let instances = Rc::new(Instances::default());
            runtime.set_shared(INSTANCES.index(), instances.clone());
            instances
        });
        instances.downcast().expect("the slot is used here alone")
    }

    fn has(&self, number: usize) -> bool {
        matches!(self.all.borrow().get(number), Some(Some(_)))
    }

    fn start<M: Mirror + ?Sized>(&self, number: usize, whole: &M) -> NonNull<u8> {
        let mut all = self.all.borrow_mut();
        if let Some(Some(instance)) = all.get(number) {
            return instance.start;
        }
        let age = all.iter().flatten().count();
        if all.len() <= number {
            all.resize_with(number + 1, || None);
        }
        all[number].insert(Instance::new(number, whole, age)).start
    }
}

impl Drop for Instances {
    /// Destructors of values that own something still find the statics that own nothing unchanged.
    fn drop(&mut self) {
        let mut owning = Vec::new();
        for instance in self.all.get_mut() {
            owning.extend(instance.take_if(|instance| instance.drop.is_some()));
        }
        if owning.is_empty() {
            return;
        }
        let others = Rc::new(Instances { all: RefCell::new(std::mem::take(self.all.get_mut())) });
        runtime::with(|current| current.runtime().set_shared(INSTANCES.index(), others));
        owning.sort_unstable_by_key(|instance| std::cmp::Reverse(instance.age));
    }
}

impl Instance {
    fn new<M: Mirror + ?Sized>(number: usize, whole: &M, age: usize) -> Instance {
        let layout = Layout::for_value(whole);
        // SAFETY: a mirror type is not of size 0, it has a handle.
        let start = NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        let initial = INITIAL.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: both are as long as `whole`.
        unsafe { ptr::copy_nonoverlapping(initial.bytes[number].as_ptr().cast(), start.as_ptr(), layout.size()) };
        let pointer = with_start(whole, start);
        let drop = M::OWNS.then(|| {
            // SAFETY: this is the new value, and its only drop, at its end.
            let drop: Box<dyn FnOnce() + '_> = Box::new(move || unsafe { pointer.drop_in_place() });
            // SAFETY: only the lifetime changes. A value in a static borrows nothing that ends.
            unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(drop) }
        });
        Instance { start, layout, age, drop }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        /// Frees the memory, even if dropping the value unwinds.
        struct Free(NonNull<u8>, Layout);
        impl Drop for Free {
            fn drop(&mut self) {
                // SAFETY: the memory was allocated with this layout, and nothing uses it any more.
                unsafe { dealloc(self.0.as_ptr(), self.1) };
            }
        }
        let _free = Free(self.start, self.layout);
        if let Some(drop) = self.drop.take() {
            drop();
        }
    }
}
