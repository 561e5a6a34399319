use super::*;
use crate::schema::Schema;

/// Runs a sequence on a fresh object: `text` is `call → result; call → result; …`.
fn check(name: &str, text: &str) {
    let data_type = type_named(name).expect("a type");
    let mut state = data_type.initial();
    for line in text.split(';').map(str::trim).filter(|line| !line.is_empty()) {
        let (call, expected) = line.split_once(" → ").expect("a call and its result");
        let schema = Schema::parse(&format!("{{ {call} }}")).unwrap_or_else(|mistake| panic!("{mistake}"));
        let invocation = &schema.sequences()[0][0];
        let signature = data_type.resolve(&invocation.method, &invocation.arguments).expect("a call of the type");
        let before = state.clone();
        let result = data_type.apply(&mut state, &invocation.method, &invocation.arguments);
        assert_eq!(result.to_string(), expected, "{name}: {call} in {before}");
        assert!(!signature.reads || before == state, "{name}: {call} changes {before}");
    }
}

#[test]
fn maps() {
    for name in ["map", "sorted-map"] {
        check(
            name,
            "isEmpty() → true; get(1) → none; put(1,5) → none; put(1,6) → 5; putIfAbsent(1,7) → 6; putIfAbsent(0,4) → none;
             get(1) → 6; containsKey(0) → true; containsKey(2) → false; contains(4) → true; containsValue(5) → false;
             size() → 2; mappingCount() → 2; isEmpty() → false; keys() → [0, 1]; keySet() → [0, 1]; values() → [4, 6];
             elements() → [4, 6]; entrySet() → [(0, 4), (1, 6)]; toString() → \"{0=4, 1=6}\";
             replace(2,1) → none; replace(0,3) → 4; replace(0,4,9) → false; replace(0,3,9) → true; get(0) → 9;
             remove(0,3) → false; remove(0,9) → true; remove(0) → none; remove(1) → 6;
             putAll({0=1,1=0}) → (); entrySet() → [(0, 1), (1, 0)]; clear() → (); size() → 0; toString() → \"{}\"",
        );
    }
    check(
        "sorted-map",
        "firstKey() → error(\"empty\"); lastKey() → error(\"empty\"); pollFirstEntry() → none; ceilingKey(0) → none;
         putAll({1=10,3=30,5=50}) → (); firstKey() → 1; lastKey() → 5; ceilingKey(3) → 3; ceilingKey(4) → 5;
         ceilingKey(6) → none; floorKey(3) → 3; floorKey(2) → 1; floorKey(0) → none; higherKey(3) → 5; higherKey(5) → none;
         lowerKey(3) → 1; lowerKey(1) → none; headMap(3) → [(1, 10)]; tailMap(3) → [(3, 30), (5, 50)];
         subMap(1,5) → [(1, 10), (3, 30)]; subMap(5,1) → error(\"range\"); pollFirstEntry() → (1, 10);
         pollLastEntry() → (5, 50); keySet() → [3]",
    );
}

#[test]
fn sets() {
    for name in ["set", "sorted-set"] {
        check(
            name,
            "add(1) → true; add(1) → false; contains(1) → true; contains(0) → false; remove(0) → false; remove(1) → true;
             addAll([0,1]) → true; addAll([1]) → false; containsAll({0,1}) → true; containsAll({0,2}) → false; size() → 2;
             isEmpty() → false; toArray() → [0, 1]; toString() → \"[0, 1]\"; removeAll([1,2]) → true; removeAll({}) → false;
             retainAll([0]) → false; retainAll([]) → true; add(3) → true; clear() → (); isEmpty() → true",
        );
    }
    check(
        "sorted-set",
        "first() → error(\"empty\"); last() → error(\"empty\"); pollFirst() → none; pollLast() → none; floor(1) → none;
         addAll([1,3,5]) → true; first() → 1; last() → 5; ceiling(3) → 3; ceiling(4) → 5; ceiling(6) → none; floor(3) → 3;
         floor(2) → 1; higher(3) → 5; higher(5) → none; lower(3) → 1; lower(1) → none; headSet(3) → [1]; tailSet(3) → [3, 5];
         subSet(1,5) → [1, 3]; subSet(3,3) → []; subSet(5,1) → error(\"range\"); pollFirst() → 1; pollLast() → 5; toArray() → [3]",
    );
}

#[test]
fn queues() {
    for name in ["queue", "deque"] {
        check(
            name,
            "poll() → none; dequeue() → none; peek() → none; element() → error(\"empty\"); remove() → error(\"empty\");
             remainingCapacity() → 2147483647; offer(2) → true; add(1) → true; put(2) → (); enqueue(3) → (); peek() → 2;
             element() → 2; size() → 4; remainingCapacity() → 2147483643; toArray() → [2, 1, 2, 3]; toString() → \"[2, 1, 2, 3]\";
             contains(3) → true; containsAll([1,3]) → true; containsAll([1,4]) → false; remove(2) → true; remove(7) → false;
             toArray() → [1, 2, 3]; remove() → 1; poll() → 2; dequeue() → 3; addAll([]) → false; addAll([4,5,4]) → true;
             removeAll([4]) → true; removeAll([4]) → false; retainAll([5]) → false; retainAll([]) → true; isEmpty() → true;
             offer(1) → true; take() → 1; take() → error(\"blocks\"); offer(1) → true; clear() → (); isEmpty() → true",
        );
    }
    check(
        "deque",
        "pollFirst() → none; pollLast() → none; removeFirst() → error(\"empty\"); removeLast() → error(\"empty\");
         peekFirst() → none; peekLast() → none; getFirst() → error(\"empty\"); getLast() → error(\"empty\"); addFirst(2) → ();
         addLast(3) → (); offerFirst(1) → true; offerLast(4) → true; toArray() → [1, 2, 3, 4]; peekFirst() → 1; peekLast() → 4;
         getFirst() → 1; getLast() → 4; pollFirst() → 1; pollLast() → 4; removeFirst() → 2; removeLast() → 3;
         addAll([1,2,1,2,1]) → true; removeFirstOccurrence(1) → true; toArray() → [2, 1, 2, 1]; removeLastOccurrence(2) → true;
         toArray() → [2, 1, 1]; removeFirstOccurrence(7) → false; removeLastOccurrence(7) → false",
    );
    check(
        "priority-queue",
        "poll() → none; offer(2) → true; add(0) → true; put(1) → (); enqueue(0) → (); toArray() → [0, 0, 1, 2]; peek() → 0; poll() → 0;
         remove() → 0; dequeue() → 1; element() → 2; remainingCapacity() → 2147483647; addAll([3,1]) → true; toArray() → [1, 2, 3];
         remove(2) → true; retainAll([3]) → true; toArray() → [3]",
    );
}

#[test]
fn stacks_counters_registers_and_stores() {
    check(
        "stack",
        "pop() → none; peek() → none; push(1) → (); push(2) → (); peek() → 2; size() → 2; contains(1) → true; isEmpty() → false;
         toArray() → [1, 2]; toString() → \"[1, 2]\"; pop() → 2; clear() → (); pop() → none",
    );
    check(
        "counter",
        "get() → 0; increment() → (); add(5) → (); decrement() → (); get() → 5; addAndGet(2) → 7; getAndAdd(-3) → 7;
         incrementAndGet() → 5; getAndIncrement() → 5; decrementAndGet() → 5; getAndDecrement() → 5; get() → 4;
         set(9223372036854775807) → (); incrementAndGet() → -9223372036854775808",
    );
    check(
        "register",
        "read() → none; write(1) → (); read() → 1; cas(2,3) → false; cas(1,3) → true; read() → 3; write(null) → (); read() → none",
    );
    check(
        "kv",
        "get(\"x\") → \"\"; append(\"x\",\"a\") → (); append(\"x\",\"b\") → (); get(\"x\") → \"ab\"; put(\"x\",\"c\") → (); get(\"x\") → \"c\"; get(0) → \"\"",
    );
}

#[test]
fn a_text_prints_as_in_java() {
    check("set", "addAll([\"a\", null, true]) → true; toString() → \"[null, true, a]\"");
}

#[test]
fn every_method_of_every_type_can_be_called() {
    for data_type in types() {
        for signature in data_type.methods() {
            let argument = |shape: &Shape| match shape {
                Shape::Any | Shape::Key | Shape::Amount => Value::Int(0),
                Shape::Text => Value::text("a"),
                Shape::Elements => Value::list([Value::Int(0)]),
                Shape::Entries => Value::map([(Value::Int(0), Value::Int(0))]),
            };
            let arguments: Vec<Value> = signature.parameters.iter().map(argument).collect();
            let resolved = data_type.resolve(signature.name, &arguments).expect("a call of the type");
            assert!(std::ptr::eq(resolved, signature));
            let result = data_type.apply(&mut data_type.initial(), signature.name, &arguments);
            assert_ne!(result, Value::variant("refused", []), "{}.{}", data_type.name, signature.name);
        }
    }
}

#[test]
#[should_panic(expected = "in map: there is no method fly; there are clear, contains, ")]
fn a_call_that_was_not_resolved() {
    type_named("map").expect("a type").apply(&mut Value::map([]), "fly", &[Value::Int(1)]);
}

#[test]
fn observed_results() {
    let int = Value::Int;
    let check = |expected: &Value, observed: &Value, agreement| assert_eq!(agrees(expected, observed), agreement);
    check(&int(1), &int(1), true);
    check(&int(1), &int(2), false);
    check(&Value::Unit, &Value::None, true);
    check(&Value::Unit, &Value::text("()"), true);
    check(&Value::Unit, &Value::text("("), false);
    check(&Value::None, &Value::Unit, false);
    check(&Value::None, &Value::text("()"), false);
    let pairs = Value::list([Value::tuple([int(1), int(2)])]);
    check(&pairs, &Value::list([Value::list([int(1), int(2)])]), true);
    check(&pairs, &Value::list([Value::list([int(1), int(3)])]), false);
    check(&pairs, &Value::list([]), false);
    check(&pairs, &int(1), false);
}

#[test]
fn roles_follow_from_results() {
    let check = |name: &str, method: &str, arguments: &[Value], result: Option<Value>, expected: Role| {
        let data_type = type_named(name).expect("a type");
        let signature = data_type.resolve(method, arguments).expect("a call of the type");
        assert_eq!(data_type.role(signature, arguments, result.as_ref()), expected, "{name}.{method}");
    };
    let (one, yes, no) = (Value::Int(1), Some(Value::Bool(true)), Some(Value::Bool(false)));
    let x = std::slice::from_ref(&one);
    for name in ["queue", "priority-queue"] {
        check(name, "offer", x, yes.clone(), Role::Insert(one.clone()));
        check(name, "offer", x, no.clone(), Role::Other);
        check(name, "offer", x, None, Role::Insert(one.clone()));
        check(name, "enqueue", x, Some(Value::None), Role::Insert(one.clone()));
        check(name, "offer", &[Value::None], yes.clone(), Role::Other);
        check(name, "poll", &[], Some(one.clone()), Role::Remove(one.clone()));
        check(name, "poll", &[], Some(Value::None), Role::Empty);
        check(name, "remove", &[], Some(error("empty")), Role::Empty);
        check(name, "remove", x, yes.clone(), Role::Other);
        check(name, "poll", &[], None, Role::UnknownRemoval);
        check(name, "take", &[], Some(one.clone()), Role::Remove(one.clone()));
        check(name, "take", &[], Some(error("blocks")), Role::Other);
        check(name, "size", &[], None, Role::Nothing);
        check(name, "size", &[], Some(one.clone()), Role::Other);
    }
    check("stack", "push", x, Some(Value::Unit), Role::Insert(one.clone()));
    check("stack", "pop", &[], Some(Value::None), Role::Empty);
    check("stack", "pop", &[], None, Role::UnknownRemoval);
    check("set", "add", x, yes.clone(), Role::Insert(one.clone()));
    check("set", "add", x, no.clone(), Role::Find(one.clone()));
    check("set", "remove", x, no.clone(), Role::Miss(one.clone()));
    check("set", "contains", x, yes, Role::Find(one.clone()));
    check("set", "contains", x, no, Role::Miss(one.clone()));
    check("set", "add", x, None, Role::Unknown(one.clone()));
    check("set", "contains", x, None, Role::Nothing);
    check("register", "write", x, Some(Value::None), Role::Insert(one.clone()));
    check("register", "write", &[Value::None], Some(Value::None), Role::Other);
    check("register", "read", &[], Some(one.clone()), Role::Find(one.clone()));
    check("register", "read", &[], None, Role::Nothing);
    check("register", "cas", &[one.clone(), one.clone()], None, Role::Other);
    check("map", "put", &[one.clone(), one.clone()], None, Role::Other);
}
