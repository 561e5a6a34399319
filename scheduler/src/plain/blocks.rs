//! The blocks of memory that an execution allocates and frees. What it frees is kept to its end.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ops::Range;

use interloper_std::plain::{self, Handed};
use interloper_std::runtime::TaskId;

/// When something happened: after so many events of the trace, by which task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Moment {
    /// The task.
    pub(crate) task: TaskId,
    /// How many events the trace had.
    pub(crate) event: u32,
    /// Where in the code; 0 if that is not known.
    pub(crate) code: usize,
}

/// A block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its address.
    pub(crate) start: usize,
    /// Its layout when it was allocated, or, if it is older than the execution, when it was freed.
    pub(crate) layout: Layout,
    /// When it was allocated. None if it is older than the execution.
    pub(crate) allocated: Option<Moment>,
    /// When it was freed.
    pub(crate) freed: Option<Moment>,
    /// Whose it is.
    pub(crate) owner: Owner,
    /// How many blocks the execution had allocated before.
    number: u32,
}

/// Whose memory a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Program,
    Checker,
    /// The program's, for which the checker has allocated it, with the value at this distance from its start.
    Handed(Handed, usize),
}

/// What is wrong with the way in which a block is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfreed {
    /// It was freed before.
    Twice(Block),
    /// It was allocated with another layout.
    OtherLayout(Block),
}

/// The blocks of an execution.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    blocks: BTreeMap<usize, Block>,
    kept: Vec<(usize, Layout)>,
    /// The sum of their sizes.
    kept_bytes: usize,
    allocated: u32,
    freed: Freed,
}

/// Where blocks were freed: pieces of [`PIECE`] bytes, a bit for each. Pieces that are far from each other share a bit.
#[derive(Debug)]
struct Freed {
    pieces: Box<[u64; PIECES / 64]>,
    /// A bit is set.
    any: bool,
}

const PIECE: usize = 256;
const PIECES: usize = 1 << 15;

impl Default for Freed {
    fn default() -> Freed {
        Freed { pieces: Box::new([0; PIECES / 64]), any: false }
    }
}

impl Freed {
    fn clear(&mut self) {
        if std::mem::take(&mut self.any) {
            self.pieces.fill(0);
        }
    }

    #[inline(always)]
    fn place(piece: usize) -> (usize, u64) {
        (piece % PIECES / 64, 1 << (piece % 64))
    }

    fn add(&mut self, start: usize, length: usize) {
        self.any = true;
        if length >= PIECE * PIECES {
            self.pieces.fill(u64::MAX);
            return;
        }
        for piece in start / PIECE..=(start + length.max(1) - 1) / PIECE {
            let (word, bit) = Freed::place(piece);
            self.pieces[word] |= bit;
        }
    }

    #[inline(always)]
    fn may_have(&self, address: usize) -> bool {
        let (word, bit) = Freed::place(address / PIECE);
        self.pieces[word] & bit != 0
    }
}

/// An execution keeps no more than this, in bytes: what it frees beyond it is freed at once.
const MOST_KEPT: usize = 256 << 20;

