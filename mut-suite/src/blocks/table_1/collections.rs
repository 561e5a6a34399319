//! The collections of `java.util`, without locks, as far as the programs need them.

use std::collections::{BTreeSet, LinkedList as StdLinkedList};

/// Elements that can be added, removed, and gone through.
pub(super) trait Elements: Default + Send + 'static {
    /// Whether an element is in it at most once, in whatever order.
    const IS_SET: bool;

    /// Adds an element; false when it was there.
    fn add(&mut self, element: i64) -> bool;

    /// Removes an element; false when it was not there.
    fn remove(&mut self, element: i64) -> bool;

    /// The elements in the order in which an iterator goes through them.
    fn in_order(&self) -> Vec<i64>;

    fn contains(&self, element: i64) -> bool {
        self.in_order().contains(&element)
    }

    fn size(&self) -> usize {
        self.in_order().len()
    }
}

/// An array that grows.
#[derive(Default)]
pub(super) struct ArrayList(Vec<i64>);

impl Elements for ArrayList {
    const IS_SET: bool = false;

    fn add(&mut self, element: i64) -> bool {
        self.0.push(element);
        true
    }

    fn remove(&mut self, element: i64) -> bool {
        remove_first(&mut self.0, element)
    }

    fn in_order(&self) -> Vec<i64> {
        self.0.clone()
    }
}

/// Nodes with links.
#[derive(Default)]
pub(super) struct LinkedList(StdLinkedList<i64>);

impl Elements for LinkedList {
    const IS_SET: bool = false;

    fn add(&mut self, element: i64) -> bool {
        self.0.push_back(element);
        true
    }

    fn remove(&mut self, element: i64) -> bool {
        let Some(index) = self.0.iter().position(|other| *other == element) else { return false };
        let mut behind = self.0.split_off(index);
        behind.pop_front();
        self.0.append(&mut behind);
        true
    }

    fn in_order(&self) -> Vec<i64> {
        self.0.iter().copied().collect()
    }
}

/// Chains of elements with the same remainder: as a hash table, and the same in each run.
#[derive(Default)]
pub(super) struct HashSet([Vec<i64>; 4]);

impl HashSet {
    fn chain(&mut self, element: i64) -> &mut Vec<i64> {
        let chains = self.0.len() as i64;
        &mut self.0[element.rem_euclid(chains) as usize]
    }
}

impl Elements for HashSet {
    const IS_SET: bool = true;

    fn add(&mut self, element: i64) -> bool {
        add_new(self.chain(element), element)
    }

    fn remove(&mut self, element: i64) -> bool {
        remove_first(self.chain(element), element)
    }

    fn in_order(&self) -> Vec<i64> {
        self.0.concat()
    }
}

/// A sorted tree.
#[derive(Default)]
pub(super) struct TreeSet(BTreeSet<i64>);

impl Elements for TreeSet {
    const IS_SET: bool = true;

    fn add(&mut self, element: i64) -> bool {
        self.0.insert(element)
    }

    fn remove(&mut self, element: i64) -> bool {
        self.0.remove(&element)
    }

    fn in_order(&self) -> Vec<i64> {
        self.0.iter().copied().collect()
    }
}

/// A set that remembers in which order its elements came.
#[derive(Default)]
pub(super) struct LinkedHashSet(Vec<i64>);

impl Elements for LinkedHashSet {
    const IS_SET: bool = true;

    fn add(&mut self, element: i64) -> bool {
        add_new(&mut self.0, element)
    }

    fn remove(&mut self, element: i64) -> bool {
        remove_first(&mut self.0, element)
    }

    fn in_order(&self) -> Vec<i64> {
        self.0.clone()
    }
}

fn add_new(elements: &mut Vec<i64>, element: i64) -> bool {
    let new = !elements.contains(&element);
    if new {
        elements.push(element);
    }
    new
}

fn remove_first(elements: &mut Vec<i64>, element: i64) -> bool {
    let index = elements.iter().position(|other| *other == element);
    index.map(|index| elements.remove(index)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of `1 5 2 1` without one 1, in the order of an iterator.
    fn left<C: Elements>() -> Vec<i64> {
        let mut collection = C::default();
        let added = [1, 5, 2, 1].map(|element| collection.add(element));
        assert_eq!(added, [true, true, true, !C::IS_SET]);
        assert!(collection.contains(5) && collection.remove(1) && !collection.remove(7));
        assert_eq!(collection.size(), collection.in_order().len());
        collection.in_order()
    }

    #[test]
    fn lists_keep_order_and_doubles_sets_their_own_order() {
        assert_eq!(left::<ArrayList>(), [5, 2, 1]);
        assert_eq!(left::<LinkedList>(), [5, 2, 1]);
        assert_eq!(left::<HashSet>(), [5, 2]);
        assert_eq!(left::<TreeSet>(), [2, 5]);
        assert_eq!(left::<LinkedHashSet>(), [5, 2]);
    }
}
