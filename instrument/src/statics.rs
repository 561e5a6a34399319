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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::mirror::Mirror;
use crate::plain::{self, Handed, unwatched};
use crate::runtime::{self, Current, Handle, Home, Slot};

/// The statics that have been used.
static INITIAL: Mutex<Initial> = Mutex::new(Initial { bytes: Vec::new(), numbers: BTreeMap::new() });

struct Initial {
    /// By their numbers: the bytes of each before its first use.
    bytes: Vec<Box<[MaybeUninit<u8>]>>,
    /// By the start and the length of a value. Several numbers where one execution has made several values at the same
    /// place.
    numbers: BTreeMap<(usize, usize), Vec<usize>>,
}

/// Whether `main` runs, or is about to. Constructors that run before it, such as those of `ctor` and `inventory`, are a part of how the
/// process starts: what they leave in statics is what each execution finds.
static MAIN_BEGINS: AtomicBool = AtomicBool::new(cfg!(any(miri, not(target_os = "linux"))));

/// The constructors of a program run in the order in which its crates are linked: those of crates that use this one come first.
#[cfg(all(target_os = "linux", not(miri)))]
#[used]
// SAFETY: the section holds pointers to functions of this type, which are called once, before `main`. This one only stores.
#[unsafe(link_section = ".init_array")]
static LAST_CONSTRUCTOR: extern "C" fn() = {
    extern "C" fn last() {
        MAIN_BEGINS.store(true, Ordering::Release);
    }
    last
};

/// `whole`, which is new, is about to be used outside executions.
#[cold]
pub(crate) fn remember_outside<M: Mirror + ?Sized>(whole: &M) {
    if !MAIN_BEGINS.load(Ordering::Acquire) {
        return;
    }
    whole::used_outside(address(whole));
    remember(whole, &|_| true);
}

/// Records the bytes of `whole`, which is new. A value that an execution makes in a static gets the number of an
/// earlier value at the same place, if that number `is_free`.
#[cold]
fn remember<M: Mirror + ?Sized>(whole: &M, is_free: &dyn Fn(usize) -> bool) {
    let bytes = ptr::slice_from_raw_parts(ptr::from_ref(whole).cast::<MaybeUninit<u8>>(), size_of_val(whole));
    // SAFETY: these are the bytes and the handle of `whole`.
    unsafe { remember_bytes(bytes, whole.handle(), M::OWNS, is_free) }
}

/// The same without the type: this is compiled once, and not in each crate for each mirror type that it uses.
///
/// # Safety
/// `bytes` are those of a value, and `handle` is its handle.
unsafe fn remember_bytes(
    bytes: *const [MaybeUninit<u8>],
    handle: &Handle,
    owns: bool,
    is_free: &dyn Fn(usize) -> bool,
) {
    let place = (bytes.addr(), bytes.len());
    if !image::contains(place.0) {
        return handle.settle(Home::Elsewhere);
    }
    let mut initial = INITIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // Another thread may have been quicker.
    if handle.is_new() {
        // SAFETY: the caller says whose they are, and no thread writes to them: each writer records them first.
        let bytes = unsafe { &*bytes };
        if owns && may_own(bytes) {
            return handle.settle(Home::Elsewhere);
        }
        whole::keep(place.0, place.1);
        let number = initial.number(place, is_free);
        initial.bytes[number] = bytes.into();
        handle.settle(Home::Static(number));
    }
}

impl Initial {
    fn number(&mut self, place: (usize, usize), is_free: &dyn Fn(usize) -> bool) -> usize {
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
        remember(whole, &|number| !instances.has(number));
    }
    let Home::Static(number) = whole.handle().home() else { return whole };
    let start = Instances::of(current).start(number, Layout::for_value(whole), &|start| destructor(whole, start));
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
    // None of this is the program's. The work takes locks, the loader's among them, and a watcher that looks up who allocates may wait
    // for a thread that waits for those.
    let made = unwatched(work);
    AT_WORK.set(false);
    Some(made)
}

fn address<M: ?Sized>(whole: &M) -> usize {
    ptr::from_ref(whole).addr()
}

/// Whether there is a word in a static that could be a pointer to the heap.
fn may_own(whole: &[MaybeUninit<u8>]) -> bool {
    let (start, words) = (whole.as_ptr().cast::<usize>(), whole.len() / size_of::<usize>());
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

/// What drops the value at `start`, a copy of `whole`, if it may own something.
fn destructor<M: Mirror + ?Sized>(whole: &M, start: NonNull<u8>) -> Option<Box<dyn FnOnce()>> {
    let pointer = with_start(whole, start);
    M::OWNS.then(|| {
        // SAFETY: this is the new value, and its only drop, at its end.
        let drop: Box<dyn FnOnce() + '_> = Box::new(move || unsafe { pointer.drop_in_place() });
        // SAFETY: only the lifetime changes. A value in a static borrows nothing that ends.
        unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(drop) }
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

/// What drops a value at this place, if it may own something.
type Destructor<'a> = dyn Fn(NonNull<u8>) -> Option<Box<dyn FnOnce()>> + 'a;

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

    /// Where the copy of a static is. `destructor` says what drops a new copy.
    fn start(&self, number: usize, layout: Layout, destructor: &Destructor<'_>) -> NonNull<u8> {
        let mut all = self.all.borrow_mut();
        if let Some(Some(instance)) = all.get(number) {
            return instance.start;
        }
        let age = all.iter().flatten().count();
        if all.len() <= number {
            all.resize_with(number + 1, || None);
        }
        all[number].insert(Instance::new(number, layout, destructor, age)).start
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
    fn new(number: usize, layout: Layout, destructor: &Destructor<'_>, age: usize) -> Instance {
        // SAFETY: a mirror type is not of size 0, it has a handle.
        let start = NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        let initial = INITIAL.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: both are as long as the static.
        unsafe { ptr::copy_nonoverlapping(initial.bytes[number].as_ptr().cast(), start.as_ptr(), layout.size()) };
        plain::hand_over(start.addr().get(), Handed::Static);
        Instance { start, layout, age, drop: destructor(start) }
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
