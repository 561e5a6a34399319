//! What was accessed, by whom: enough to tell for each access whether it races with one before it.
//!
//! As in FastTrack (C. Flanagan, S. Freund, *FastTrack: efficient and precise dynamic race detection*, PLDI 2009), an access
//! is kept as an *epoch*, its task and the number of the task's event, which one comparison with a vector clock orders. Unlike
//! FastTrack a granule of eight bytes keeps a list of accesses, each with the bytes that it touched. An access leaves the
//! list when another one that happens after it touches the same bytes and conflicts with whatever it conflicts with: what
//! races with the first then races with the second. So the first race at each byte is found.

use std::collections::HashMap;
use std::ops::Range;

use interloper_std::runtime::TaskId;
use rustc_hash::FxBuildHasher;

use crate::vector_clock::VectorClock;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// It reads plain memory.
    Read,
    /// It writes plain memory.
    Write,
    /// It reads an atomic.
    AtomicRead,
    /// It writes an atomic, or reads and writes it.
    AtomicWrite,
    /// It frees the memory.
    Free,
}

/// An access, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Who made it.
    pub(crate) task: TaskId,
    /// The number of the task's next event when it was made.
    pub(crate) epoch: u32,
    pub(crate) doing: Doing,
    /// Where in the code; 0 if that is not known.
    pub(crate) code: usize,
    /// How many events the trace had.
    pub(crate) event: u32,
    /// The bytes of the granule: a bit for each.
    mask: u8,
    /// It stands for the same access in several granules. It is the last one of each list, and never changes.
    is_shared: bool,
    /// The next record of the granule, counted from 1; 0 after the last.
    next: u32,
}

/// The accesses of an execution.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pages: Vec<Page>,
    /// The places of the pages, by their numbers.
    places: HashMap<usize, usize, FxBuildHasher>,
    /// The numbers and the places of pages that were used lately, by the last bits of their numbers.
    recent: Vec<(usize, usize)>,
    records: Vec<Record>,
    /// Pages with another stamp are left over from earlier executions.
    stamp: u32,
}

#[derive(Debug)]
struct Page {
    stamp: u32,
    /// The first record of each granule, counted from 1.
    first: Box<[u32; GRANULES]>,
}

const GRANULE: usize = 8;
const GRANULES: usize = 512;
const PAGE: usize = GRANULE * GRANULES;
/// How many pages are found without hashing.
const RECENT: usize = 512;
/// No page has this number.
const NO_PAGE: usize = usize::MAX;

impl Doing {
    /// Whether two unordered accesses of different tasks are a race: one of them writes, and one of them is not atomic.
    pub(crate) fn conflicts(self, other: Doing) -> bool {
        let writes = |doing| matches!(doing, Doing::Write | Doing::AtomicWrite | Doing::Free);
        let is_plain = |doing| !matches!(doing, Doing::AtomicRead | Doing::AtomicWrite);
        (writes(self) || writes(other)) && (is_plain(self) || is_plain(other))
    }

    /// Whether whatever conflicts with `other` conflicts with this, too.
    #[inline]
    fn covers(self, other: Doing) -> bool {
        self.covered() & other.bit() != 0
    }

    /// All that this covers, a bit for each.
    #[inline]
    const fn covered(self) -> u8 {
        const READ: u8 = Doing::Read.bit() | Doing::AtomicRead.bit();
        const ATOMIC: u8 = Doing::AtomicRead.bit() | Doing::AtomicWrite.bit();
        // In the order of the variants.
        const COVERED: [u8; 5] = [READ, u8::MAX, Doing::AtomicRead.bit(), ATOMIC, u8::MAX];
        COVERED[self as usize]
    }

    #[inline]
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// An access that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making<'a> {
    pub(crate) task: TaskId,
    pub(crate) epoch: u32,
    pub(crate) doing: Doing,
    pub(crate) code: usize,
    pub(crate) event: u32,
    /// What happens before it.
    pub(crate) knows: &'a VectorClock,
}

impl Making<'_> {
    /// The record of the access where nothing else is, to these bytes.
    fn record(&self, mask: u8, is_shared: bool) -> Record {
        let Making { task, epoch, doing, code, event, .. } = *self;
        Record { task, epoch, doing, code, event, mask, is_shared, next: 0 }
    }
}

