use super::*;
use crate::testing::Draw;

const DOINGS: [Doing; 4] = [Doing::Read, Doing::Write, Doing::AtomicRead, Doing::AtomicWrite];

/// All accesses, each with what happened before it: the slow twin.
#[derive(Default)]
struct Twin(Vec<(TaskId, u32, Doing, std::ops::Range<usize>)>);

impl Twin {
    /// Whether an access races with any before it.
    fn access(&mut self, address: usize, size: usize, making: Making<'_>) -> bool {
        let bytes = address..address + size;
        let races = self.0.iter().any(|(task, epoch, doing, other)| {
            let overlap = other.start < bytes.end && bytes.start < other.end;
            overlap
                && *task != making.task
                && doing.conflicts(making.doing)
                && !making.knows.covers(*task, *epoch as usize)
        });
        self.0.push((making.task, making.epoch, making.doing, bytes));
        races
    }
}

impl Shadow {
    /// All that is known: where two shadows have the same, whatever comes after has the same answers.
    fn known(&self) -> (&[Record], Vec<(usize, [u32; GRANULES])>) {
        let current = |(_, place): &(&usize, &usize)| self.pages[**place].stamp == self.stamp;
        let pages = self.places.iter().filter(current).map(|(number, place)| (*number, *self.pages[*place].first));
        let mut pages: Vec<_> = pages.filter(|(_, first)| first.iter().any(|first| *first != 0)).collect();
        pages.sort_unstable();
        (&self.records, pages)
    }
}

/// Tasks that access 48 bytes around the end of a page and pass on what they know: in each of 40,000 executions the first
/// race comes at the same access as in the twin. A shadow that asks for the quick part of an access first knows the same, after
/// every access.
#[test]
fn the_first_race_is_that_of_all_pairs() {
    let mut draw = Draw(7);
    let (mut shadow, mut quick) = (Shadow::default(), Shadow::default());
    let (mut with, mut without, mut again) = (0, 0, 0);
    for _ in 0..40_000 {
        shadow.clear();
        quick.clear();
        let mut twin = Twin::default();
        let mut clocks = [const { (0_u32, VectorClock::EMPTY) }; 3];
        let mut raced = false;
        for event in 0..12 {
            let task = draw.below(3);
            if draw.below(2) == 0 {
                // The other task learns what this one has done.
                let other = (task + 1 + draw.below(2)) % 3;
                let event = clocks[task].0;
                clocks[task].1.set(TaskId(task as u32), event as usize);
                clocks[task].0 += 1;
                let known = clocks[task].1.clone();
                clocks[other].1.join(&known);
                continue;
            }
            let size = [1, 1, 2, 2, 4, 4, 8, 8, 8, 16, 24, 48][draw.below(12)];
            let address = PAGE - 24 + draw.below(48 / size) * size.min(8);
            let (epoch, knows) = (clocks[task].0, &clocks[task].1);
            let doing = DOINGS[draw.below(4)];
            let making = Making { task: TaskId(task as u32), epoch, doing, code: 0, event, knows };
            let found = shadow.access(address, size, making);
            if quick.access_quickly(address, size, making, true) {
                again += 1;
                assert_eq!(found, None);
            } else {
                assert_eq!(quick.access(address, size, making), found);
            }
            assert_eq!(quick.known(), shadow.known());
            assert_eq!(found.is_some(), twin.access(address, size, making), "{:?}", twin.0);
            if found.is_some() {
                raced = true;
                break;
            }
        }
        if raced { with += 1 } else { without += 1 }
    }
    assert!(with > 5_000 && without > 5_000, "both kinds are common: {with}, {without}");
    assert!(again > 5_000, "quick accesses are common: {again}");
}

fn making(task: u32, doing: Doing, knows: &VectorClock) -> Making<'_> {
    Making { task: TaskId(task), epoch: 0, doing, code: 0, event: 0, knows }
}

#[test]
fn freed_memory_is_told_to_whoever_comes_after() {
    let (mut shadow, mut knows) = (Shadow::default(), VectorClock::default());
    shadow.clear();
    assert_eq!(shadow.access(64, 8, making(0, Doing::Write, &knows)), None);
    knows.set(TaskId(0), 0);
    assert_eq!(shadow.free(64, 100, making(1, Doing::Free, &knows)), []);
    let found = shadow.access(68, 1, making(1, Doing::Read, &knows)).map(|record| record.doing);
    assert_eq!(found, Some(Doing::Free), "although it was freed by the same task");
    assert!(!shadow.is_touched(72), "nobody has accessed the rest");
    shadow.forget(64, 8);
    assert_eq!(shadow.access(68, 1, making(1, Doing::Read, &knows)), None);
}

#[test]
fn freeing_races_with_what_does_not_happen_before() {
    let (mut shadow, knows) = (Shadow::default(), VectorClock::default());
    shadow.clear();
    shadow.access(64, 8, making(0, Doing::Read, &knows));
    shadow.access(4096, 2, making(0, Doing::AtomicRead, &knows));
    let races = shadow.free(60, 5000, making(1, Doing::Free, &knows));
    assert_eq!(races.iter().map(|record| record.doing).collect::<Vec<_>>(), [Doing::Read, Doing::AtomicRead]);
}

/// Walking through all pages of such a block would take years. What was accessed in it is found, and nothing beside it.
#[test]
fn a_large_block_costs_no_more_than_what_was_accessed() {
    const START: usize = 3 * PAGE + 16;
    const LENGTH: usize = 1 << 60;
    let last = START + LENGTH - 8;
    let nothing = VectorClock::EMPTY;
    let write = |task: u32| making(task, Doing::Write, &nothing);
    let mut shadow = Shadow::default();
    shadow.clear();
    for address in [START - 8, START, 1 << 40, last, last + 8] {
        assert_eq!(shadow.access(address, 8, write(0)), None);
    }
    let races = shadow.free(START, LENGTH, making(1, Doing::Free, &nothing));
    assert_eq!(races.len(), 3);
    shadow.forget(START, LENGTH);
    let races = |shadow: &mut Shadow, address: usize| shadow.access(address, 8, write(1)).is_some();
    assert_eq!([START, 1 << 40, last].map(|address| races(&mut shadow, address)), [false; 3]);
    assert_eq!([START - 8, last + 8].map(|address| races(&mut shadow, address)), [true; 2]);
}

#[test]
fn another_execution_begins_with_nothing() {
    let (mut shadow, knows) = (Shadow::default(), VectorClock::default());
    for _ in 0..3 {
        shadow.clear();
        assert_eq!(shadow.access(8, 8, making(0, Doing::Write, &knows)), None);
        assert!(shadow.access(8, 8, making(1, Doing::Write, &knows)).is_some());
    }
}
