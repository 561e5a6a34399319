//! What a strategy has learnt, as numbers: they are kept in a file, so that another process of the same program goes on. See
//! [`Strategy::saved`](crate::Strategy::saved).

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::Arc;

use interloper_std::runtime::{Action, Count, Extent, Key, Mode, ObjectId, Operation, TaskId, Verb};

use crate::{Cause, Event};

/// Objects have numbers below this one. A larger number comes from a file that is damaged.
const OBJECTS: u32 = 1 << 24;

/// Nothing happens more often. A larger number comes from a file that is damaged.
const TIMES: u64 = 1 << 48;

/// A value as numbers: what [`Strategy::saved`](crate::Strategy::saved) says where the value is all that a strategy keeps.
pub(crate) fn words<D: Data>(value: &D) -> Option<Vec<u64>> {
    let mut words = Vec::new();
    value.put(&mut words);
    Some(words)
}

/// Reads the value that is all that these numbers are. `None` if they are anything else.
pub(crate) fn whole<D: Data>(words: &[u64]) -> Option<D> {
    let mut reader = Reader::new(words);
    reader.take().filter(|_| reader.is_empty())
}

/// Numbers that are read one after the other.
pub(crate) struct Reader<'w>(&'w [u64]);

impl<'w> Reader<'w> {
    pub(crate) fn new(words: &'w [u64]) -> Reader<'w> {
        Reader(words)
    }

    /// The next number, if one is left.
    fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads a value.
    pub(crate) fn take<D: Data>(&mut self) -> Option<D> {
        D::take(self)
    }

    /// Whether no number is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A value that can be written as numbers.
pub(crate) trait Data: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u64>);

    /// Reads what [`Data::put`] has written. `None` if the numbers are no value.
    fn take(from: &mut Reader<'_>) -> Option<Self>;
}

/// Writes a struct as its fields, one after the other.
macro_rules! fields {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::saved::Data for $name {
            fn put(&self, out: &mut Vec<u64>) {
                let $name { $($field),* } = self;
                $($crate::saved::Data::put($field, out);)*
            }

            fn take(from: &mut $crate::saved::Reader<'_>) -> Option<Self> {
                Some($name { $($field: $crate::saved::Data::take(from)?),* })
            }
        }
    };
}

/// Writes a struct around one value as that value.
macro_rules! around {
    ($($name:ident),*) => {$(
        impl $crate::saved::Data for $name {
            fn put(&self, out: &mut Vec<u64>) {
                $crate::saved::Data::put(&self.0, out);
            }

            fn take(from: &mut $crate::saved::Reader<'_>) -> Option<Self> {
                from.take().map($name)
            }
        }
    )*};
}

/// Writes a value of an enum without fields as its place in the list of all of them.
macro_rules! listed {
    ($name:ident: $all:ident) => {
        impl $crate::saved::Data for $name {
            fn put(&self, out: &mut Vec<u64>) {
                out.push(*self as u64);
            }

            fn take(from: &mut $crate::saved::Reader<'_>) -> Option<Self> {
                $all.get(from.take::<usize>()?).copied()
            }
        }
    };
}

