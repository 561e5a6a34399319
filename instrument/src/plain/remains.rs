//! Blocks that executions have allocated and that nobody frees: what a static has owned before it started afresh, a value that
//! was forgotten, the tasks that a program gives up at its end.
//!
//! In a program of its own each execution would be a process, and its memory would go with it. Here thousands of executions
//! share a process. So [`collect`] frees what no word of the process leads to any more, once there is much of it. It looks for
//! pointers without knowing types, as Boehm and Weiser do (Garbage Collection in an Uncooperative Environment, 1988): every
//! aligned word in writable memory and in a register that could point into a block keeps the block, and the words of a block
//! that is kept count as well. A pointer that nowhere stands as such, in an encoding of its own, keeps nothing.
//!
//! Only blocks from [`Quarantine`](super::Quarantine) are known, and only those allocated by a thread in an execution that
//! runs alone, because executions before it have changed statics.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::allocator::to_system;

/// The bytes that executions must have left since the last collection before there is another one. If that collection kept
/// more than four times as many, it takes a quarter of what it kept.
const MUCH: usize = 64 << 20;
/// No collection takes place in a process with more writable memory: to look at it would take too long.
const MOST_LOOKED_AT: usize = 8 << 30;
const WORD: usize = size_of::<usize>();

/// Some block may be known: the quick question before the lock.
static ANY: AtomicBool = AtomicBool::new(false);
static BLOCKS: Mutex<Known> = Mutex::new(Known::new());

