use std::collections::BTreeMap;

use super::*;

fn block(start: usize, size: usize) -> Block {
    Block { hidden: !start, size, align: 8 }
}

#[test]
fn the_table_holds_what_a_map_would() {
    let mut known = Known::new();
    let mut map = BTreeMap::new();
    let mut random = 1_u64;
    // Miri is slow.
    let (rounds, addresses) = if cfg!(miri) { (400, 60) } else { (200_000, 3_000) };
    for round in 0..rounds {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Few addresses, so that many are removed and come again; close together, so that they collide.
        let start = 16 * (1 + (random >> 33) as usize % addresses);
        if !map.contains_key(&start) && random >> 63 == round * 4 / rounds % 2 {
            known.add(block(start, start % 100));
            map.insert(start, start % 100);
        } else {
            assert_eq!(known.remove(start).map(|block| block.size), map.remove(&start));
        }
        assert_eq!((known.count, known.bytes), (map.len(), map.values().sum()), "round {round}");
        if round % (rounds / 20) == 0 {
            let mut all: Vec<_> = known.all().map(|block| (block.start(), block.size)).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(map.iter().map(|(start, size)| (*start, *size))));
        }
    }
    let layout = Layout::array::<Block>(known.capacity).unwrap();
    // SAFETY: as in `Known::grow`.
    unsafe { System.dealloc(known.slots.cast(), layout) };
}

#[test]
fn writable_memory_is_read_from_the_list_of_the_system() {
    let maps = "55d0-55d8 r--p 00000000 fd:00 1 /bin/x\n55d8-55e0 rw-p 0 0 0\n7f00-7f10 rwxs 0 00:01 7 /dev/shm/y z\nbad\n7f10-7f20 ---p 0 0 0\n";
    assert_eq!(writable(maps), [0x55d8..0x55e0, 0x7f00..0x7f10]);
}

/// Which of the blocks at 1,000 (40 bytes), 1,040 (16) and 2,000 (24) these words lead to, the first of which is at `start`.
fn reached(start: usize, words: &[usize], own: Range<usize>) -> Vec<bool> {
    let blocks = vec![block(1000, 40), block(1040, 16), block(2000, 24)];
    let mut reach = Reach { reached: vec![false; 3], blocks, open: Vec::new() };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    reach.look(start, &bytes, &own);
    assert_eq!(reach.open.len(), reach.reached.iter().filter(|reached| **reached).count());
    reach.reached
}

#[test]
fn words_lead_to_the_block_around_them() {
    let at = |word: usize| reached(8, &[5, word, 9_999], 0..0);
    assert_eq!(at(999), [false, false, false]);
    assert_eq!(at(1000), [true, false, false]);
    assert_eq!(at(1039), [true, false, false]);
    // The end of one block is the start of the next.
    assert_eq!(at(1040), [false, true, false]);
    assert_eq!(at(1055), [false, true, false]);
    assert_eq!(at(1056), [false, false, false]);
    assert_eq!(at(2023), [false, false, true]);
    assert_eq!(at(2024), [false, false, false]);
}

#[test]
fn words_in_blocks_and_copies_of_words_do_not_count() {
    // From 984 on: two words before the first block, five and two inside of blocks, one after them.
    let words = |at: usize| std::array::from_fn::<usize, 10, _>(|index| if index == at { 2008 } else { 0 });
    let counts: Vec<bool> = (0..10).map(|at| reached(984, &words(at), 0..0)[2]).collect();
    assert_eq!(counts, [true, true, false, false, false, false, false, false, false, true]);
    assert_eq!(reached(984, &words(1), 984..1000), [false; 3]);
    assert_eq!(reached(984, &words(9), 984..1000), [false, false, true]);
    // The range may begin and end inside a block.
    assert_eq!(reached(1048, &[2000, 2008], 0..0), [false, false, true]);
    assert_eq!(reached(1048, &[2000], 0..0), [false; 3]);
}
