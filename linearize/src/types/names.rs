//! The types of the papers: which model each is, and what its methods are called.

use interloper_commutativity::MethodId;
use interloper_commutativity::models::{
    CounterModel, DequeModel, KeyedTextModel, MapModel, QueueModel, RegisterModel, SetModel, SmallestFirstModel,
    SortedMapModel, SortedSetModel, StackModel, counter, deque, keyed_text, priority_queue, queue, register,
    sorted_map as map, sorted_set as set, stack,
};
use interloper_commutativity::{Model, Value};

use super::Absent::{Error, Null};
use super::Gives::{Content, Key as KeyOf, New, Nothing, Same, True};
use super::Meaning::{Amount, Each, Method, Whole};
use super::Shape::{self, Any, Elements, Entries, Key, Text};
use super::{DataType, Family, Gives, Meaning, Signature, whole};

/// Every type, in the order of the table of the module.
pub(super) static TYPES: [DataType; 11] = [
    data_type("map", &MapModel, &[MAP], None),
    data_type("sorted-map", &SortedMapModel, &[MAP, SORTED_MAP], None),
    data_type("set", &SetModel, &[SET], Some(Family::Set)),
    data_type("sorted-set", &SortedSetModel, &[SET, SORTED_SET], Some(Family::Set)),
    data_type("queue", &QueueModel, &[QUEUE], Some(Family::Queue)),
    data_type("deque", &DequeModel, &[DEQUE, DEQUE_AS_QUEUE], None),
    data_type("priority-queue", &SmallestFirstModel, &[PRIORITY_QUEUE], Some(Family::PriorityQueue)),
    data_type("stack", &StackModel, &[STACK], Some(Family::Stack)),
    data_type("counter", &CounterModel, &[COUNTER], None),
    data_type("register", &RegisterModel { initial: Value::None }, &[REGISTER], Some(Family::Register)),
    data_type("kv", &KeyedTextModel, &[KEYED_TEXT], Some(Family::Texts)),
];

const fn data_type(
    name: &'static str,
    model: &'static dyn Model,
    methods: &'static [&'static [Signature]],
    family: Option<Family>,
) -> DataType {
    DataType { name, model, methods, family }
}

/// A method that changes the object.
const fn changes(name: &'static str, parameters: &'static [Shape], meaning: Meaning) -> Signature {
    Signature { name, parameters, meaning, reads: false, keyed: false }
}

/// A method that only reads.
const fn reads(name: &'static str, parameters: &'static [Shape], meaning: Meaning) -> Signature {
    Signature { reads: true, ..changes(name, parameters, meaning) }
}

impl Signature {
    /// The same method, about the entry at its first argument and nothing else.
    const fn on_key(self) -> Signature {
        Signature { keyed: true, ..self }
    }
}

/// What there is, or `null`.
const OR_NULL: Gives = Content(Null);

/// What there is, or Java's `NoSuchElementException`.
const OR_EMPTY: Gives = Content(Error("empty"));

/// As in `ConcurrentHashMap`, `contains` is about values.
const MAP: &[Signature] = &[
    changes("put", &[Key, Any], Method(map::INSERT, OR_NULL)).on_key(),
    changes("putIfAbsent", &[Key, Any], Method(map::INSERT_IF_ABSENT, OR_NULL)).on_key(),
    changes("putAll", &[Entries], Each(map::INSERT)),
    changes("replace", &[Key, Any], Method(map::REPLACE, OR_NULL)).on_key(),
    changes("replace", &[Key, Any, Any], Method(map::REPLACE_IF_EQUAL, Same)).on_key(),
    changes("remove", &[Key], Method(map::REMOVE, OR_NULL)).on_key(),
    changes("remove", &[Key, Any], Method(map::REMOVE_IF_EQUAL, Same)).on_key(),
    changes("clear", &[], Method(map::CLEAR, Nothing)),
    reads("get", &[Key], Method(map::GET, OR_NULL)).on_key(),
    reads("containsKey", &[Key], Method(map::CONTAINS_KEY, Same)).on_key(),
    reads("contains", &[Any], Whole(whole::contains)),
    reads("containsValue", &[Any], Whole(whole::contains)),
    reads("size", &[], Method(map::LEN, Same)),
    reads("mappingCount", &[], Method(map::LEN, Same)),
    reads("isEmpty", &[], Method(map::IS_EMPTY, Same)),
    reads("keys", &[], Whole(whole::keys)),
    reads("keySet", &[], Whole(whole::keys)),
    reads("values", &[], Whole(whole::to_array)),
    reads("elements", &[], Whole(whole::to_array)),
    reads("entrySet", &[], Whole(whole::entries)),
    reads("toString", &[], Whole(whole::to_string)),
];

