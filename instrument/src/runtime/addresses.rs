//! The objects of what has no room for a handle, by their addresses.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::{ExecutionId, ObjectId};

/// The objects of the running execution that are known by their addresses: atomics, which are as short as their values.
///
/// A runtime has one of these, for all its executions. What is at an address has its object from its first use until it
/// is dropped, or the memory is given back. What is moved is another object from then on.
#[derive(Debug, Default)]
pub struct Addresses {
    execution: Cell<u64>,
    table: RefCell<Table>,
    /// Something was put into the table since it was last cleared. An execution without atomics puts nothing there.
    is_used: Cell<bool>,
    /// What the quick way through the table needs to know.
    view: View,
    /// What the runtime is asked or told at an access: a bit for each.
    attended: Cell<u8>,
    /// How many accesses had an ordering weaker than `SeqCst`.
    weaker: Cell<u32>,
}

/// The runtime is told which numbers are found.
const WATCHED: u8 = 1;
/// The runtime says which values are found.
const WEAK: u8 = 2;
/// The runtime does not ask for the addresses of what is loaded or stored.
const SHORT: u8 = 4;

/// The slots of the table, how many there are but for one, and their stamp.
#[derive(Debug)]
struct View(Cell<*const Slot>, Cell<usize>, Cell<u32>);

/// What is known of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The object.
    pub(crate) object: ObjectId,
    /// What the execution has in the place of a static.
    pub(crate) instance: Option<NonNull<Word>>,
}

/// Memory for the value of an atomic.
#[derive(Debug)]
#[repr(C, align(8))]
pub(crate) struct Word(pub(crate) UnsafeCell<Bytes>);

/// The bytes of a [`Word`], so that copies of them are copies of pointers, too.
pub(crate) type Bytes = [MaybeUninit<u8>; 8];

impl Addresses {
    /// None yet.
    pub fn new() -> Addresses {
        Addresses::default()
    }

    /// Forgets what other executions have left.
    #[inline]
    pub(super) fn begin(&self, execution: ExecutionId) {
        if self.execution.replace(execution.get()) != execution.get() && self.is_used.take() {
            self.change(Table::clear);
        }
    }

    /// Whether [`super::Runtime::saw`] is to be called from now on.
    pub fn watch(&self, watch: bool) {
        self.attend(WATCHED, watch);
    }

    /// Whether [`super::Runtime::access`] is to be called from now on.
    pub fn weaken(&self, weak: bool) {
        self.attend(WEAK, weak);
    }

    /// Whether [`super::Runtime::load`] and [`super::Runtime::store`] stand for [`super::Runtime::access`] from now on.
    pub fn shorten(&self, short: bool) {
        self.attend(SHORT, short);
    }

    /// An access has an ordering weaker than `SeqCst`.
    #[inline(always)]
    pub(crate) fn count_weaker(&self) {
        self.weaker.set(self.weaker.get().wrapping_add(1));
    }

    /// How many accesses had an ordering weaker than `SeqCst`, be it the one for failure, since this was last asked. Fences do not count.
    pub fn take_weaker(&self) -> u32 {
        self.weaker.take()
    }

    fn attend(&self, bit: u8, wanted: bool) {
        let others = self.attended.get() & !bit;
        self.attended.set(if wanted { others | bit } else { others });
    }

    /// Whether the runtime wants to be asked or told anything at an access.
    #[inline(always)]
    pub(crate) fn are_attended(&self) -> bool {
        self.attended.get() != 0
    }

    /// Whether the runtime is told which numbers are found.
    #[inline(always)]
    pub(crate) fn are_watched(&self) -> bool {
        self.attended.get() & WATCHED != 0
    }

    /// Whether the runtime says which values are found.
    #[inline(always)]
    pub(crate) fn are_weak(&self) -> bool {
        self.attended.get() & WEAK != 0
    }

    /// Whether loads and stores take the short way.
    #[inline(always)]
    pub(crate) fn are_short(&self) -> bool {
        self.attended.get() & SHORT != 0
    }

    fn change<R>(&self, change: impl FnOnce(&mut Table) -> R) -> R {
        let mut table = self.table.borrow_mut();
        let result = change(&mut table);
        self.view.0.set(table.slots.as_ptr());
        self.view.1.set(table.slots.len() - 1);
        self.view.2.set(table.stamp);
        result
    }

