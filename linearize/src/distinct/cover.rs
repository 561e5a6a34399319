//! Which gaps are covered by intervals.

/// The gaps that no interval of a fixed collection covers.
pub(super) struct Uncovered {
    /// For each gap, the first uncovered gap from there on.
    next: Vec<u32>,
}

impl Uncovered {
    /// The gaps below `end` that no interval (from, before) covers, and `end` itself.
    pub fn new(end: u32, intervals: impl Iterator<Item = (u32, u32)>) -> Uncovered {
        let mut change = vec![0i64; end as usize + 2];
        for (from, before) in intervals {
            if from < before {
                change[from as usize] += 1;
                change[before as usize] -= 1;
            }
        }
        let mut depth = 0;
        let mut next: Vec<u32> = (0..=end).collect();
        let covered: Vec<bool> = change[..end as usize]
            .iter()
            .map(|change| {
                depth += change;
                depth > 0
            })
            .collect();
        for gap in (0..end as usize).rev() {
            if covered[gap] {
                next[gap] = next[gap + 1];
            }
        }
        Uncovered { next }
    }

    /// The first uncovered gap of (from, before).
    pub fn first(&self, (from, before): (u32, u32)) -> Option<u32> {
        Some(self.next[from as usize]).filter(|&gap| gap < before)
    }
}

/// Gaps that are covered bit by bit.
pub(super) struct Covering {
    /// For each gap, a gap with only covered gaps between the two; the gap itself when it is uncovered.
    next: Vec<u32>,
}

impl Covering {
    /// No gap is covered; gaps go up to `end`, and `end` is never covered.
    pub fn new(end: u32) -> Covering {
        Covering { next: (0..=end).collect() }
    }

    /// The first uncovered gap from `gap` on.
    pub fn first(&mut self, gap: u32) -> u32 {
        let mut found = gap;
        while self.next[found as usize] != found {
            found = self.next[found as usize];
        }
        // Every gap on the way points to the result from now on.
        let mut gap = gap;
        while gap != found {
            gap = std::mem::replace(&mut self.next[gap as usize], found);
        }
        found
    }

    /// Covers the gaps of an interval; an interval that does not end after its beginning covers no gap.
    pub fn cover(&mut self, (from, before): (u32, u32)) {
        if from >= before {
            return;
        }
        let mut gap = self.first(from);
        while gap < before {
            self.next[gap as usize] = gap + 1;
            gap = self.first(gap);
        }
    }
}

/// How often each gap is covered while intervals are removed: a tree of minima.
pub(super) struct Depths {
    leaves: usize,
    /// What was added to the whole subtree of a node, including its own minimum.
    added: Vec<i32>,
    least: Vec<i32>,
}

impl Depths {
    /// The depths of the gaps up to `end`.
    pub fn new(end: u32, intervals: impl Iterator<Item = (u32, u32)>) -> Depths {
        let leaves = (end as usize + 1).next_power_of_two();
        let mut depths = Depths { leaves, added: vec![0; 2 * leaves], least: vec![0; 2 * leaves] };
        for (from, before) in intervals {
            depths.least[leaves + from as usize] += 1;
            if (before as usize) < leaves {
                depths.least[leaves + before as usize] -= 1;
            }
        }
        let mut depth = 0;
        for leaf in &mut depths.least[leaves..] {
            depth += *leaf;
            *leaf = depth;
        }
        for node in (1..leaves).rev() {
            depths.least[node] = depths.least[2 * node].min(depths.least[2 * node + 1]);
        }
        depths
    }

    /// Removes one interval.
    pub fn uncover(&mut self, (from, before): (u32, u32)) {
        let (mut low, mut high) = (self.leaves + from as usize, self.leaves + before as usize);
        let (first, last) = (low, high - 1);
        while low < high {
            if low % 2 == 1 {
                self.add(low, -1);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                self.add(high, -1);
            }
            low /= 2;
            high /= 2;
        }
        self.renew_above(first);
        self.renew_above(last);
    }

    fn add(&mut self, node: usize, change: i32) {
        self.added[node] += change;
        self.least[node] += change;
    }

    fn renew_above(&mut self, leaf: usize) {
        let mut node = leaf / 2;
        while node > 0 {
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.added[node];
            node /= 2;
        }
    }