impl Blocks {
    /// Forgets everything, and gives back what was kept.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.allocated = 0;
        self.freed.clear();
        self.give_back();
    }

    /// Whether a block around this address may have been freed: the quick question before [`Blocks::find`].
    #[inline(always)]
    pub(crate) fn may_be_freed(&self, address: usize) -> bool {
        self.freed.may_have(address)
    }

    fn give_back(&mut self) {
        self.kept_bytes = 0;
        for (address, layout) in self.kept.drain(..) {
            // SAFETY: `freed` has kept the block, once, with the layout that it was freed with; if that was the wrong one, with the
            // right one. The execution that could use it is over.
            unsafe { plain::give_back(address, layout) };
        }
    }

    pub(crate) fn allocated(&mut self, start: usize, layout: Layout, moment: Moment, owner: Owner) {
        let number = self.allocated;
        let block = Block { start, layout, allocated: Some(moment), freed: None, owner, number };
        self.allocated += 1;
        self.blocks.insert(start, block);
    }

    /// The block at this address or around it.
    pub(crate) fn find(&self, address: usize) -> Option<&Block> {
        let (_, block) = self.blocks.range(..=address).next_back()?;
        (address - block.start < block.layout.size()).then_some(block)
    }

    /// The block around the value at this address is not the checker's any more.
    pub(crate) fn hand_over(&mut self, address: usize, value: Handed) {
        if let Some((_, block)) = self.blocks.range_mut(..=address).next_back()
            && address - block.start < block.layout.size()
        {
            block.owner = Owner::Handed(value, address - block.start);
        }
    }

    /// A block is freed. Whether it is kept, and what is wrong with freeing it.
    pub(crate) fn freed(&mut self, start: usize, layout: Layout, moment: Moment) -> (bool, Option<Misfreed>) {
        let unknown = Block { start, layout, allocated: None, freed: None, owner: Owner::Program, number: u32::MAX };
        let block = self.blocks.entry(start).or_insert(unknown);
        if block.freed.is_some() {
            return (true, Some(Misfreed::Twice(*block)));
        }
        let other = (block.layout != layout).then_some(Misfreed::OtherLayout(*block));
        if self.kept_bytes + block.layout.size() > MOST_KEPT && other.is_none() {
            self.blocks.remove(&start);
            return (false, None);
        }
        block.freed = Some(moment);
        self.freed.add(start, block.layout.size());
        self.kept_bytes += block.layout.size();
        self.kept.push((start, block.layout));
        (true, other)
    }

    /// The blocks that the execution has allocated and not freed, in the order in which it allocated them, without those
    /// that `roots` lead to. `roots` are the words in a range that may be pointers. A word in a block that may be a pointer
    /// to another block counts as one.
    pub(crate) fn left(&self, roots: impl Fn(&Range<usize>) -> Vec<usize>) -> Vec<Block> {
        let is_alive = |block: &&Block| block.freed.is_none() && block.allocated.is_some();
        let mut left: BTreeMap<usize, Block> =
            self.blocks.values().filter(is_alive).map(|block| (block.start, *block)).collect();
        let ends = left.first_key_value().zip(left.last_key_value());
        let Some(range) = ends.map(|((first, _), (last, block))| *first..last + block.layout.size().max(1)) else {
            return Vec::new();
        };
        let mut open = roots(&range);
        while let Some(address) = open.pop() {
            let around = left.range(..=address).next_back().map(|(_, block)| *block);
            if let Some(block) = around.filter(|block| address - block.start < block.layout.size()) {
                left.remove(&block.start);
                // SAFETY: the block was allocated and not freed, and the tasks that could write to it have ended.
                open.extend(unsafe { words(&block) }.filter(|word| range.contains(word)));
            }
        }
        let mut left: Vec<Block> = left.into_values().filter(|block| block.owner != Owner::Checker).collect();
        left.sort_by_key(|block| block.number);
        left
    }
}