    /// What is known of an address.
    #[inline(always)]
    pub(crate) fn find(&self, address: usize) -> Option<Known> {
        let View(slots, mask, stamp) = &self.view;
        let mut at = home(address, mask.get());
        loop {
            // SAFETY: the table was last changed by `change`, so these are its slots, and `at` is less than their number: it
            // is one of a power of two. Before the first change there is one, which is free.
            let slot = unsafe { &*slots.get().add(at) };
            if slot.stamp != stamp.get() {
                return None;
            }
            if slot.address == address {
                return Some(slot.known);
            }
            at = (at + 1) & mask.get();
        }
    }

    /// Takes note of an address that is not known.
    pub(crate) fn insert(&self, address: usize, known: Known) {
        self.is_used.set(true);
        self.change(|table| table.insert(address, known));
    }

    /// Memory with these bytes in it, until the next execution.
    pub(crate) fn instance(&self, bytes: Bytes) -> NonNull<Word> {
        self.is_used.set(true);
        self.change(|table| table.instance(bytes))
    }

    /// What was at an address is gone.
    #[inline]
    pub(crate) fn forget(&self, address: usize) {
        if self.find(address).is_some() {
            self.take(address);
        }
    }

    #[cold]
    fn take(&self, address: usize) {
        let mut table = self.table.borrow_mut();
        let at = table.position(address).expect("it was found");
        table.remove(at);
    }

    /// What was in this memory is gone.
    #[inline]
    pub fn forget_range(&self, start: usize, length: usize) {
        if self.is_used.get() {
            self.table.borrow_mut().forget_range(start, length);
        }
    }
}

/// An open-addressing hash table with linear probing. Removing an entry leaves no gap: the entries after it move up.
#[derive(Debug)]
struct Table {
    /// The slots of this execution have it; those that have another are free.
    stamp: u32,
    /// As many as a power of two says. At most half of them are taken.
    slots: Vec<Slot>,
    taken: usize,
    /// A bit for each 64 bytes of memory, several of which share one: whether an address in them was ever taken note of.
    lines: [u64; LINES / 64],
    instances: Vec<NonNull<Word>>,
    /// How many of them the execution has.
    used: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    address: usize,
    stamp: u32,
    known: Known,
}

/// The stamp of no execution.
const FREE: u32 = 0;
const FIRST_SLOTS: usize = 32;
const LINES: usize = 1 << 12;
/// A range of more lines is not looked for among them.
const FEW_LINES: usize = 64;

impl Slot {
    const EMPTY: Slot =
        Slot { address: 0, stamp: FREE, known: Known { object: ObjectId::from_index(0), instance: None } };
}

impl Default for View {
    fn default() -> View {
        View(Cell::new(&Slot::EMPTY), Cell::new(0), Cell::new(FREE + 1))
    }
}

impl Default for Table {
    fn default() -> Table {
        Table {
            stamp: 1,
            slots: vec![Slot::EMPTY; FIRST_SLOTS],
            taken: 0,
            lines: [0; LINES / 64],
            instances: Vec::new(),
            used: 0,
        }
    }
}

