//! How mirror types find their place in the running execution.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Current, Local, ObjectId, ObjectKind};
use crate::statics::{image, whole};

/// Ties a mirror type to its object in the running execution.
///
/// It remembers the execution; a handle that another execution left behind is registered anew, so a mirror type in a
/// `static` is a fresh object in each execution. The values behind a handle (the waiters of a channel, say) must be
/// made fresh by the mirror type when [`Handle::resolve`] says so.
#[derive(Debug, Default)]
pub struct Handle {
    /// The execution in the upper 40 bits, the object's index in the lower 24; 0 before the first use.
    ///
    /// Below 2^24, so in no execution, it says where the mirror type stands instead: see [`Home`].
    packed: AtomicU64,
}

const INDEX_BITS: u32 = 24;

/// Where a mirror type stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// It was not looked for yet: nobody has used the value.
    Unknown,
    /// In a static that starts fresh in each execution; the number of the static.
    Static(usize),
    /// Elsewhere.
    Elsewhere,
}

/// What a handle holds for [`Home::Elsewhere`]; one more than its number for a static.
const ELSEWHERE: u64 = (1 << INDEX_BITS) - 1;

/// The object behind a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The object.
    pub object: ObjectId,
    /// Whether this is the first use in this execution.
    pub fresh: bool,
}

impl Handle {
    /// A handle that belongs to no execution.
    pub const fn new() -> Handle {
        Handle { packed: AtomicU64::new(0) }
    }

    /// The object in the running execution, registered as a `kind` at the first use.
    #[inline]
    pub fn object(&self, current: &Current<'_>, kind: ObjectKind) -> ObjectId {
        self.resolve(current, kind).object
    }

    /// The object in the running execution, and whether this is its first use there.
    ///
    /// # Panics
    /// When the execution has more than 2^24 objects.
    #[inline]
    pub fn resolve(&self, current: &Current<'_>, kind: ObjectKind) -> Resolved {
        let packed = self.packed.load(Ordering::Relaxed);
        if packed >> INDEX_BITS == current.execution().get() {
            let index = (packed & ((1 << INDEX_BITS) - 1)) as u32;
            return Resolved { object: ObjectId::from_index(index), fresh: false };
        }
        self.register(current, kind)
    }

    /// Whether an earlier execution used the object and the running one has not, so that the state of the earlier one is still
    /// there.
    #[inline]
    pub fn is_left_behind(&self, current: &Current<'_>) -> bool {
        let execution = self.packed.load(Ordering::Relaxed) >> INDEX_BITS;
        execution != 0 && execution != current.execution().get()
    }

    /// The object, if this is not the first use in the running execution.
    // Not inlined into announced programs: see `sync/atomic/common.rs`.
    #[cfg_attr(not(interloper_announced), inline)]
    #[cfg_attr(interloper_announced, inline(never))]
    pub(crate) fn known(&self, current: &Current<'_>) -> Option<ObjectId> {
        let packed = self.packed.load(Ordering::Relaxed);
        let index = (packed & ELSEWHERE) as u32;
        (packed >> INDEX_BITS == current.execution().get()).then(|| ObjectId::from_index(index))
    }

    /// Whether nobody has used it yet, or looked where it stands.
    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        self.packed.load(Ordering::Acquire) == 0
    }

    /// Where it stands.
    pub(crate) fn home(&self) -> Home {
        match self.packed.load(Ordering::Acquire) {
            0 => Home::Unknown,
            packed if packed < ELSEWHERE => Home::Static(packed as usize - 1),
            _ => Home::Elsewhere,
        }
    }

    /// Says where it stands, before anything of what it belongs to is changed.
    ///
    /// # Panics
    /// When there are 2^24 statics.
    pub(crate) fn settle(&self, home: Home) {
        let packed = match home {
            Home::Unknown => 0,
            Home::Static(number) => number as u64 + 1,
            Home::Elsewhere => ELSEWHERE,
        };
        assert!(packed < ELSEWHERE || home == Home::Elsewhere, "a program may have 2^{INDEX_BITS} statics");
        self.packed.store(packed, Ordering::Release);
    }

    #[cold]
    fn register(&self, current: &Current<'_>, kind: ObjectKind) -> Resolved {
        let object = current.runtime().register(kind);
        assert!(object.index() < 1 << INDEX_BITS, "an execution may have 2^{INDEX_BITS} objects");
        self.packed.store(current.execution().get() << INDEX_BITS | object.index() as u64, Ordering::Relaxed);
        Resolved { object, fresh: true }
    }
}

/// A place for one value per task, or one per execution. The key of a mirrored `thread_local!` or lazy static.
#[derive(Debug, Default)]
pub struct Slot {
    /// One more than the index; 0 before the first use.
    number: AtomicU32,
}

impl Slot {
    /// A slot of its own.
    pub const fn new() -> Slot {
        Slot { number: AtomicU32::new(0) }
    }

    /// The index, the same for the life of the process. Small: numbered in order of first use.
    #[inline]
    pub fn index(&self) -> usize {
        match self.number.load(Ordering::Relaxed) {
            0 => self.assign(),
            number => number as usize - 1,
        }
    }

    #[cold]
    fn assign(&self) -> usize {
        let number = self.number();
        match self.number.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => number as usize - 1,
            Err(other) => other as usize - 1,
        }
    }

    /// A number for this slot. One that an execution makes in a static has that of an earlier one that was there.
    fn number(&self) -> u32 {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        static PLACES: Mutex<BTreeMap<usize, Vec<u32>>> = Mutex::new(BTreeMap::new());
        let address = std::ptr::from_ref(self).addr();
        if !image::contains(address) {
            return NEXT.fetch_add(1, Ordering::Relaxed);
        }
        whole::keep(address, size_of::<Slot>());
        let is_free = |number: u32| {
            let slot = number as usize - 1;
            let free = |current: Current<'_>| {
                current.runtime().shared(slot).is_none() && matches!(current.runtime().local(slot), Local::Empty)
            };
            super::with(free).unwrap_or(true)
        };
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = places.entry(address).or_default();
        numbers.iter().copied().find(|number| is_free(*number)).unwrap_or_else(|| {
            numbers.push(NEXT.fetch_add(1, Ordering::Relaxed));
            numbers[numbers.len() - 1]
        })
    }
}