/// The words of a block.
///
/// # Safety
/// The block is allocated, and nobody writes to it.
unsafe fn words(block: &Block) -> impl Iterator<Item = usize> {
    let word = size_of::<usize>();
    let end = block.start + block.layout.size();
    let addresses = (block.start.next_multiple_of(word)..=end.saturating_sub(word)).step_by(word);
    // SAFETY: the word is aligned and inside the block. The read is volatile because the program may not have written it.
    addresses.map(|address| unsafe { std::ptr::with_exposed_provenance::<usize>(address).read_volatile() })
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Moment = Moment { task: TaskId(0), event: 0, code: 0 };

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    /// A block of the system's allocator, which the tests free as a program would.
    fn block(size: usize) -> usize {
        // SAFETY: the layout has a size.
        unsafe { std::alloc::GlobalAlloc::alloc(&std::alloc::System, layout(size)) }.expose_provenance()
    }

    #[test]
    fn a_block_is_found_by_the_addresses_in_it() {
        let mut blocks = Blocks::default();
        let start = block(24);
        blocks.allocated(start, layout(24), AT, Owner::Program);
        let found = |address: usize, blocks: &Blocks| blocks.find(address).map(|block| block.start);
        assert_eq!(found(start - 1, &blocks), None);
        assert_eq!((found(start, &blocks), found(start + 23, &blocks)), (Some(start), Some(start)));
        assert_eq!(found(start + 24, &blocks), None);
        assert_eq!(blocks.left(|_| vec![]).len(), 1);
        assert_eq!(blocks.freed(start, layout(24), AT), (true, None));
        assert!(blocks.may_be_freed(start + 23) && !blocks.may_be_freed(start + 24 + PIECE));
        assert!(blocks.find(start + 8).is_some_and(|block| block.freed == Some(AT)));
        assert_eq!(blocks.left(|_| vec![]), []);
    }

    /// What was freed is never missed, however large; what is far from it is not taken for freed.
    #[test]
    fn each_address_of_a_freed_block_may_be_freed() {
        for (start, length) in [(8, 24), (PIECE - 8, 16), (5 * PIECE, 3 * PIECE), (7, 40 * PIECE + 1), (PIECE, 0)] {
            let mut freed = Freed::default();
            freed.add(start, length);
            let is_near =
                |address: usize| (start / PIECE..=(start + length.max(1) - 1) / PIECE).contains(&(address / PIECE));
            for address in 0..50 * PIECE {
                assert_eq!(freed.may_have(address), is_near(address), "{address}, {start}..+{length}");
            }
            assert!(freed.may_have(start + PIECE * PIECES), "so far away, the same bit");
            freed.clear();
            assert!(!(0..50 * PIECE).any(|address| freed.may_have(address)));
        }
        let mut freed = Freed::default();
        freed.add(16, PIECE * PIECES);
        assert!((0..PIECES).all(|piece| freed.may_have(piece * PIECE)));
    }

    #[test]
    fn what_is_wrong_with_freeing_is_said_and_nothing_is_freed_twice() {
        let mut blocks = Blocks::default();
        let (start, older) = (block(24), block(8));
        blocks.allocated(start, layout(24), AT, Owner::Program);
        let (kept, wrong) = blocks.freed(start, layout(16), AT);
        assert!(kept && matches!(wrong, Some(Misfreed::OtherLayout(block)) if block.layout == layout(24)));
        let (kept, wrong) = blocks.freed(start, layout(24), AT);
        assert!(kept && matches!(wrong, Some(Misfreed::Twice(block)) if block.freed == Some(AT)));
        assert_eq!(blocks.freed(older, layout(8), AT), (true, None), "it is older than the execution");
        assert!(matches!(blocks.freed(older, layout(8), AT), (true, Some(Misfreed::Twice(_)))));
        assert_eq!(blocks.kept.len(), 2);
        blocks.clear();
        assert_eq!((blocks.kept.len(), blocks.kept_bytes), (0, 0));
    }

    #[test]
    fn what_is_left_comes_in_the_order_of_allocation() {
        let mut blocks = Blocks::default();
        for start in [500, 100, 300] {
            blocks.allocated(start, layout(16), AT, if start == 100 { Owner::Checker } else { Owner::Program });
        }
        assert_eq!(
            blocks.left(|_| vec![]).iter().map(|block| block.start).collect::<Vec<_>>(),
            [500, 300],
            "and without those of the checker"
        );
        blocks.blocks.clear();
    }

    #[test]
    fn what_roots_lead_to_is_not_left() {
        let mut blocks = Blocks::default();
        let [first, second, third] = [24, 24, 24].map(block);
        for start in [first, second, third] {
            // SAFETY: the block has three words.
            unsafe { std::ptr::with_exposed_provenance_mut::<[usize; 3]>(start).write([0; 3]) };
            blocks.allocated(start, layout(24), AT, Owner::Program);
        }
        // SAFETY: the block has a second word.
        unsafe { std::ptr::with_exposed_provenance_mut::<usize>(first + 8).write(second + 16) };
        let left = |root: usize| {
            let left = blocks.left(|range| [root].into_iter().filter(|root| range.contains(root)).collect());
            left.iter().map(|block| block.start).collect::<Vec<_>>()
        };
        assert_eq!(left(0), [first, second, third]);
        assert_eq!(left(first + 23), [third]);
        assert_eq!(left(second), [first, third]);
        assert_eq!(left(third), [first, second]);
        for start in [first, second, third] {
            assert_eq!(blocks.freed(start, layout(24), AT), (true, None));
        }
    }

    #[test]
    fn no_more_is_kept_than_the_limit() {
        let mut blocks = Blocks::default();
        blocks.kept_bytes = MOST_KEPT - 8;
        let start = block(24);
        blocks.allocated(start, layout(24), AT, Owner::Program);
        assert_eq!(blocks.freed(start, layout(24), AT), (false, None));
        assert!(blocks.find(start).is_none(), "another block may be there now");
        // SAFETY: it was not kept.
        unsafe { plain::give_back(start, layout(24)) };
    }
}