/// Writes a value of an enum as the number of its variant and then what the variant has.
macro_rules! variants {
    ($name:ident: $($number:literal $variant:ident $(($($part:ident),*))?,)*) => {
        impl $crate::saved::Data for $name {
            fn put(&self, out: &mut Vec<u64>) {
                match self {
                    $($name::$variant $(($($part),*))? => {
                        out.push($number);
                        $($($crate::saved::Data::put($part, out);)*)?
                    })*
                }
            }

            fn take(from: &mut $crate::saved::Reader<'_>) -> Option<Self> {
                match from.take::<u64>()? {
                    $($number => {
                        $($(let $part = from.take()?;)*)?
                        Some($name::$variant $(($($part),*))?)
                    })*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {around, fields, listed, variants};

impl Data for u64 {
    fn put(&self, out: &mut Vec<u64>) {
        out.push(*self);
    }

    fn take(from: &mut Reader<'_>) -> Option<u64> {
        from.next()
    }
}

/// How often something happened: a number that can be added to without an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times(pub(crate) u64);

impl Data for Times {
    fn put(&self, out: &mut Vec<u64>) {
        self.0.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Times> {
        from.next().filter(|times| *times <= TIMES).map(Times)
    }
}

impl Data for u32 {
    fn put(&self, out: &mut Vec<u64>) {
        out.push(u64::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Option<u32> {
        from.next()?.try_into().ok()
    }
}

impl Data for usize {
    fn put(&self, out: &mut Vec<u64>) {
        out.push(*self as u64);
    }

    fn take(from: &mut Reader<'_>) -> Option<usize> {
        from.next()?.try_into().ok()
    }
}

impl Data for bool {
    fn put(&self, out: &mut Vec<u64>) {
        out.push(u64::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Option<bool> {
        match from.next()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<D: Data> Data for Option<D> {
    fn put(&self, out: &mut Vec<u64>) {
        self.is_some().put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(from: &mut Reader<'_>) -> Option<Option<D>> {
        if from.take()? { from.take().map(Some) } else { Some(None) }
    }
}

impl<D: Data> Data for Vec<D> {
    fn put(&self, out: &mut Vec<u64>) {
        put_all(self.iter(), out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Vec<D>> {
        let length: usize = from.take()?;
        // Each value takes a number at least, so a damaged length takes no memory.
        (length <= from.0.len()).then(|| (0..length).map(|_| from.take()).collect())?
    }
}

impl<D: Data> Data for Arc<[D]> {
    fn put(&self, out: &mut Vec<u64>) {
        put_all(self.iter(), out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Arc<[D]>> {
        from.take::<Vec<D>>().map(Arc::from)
    }
}

impl<D: Data + Ord> Data for BTreeSet<D> {
    fn put(&self, out: &mut Vec<u64>) {
        put_all(self.iter(), out);
    }

    fn take(from: &mut Reader<'_>) -> Option<BTreeSet<D>> {
        let mut set = BTreeSet::new();
        for _ in 0..from.take::<usize>()? {
            set.insert(from.take()?);
        }
        Some(set)
    }
}

impl<K: Data + Ord, V: Data> Data for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u64>) {
        self.len().put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Option<BTreeMap<K, V>> {
        // One by one: to collect them would sort them first, with code of its own for each type.
        let mut map = BTreeMap::new();
        for _ in 0..from.take::<usize>()? {
            map.insert(from.take()?, from.take()?);
        }
        Some(map)
    }
}

fn put_all<'d, D: Data + 'd>(values: impl ExactSizeIterator<Item = &'d D>, out: &mut Vec<u64>) {
    values.len().put(out);
    values.for_each(|value| value.put(out));
}

/// Writes values one after the other.
macro_rules! tuple {
    ($($kind:ident $at:tt),*) => {
        impl<$($kind: Data),*> Data for ($($kind,)*) {
            fn put(&self, out: &mut Vec<u64>) {
                $(self.$at.put(out);)*
            }

            fn take(from: &mut Reader<'_>) -> Option<Self> {
                Some(($(from.take::<$kind>()?,)*))
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

around!(TaskId);

impl Data for ObjectId {
    fn put(&self, out: &mut Vec<u64>) {
        self.index().put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<ObjectId> {
        from.take().filter(|index| *index < OBJECTS).map(ObjectId::from_index)
    }
}

fields!(Operation { object, action, location });
fields!(Event { task, operation, continues, only_read, cause });

/// The place of a step is left out: what a strategy keeps from one execution to the next does not depend on it.
impl Data for &'static Location<'static> {
    fn put(&self, _: &mut Vec<u64>) {}

    fn take(_: &mut Reader<'_>) -> Option<Self> {
        Some(Location::caller())
    }
}

variants! { Cause: 0 Ready, 1 Event(event), 2 Idle(events), }

// In the order of their numbers, as a test says.
const MODES: [Mode; 3] = [Mode::Shared, Mode::Upgradable, Mode::Exclusive];
const COUNTS: [Count; 2] = [Count::One, Count::All];
const EXTENTS: [Extent; 2] = [Extent::Entry, Extent::Whole];
const VERBS: [Verb; 19] = [
    Verb::Get,
    Verb::Contains,
    Verb::Insert,
    Verb::InsertIfAbsent,
    Verb::Modify,
    Verb::Remove,
    Verb::Next,
    Verb::Find,
    Verb::Push,
    Verb::Pop,
    Verb::Count,
    Verb::Receive,
    Verb::Send,
    Verb::Accept,
    Verb::Connect,
    Verb::Open,
    Verb::Close,
    Verb::Await,
    Verb::Call,
];

listed!(Mode: MODES);
listed!(Count: COUNTS);
listed!(Extent: EXTENTS);
listed!(Verb: VERBS);

variants! {
    Action:
    0 Start,
    1 Read,
    2 Write,
    3 ReadWrite,
    4 Fence,
    5 Lock(how),
    6 LockRecursive,
    7 TryLock(how),
    8 Contend,
    9 Unlock(how),
    10 Convert(before, after),
    11 TryConvert(before, after),
    12 Wait(lock),
    13 Notify(how_many),
    14 Park,
    15 Unpark,
    16 Spawn,
    17 Join,
    18 Exit,
    19 End,
    20 Yield,
    21 Sleep,
    22 Consult,
    23 Affect,
    24 Invoke(verb, extent, key),
    25 Inspect(verb, extent, key),
    26 Pass(how),
    27 Peek(how),
    28 Keep(how),
    29 Free(how),
    30 BlockBegin(block),
    31 BlockEnd,
}

impl Data for Key {
    fn put(&self, out: &mut Vec<u64>) {
        out.push(self.hash());
    }

    fn take(from: &mut Reader<'_>) -> Option<Key> {
        from.next().map(Key::from_hash)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    #[track_caller]
    fn check<D: Data + PartialEq + Debug>(value: D) {
        let mut words = Vec::new();
        value.put(&mut words);
        let mut reader = Reader::new(&words);
        assert_eq!(reader.take(), Some(value), "{words:?}");
        assert!(reader.is_empty(), "{words:?}");
        // What is cut is refused.
        for cut in 0..words.len() {
            assert_eq!(Reader::new(&words[..cut]).take::<D>(), None, "{words:?} cut at {cut}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        check(vec![Some(3_u64), None]);
        check([((1_u32, true), vec![7_usize]), ((2, false), vec![])].into_iter().collect::<BTreeMap<_, _>>());
        check([4_u64, 9].into_iter().collect::<BTreeSet<_>>());
        [Cause::Ready, Cause::Event(0), Cause::Idle(7)].into_iter().for_each(check);
    }

    #[test]
    fn each_action_is_read_as_it_was_written() {
        let lock = ObjectId::from_index(4);
        let mut actions = vec![
            Action::Start,
            Action::Read,
            Action::Write,
            Action::ReadWrite,
            Action::Fence,
            Action::LockRecursive,
            Action::Contend,
            Action::Wait(None),
            Action::Wait(Some(lock)),
            Action::Notify(Count::One),
            Action::Notify(Count::All),
            Action::Park,
            Action::Unpark,
            Action::Spawn,
            Action::Join,
            Action::Exit,
            Action::End,
            Action::Yield,
            Action::Sleep,
            Action::Consult,
            Action::Affect,
            Action::BlockBegin(3),
            Action::BlockEnd,
        ];
        for mode in MODES {
            actions.extend([Action::Lock(mode), Action::TryLock(mode), Action::Unlock(mode), Action::Pass(mode)]);
            actions.extend([Action::Peek(mode), Action::Keep(mode), Action::Free(mode)]);
            actions.extend(MODES.into_iter().flat_map(|to| [Action::Convert(mode, to), Action::TryConvert(mode, to)]));
        }
        for verb in VERBS {
            let key = Key::from_hash(u64::MAX - 5);
            actions.extend([Action::Invoke(verb, Extent::Entry, key), Action::Inspect(verb, Extent::Whole, key)]);
        }
        let written = |action: &Action| {
            let mut words = Vec::new();
            action.put(&mut words);
            words
        };
        let different: BTreeSet<Vec<u64>> = actions.iter().map(written).collect();
        assert_eq!(different.len(), actions.len());
        actions.into_iter().for_each(check);
    }

    #[test]
    fn what_is_listed_is_in_the_order_of_its_numbers() {
        assert!(VERBS.iter().enumerate().all(|(number, verb)| *verb as usize == number));
        assert!(MODES.iter().enumerate().all(|(number, mode)| *mode as usize == number));
        assert!(COUNTS.iter().enumerate().all(|(number, count)| *count as usize == number));
        assert!(EXTENTS.iter().enumerate().all(|(number, extent)| *extent as usize == number));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        assert_eq!(Reader::new(&[2]).take::<bool>(), None);
        assert_eq!(Reader::new(&[u64::MAX]).take::<Vec<u64>>(), None);
        assert_eq!(Reader::new(&[1 << 40]).take::<u32>(), None);
        assert_eq!(Reader::new(&[32]).take::<Action>(), None);
        assert_eq!(Reader::new(&[5, 3]).take::<Action>(), None);
        assert_eq!(Reader::new(&[24, 19, 0, 0]).take::<Action>(), None);
        assert_eq!(Reader::new(&[u64::from(OBJECTS)]).take::<ObjectId>(), None);
        assert_eq!(Reader::new(&[3, 1]).take::<Cause>(), None);
    }
}