    /// The first uncovered gap from `from` on; there must be one.
    pub fn first_uncovered(&self, from: u32) -> u32 {
        // The minimum of a node does not contain what its ancestors have added to it.
        let above = |node: usize| {
            let mut node = node / 2;
            let mut sum = 0;
            while node > 0 {
                sum += self.added[node];
                node /= 2;
            }
            sum
        };
        let mut node = self.leaves + from as usize;
        let mut outer = above(node);
        while self.least[node] + outer > 0 {
            // The next subtree to the right: up while this is a right child, then over.
            while node % 2 == 1 {
                node /= 2;
                outer -= self.added[node];
            }
            node += 1;
            debug_assert!(!node.is_power_of_two(), "an uncovered gap from {from} on");
        }
        while node < self.leaves {
            outer += self.added[node];
            node *= 2;
            if self.least[node] + outer > 0 {
                node += 1;
            }
        }
        (node - self.leaves) as u32
    }
}

/// Values at places; the question is the largest value in a range.
pub(super) struct Largest {
    leaves: usize,
    best: Vec<u32>,
}

impl Largest {
    /// Every place has the value 0.
    pub fn new(places: usize) -> Largest {
        let leaves = places.next_power_of_two();
        Largest { leaves, best: vec![0; 2 * leaves] }
    }

    pub fn set(&mut self, place: usize, value: u32) {
        let mut node = self.leaves + place;
        self.best[node] = value;
        while node > 1 {
            node /= 2;
            self.best[node] = self.best[2 * node].max(self.best[2 * node + 1]);
        }
    }

    /// A place with the largest value of a range, and that value.
    pub fn in_range(&self, range: std::ops::Range<usize>) -> Option<(usize, u32)> {
        let (mut low, mut high) = (self.leaves + range.start, self.leaves + range.end);
        let mut found: Option<usize> = None;
        let mut consider = |node: usize| {
            if found.is_none_or(|other| self.best[node] > self.best[other]) {
                found = Some(node);
            }
        };
        while low < high {
            if low % 2 == 1 {
                consider(low);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                consider(high);
            }
            low /= 2;
            high /= 2;
        }
        let mut node = found?;
        while node < self.leaves {
            node = if self.best[2 * node] == self.best[node] { 2 * node } else { 2 * node + 1 };
        }
        Some((node - self.leaves, self.best[node]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals over 12 gaps from a fixed linear congruential sequence.
    fn intervals(seed: u32) -> Vec<(u32, u32)> {
        let mut state = seed;
        let mut next = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % bound
        };
        (0..next(6))
            .map(|_| {
                let from = next(11);
                (from, from + 1 + next(12 - from))
            })
            .collect()
    }

    fn depth(intervals: &[(u32, u32)], gap: u32) -> usize {
        intervals.iter().filter(|interval| interval.0 <= gap && gap < interval.1).count()
    }

    fn first(intervals: &[(u32, u32)], from: u32) -> u32 {
        (from..12).find(|&gap| depth(intervals, gap) == 0).unwrap_or(12)
    }

    #[test]
    fn the_first_uncovered_gap() {
        for seed in 0..500 {
            let mut all = intervals(seed);
            let fixed = Uncovered::new(12, all.iter().copied());
            let mut growing = Covering::new(12);
            all.iter().for_each(|&interval| growing.cover(interval));
            for from in 0..12 {
                assert_eq!(fixed.first((from, 12)).unwrap_or(12), first(&all, from));
                assert_eq!(growing.first(from), first(&all, from));
            }
            // Gap 12 stays uncovered.
            all.retain(|interval| interval.1 <= 12);
            let mut depths = Depths::new(12, all.iter().copied());
            while let Some(last) = all.pop() {
                depths.uncover(last);
                for from in 0..=12 {
                    assert_eq!(depths.first_uncovered(from), first(&all, from), "seed {seed}, {all:?}");
                }
            }
        }
    }

    #[test]
    fn the_largest_value_of_a_range() {
        for places in 1..10 {
            let value = |place: usize| (place * 7 % 5) as u32;
            let mut largest = Largest::new(places);
            (0..places).for_each(|place| largest.set(place, value(place)));
            for start in 0..=places {
                for end in start..=places {
                    let expected = (start..end).map(value).max();
                    let found = largest.in_range(start..end);
                    assert_eq!(found.map(|found| found.1), expected);
                    assert!(found.is_none_or(|(place, found)| (start..end).contains(&place) && value(place) == found));
                }
            }
        }
    }
}
