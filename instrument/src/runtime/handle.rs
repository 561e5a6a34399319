//! How mirror types find their place in the running execution.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Current, ObjectId, ObjectKind};

/// Ties a mirror type to its object in the running execution.
///
/// It remembers the execution; a handle that another execution left behind is registered anew, so a mirror type in a
/// `static` is a fresh object in each execution. The values behind a handle (the waiters of a channel, say) must be
/// made fresh by the mirror type when [`Handle::resolve`] says so.
#[derive(Debug, Default)]
pub struct Handle {
    /// The execution in the upper 40 bits, the object's index in the lower 24; 0 before the first use.
    packed: AtomicU64,
}

const INDEX_BITS: u32 = 24;

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
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        match self.number.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => number as usize - 1,
            Err(other) => other as usize - 1,
        }
    }
}
