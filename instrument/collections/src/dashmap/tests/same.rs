//! The program sees the same as with the original.

use interloper_commutativity::{ToValue, Value};
use proptest::prelude::*;

use super::Map;
use crate::session::Instrumented;
use crate::testing::Recorder;

#[derive(Clone, Debug)]
enum Op {
    Get(i64),
    GetMut(i64, i64),
    Touch(i64),
    TryGet(i64),
    TryGetMut(i64, i64),
    Insert(i64, i64),
    Remove(i64),
    RemoveIf(i64, i64),
    RemoveIfMut(i64, i64),
    ContainsKey(i64),
    OrInsert(i64, i64),
    OrInsertThenAdd(i64, i64),
    OrTryInsertFails(i64),
    AndModifyOrInsert(i64, i64),
    EntryInsert(i64, i64),
    EntryInsertEntry(i64, i64),
    EntryDropped(i64),
    EntryIntoKey(i64),
    OccupiedRemove(i64),
    OccupiedReplace(i64, i64),
    OccupiedWriteRemove(i64, i64),
    TryEntry(i64, i64),
    Alter(i64),
    AlterAll,
    View(i64),
    Downgrade(i64, i64),
    Mapped(i64, i64),
    Retain(i64),
    Len,
    IsEmpty,
    Clear,
    Iter,
    IterMut,
    CloneIt,
}