thread_local! {
    /// The blocks that this thread allocates are noted.
    static NOTES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread's allocations are those of an execution, from now on. They are noted where they can be looked for.
pub(crate) fn note(notes: bool) {
    NOTES.set(notes && cfg!(target_os = "linux"));
}

#[inline(always)]
pub(super) fn allocated(address: usize, layout: Layout) {
    if NOTES.try_with(Cell::get).unwrap_or(false) {
        add(address, layout);
    }
}

#[cold]
#[inline(never)]
fn add(address: usize, layout: Layout) {
    ANY.store(true, Ordering::Relaxed);
    blocks().add(Block { hidden: !address, size: layout.size(), align: layout.align() });
}

#[inline(always)]
pub(super) fn freed(address: usize) {
    if ANY.load(Ordering::Relaxed) {
        remove(address);
    }
}

/// Whether blocks that are freed are emptied.
#[inline(always)]
pub(super) fn empties() -> bool {
    ANY.load(Ordering::Relaxed)
}

#[cold]
#[inline(never)]
fn remove(address: usize) -> Option<Block> {
    blocks().remove(address)
}

fn blocks() -> MutexGuard<'static, Known> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees the blocks that nothing leads to any more, if there may be many of them.
///
/// # Safety
/// No other thread runs an execution, and this one is between two.
pub(crate) unsafe fn collect() {
    if !ANY.load(Ordering::Relaxed) || blocks().is_small() {
        return;
    }
    let _registers = Registers::spill();
    let Some(unreached) = unreached() else {
        return blocks().collected();
    };
    for block in unreached {
        // Another thread may have freed it in the meantime.
        if let Some(block) = remove(block.start()) {
            let start = std::ptr::with_exposed_provenance_mut(block.start());
            // SAFETY: `Quarantine` gave it with this layout, nobody has freed it, and nobody can find it.
            unsafe { to_system(start, block.layout()) };
        }
    }
    blocks().collected();
}

/// The known blocks that nothing leads to. `None` if the memory of the process cannot be looked at.
#[cfg(not(target_os = "linux"))]
fn unreached() -> Option<Vec<Block>> {
    None
}

/// The known blocks that nothing leads to. `None` if the memory of the process cannot be looked at.
#[cfg(target_os = "linux")]
fn unreached() -> Option<Vec<Block>> {
    use std::os::unix::fs::FileExt;

    let memory = std::fs::File::open("/proc/self/mem").ok()?;
    let writable = writable(&std::fs::read_to_string("/proc/self/maps").ok()?);
    if writable.iter().map(ExactSizeIterator::len).sum::<usize>() > MOST_LOOKED_AT {
        return None;
    }
    let mut found = Vec::with_capacity(blocks().count);
    found.extend(blocks().all().take(found.capacity()));
    found.sort_unstable_by_key(Block::start);
    let mut reach = Reach { reached: vec![false; found.len()], blocks: found, open: Vec::new() };
    let mut words = vec![0_u8; 1 << 20];
    // Copies of pointers are no pointers of the program.
    let own = words.as_ptr_range();
    let own = own.start.addr()..own.end.addr();
    for range in writable {
        for start in range.clone().step_by(words.len()) {
            let words = &mut words[..(range.end - start).min(1 << 20)];
            // Memory that cannot be read, beyond the end of a file, holds nothing.
            if memory.read_exact_at(words, start as u64).is_ok() {
                reach.look(start, words, &own);
            }
        }
    }
    while let Some(index) = reach.open.pop() {
        let block = reach.blocks[index];
        for start in (block.start()..block.end()).step_by(words.len()) {
            let words = &mut words[..(block.end() - start).min(1 << 20)];
            memory.read_exact_at(words, start as u64).ok()?;
            reach.look_inside(words);
        }
    }
    let unreached = reach.reached.iter().zip(&reach.blocks).filter(|(reached, _)| !**reached);
    Some(unreached.map(|(_, block)| *block).collect())
}

/// The ranges of writable memory in a text like that of `/proc/self/maps`.
#[cfg(any(target_os = "linux", test))]
fn writable(maps: &str) -> Vec<Range<usize>> {
    let range = |line: &str| {
        let mut columns = line.split_ascii_whitespace();
        let (range, permissions) = (columns.next()?, columns.next()?);
        let (start, end) = range.split_once('-')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        permissions.starts_with("rw").then_some(range)
    };
    maps.lines().filter_map(range).collect()
}

/// Which blocks words lead to.
#[cfg(any(target_os = "linux", test))]
struct Reach {
    /// In the order of their addresses.
    blocks: Vec<Block>,
    reached: Vec<bool>,
    /// Reached blocks whose content has not been looked at.
    open: Vec<usize>,
}

#[cfg(any(target_os = "linux", test))]
impl Reach {
    /// Looks at words outside of the blocks. They begin at `start`, which is a multiple of a word.
    fn look(&mut self, start: usize, words: &[u8], own: &Range<usize>) {
        let end = start + words.len();
        let mut at = start;
        // The blocks in this range divide it.
        let mut next = self.blocks.partition_point(|block| block.end() <= start);
        while at < end {
            let block = self.blocks.get(next).copied().filter(|block| block.start() < end);
            let until = block.map_or(end, |block| block.start().max(at));
            for (index, word) in words[at - start..until - start].chunks_exact(WORD).enumerate() {
                let address = at + index * WORD;
                if !own.contains(&address) {
                    self.word(word);
                }
            }
            at = block.map_or(end, |block| block.end().next_multiple_of(WORD).min(end));
            next += 1;
        }
    }

    fn look_inside(&mut self, words: &[u8]) {
        words.chunks_exact(WORD).for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &[u8]) {
        let word = usize::from_ne_bytes(word.try_into().expect("a word"));
        let (Some(first), Some(last)) = (self.blocks.first(), self.blocks.last()) else { return };
        if word < first.start() || word > last.end() {
            return;
        }
        let after = self.blocks.partition_point(|block| block.start() <= word);
        let Some(index) = after.checked_sub(1) else { return };
        if word < self.blocks[index].end() && !std::mem::replace(&mut self.reached[index], true) {
            self.open.push(index);
        }
    }
}

/// The registers that a function leaves to its caller, on the stack, where they are looked at.
struct Registers([usize; 12]);

impl Registers {
    #[inline(always)]
    fn spill() -> Registers {
        let mut registers = Registers([0; 12]);
        // SAFETY: the instructions copy registers to memory that is written.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                "mov [{0}], rbx", "mov [{0} + 8], rbp", "mov [{0} + 16], r12", "mov [{0} + 24], r13",
                "mov [{0} + 32], r14", "mov [{0} + 40], r15",
                in(reg) &raw mut registers.0, options(nostack, preserves_flags)
            );
        }
        // SAFETY: the instructions copy registers to memory that is written.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
                "stp x19, x20, [{0}]", "stp x21, x22, [{0}, #16]", "stp x23, x24, [{0}, #32]",
                "stp x25, x26, [{0}, #48]", "stp x27, x28, [{0}, #64]",
                in(reg) &raw mut registers.0, options(nostack, preserves_flags)
            );
        }
        std::hint::black_box(&mut registers);
        registers
    }
}

/// A block of memory. Its address is not written as such: it would be found as a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// The complement of the address; 0 if there is no block.
    hidden: usize,
    size: usize,
    align: usize,
}

