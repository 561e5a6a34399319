//! Atomics in statics.
//!
//! An execution changes its own copy, so the original keeps its first value, unless it was changed outside executions.
//! Its value before such a change is recorded.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{MAIN_BEGINS, address, image, unless_at_work, whole};
use crate::mirror::Compact;
use crate::runtime::{Bytes, Word, is_allocating};

/// The bytes at the addresses of atomics in statics before they were first changed outside executions.
static CHANGED: Mutex<BTreeMap<usize, Bytes>> = Mutex::new(BTreeMap::new());

/// Some of these addresses, so that most calls need no lock. Each address is at one of a few places, or missing.
static KNOWN: [AtomicUsize; 1 << KNOWN_BITS] = [const { AtomicUsize::new(0) }; 1 << KNOWN_BITS];
const KNOWN_BITS: u32 = 10;

/// The addresses of the atomics in statics that an allocator of the program changes, and 0 where there are no more. Few, so that they need no
/// memory from an allocator.
static OF_ALLOCATORS: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// Whether an allocator of the program changes this atomic. Executions share it with all that is outside of them, since the memory that it
/// counts, say, is shared, too: some that the one allocates, the other frees.
pub(crate) fn is_of_allocator<A: Compact>(atomic: &A) -> bool {
    let addresses = OF_ALLOCATORS.iter().map(|place| place.load(Ordering::Acquire));
    addresses.take_while(|address| *address != 0).any(|known| known == address(atomic))
}

/// An allocator of the program is about to change this atomic.
#[cold]
fn belongs_to_allocator(address: usize) {
    for place in &OF_ALLOCATORS {
        match place.compare_exchange(0, address, Ordering::AcqRel, Ordering::Acquire) {
            Err(other) if other != address => {}
            _ => return,
        }
    }
}

/// The initial bytes of an atomic in a static for an execution; `None` for an atomic elsewhere.
pub(crate) fn initial<A: Compact>(atomic: &A) -> Option<Bytes> {
    let address = address(atomic);
    if !image::contains(address) {
        return None;
    }
    if whole::is_left(address) {
        // The memory next to the atomic has its value from outside, too.
        return Some(bytes(atomic));
    }
    let changed = CHANGED.lock().unwrap_or_else(PoisonError::into_inner);
    Some(changed.get(&address).copied().unwrap_or_else(|| bytes(atomic)))
}

/// `atomic` is about to be changed outside executions.
///
/// Of [`may_change_unseen`] what must be recorded.
#[inline]
pub(crate) fn remember<A: Compact>(atomic: &A) {
    if MAIN_BEGINS.load(Ordering::Acquire) && image::contains(address(atomic)) {
        remember_static(atomic);
    }
}

/// Whether there is nothing to record before a change outside executions, as far as a short look tells.
#[inline]
pub(crate) fn may_change_unseen<A: Compact>(atomic: &A) -> bool {
    let address = address(atomic);
    !image::may_contain(address) || place(address).load(Ordering::Acquire) == address
}

/// Where `address` is, if it is in [`KNOWN`].
#[inline]
fn place(address: usize) -> &'static AtomicUsize {
    &KNOWN[(address.wrapping_mul(0x9e37_79b9) >> 8) & (KNOWN.len() - 1)]
}

fn remember_static<A: Compact>(atomic: &A) {
    let address = address(atomic);
    let place = place(address);
    if place.load(Ordering::Acquire) == address {
        return;
    }
    if is_allocating() {
        belongs_to_allocator(address);
    }
    // An allocator that changes an atomic meanwhile has its value recorded at a later change.
    unless_at_work(|| {
        whole::used_outside(address);
        whole::keep(address, size_of::<A>());
        CHANGED.lock().unwrap_or_else(PoisonError::into_inner).entry(address).or_insert_with(|| bytes(atomic));
        place.store(address, Ordering::Release);
    });
}

/// The current value.
fn bytes<A: Compact>(atomic: &A) -> Bytes {
    const { assert!(size_of::<A>() <= size_of::<Bytes>() && align_of::<A>() <= align_of::<Word>()) };
    let mut bytes: Bytes = [MaybeUninit::new(0); 8];
    // SAFETY: an atomic is no longer than `Bytes`.
    unsafe { bytes.as_mut_ptr().cast::<A>().write_unaligned(atomic.copied()) };
    bytes
}
