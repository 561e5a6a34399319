//! What the calls of one sequence gave, as one small number.

/// The combinations of results that one sequence has shown, numbered in order of appearance. Each call takes one step
/// down a tree whose branches are the numbers of results.
pub(super) struct Trie {
    length: usize,
    /// A power of two above all numbers of results so far.
    width: usize,
    /// `width` children for each inner node. A child of the last inner level is the number of a combination.
    children: Vec<u32>,
    combinations: Vec<Box<[u32]>>,
    /// The path to each inner node.
    paths: Vec<Box<[u32]>>,
}

const NONE: u32 = u32::MAX;

impl Trie {
    /// For sequences of `length` calls.
    pub(super) fn new(length: usize) -> Trie {
        let width = 4;
        Trie { length, width, children: vec![NONE; width], combinations: Vec::new(), paths: vec![Box::default()] }
    }

    /// The node before the first call.
    pub(super) const ROOT: u32 = 0;

    /// From a node down the branch of a result. After the last call it is the number of the combination.
    #[inline]
    pub(super) fn step(&mut self, node: u32, result: u32) -> u32 {
        if (result as usize) < self.width {
            let child = self.children[node as usize * self.width + result as usize];
            if child != NONE {
                return child;
            }
        }
        self.grow(node, result)
    }

    #[cold]
    fn grow(&mut self, node: u32, result: u32) -> u32 {
        if result as usize >= self.width {
            self.widen((result as usize + 1).next_power_of_two());
        }
        let mut path = self.paths[node as usize].to_vec();
        path.push(result);
        let child = if path.len() == self.length {
            self.combinations.push(path.into());
            self.combinations.len() - 1
        } else {
            self.paths.push(path.into());
            self.children.resize(self.paths.len() * self.width, NONE);
            self.paths.len() - 1
        } as u32;
        self.children[node as usize * self.width + result as usize] = child;
        child
    }

    fn widen(&mut self, width: usize) {
        let mut children = vec![NONE; self.paths.len() * width];
        for (old, new) in self.children.chunks(self.width).zip(children.chunks_mut(width)) {
            new[..self.width].copy_from_slice(old);
        }
        (self.width, self.children) = (width, children);
    }

    /// The numbers of the results in a combination.
    pub(super) fn combination(&self, number: u32) -> &[u32] {
        &self.combinations[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_numbered_as_they_come() {
        let mut trie = Trie::new(3);
        let mut number = |results: [u32; 3]| results.iter().fold(Trie::ROOT, |node, &result| trie.step(node, result));
        let words = [[0, 0, 0], [0, 9, 0], [0, 0, 0], [1, 0, 70], [0, 0, 70], [0, 9, 0]];
        assert_eq!(words.map(&mut number), [0, 1, 0, 2, 3, 1]);
        assert_eq!(
            (0..4).map(|number| trie.combination(number).to_vec()).collect::<Vec<_>>(),
            [[0, 0, 0], [0, 9, 0], [1, 0, 70], [0, 0, 70]]
        );
    }

    #[test]
    fn all_combinations_stay_apart() {
        // 5 results, 4 calls: 625 combinations, twice.
        let mut trie = Trie::new(4);
        let mut number =
            |word: u32| (0..4).fold(Trie::ROOT, |node, place| trie.step(node, word / 5_u32.pow(place) % 5));
        let first: Vec<u32> = (0..625).map(&mut number).collect();
        assert_eq!(first, (0..625).collect::<Vec<u32>>());
        assert_eq!((0..625).map(&mut number).collect::<Vec<u32>>(), first);
    }
}
