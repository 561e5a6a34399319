//! The iterators of a skip list.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Bound, RangeBounds, RangeFull};

use crossbeam_skiplist::map as real;
use interloper_commutativity::ToValue;

use super::core::{SkipList, cursor};
use super::entry::Entry;
use super::words::Vocabulary;
use crate::site::Site;

/// The iterator of `iter`.
pub struct Iter<'a, K: Ord, V, W>(Range<'a, K, RangeFull, K, V, W>);

impl<'a, K: Ord + ToValue, V, W: Vocabulary<V>> Iter<'a, K, V, W> {
    #[track_caller]
    pub(super) fn new(list: &'a SkipList<K, V, W>) -> Self {
        Iter(Range::new(list, ..))
    }
}

impl<'a, K: Ord + ToValue, V, W: Vocabulary<V>> Iterator for Iter<'a, K, V, W> {
    type Item = Entry<'a, K, V, W>;

    fn next(&mut self) -> Option<Entry<'a, K, V, W>> {
        self.0.next()
    }
}

impl<K: Ord + ToValue, V, W: Vocabulary<V>> DoubleEndedIterator for Iter<'_, K, V, W> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back()
    }
}

impl<K: Ord, V, W> fmt::Debug for Iter<'_, K, V, W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("Iter { .. }")
    }
}

/// The iterator of `range`.
pub struct Range<'a, Q, R, K, V, W>(Within<'a, Q, R, K, V, W>)
where
    K: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized;

impl<'a, Q, R, K, V, W> Range<'a, Q, R, K, V, W>
where
    K: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
    W: Vocabulary<V>,
{
    #[track_caller]
    pub(super) fn new(list: &'a SkipList<K, V, W>, range: R) -> Self {
        Range(match list.handle.reader() {
            None => Within::Original { iter: list.inner.range(range), list },
            Some(site) => Within::Stepwise(Steps { list, site, range, head: None, tail: None }),
        })
    }
}

impl<'a, Q, R, K, V, W> Iterator for Range<'a, Q, R, K, V, W>
where
    K: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
    W: Vocabulary<V>,
{
    type Item = Entry<'a, K, V, W>;

    fn next(&mut self) -> Option<Entry<'a, K, V, W>> {
        match &mut self.0 {
            Within::Original { iter, list } => iter.next().map(|real| Entry { real, list }),
            Within::Stepwise(steps) => steps.next(),
        }
    }
}

impl<Q, R, K, V, W> DoubleEndedIterator for Range<'_, Q, R, K, V, W>
where
    K: Ord + ToValue + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ToValue + ?Sized,
    W: Vocabulary<V>,
{
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Within::Original { iter, list } => iter.next_back().map(|real| Entry { real, list }),
            Within::Stepwise(steps) => steps.next_back(),
        }
    }
}

impl<Q, R, K, V, W> fmt::Debug for Range<'_, Q, R, K, V, W>
where
    K: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad("Range { .. }")
    }
}

/// The entries within a range, from both ends: the original's iterator, or one step for each entry.
enum Within<'a, Q, R, K, V, W>
where
    K: Ord + Borrow<Q>,
    R: RangeBounds<Q>,
    Q: Ord + ?Sized,
{
    Original { iter: real::Range<'a, Q, R, K, V>, list: &'a SkipList<K, V, W> },
    Stepwise(Steps<'a, R, K, V, W>),
}

/// An iteration by steps. It continues from the last entry that it returned, even if that entry was removed.
struct Steps<'a, R, K, V, W> {
    list: &'a SkipList<K, V, W>,
    site: Site,
    range: R,
    head: Option<real::Entry<'a, K, V>>,
    tail: Option<real::Entry<'a, K, V>>,
}

impl<'a, R, K: Ord + ToValue, V, W: Vocabulary<V>> Steps<'a, R, K, V, W> {
    fn next<Q>(&mut self) -> Option<Entry<'a, K, V, W>>
    where
        K: Borrow<Q>,
        R: RangeBounds<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let next = match &self.head {
            None => self.list.first_from(self.site, self.range.start_bound()),
            Some(head) => {
                let last = cursor(head.key());
                self.list.finding(self.site, W::WORDS.next_after, &[last], || head.next())
            }
        }?;
        let end = self.tail.as_ref().map_or(self.range.end_bound(), |tail| Bound::Excluded(tail.key().borrow()));
        if !(Bound::Unbounded, end).contains(next.key().borrow()) {
            return None;
        }
        self.head = Some(next.clone());
        Some(Entry { real: next, list: self.list })
    }

    fn next_back<Q>(&mut self) -> Option<Entry<'a, K, V, W>>
    where
        K: Borrow<Q>,
        R: RangeBounds<Q>,
        Q: Ord + ToValue + ?Sized,
    {
        let next = match &self.tail {
            None => self.list.last_to(self.site, self.range.end_bound()),
            Some(tail) => self.list.preceding(self.site, tail.key().to_value(), || tail.prev()),
        }?;
        let start = self.head.as_ref().map_or(self.range.start_bound(), |head| Bound::Excluded(head.key().borrow()));
        if !(start, Bound::Unbounded).contains(next.key().borrow()) {
            return None;
        }
        self.tail = Some(next.clone());
        Some(Entry { real: next, list: self.list })
    }
}