impl Shadow {
    /// Forgets everything; memory stays.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.pages.iter_mut().for_each(|page| page.stamp = 0);
            self.stamp = 1;
        }
    }

    /// The page of this number, if anything in it was accessed.
    fn page(&mut self, number: usize) -> Option<&mut Page> {
        let place = match self.recent.get(number % RECENT) {
            Some(&(recent, place)) if recent == number => place,
            _ => *self.places.get(&number)?,
        };
        Some(&mut self.pages[place]).filter(|page| page.stamp == self.stamp)
    }

    /// The pages of a piece of memory, in their order: those that exist, if they are fewer. A block may have millions.
    fn numbers(&self, start: usize, length: usize) -> impl Iterator<Item = usize> + use<> {
        let all = numbers(start, length);
        let mut existing = Vec::new();
        let few = all.len() > self.places.len();
        if few {
            existing.extend(self.places.keys().copied().filter(|number| all.contains(number)));
            existing.sort_unstable();
        }
        existing.into_iter().chain(if few { 0..0 } else { all })
    }

    /// Forgets what was in this memory: it is used for something else now.
    pub(crate) fn forget(&mut self, start: usize, length: usize) {
        for number in self.numbers(start, length) {
            if let Some(page) = self.page(number) {
                page.first[granules(number, start, length)].fill(0);
            }
        }
    }

    /// Whether anything in the first granule of this memory was accessed.
    pub(crate) fn is_touched(&mut self, address: usize) -> bool {
        let granule = address / GRANULE;
        let place = self.place(granule / GRANULES);
        let page = &self.pages[place];
        page.stamp == self.stamp && page.first[granule % GRANULES] != 0
    }

    /// Takes note that a block is freed. Gives the earlier accesses that race with this.
    ///
    /// Granules that nobody has accessed stay as they are, so a large block costs no more than what was done in it.
    pub(crate) fn free(&mut self, start: usize, length: usize, making: Making<'_>) -> Vec<Record> {
        let mut races = Vec::new();
        // The record of all granules that are freed as a whole and where all accesses happen before this.
        let mut shared = 0;
        for number in self.numbers(start, length) {
            if self.page(number).is_none() {
                continue;
            }
            let granules = granules(number, start, length);
            let place = self.place(number);
            let mut granule = granules.start;
            // Few granules of a large block were accessed.
            while let Some(next) = self.pages[place].first[granule..granules.end].iter().position(|first| *first != 0) {
                granule += next;
                let base = (number * GRANULES + granule) * GRANULE;
                let (from, to) = (start.max(base), (start + length).min(base + GRANULE));
                if to - from < GRANULE || !self.free_whole(place, granule, making, &mut shared) {
                    races.extend(self.access(from, to - from, making));
                }
                granule += 1;
            }
        }
        races
    }

    /// Takes note that a granule is freed, if all accesses there happen before that. Otherwise nothing happens.
    #[inline]
    fn free_whole(&mut self, place: usize, granule: usize, making: Making<'_>, shared: &mut u32) -> bool {
        let Shadow { pages, records, .. } = self;
        let first = &mut pages[place].first[granule];
        let mut at = *first;
        while at != 0 {
            let record = &records[at as usize - 1];
            let is_before = record.task == making.task || making.knows.covers(record.task, record.epoch as usize);
            if !is_before || record.doing == Doing::Free {
                return false;
            }
            at = record.next;
        }
        if *shared == 0 {
            records.push(making.record(u8::MAX, true));
            *shared = records.len() as u32;
        }
        *first = *shared;
        true
    }

    /// Takes note of an access. Gives an earlier access that it races with, or the one that freed the memory.
    #[inline(always)]
    pub(crate) fn access(&mut self, address: usize, size: usize, making: Making<'_>) -> Option<Record> {
        let from = address % GRANULE;
        if from + size <= GRANULE {
            let mask = (0xff_u8 >> (GRANULE - size)) << from;
            return self.access_granule(address / GRANULE, mask, making);
        }
        self.access_several(address, size, making)
    }

    /// Takes note of an access to part of a granule, if what it does to the list is one of a few things that most accesses do; and
    /// of no other access. Whether it was taken note of: then it races with none before it. `begins`: it may be the first one there.
    #[inline(always)]
    pub(crate) fn access_quickly(&mut self, address: usize, size: usize, making: Making<'_>, begins: bool) -> bool {
        let (granule, from) = (address / GRANULE, address % GRANULE);
        if from + size > GRANULE {
            return false;
        }
        let number = granule / GRANULES;
        let Some(&(recent, place)) = self.recent.get(number % RECENT) else { return false };
        if recent != number || self.pages[place].stamp != self.stamp {
            return false;
        }
        let (granule, mask) = (granule % GRANULES, (0xff_u8 >> (GRANULE - size)) << from);
        (begins || self.pages[place].first[granule] != 0) && self.access_granule_quickly(place, granule, mask, making)
    }

    /// As [`Shadow::access_quickly`], for this granule of the page at `place`. What it does is what [`Shadow::access_granule`] does.
    #[inline(always)]
    fn access_granule_quickly(&mut self, place: usize, granule: usize, mask: u8, making: Making<'_>) -> bool {
        let Making { task, epoch, doing, code, event, knows } = making;
        let new = Record { task, epoch, doing, code, event, mask, is_shared: false, next: 0 };
        let Shadow { pages, records, .. } = self;
        let first = &mut pages[place].first[granule];
        if *first == 0 {
            records.push(new);
            *first = records.len() as u32;
            return true;
        }
        let at = *first as usize - 1;
        let last = &records[at];
        if last.task == task && last.doing == doing && last.mask == mask && !last.is_shared {
            // What is behind was there when the task made its last access here, which did not race with it. A task only learns, so
            // this one does not race with it either.
            let mut behind = last.next;
            while behind != 0 {
                let record = &records[behind as usize - 1];
                let stays = record.mask & !mask != 0 || !doing.covers(record.doing);
                if !stays || record.doing == Doing::Free {
                    return false;
                }
                behind = record.next;
            }
            if last.epoch != epoch {
                records[at] = Record { next: last.next, ..new };
            }
            return true;
        }
        let behind = (last.next != 0).then(|| &records[last.next as usize - 1]);
        let is_of_now = |record: &Record| record.task == task && record.epoch == epoch;
        let is_before = |record: &Record| record.task == task || knows.covers(record.task, record.epoch as usize);
        match (doing, behind) {
            (Doing::Read, None) if last.doing == Doing::Write && is_before(last) => {
                if !(is_of_now(last) && last.mask & mask == mask) {
                    records.push(Record { next: *first, ..new });
                    *first = records.len() as u32;
                }
                true
            }
            // Another task has read here before: the place of its record is this one's.
            (Doing::Read, Some(mut behind)) if last.doing == Doing::Read && !last.is_shared => {
                if !is_before(last) || last.mask & !mask != 0 {
                    return false;
                }
                loop {
                    if behind.doing != Doing::Write || !is_before(behind) || is_of_now(behind) {
                        return false;
                    }
                    match behind.next {
                        0 => break,
                        next => behind = &records[next as usize - 1],
                    }
                }
                records[at] = Record { next: last.next, ..new };
                true
            }
            (Doing::Write, _) => {
                // All that is there goes, and the last one in the list makes room.
                let (mut room, mut at) = (0, *first);
                while at != 0 {
                    let record = &records[at as usize - 1];
                    let is_same = is_of_now(record) && record.doing.covers(doing);
                    let goes = is_before(record) && record.mask & !mask == 0;
                    if is_same || !goes || record.doing == Doing::Free {
                        return false;
                    }
                    room = if record.is_shared { room } else { at };
                    at = record.next;
                }
                if room == 0 {
                    return false;
                }
                records[room as usize - 1] = new;
                *first = room;
                true
            }
            _ => false,
        }
    }

    fn access_several(&mut self, address: usize, size: usize, making: Making<'_>) -> Option<Record> {
        let end = address + size;
        let mut found = None;
        // The record of all granules that are accessed as a whole and have no other.
        let mut shared = 0;
        for (number, granules) in parts(address, size) {
            let place = self.place(number);
            let whole = granules.end.min((end - number * PAGE) / GRANULE);
            let mut granule = granules.start;
            while granule < granules.end {
                let base = number * PAGE + granule * GRANULE;
                let (from, to) = (address.max(base) - base, end.min(base + GRANULE) - base);
                if (from, to) == (0, GRANULE) {
                    let done = self.access_whole(place, granule..whole, making, &mut shared);
                    granule += done;
                    if done > 0 {
                        continue;
                    }
                }
                let mask = (0xff_u8 >> (GRANULE - (to - from))) << from;
                if self.pages[place].stamp != self.stamp || !self.access_granule_quickly(place, granule, mask, making) {
                    found = self.access_granule(base / GRANULE, mask, making).or(found);
                }
                granule += 1;
            }
        }
        found
    }

    /// Takes note of an access to whole granules that all have the first one's record, where that is quick: the granules have no record, or
    /// one alone that is as the access or that the access replaces. Most do, where much is copied. Returns the number of these
    /// granules, or 0 if it is not quick. `shared` is the record of the access, counted from 1, once it has one.
    #[inline]
    fn access_whole(
        &mut self,
        place: usize,
        granules: std::ops::Range<usize>,
        making: Making<'_>,
        shared: &mut u32,
    ) -> usize {
        let Shadow { pages, records, stamp, .. } = self;
        let page = &mut pages[place];
        if page.stamp != *stamp {
            page.stamp = *stamp;
            page.first.fill(0);
        }
        let firsts = &mut page.first[granules];
        let first = firsts[0];
        let mut same = 1;
        if first == 0 || records[first as usize - 1].is_shared {
            // A record that is not shared is that of one granule.
            same = firsts.iter().position(|other| *other != first).unwrap_or(firsts.len());
        }
        if first != 0 {
            let record = &records[first as usize - 1];
            if record.next != 0 || record.doing == Doing::Free {
                return 0;
            }
            let is_own = record.task == making.task;
            if is_own && record.epoch == making.epoch && record.mask == u8::MAX && record.doing.covers(making.doing) {
                return same;
            }
            let is_before = is_own || making.knows.covers(record.task, record.epoch as usize);
            if !is_before || !making.doing.covers(record.doing) {
                return 0;
            }
        }
        if *shared == 0 {
            records.push(making.record(u8::MAX, true));
            *shared = records.len() as u32;
        }
        match same {
            1 => firsts[0] = *shared,
            _ => firsts[..same].fill(*shared),
        }
        same
    }

    #[inline(always)]
    fn access_granule(&mut self, granule: usize, mask: u8, making: Making<'_>) -> Option<Record> {
        let place = self.place(granule / GRANULES);
        let Shadow { pages, records, stamp, .. } = self;
        let page = &mut pages[place];
        if page.stamp != *stamp {
            page.stamp = *stamp;
            page.first.fill(0);
        }
        let first = &mut page.first[granule % GRANULES];
        // Records that leave the list make room for the new one.
        let (mut found, mut at, mut before, mut room) = (0, *first, 0, 0);
        while at != 0 {
            let record = &records[at as usize - 1];
            let is_own = record.task == making.task;
            let freed = record.doing == Doing::Free;
            let stays = freed || record.is_shared;
            let covers_all = record.mask & mask == mask && record.doing.covers(making.doing);
            if is_own && record.epoch == making.epoch && covers_all && !freed {
                // Whatever races with this access races with that one.
                break;
            }
            let is_before = is_own || making.knows.covers(record.task, record.epoch as usize);
            let is_race = !is_before && record.doing.conflicts(making.doing);
            if record.mask & mask != 0 && (is_race || freed) {
                found = at;
            }
            let next = record.next;
            if is_before && record.mask & !mask == 0 && making.doing.covers(record.doing) {
                match before {
                    0 => *first = next,
                    before => records[before as usize - 1].next = next,
                }
                // A fault tells of what was freed, and other granules of what is shared.
                room = if stays { room } else { at };
            } else {
                before = at;
            }
            at = next;
        }
        if at == 0 {
            let Making { task, epoch, doing, code, event, .. } = making;
            let record = Record { task, epoch, doing, code, event, mask, is_shared: false, next: *first };
            match room {
                0 => {
                    records.push(record);
                    room = records.len() as u32;
                }
                room => records[room as usize - 1] = record,
            }
            *first = room;
        }
        (found != 0).then(|| records[found as usize - 1])
    }

    /// The place of the page of this number, which is made if need be.
    #[inline]
    fn place(&mut self, number: usize) -> usize {
        match self.recent.get(number % RECENT) {
            Some(&(recent, place)) if recent == number => place,
            _ => self.find_place(number),
        }
    }

    fn find_place(&mut self, number: usize) -> usize {
        let Shadow { pages, places, recent, .. } = self;
        let place = *places.entry(number).or_insert_with(|| {
            pages.push(Page::new());
            pages.len() - 1
        });
        recent.resize(RECENT, (NO_PAGE, 0));
        recent[number % RECENT] = (number, place);
        place
    }
}

/// The pages of a piece of memory, and its granules in each.
fn parts(start: usize, length: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    numbers(start, length).map(move |number| (number, granules(number, start, length)))
}

/// The pages of a piece of memory.
fn numbers(start: usize, length: usize) -> Range<usize> {
    let end = start.saturating_add(length);
    start / PAGE..if length == 0 { start / PAGE } else { (end - 1) / PAGE + 1 }
}

/// The granules of a piece of memory in one of its pages.
fn granules(number: usize, start: usize, length: usize) -> Range<usize> {
    let (base, end) = (number * PAGE, start.saturating_add(length));
    (start.max(base) - base) / GRANULE..(end - base).min(PAGE).div_ceil(GRANULE)
}

impl Page {
    fn new() -> Page {
        Page { stamp: 0, first: Box::new([0; GRANULES]) }
    }
}

#[cfg(test)]
mod tests;
