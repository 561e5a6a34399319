//! The pieces of plain memory whose loads and stores are steps.
//!
//! A piece is an object of the execution, as an atomic is: it gets its number with the first access, and its address says
//! nothing but which accesses are to the same piece. The first access to some bytes makes a piece of them, as large as
//! itself. So where each variable is accessed as a whole, each variable is a piece. Pieces do not overlap: an access to bytes
//! of several pieces is a step on all of them, and an access to a part of a piece is a step on the piece.

use std::collections::BTreeMap;

use interloper_std::runtime::ObjectId;

/// The pieces of an execution, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Cells(BTreeMap<usize, Cell>);

#[derive(Clone, Copy, Debug)]
struct Cell {
    end: usize,
    object: ObjectId,
}

/// The objects of an access: one nearly always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accessed {
    pub(crate) first: ObjectId,
    pub(crate) others: Vec<ObjectId>,
}

impl Cells {
    /// Forgets the last execution.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// This memory is used for something else from now on.
    pub(crate) fn forget(&mut self, start: usize, length: usize) {
        let end = start.saturating_add(length);
        while let Some((&at, _)) = self.0.range(start..end).next() {
            self.0.remove(&at);
        }
    }

    /// The objects of an access to `size` bytes, at least one, in the order of their addresses. `register` makes a new one.
    pub(crate) fn accessed(&mut self, address: usize, size: usize, mut register: impl FnMut() -> ObjectId) -> Accessed {
        let end = address.saturating_add(size.max(1));
        let around = self.0.range(..=address).next_back().map(|(_, cell)| *cell);
        if let Some(cell) = around.filter(|cell| cell.end >= end) {
            return Accessed { first: cell.object, others: Vec::new() };
        }
        let mut objects = Vec::new();
        let mut at = address;
        if let Some(cell) = around.filter(|cell| cell.end > address) {
            objects.push(cell.object);
            at = cell.end;
        }
        while at < end {
            let next = self.0.range(at..end).next().map(|(start, cell)| (*start, *cell));
            let gap_end = next.map_or(end, |(start, _)| start);
            if at < gap_end {
                let object = register();
                self.0.insert(at, Cell { end: gap_end, object });
                objects.push(object);
            }
            at = gap_end;
            if let Some((_, cell)) = next {
                objects.push(cell.object);
                at = cell.end;
            }
        }
        let first = objects.remove(0);
        Accessed { first, others: objects }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which object each byte belongs to: the slow twin.
    #[derive(Default)]
    struct Twin(BTreeMap<usize, ObjectId>);

    impl Twin {
        fn accessed(&mut self, address: usize, size: usize, mut register: impl FnMut() -> ObjectId) -> Vec<ObjectId> {
            let mut objects: Vec<ObjectId> = Vec::new();
            let mut is_gap = false;
            for byte in address..address + size {
                let known = self.0.get(&byte).copied();
                let object = match known {
                    Some(object) => object,
                    None if is_gap => *objects.last().expect("the gap has begun"),
                    None => register(),
                };
                is_gap = known.is_none();
                self.0.insert(byte, object);
                if !objects.contains(&object) {
                    objects.push(object);
                }
            }
            objects
        }
    }

    fn numbers() -> impl FnMut() -> ObjectId {
        let mut next = 0;
        move || {
            next += 1;
            ObjectId::from_index(next)
        }
    }

    fn all(accessed: Accessed) -> Vec<usize> {
        [vec![accessed.first], accessed.others].concat().into_iter().map(ObjectId::index).collect()
    }

    /// 20,000 executions of accesses of 1 to 9 bytes among 24, with memory that is used again.
    #[test]
    fn each_byte_belongs_to_one_object() {
        let mut state = 7_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let mut several = 0;
        for _ in 0..20_000 {
            let (mut cells, mut twin) = (Cells::default(), Twin::default());
            let (mut one, mut other) = (numbers(), numbers());
            for _ in 0..8 {
                let (address, size) = (below(16), 1 + below(9));
                let found = all(cells.accessed(address, size, &mut one));
                several += usize::from(found.len() > 1);
                let expected: Vec<usize> =
                    twin.accessed(address, size, &mut other).into_iter().map(ObjectId::index).collect();
                assert_eq!(found, expected, "{address} {size}");
                let objects = |address: usize| twin.0.get(&address).copied();
                // A block ends where a piece does.
                let from = below(25);
                if below(4) == 0 && (from == 0 || objects(from).is_none() || objects(from) != objects(from - 1)) {
                    cells.forget(from, 100);
                    twin.0.retain(|byte, _| *byte < from);
                }
            }
        }
        assert!(several > 10_000, "{several}");
    }

    #[test]
    fn variables_of_different_sizes_side_by_side() {
        let (mut cells, mut register) = (Cells::default(), numbers());
        assert_eq!(all(cells.accessed(8, 4, &mut register)), [1]);
        assert_eq!(all(cells.accessed(12, 4, &mut register)), [2]);
        assert_eq!(all(cells.accessed(8, 4, &mut register)), [1]);
        assert_eq!(all(cells.accessed(8, 8, &mut register)), [1, 2], "both at once");
        assert_eq!(all(cells.accessed(14, 1, &mut register)), [2], "a part of one");
        assert_eq!(all(cells.accessed(6, 16, &mut register)), [3, 1, 2, 4], "and what lies around them");
        cells.forget(6, 16);
        assert_eq!(all(cells.accessed(8, 8, &mut register)), [5]);
    }
}