/// Parts of a sorted map are lists of entries.
const SORTED_MAP: &[Signature] = &[
    changes("pollFirstEntry", &[], Method(map::POP_FIRST, OR_NULL)),
    changes("pollLastEntry", &[], Method(map::POP_LAST, OR_NULL)),
    reads("firstKey", &[], Method(map::FIRST, KeyOf(Error("empty")))),
    reads("lastKey", &[], Method(map::LAST, KeyOf(Error("empty")))),
    reads("ceilingKey", &[Key], Method(map::LOWER_BOUND, KeyOf(Null))),
    reads("floorKey", &[Key], Method(map::UPPER_BOUND, KeyOf(Null))),
    reads("higherKey", &[Key], Method(map::NEXT_AFTER, KeyOf(Null))),
    reads("lowerKey", &[Key], Whole(whole::lower)),
    reads("headMap", &[Key], Whole(whole::head)),
    reads("tailMap", &[Key], Whole(whole::tail)),
    reads("subMap", &[Key, Key], Whole(whole::between)),
];

const SET: &[Signature] = &[
    changes("add", &[Any], Method(set::INSERT, Same)).on_key(),
    changes("remove", &[Any], Method(set::REMOVE, Same)).on_key(),
    changes("addAll", &[Elements], Each(set::INSERT)),
    changes("removeAll", &[Elements], Whole(whole::remove_all)),
    changes("retainAll", &[Elements], Whole(whole::retain_all)),
    changes("clear", &[], Method(set::CLEAR, Nothing)),
    reads("contains", &[Any], Method(set::CONTAINS, Same)).on_key(),
    reads("containsAll", &[Elements], Whole(whole::contains_all)),
    reads("size", &[], Method(set::LEN, Same)),
    reads("isEmpty", &[], Method(set::IS_EMPTY, Same)),
    reads("toArray", &[], Whole(whole::to_array)),
    reads("toString", &[], Whole(whole::to_string)),
];

const SORTED_SET: &[Signature] = &[
    changes("pollFirst", &[], Method(set::POP_FIRST, OR_NULL)),
    changes("pollLast", &[], Method(set::POP_LAST, OR_NULL)),
    reads("first", &[], Method(set::FIRST, OR_EMPTY)),
    reads("last", &[], Method(set::LAST, OR_EMPTY)),
    reads("ceiling", &[Any], Method(set::LOWER_BOUND, OR_NULL)),
    reads("floor", &[Any], Method(set::UPPER_BOUND, OR_NULL)),
    reads("higher", &[Any], Method(set::NEXT_AFTER, OR_NULL)),
    reads("lower", &[Any], Whole(whole::lower)),
    reads("headSet", &[Any], Whole(whole::head)),
    reads("tailSet", &[Any], Whole(whole::tail)),
    reads("subSet", &[Any, Any], Whole(whole::between)),
];

/// What the methods of a queue are in a model.
struct Ids {
    push: MethodId,
    pop: MethodId,
    peek: MethodId,
    len: MethodId,
    is_empty: MethodId,
    clear: MethodId,
}

/// The methods of a queue, and of a Java `Collection` whose elements have an order. Besides Java's names there are
/// `enqueue`, which returns nothing, and `dequeue`, which is `poll`.
const fn queue(ids: Ids, remaining_capacity: whole::Run) -> [Signature; 22] {
    [
        changes("offer", &[Any], Method(ids.push, True)),
        changes("add", &[Any], Method(ids.push, True)),
        changes("put", &[Any], Method(ids.push, Nothing)),
        changes("enqueue", &[Any], Method(ids.push, Nothing)),
        changes("addAll", &[Elements], Each(ids.push)),
        changes("poll", &[], Method(ids.pop, OR_NULL)),
        changes("dequeue", &[], Method(ids.pop, OR_NULL)),
        changes("take", &[], Method(ids.pop, Content(Error("blocks")))),
        changes("remove", &[], Method(ids.pop, OR_EMPTY)),
        reads("remainingCapacity", &[], Whole(remaining_capacity)),
        changes("remove", &[Any], Whole(whole::remove_first)),
        changes("removeAll", &[Elements], Whole(whole::remove_all)),
        changes("retainAll", &[Elements], Whole(whole::retain_all)),
        changes("clear", &[], Method(ids.clear, Nothing)),
        reads("contains", &[Any], Whole(whole::contains)),
        reads("containsAll", &[Elements], Whole(whole::contains_all)),
        reads("size", &[], Method(ids.len, Same)),
        reads("isEmpty", &[], Method(ids.is_empty, Same)),
        reads("toArray", &[], Whole(whole::to_array)),
        reads("toString", &[], Whole(whole::to_string)),
        reads("peek", &[], Method(ids.peek, OR_NULL)),
        reads("element", &[], Method(ids.peek, OR_EMPTY)),
    ]
}