impl Block {
    const NONE: Block = Block { hidden: 0, size: 0, align: 0 };

    fn start(&self) -> usize {
        !self.hidden
    }

    fn end(&self) -> usize {
        self.start() + self.size
    }

    fn layout(&self) -> Layout {
        Layout::from_size_align(self.size, self.align).expect("the block has a layout")
    }
}

/// The known blocks: a table with open addressing in memory of the system's allocator, since the global one asks it.
struct Known {
    slots: *mut Block,
    /// A power of two, or 0.
    capacity: usize,
    count: usize,
    bytes: usize,
    /// Few bytes, which need no collection.
    few: usize,
}

// SAFETY: the table owns its memory.
unsafe impl Send for Known {}

impl Known {
    const fn new() -> Known {
        Known { slots: std::ptr::null_mut(), capacity: 0, count: 0, bytes: 0, few: MUCH }
    }

    fn is_small(&self) -> bool {
        self.bytes <= self.few
    }

    fn collected(&mut self) {
        self.few = self.bytes + MUCH.max(self.bytes / 4);
    }

    fn all(&self) -> impl Iterator<Item = Block> {
        self.slots().iter().copied().filter(|block| *block != Block::NONE)
    }

    fn slots(&self) -> &[Block] {
        match self.capacity {
            0 => &[],
            // SAFETY: so many slots are there, all written.
            capacity => unsafe { std::slice::from_raw_parts(self.slots, capacity) },
        }
    }

    fn slots_mut(&mut self) -> &mut [Block] {
        match self.capacity {
            0 => &mut [],
            // SAFETY: so many slots are there, all written, and the table owns them.
            capacity => unsafe { std::slice::from_raw_parts_mut(self.slots, capacity) },
        }
    }

    /// Where a block belongs, if there are collisions one of the next slots.
    fn home(&self, hidden: usize) -> usize {
        const GOLDEN: usize = 0x9E37_79B9_7F4A_7C15_u64 as usize;
        (hidden >> 4).wrapping_mul(GOLDEN) >> (usize::BITS - self.capacity.trailing_zeros())
    }

    /// The slot of a block, or the free one where it belongs.
    fn slot(&self, hidden: usize) -> usize {
        let slots = self.slots();
        let mut at = self.home(hidden);
        while slots[at].hidden != hidden && slots[at] != Block::NONE {
            at = (at + 1) & (self.capacity - 1);
        }
        at
    }

    fn add(&mut self, block: Block) {
        if self.count * 8 >= self.capacity * 5 && !self.grow() {
            return;
        }
        let slot = self.slot(block.hidden);
        self.slots_mut()[slot] = block;
        self.count += 1;
        self.bytes += block.size;
    }

    fn remove(&mut self, address: usize) -> Option<Block> {
        if self.count == 0 {
            return None;
        }
        let mut hole = self.slot(!address);
        let mask = self.capacity - 1;
        let removed = Some(self.slots()[hole]).filter(|block| *block != Block::NONE)?;
        // Blocks that follow without a gap move up, unless they would come before their home.
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let block = self.slots()[at];
            if block == Block::NONE {
                break;
            }
            let from_home = at.wrapping_sub(self.home(block.hidden)) & mask;
            if from_home >= (at.wrapping_sub(hole) & mask) {
                self.slots_mut()[hole] = block;
                hole = at;
            }
        }
        self.slots_mut()[hole] = Block::NONE;
        self.count -= 1;
        self.bytes -= removed.size;
        Some(removed)
    }

    /// Doubles the table. False if there is no memory for it: then blocks are not noted.
    fn grow(&mut self) -> bool {
        let layout = |capacity| Layout::array::<Block>(capacity).ok();
        let capacity = (self.capacity * 2).max(1 << 10);
        let Some(new) = layout(capacity) else { return false };
        // SAFETY: the layout has a size. Zeros are slots without a block.
        let slots = unsafe { System.alloc_zeroed(new) }.cast::<Block>();
        if slots.is_null() {
            return false;
        }
        let old = std::mem::replace(self, Known { slots, capacity, count: 0, bytes: 0, ..*self });
        old.all().for_each(|block| self.add(block));
        if let (Some(layout), false) = (layout(old.capacity), old.slots.is_null()) {
            // SAFETY: it was allocated here with this layout, and nothing refers to it any more.
            unsafe { System.dealloc(old.slots.cast(), layout) };
        }
        true
    }
}

#[cfg(test)]
mod tests;