/// A hash whose upper bits are good (D. E. Knuth, *The Art of Computer Programming*, volume 3, section 6.4).
#[inline]
fn hash(number: usize) -> u64 {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn home(address: usize, mask: usize) -> usize {
    (hash(address) >> 32) as usize & mask
}

fn line(address: usize) -> (usize, u64) {
    let bit = (hash(address >> 6) >> (64 - LINES.trailing_zeros())) as usize;
    (bit / 64, 1 << (bit % 64))
}

impl Table {
    fn clear(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == FREE {
            self.slots.fill(Slot::EMPTY);
            self.stamp = FREE + 1;
        }
        self.taken = 0;
        self.used = 0;
        self.lines = [0; LINES / 64];
    }

    /// Where an address is looked for first.
    #[inline]
    fn home(&self, address: usize) -> usize {
        home(address, self.slots.len() - 1)
    }

    #[inline]
    fn position(&self, address: usize) -> Option<usize> {
        let mut at = self.home(address);
        loop {
            let slot = &self.slots[at];
            if slot.stamp != self.stamp {
                return None;
            }
            if slot.address == address {
                return Some(at);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn insert(&mut self, address: usize, known: Known) {
        if self.slots.len() < 2 * (self.taken + 1) {
            self.grow();
        }
        let (word, bit) = line(address);
        self.lines[word] |= bit;
        self.put(Slot { address, stamp: self.stamp, known });
        self.taken += 1;
    }

    fn put(&mut self, slot: Slot) {
        let mut at = self.home(slot.address);
        while self.slots[at].stamp == self.stamp {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot;
    }

    fn grow(&mut self) {
        let larger = vec![Slot::EMPTY; 2 * self.slots.len()];
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.stamp == self.stamp {
                self.put(slot);
            }
        }
    }

    fn remove(&mut self, mut hole: usize) {
        let mask = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let slot = self.slots[at];
            if slot.stamp != self.stamp {
                break;
            }
            // It may move to the hole unless that is before its home.
            let from_home = at.wrapping_sub(self.home(slot.address)) & mask;
            if from_home >= at.wrapping_sub(hole) & mask {
                self.slots[hole] = slot;
                hole = at;
            }
        }
        self.slots[hole].stamp = FREE;
        self.taken -= 1;
    }

    fn forget_range(&mut self, start: usize, length: usize) {
        if self.taken == 0 || length == 0 || !self.may_have(start, length) {
            return;
        }
        let range = start..start.saturating_add(length);
        if length <= self.slots.len() {
            for address in range {
                if let Some(at) = self.position(address) {
                    self.remove(at);
                }
            }
            return;
        }
        let mut at = 0;
        while at < self.slots.len() {
            let slot = &self.slots[at];
            if slot.stamp == self.stamp && range.contains(&slot.address) {
                // Another may be here now.
                self.remove(at);
            } else {
                at += 1;
            }
        }
    }

    fn may_have(&self, start: usize, length: usize) -> bool {
        let (first, last) = (start >> 6, start.saturating_add(length - 1) >> 6);
        last - first >= FEW_LINES
            || (first..=last).any(|number| {
                let (word, bit) = line(number << 6);
                self.lines[word] & bit != 0
            })
    }

    fn instance(&mut self, bytes: Bytes) -> NonNull<Word> {
        if self.used == self.instances.len() {
            let word = Box::new(Word(UnsafeCell::new([MaybeUninit::new(0); 8])));
            self.instances.push(NonNull::from(Box::leak(word)));
        }
        let word = self.instances[self.used];
        self.used += 1;
        // SAFETY: the word is one that was leaked above, and nobody refers to it: the execution that did is over.
        unsafe { word.as_ref().0.get().write(bytes) };
        word
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for word in &self.instances {
            // SAFETY: it was leaked from such a box, and no execution runs any more.
            drop(unsafe { Box::from_raw(word.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The table and its slow twin.
    #[derive(Default)]
    struct Both {
        table: Table,
        twin: BTreeMap<usize, usize>,
        next: usize,
    }

    #[derive(Clone, Copy, Debug)]
    enum Change {
        /// Takes note of an address that is not known, or forgets one that is.
        Toggle(usize),
        Range(usize, usize),
        Clear,
    }

    impl Both {
        fn make(&mut self, change: Change) {
            match change {
                Change::Toggle(address) if self.twin.remove(&address).is_some() => {
                    let at = self.table.position(address).expect("the twin has it");
                    self.table.remove(at);
                }
                Change::Toggle(address) => {
                    self.twin.insert(address, self.next);
                    let object = ObjectId::from_index(self.next as u32);
                    self.table.insert(address, Known { object, instance: None });
                    self.next += 1;
                }
                Change::Range(start, length) => {
                    self.table.forget_range(start, length);
                    self.twin.retain(|address, _| !(start..start + length).contains(address));
                }
                Change::Clear => {
                    self.table.clear();
                    self.twin.clear();
                }
            }
        }

        #[track_caller]
        fn agree(&self, addresses: impl IntoIterator<Item = usize>, why: &dyn std::fmt::Debug) {
            assert_eq!(self.table.taken, self.twin.len(), "{why:?}");
            for address in addresses {
                let found = self.table.position(address).map(|at| self.table.slots[at].known.object.index());
                assert_eq!(found, self.twin.get(&address).copied(), "{address} {why:?}");
            }
        }
    }

    /// Addresses that are looked for in the last slot first, and in the first one.
    fn colliding() -> [usize; 4] {
        let table = Table::default();
        let at = |slot: usize, count: usize| {
            let addresses: Vec<usize> = (1..).filter(|address| table.home(*address) == slot).take(count).collect();
            addresses
        };
        let (last, first) = (at(FIRST_SLOTS - 1, 3), at(0, 1));
        [last[0], last[1], first[0], last[2]]
    }

    /// All of 4^6 sequences of changes to four addresses that collide around the end of the table; then each range.
    #[test]
    fn all_short_sequences_agree_with_a_tree() {
        let addresses = colliding();
        for sequence in 0..4_usize.pow(6) {
            let changes: Vec<Change> =
                (0..6).map(|place| Change::Toggle(addresses[sequence / 4_usize.pow(place) % 4])).collect();
            let mut both = Both::default();
            for change in &changes {
                both.make(*change);
                both.agree(addresses, &changes);
            }
            let whole = Change::Range(addresses[sequence % 4], [1, 40, 4096][sequence % 3]);
            both.make(whole);
            both.agree(addresses, &(changes, whole));
        }
    }

    #[test]
    fn long_sequences_agree_with_a_tree() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below) as usize
        };
        let mut both = Both::default();
        let base = 0x7f00_0000_0000;
        let mut largest = 0;
        for round in 0..20_000 {
            let change = match draw(100) {
                0 => Change::Range(base + draw(2048), 1 + draw(8192)),
                1..10 => Change::Range(base + draw(2048), 1 + draw(64)),
                10 if draw(20) == 0 => Change::Clear,
                _ => Change::Toggle(base + draw(2048)),
            };
            both.make(change);
            largest = largest.max(both.twin.len());
            if round % 50 == 0 {
                both.agree(base..base + 2048, &change);
            }
        }
        assert!(largest > 2 * FIRST_SLOTS, "it has grown: {largest}");
    }

    #[test]
    fn stamps_that_come_around_do_not_bring_back_what_was() {
        let mut both = Both::default();
        both.make(Change::Toggle(8));
        both.table.stamp = u32::MAX;
        both.table.slots.iter_mut().for_each(|slot| slot.stamp = if slot.address == 8 { 1 } else { FREE });
        both.make(Change::Clear);
        assert_eq!(both.table.stamp, 1);
        both.agree([8], &"after 2^32 executions");
        both.make(Change::Toggle(16));
        both.agree([8, 16], &"after 2^32 executions");
    }

    #[test]
    fn the_quick_way_finds_the_same() {
        let (addresses, known) = (Addresses::new(), |n| Known { object: ObjectId::from_index(n), instance: None });
        let found = |address| addresses.find(address).map(|known| known.object.index());
        assert_eq!(found(8), None);
        for _ in 0..2 {
            addresses.begin(ExecutionId::fresh());
            assert!((0..100).all(|n| found(8 * n).is_none()));
            for n in 0..100 {
                addresses.insert(8 * n, known(n as u32));
                assert!((0..100).all(|m| found(8 * m) == (m <= n).then_some(m)));
            }
            addresses.forget(80);
            addresses.forget_range(160, 9);
            addresses.forget(4);
            assert!((0..100).all(|m| found(8 * m) == (![10, 20, 21].contains(&m)).then_some(m)));
        }
    }

    #[test]
    fn instances_stay_where_they_are_and_are_used_again() {
        let addresses = Addresses::new();
        let value = |word: NonNull<Word>| {
            // SAFETY: the table lives, and nobody writes.
            unsafe { word.cast::<u64>().read() }
        };
        addresses.begin(ExecutionId::fresh());
        let words: Vec<_> = (1..100_u64).map(|n| addresses.instance(n.to_ne_bytes().map(MaybeUninit::new))).collect();
        assert!(words.iter().zip(1..).all(|(word, n)| value(*word) == n));
        addresses.begin(ExecutionId::fresh());
        let again = addresses.instance([MaybeUninit::new(0); 8]);
        assert_eq!((again, value(again)), (words[0], 0));
    }
}