const QUEUE: &[Signature] = &queue(
    Ids {
        push: queue::PUSH,
        pop: queue::POP,
        peek: queue::PEEK,
        len: queue::LEN,
        is_empty: queue::IS_EMPTY,
        clear: queue::CLEAR,
    },
    whole::remaining_capacity,
);

/// The queue methods of a deque add at the back and remove at the front.
const DEQUE_AS_QUEUE: &[Signature] = &queue(
    Ids {
        push: deque::PUSH_BACK,
        pop: deque::POP_FRONT,
        peek: deque::FRONT,
        len: deque::LEN,
        is_empty: deque::IS_EMPTY,
        clear: deque::CLEAR,
    },
    whole::remaining_capacity,
);

const PRIORITY_QUEUE: &[Signature] = &queue(
    Ids {
        push: priority_queue::PUSH,
        pop: priority_queue::POP,
        peek: priority_queue::PEEK,
        len: priority_queue::LEN,
        is_empty: priority_queue::IS_EMPTY,
        clear: priority_queue::CLEAR,
    },
    whole::unlimited_capacity,
);

const DEQUE: &[Signature] = &[
    changes("addFirst", &[Any], Method(deque::PUSH_FRONT, Nothing)),
    changes("addLast", &[Any], Method(deque::PUSH_BACK, Nothing)),
    changes("offerFirst", &[Any], Method(deque::PUSH_FRONT, True)),
    changes("offerLast", &[Any], Method(deque::PUSH_BACK, True)),
    changes("pollFirst", &[], Method(deque::POP_FRONT, OR_NULL)),
    changes("pollLast", &[], Method(deque::POP_BACK, OR_NULL)),
    changes("removeFirst", &[], Method(deque::POP_FRONT, OR_EMPTY)),
    changes("removeLast", &[], Method(deque::POP_BACK, OR_EMPTY)),
    changes("removeFirstOccurrence", &[Any], Whole(whole::remove_first)),
    changes("removeLastOccurrence", &[Any], Whole(whole::remove_last)),
    reads("peekFirst", &[], Method(deque::FRONT, OR_NULL)),
    reads("peekLast", &[], Method(deque::BACK, OR_NULL)),
    reads("getFirst", &[], Method(deque::FRONT, OR_EMPTY)),
    reads("getLast", &[], Method(deque::BACK, OR_EMPTY)),
];

const STACK: &[Signature] = &[
    changes("push", &[Any], Method(stack::PUSH, Nothing)),
    changes("pop", &[], Method(stack::POP, OR_NULL)),
    changes("clear", &[], Method(stack::CLEAR, Nothing)),
    reads("peek", &[], Method(stack::PEEK, OR_NULL)),
    reads("contains", &[Any], Whole(whole::contains)),
    reads("size", &[], Method(stack::LEN, Same)),
    reads("isEmpty", &[], Method(stack::IS_EMPTY, Same)),
    reads("toArray", &[], Whole(whole::to_array)),
    reads("toString", &[], Whole(whole::to_string)),
];

const COUNTER: &[Signature] = &[
    reads("get", &[], Method(counter::LOAD, Same)),
    changes("set", &[Shape::Amount], Method(counter::STORE, Nothing)),
    changes("add", &[Shape::Amount], Method(counter::FETCH_ADD, Nothing)),
    changes("increment", &[], Amount(counter::FETCH_ADD, 1, Nothing)),
    changes("decrement", &[], Amount(counter::FETCH_SUB, 1, Nothing)),
    changes("addAndGet", &[Shape::Amount], Method(counter::FETCH_ADD, New)),
    changes("getAndAdd", &[Shape::Amount], Method(counter::FETCH_ADD, Same)),
    changes("incrementAndGet", &[], Amount(counter::FETCH_ADD, 1, New)),
    changes("getAndIncrement", &[], Amount(counter::FETCH_ADD, 1, Same)),
    changes("decrementAndGet", &[], Amount(counter::FETCH_SUB, 1, New)),
    changes("getAndDecrement", &[], Amount(counter::FETCH_SUB, 1, Same)),
];

const REGISTER: &[Signature] = &[
    reads("read", &[], Method(register::LOAD, Same)),
    changes("write", &[Any], Method(register::STORE, Nothing)),
    // `compare_exchange` would make two allocations for content that no caller asks for here.
    changes("cas", &[Any, Any], Whole(whole::compare_and_set)),
];

const KEYED_TEXT: &[Signature] = &[
    reads("get", &[Key], Method(keyed_text::GET, Same)).on_key(),
    changes("put", &[Key, Text], Method(keyed_text::PUT, Nothing)).on_key(),
    changes("append", &[Key, Text], Method(keyed_text::APPEND, Nothing)).on_key(),
];
