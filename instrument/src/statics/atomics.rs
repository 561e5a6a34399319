//! Atomics in statics.
//!
//! An execution changes a copy of its own, so the original is as it was at first, unless it was changed outside of
//! executions. What it was like before is remembered then.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{address, image};
use crate::control::Compact;
use crate::runtime::{Bytes, Word};

/// What was at the addresses of atomics in statics before they were first changed outside of executions.
static CHANGED: Mutex<BTreeMap<usize, Bytes>> = Mutex::new(BTreeMap::new());

/// Some of these addresses, so that nobody has to wait for the others. Each is at one of a few places, or nowhere.
static KNOWN: [AtomicUsize; 1 << KNOWN_BITS] = [const { AtomicUsize::new(0) }; 1 << KNOWN_BITS];
const KNOWN_BITS: u32 = 10;

/// What an execution begins with, for an atomic in a static; `None` for one elsewhere.
pub(crate) fn initial<A: Compact>(whole: &A) -> Option<Bytes> {
    let address = address(whole);
    if !image::contains(address) {
        return None;
    }
    let changed = CHANGED.lock().unwrap_or_else(PoisonError::into_inner);
    Some(changed.get(&address).copied().unwrap_or_else(|| bytes(whole)))
}

/// `whole` is about to be changed outside of executions.
#[inline]
pub(crate) fn remember<A: Compact>(whole: &A) {
    if image::contains(address(whole)) {
        remember_static(whole);
    }
}

fn remember_static<A: Compact>(whole: &A) {
    let address = address(whole);
    let place = &KNOWN[(address.wrapping_mul(0x9e37_79b9) >> 8) & (KNOWN.len() - 1)];
    if place.load(Ordering::Acquire) == address {
        return;
    }
    CHANGED.lock().unwrap_or_else(PoisonError::into_inner).entry(address).or_insert_with(|| bytes(whole));
    place.store(address, Ordering::Release);
}

/// The present value.
fn bytes<A: Compact>(whole: &A) -> Bytes {
    const { assert!(size_of::<A>() <= size_of::<Bytes>() && align_of::<A>() <= align_of::<Word>()) };
    let mut bytes: Bytes = [MaybeUninit::new(0); 8];
    // SAFETY: an atomic is no longer than that.
    unsafe { bytes.as_mut_ptr().cast::<A>().write_unaligned(whole.copied()) };
    bytes
}
