//! What stands in a static: each execution has its own.
//!
//! The compiler has made the value of a static, so it owns nothing that another copy of its bytes would not: nothing can
//! be allocated there. Before anybody uses the value its bytes are remembered, and the value of an execution is a copy of
//! them.
//!
//! That holds for what the mirror knows. Whatever else is in a static of a chosen crate is restored at the end of an
//! execution: see [`whole`].

pub(crate) mod atomics;
mod elf;
pub(crate) mod image;
mod names;
mod table;
pub(crate) mod whole;

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
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
    /// By where they begin and how long they are. Several where one execution has made several values there.
    numbers: BTreeMap<(usize, usize), Vec<usize>>,
}

/// `whole`, which was not used yet, is about to be used outside executions.
#[cold]
pub(crate) fn remember_outside<M: Mirror + ?Sized>(whole: &M) {
    whole::used_outside(address(whole));
    remember(whole, |_| true);
}

/// Remembers what `whole`, which was not used yet, is like. What an execution makes in a static has the number that was
/// there in an earlier one, if that `is_free`.
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
        // SAFETY: these are the bytes of `whole`, and nobody writes to them: who does has remembered them before.
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

/// The value that the running execution has for `whole`: itself, unless it stands in a static.
pub(crate) fn instance<'a, M: Mirror + ?Sized>(current: &Current<'_>, whole: &'a M) -> &'a M {
    if whole.handle().is_new() {
        if !image::contains(address(whole)) {
            return whole;
        }
        let instances = Instances::of(current);
        remember(whole, |number| !instances.has(number));
    }
    let Home::Static(number) = whole.handle().home() else { return whole };
    let start = Instances::of(current).start(number, whole);
    // SAFETY: at `start` there is a copy of the value, and the rest of the pointer is that of `whole`. It stays there until
    // the end of the execution. What borrows from a static of an execution must not be used after it: see the limits of the
    // crate.
    unsafe { &*with_start(whole, start) }
}

/// From here on what is put into the slots of the execution is dropped before the values of statics, which it may use.
pub(crate) fn outlive(current: &Current<'_>) {
    Instances::of(current);
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
        // SAFETY: the word is inside the static, whose memory the loader has filled. Read as a volatile one since it may
        // be padding.
        let word = unsafe { start.add(index).read_volatile() };
        image::may_be_mapped(word) && !image::is_loaded(word)
    })
}

/// The pointer to what is at `start` and in all other respects like `whole`.
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
    /// How many there were before.
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
    /// Destructors still find the statics that own nothing as they are.
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
            // SAFETY: it is the value that was just made, and this is called once, at its end.
            let drop: Box<dyn FnOnce() + '_> = Box::new(move || unsafe { pointer.drop_in_place() });
            // SAFETY: only the lifetime changes. What stands in a static borrows nothing that ends.
            unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(drop) }
        });
        Instance { start, layout, age, drop }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        /// Also when dropping the value unwinds.
        struct Free(NonNull<u8>, Layout);
        impl Drop for Free {
            fn drop(&mut self) {
                // SAFETY: it was allocated so, and nobody uses it any more.
                unsafe { dealloc(self.0.as_ptr(), self.1) };
            }
        }
        let _free = Free(self.start, self.layout);
        if let Some(drop) = self.drop.take() {
            drop();
        }
    }
}