fn op() -> impl Strategy<Value = Op> {
    let (k, v) = (|| 0i64..4, || 0i64..4);
    prop_oneof![
        k().prop_map(Op::Get),
        (k(), v()).prop_map(|(k, v)| Op::GetMut(k, v)),
        k().prop_map(Op::Touch),
        k().prop_map(Op::TryGet),
        (k(), v()).prop_map(|(k, v)| Op::TryGetMut(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::Insert(k, v)),
        k().prop_map(Op::Remove),
        (k(), v()).prop_map(|(k, v)| Op::RemoveIf(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::RemoveIfMut(k, v)),
        k().prop_map(Op::ContainsKey),
        (k(), v()).prop_map(|(k, v)| Op::OrInsert(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::OrInsertThenAdd(k, v)),
        k().prop_map(Op::OrTryInsertFails),
        (k(), v()).prop_map(|(k, v)| Op::AndModifyOrInsert(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::EntryInsert(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::EntryInsertEntry(k, v)),
        k().prop_map(Op::EntryDropped),
        k().prop_map(Op::EntryIntoKey),
        k().prop_map(Op::OccupiedRemove),
        (k(), v()).prop_map(|(k, v)| Op::OccupiedReplace(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::OccupiedWriteRemove(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::TryEntry(k, v)),
        k().prop_map(Op::Alter),
        Just(Op::AlterAll),
        k().prop_map(Op::View),
        (k(), v()).prop_map(|(k, v)| Op::Downgrade(k, v)),
        (k(), v()).prop_map(|(k, v)| Op::Mapped(k, v)),
        v().prop_map(Op::Retain),
        Just(Op::Len),
        Just(Op::IsEmpty),
        Just(Op::Clear),
        Just(Op::Iter),
        Just(Op::IterMut),
        Just(Op::CloneIt),
    ]
}

/// The same program text for the original and for the wrapper: gives what the program can see of `$op`.
macro_rules! perform {
    ($module:ident, $map:expr, $op:expr) => {{
        use $module::Entry;
        let map = $map;
        let sorted = |mut pairs: Vec<(i64, i64)>| {
            pairs.sort();
            pairs.to_value()
        };
        match $op.clone() {
            Op::Get(k) => map.get(&k).map(|guard| (*guard.key(), *guard)).to_value(),
            Op::GetMut(k, v) => map.get_mut(&k).map(|mut guard| std::mem::replace(&mut *guard, v)).to_value(),
            Op::Touch(k) => map.get_mut(&k).map(|guard| *guard.pair().1).to_value(),
            Op::TryGet(k) => map.try_get(&k).try_unwrap().map(|guard| *guard.value()).to_value(),
            Op::TryGetMut(k, v) => {
                map.try_get_mut(&k).try_unwrap().map(|mut guard| std::mem::replace(guard.value_mut(), v)).to_value()
            }
            Op::Insert(k, v) => map.insert(k, v).to_value(),
            Op::Remove(k) => map.remove(&k).to_value(),
            Op::RemoveIf(k, v) => map.remove_if(&k, |_, value| *value <= v).to_value(),
            Op::RemoveIfMut(k, v) => map
                .remove_if_mut(&k, |_, value| {
                    *value += 1;
                    *value <= v
                })
                .to_value(),
            Op::ContainsKey(k) => map.contains_key(&k).to_value(),
            Op::OrInsert(k, v) => (*map.entry(k).or_insert(v)).to_value(),
            Op::OrInsertThenAdd(k, v) => {
                let mut guard = map.entry(k).or_insert_with(|| v);
                *guard += 1;
                guard.to_value()
            }
            Op::OrTryInsertFails(k) => map.entry(k).or_try_insert_with(|| Err("no")).map(|guard| *guard).to_value(),
            Op::AndModifyOrInsert(k, v) => (*map.entry(k).and_modify(|value| *value += 1).or_insert(v)).to_value(),
            Op::EntryInsert(k, v) => (*map.entry(k).insert(v)).to_value(),
            Op::EntryInsertEntry(k, v) => (*map.entry(k).insert_entry(v).get()).to_value(),
            Op::EntryDropped(k) => matches!(map.entry(k), Entry::Vacant(_)).to_value(),
            Op::EntryIntoKey(k) => map.entry(k).into_key().to_value(),
            Op::OccupiedRemove(k) => match map.entry(k) {
                Entry::Occupied(entry) => entry.remove_entry().to_value(),
                Entry::Vacant(entry) => (*entry.insert_entry(k).get()).to_value(),
            },
            Op::OccupiedReplace(k, v) => match map.entry(k) {
                Entry::Occupied(entry) => entry.replace_entry(v).to_value(),
                Entry::Vacant(entry) => entry.key().to_value(),
            },
            Op::OccupiedWriteRemove(k, v) => match map.entry(k) {
                Entry::Occupied(mut entry) => {
                    *entry.get_mut() = v;
                    let middle = entry.insert(v + 1);
                    (middle, entry.remove()).to_value()
                }
                Entry::Vacant(entry) => (*entry.insert(v)).to_value(),
            },
            Op::TryEntry(k, v) => map.try_entry(k).map(|entry| *entry.or_insert(v)).to_value(),
            Op::Alter(k) => map.alter(&k, |key, value| key + value).to_value(),
            Op::AlterAll => map.alter_all(|_, value| if value > 2 { 0 } else { value + 1 }).to_value(),
            Op::View(k) => map.view(&k, |key, value| key + value).to_value(),
            Op::Downgrade(k, v) => map
                .get_mut(&k)
                .map(|mut guard| {
                    *guard = v;
                    *guard.downgrade()
                })
                .to_value(),
            Op::Mapped(k, v) => {
                let written = map.get_mut(&k).map(|guard| {
                    let mut part = guard.map(|value| value).try_map(|value| Some(value)).expect("a part");
                    *part += v;
                    *part
                });
                let read = map.get(&k).map(|guard| *guard.map(|value| value).value());
                (written, read).to_value()
            }
            Op::Retain(v) => map
                .retain(|_, value| {
                    *value = (*value - 1).max(0);
                    *value <= v
                })
                .to_value(),
            Op::Len => map.len().to_value(),
            Op::IsEmpty => map.is_empty().to_value(),
            Op::Clear => map.clear().to_value(),
            Op::Iter => sorted(map.iter().map(|guard| (*guard.key(), *guard.value())).collect()),
            Op::IterMut => sorted(
                map.iter_mut()
                    .map(|mut guard| {
                        *guard = (*guard * 2) % 4;
                        (*guard.key(), *guard.value())
                    })
                    .collect(),
            ),
            Op::CloneIt => sorted(map.clone().into_iter().collect()),
        }
    }};
}

fn reference(map: &::dashmap::DashMap<i64, i64>, op: &Op) -> Value {
    perform!(real, map, op)
}

fn wrapped(map: &Map, op: &Op) -> Value {
    perform!(instrumented, map, op)
}

mod real {
    pub use ::dashmap::Entry;
}

mod instrumented {
    pub use crate::dashmap::Entry;
}

proptest! {
    /// Outside a run, inside one but private, and bound to one: the program sees what it sees with the original.
    /// The recorder checks each effect and the final state against the model.
    #[test]
    fn behaves_as_the_original(ops in prop::collection::vec(op(), 1..40)) {
        let original = ::dashmap::DashMap::new();
        let free = Map::new();
        let recorder = Recorder::new();
        let bound = recorder.make(Map::new);
        let private = recorder.make(Map::new);
        private.handle().unbind();
        for op in &ops {
            let expected = reference(&original, op);
            prop_assert_eq!(&wrapped(&free, op), &expected, "free: {:?}", op);
            let (seen, log) = recorder.run(|| wrapped(&bound, op));
            prop_assert_eq!(&seen, &expected, "bound: {:?}: {:?}", op, log);
        }
        let before = recorder.announced();
        let (_, log) = recorder.run(|| ops.iter().for_each(|op| { wrapped(&private, op); }));
        prop_assert_eq!(recorder.announced(), before);
        prop_assert!(log.iter().all(|line| line == "progressed"), "{:?}", log);
        prop_assert_eq!(private.snapshot(), bound.snapshot());
    }
}
