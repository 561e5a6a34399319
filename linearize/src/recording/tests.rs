use super::*;
use crate::general::{Bound, Budget, Progress, Verdict, Witness};
use crate::generate::{Calls, Workload, correct, corrupt};
use crate::schema::Schema;
use crate::types::{DataType, Signature, Unresolved, type_named};
use interloper_random::{Purpose, Stream};

/// A history as text, a line for each process and a character for each moment: a call is written from its invocation to
/// its return, `call → result` in angle brackets. `<put(1,2) → 3>`, or `<put(1,2)` for a pending call.
fn recorded(lines: &[&str]) -> Recording {
    let mut events: Vec<(usize, Process, Event)> = Vec::new();
    for (process, line) in (0..).zip(lines) {
        let letters: Vec<char> = line.chars().collect();
        let mut start = 0;
        while let Some(open) = (start..letters.len()).find(|&place| letters[place] == '<') {
            let close = (open..letters.len()).find(|&place| letters[place] == '>');
            let text: String = letters[open + 1..close.unwrap_or(letters.len())].iter().collect();
            let (call, result) = match text.split_once('→') {
                Some((call, result)) => (call.trim(), Some(result.trim())),
                None => (text.trim(), None),
            };
            let schema = Schema::parse(&format!("{{ {call} }}")).expect("a call");
            events.push((open, process, Event::Invoke(schema.sequences()[0][0].clone())));
            if let (Some(close), Some(result)) = (close, result) {
                events.push((close, process, Event::Return(value(result))));
            }
            start = close.unwrap_or(letters.len());
        }
    }
    events.sort_by_key(|(place, process, _)| (*place, *process));
    let mut recorder = Recorder::new();
    for (_, process, event) in events {
        match event {
            Event::Invoke(invocation) => recorder.invoke(process, invocation).expect("idle"),
            Event::Return(result) => recorder.returned(process, result).expect("busy"),
        }
    }
    recorder.finish()
}

enum Event {
    Invoke(Invocation),
    Return(Value),
}

fn value(text: &str) -> Value {
    let schema = Schema::parse(&format!("{{ f({text}) }}")).expect("a value");
    schema.sequences()[0][0].arguments[0].clone()
}

fn checked(name: &str, lines: &[&str]) -> Checked {
    check(type_named(name).expect("a type"), &recorded(lines), Budget::Unlimited).expect("calls of the type")
}

/// The history is linearizable in this order.
fn accept(name: &str, lines: &[&str], order: &[usize], checker: Checker, parts: usize) {
    let verdict = Verdict::Linearizable { order: order.to_vec() };
    assert_eq!(checked(name, lines), Checked { verdict, checker, parts });
}

/// The history is not linearizable: the first call that cannot return, and the longest linearization before it.
fn refuse(name: &str, lines: &[&str], stuck: usize, longest: &[usize], checker: Checker, parts: usize) {
    let verdict = Verdict::NotLinearizable(Witness { stuck: Some(stuck), longest: vec![longest.to_vec()] });
    assert_eq!(checked(name, lines), Checked { verdict, checker, parts });
}

#[test]
fn events_in_order() {
    let mut recorder = Recorder::new();
    let call = |text: &str| Invocation::new(text, []);
    assert_eq!(recorder.returned(1, Value::None), Err(Misplaced::Idle(1)));
    recorder.invoke(1, call("a")).expect("idle");
    assert_eq!(recorder.invoke(1, call("b")), Err(Misplaced::Busy(1)));
    recorder.invoke(2, call("c")).expect("idle");
    recorder.failed(1).expect("busy");
    recorder.invoke(1, call("d")).expect("idle");
    recorder.unknown(2).expect("busy");
    recorder.invoke(2, call("e")).expect("idle");
    recorder.returned(1, Value::Int(3)).expect("busy");
    let recording = recorder.finish();
    let names: Vec<(&str, Process, Option<Value>)> =
        recording.calls.iter().map(|call| (&*call.invocation.method, call.process, call.result.clone())).collect();
    assert_eq!(names, [("c", 2, None), ("d", 1, Some(Value::Int(3))), ("e", 2, None)]);
    let interval = |invoked, returned| Interval { invoked, returned };
    assert_eq!(recording.history.calls(), [interval(1, None), interval(2, Some(4)), interval(3, None)]);
}

#[test]
fn registers() {
    accept(
        "register",
        &["<write(1) → null>    <read() → 2>", "     <write(2)→null>"],
        &[0, 1, 2],
        Checker::Distinct,
        1,
    );
    let stale = ["<write(1) → null>                     <read() → 1>", "                    <write(2) → null>"];
    refuse("register", &stale, 2, &[0, 1], Checker::Distinct, 1);
    // With a cas it takes the search.
    accept("register", &["<write(1) → null> <cas(1,2) → true> <read() → 2>"], &[0, 1, 2], Checker::General, 1);
    refuse("register", &["<write(1) → null> <cas(2,3) → true>"], 1, &[0], Checker::General, 1);
    // Pending calls may or may not have taken effect.
    accept("register", &["<write(1)", "          <read() → 1> <read() → 1>"], &[0, 1, 2], Checker::Distinct, 1);
    accept("register", &["<write(1)", "          <read() → null>"], &[1], Checker::Distinct, 1);
    refuse("register", &["<write(1)", "      <read() → 1> <read() → null>"], 2, &[0, 1], Checker::Distinct, 1);
    accept("register", &["<cas(null,1)", "             <read() → 1>"], &[0, 1], Checker::General, 1);
}

#[test]
fn entries_of_a_map_are_judged_apart() {
    let good = [
        "<put(1,5) → null>     <get(2) → 6>                     <remove(1) → 5>",
        "          <put(2,6) → null>         <get(1) → 5>",
    ];
    accept("map", &good, &[0, 1, 2, 3, 4], Checker::General, 2);
    let bad = ["<put(1,5) → null>                <get(1) → 5>", "             <put(2,6) → 7>"];
    refuse("map", &bad, 1, &[], Checker::General, 2);
    // A call about the whole map: one part.
    refuse("map", &["<put(1,5) → null> <put(2,5) → null> <size() → 1>"], 2, &[0, 1], Checker::General, 1);
    accept("map", &["<put(1,5) → null> <put(2,5) → null> <size() → 2>"], &[0, 1, 2], Checker::General, 1);
}

#[test]
fn the_violation_that_is_seen_first_is_reported() {
    let bad = ["<get(1) → \"a\">                <get(2) → \"b\">", "               <get(3) → \"c\">"];
    refuse("kv", &bad, 0, &[], Checker::Distinct, 3);
    let bad = ["<get(1) → 1>                <get(2) → 2>", "               <get(3) → 3>"];
    refuse("map", &bad, 0, &[], Checker::General, 3);
    let good = ["<append(1,\"a\") → null> <append(1,\"b\") → null> <get(1) → \"ab\"> <get(2) → \"\">"];
    accept("kv", &good, &[0, 1, 2, 3], Checker::Distinct, 2);
}

#[test]
fn collections() {
    let both = |name: &str, first: i64, second: i64, good: bool| {
        let text = format!("<ADD(1)→()> <ADD(2)→()> <TAKE()→{first}> <TAKE()→{second}> <TAKE()→null>");
        let (add, take) = if name == "stack" { ("push", "pop") } else { ("enqueue", "dequeue") };
        let text = text.replace("ADD", add).replace("TAKE", take).replace("()>", "null>");
        if good {
            accept(name, &[&text], &[0, 1, 2, 3, 4], Checker::Distinct, 1);
        } else {
            refuse(name, &[&text], 2, &[0, 1], Checker::Distinct, 1);
        }
    };
    both("queue", 1, 2, true);
    both("queue", 2, 1, false);
    both("stack", 2, 1, true);
    both("stack", 1, 2, false);
    both("priority-queue", 1, 2, true);
    both("priority-queue", 2, 1, false);
    // The order of values counts, not the order in which they were met.
    accept(
        "priority-queue",
        &["<offer(2)→true> <offer(1)→true> <poll()→1> <poll()→2>"],
        &[0, 1, 2, 3],
        Checker::Distinct,
        1,
    );
    // A value twice, or a method that looks at more: the search.
    accept("queue", &["<offer(1)→true> <offer(1)→true> <poll()→1> <poll()→1>"], &[0, 1, 2, 3], Checker::General, 1);
    accept("queue", &["<offer(1)→true> <peek()→1> <poll()→1>"], &[0, 1, 2], Checker::General, 1);
    refuse("queue", &["<offer(1)→true> <peek()→null> <poll()→1>"], 1, &[0], Checker::General, 1);
    // A pending removal that may have taken a value.
    accept(
        "queue",
        &["<offer(1)→true> <poll()", "                      <poll()→null>"],
        &[0, 1, 2],
        Checker::Distinct,
        1,
    );
    let early = ["<offer(1)→true> <poll()→null> <poll()"];
    refuse("queue", &early, 1, &[0], Checker::Distinct, 1);
    accept("queue", &["<peek() ", "        <poll()→null>"], &[1], Checker::Distinct, 1);
}

#[test]
fn sets() {
    accept(
        "set",
        &["<add(1)→true> <contains(1)→true> <remove(1)→true> <contains(1)→false>"],
        &[0, 1, 2, 3],
        Checker::Distinct,
        1,
    );
    // Only the element that was added twice needs the search.
    let twice = ["<add(1)→true> <remove(1)→true> <add(1)→true> <add(2)→true> <remove(1)→true> <contains(2)→true>"];
    accept("set", &twice, &[0, 1, 2, 3, 4, 5], Checker::Both, 2);
    refuse("set", &["<add(1)→true> <remove(1)→true> <add(1)→true> <add(1)→true>"], 3, &[0, 1, 2], Checker::General, 1);
    refuse("set", &["<add(1)→true> <size()→0>"], 1, &[0], Checker::General, 1);
}

#[test]
fn counters() {
    accept("counter", &["<increment()→null>  <get()→2>", "    <addAndGet(1)→2>"], &[0, 1, 2], Checker::General, 1);
    refuse("counter", &["<increment()→null>   <get()→1>", "    <addAndGet(1)→2>"], 2, &[0, 1], Checker::General, 1);
}

#[test]
fn calls_that_the_type_does_not_have() {
    let recording = recorded(&["<read() → null> <fly(1) → null>"]);
    let (index, reason) =
        check(type_named("register").expect("a type"), &recording, Budget::Unlimited).expect_err("fly");
    assert_eq!(index, 1);
    assert!(matches!(reason, Unresolved::Method { ref name, .. } if name == "fly"));
}

/// On each of some keys of a `kv`, `width` puts overlap and the read after them sees none of their texts: hard to refute, as
/// each text is the beginning of the next one. Then there are reads of other keys.
fn hard_parts(keys: &[i64], width: i64, others: &[(i64, &str)]) -> Recording {
    let mut recorder = Recorder::new();
    let read = |recorder: &mut Recorder, key: i64, seen: &str| {
        recorder.invoke(0, Invocation::new("get", [Value::Int(key)])).expect("idle");
        recorder.returned(0, Value::text(seen)).expect("busy");
    };
    for &key in keys {
        for process in 0..width {
            let text = Value::text("a".repeat(process as usize + 1));
            recorder.invoke(process, Invocation::new("put", [Value::Int(key), text])).expect("idle");
        }
        for process in 0..width {
            recorder.returned(process, Value::None).expect("busy");
        }
        read(&mut recorder, key, "x");
    }
    others.iter().for_each(|(key, seen)| read(&mut recorder, *key, seen));
    recorder.finish()
}

#[test]
fn a_part_without_an_answer() {
    let kv = type_named("kv").expect("a type");
    let verdict = |others: &[(i64, &str)], attempts| {
        let recording = hard_parts(&[1], 20, others);
        check(kv, &recording, Budget::StopAfter(attempts)).expect("calls of kv").verdict
    };
    assert_eq!(verdict(&[(2, "")], 5000), Verdict::Unknown(Bound::Attempts));
    // A violation elsewhere is known nevertheless.
    let witness = Witness { stuck: Some(21), longest: vec![vec![]] };
    assert_eq!(verdict(&[(2, "y")], 5000), Verdict::NotLinearizable(witness.clone()));
    // Or when the memory is used up.
    for (others, expected) in
        [(&[(2, "")], Verdict::Unknown(Bound::Memory)), (&[(2, "y")], Verdict::NotLinearizable(witness))]
    {
        let recording = hard_parts(&[1], 20, others);
        let mut search = Search::new(kv, &recording).expect("calls of kv");
        search.set_memory(100_000);
        let Progress::Done(checked) = search.advance(u64::MAX) else { panic!("it has ended") };
        assert_eq!(checked.verdict, expected);
    }
}

/// Ten parts that the search cannot finish, and one that takes longer than a turn of the first round, but not long.
#[test]
fn parts_take_turns() {
    let hard: Vec<i64> = (0..10).collect();
    let mut recording = hard_parts(&hard, 30, &[]);
    let easier = hard_parts(&[10], 9, &[]);
    let shift = 10_000;
    let mut intervals = recording.history.calls().to_vec();
    intervals.extend(easier.history.calls().iter().map(|interval| Interval {
        invoked: interval.invoked + shift,
        returned: interval.returned.map(|returned| returned + shift),
    }));
    recording.calls.extend(easier.calls.iter().cloned());
    recording.history = History::from_intervals(intervals).expect("a history");
    let kv = type_named("kv").expect("a type");
    let alone = {
        let mut search = Search::new(kv, &easier).expect("calls of kv");
        let mut attempts = 0;
        while search.advance(1) == Progress::Going {
            attempts += 1;
        }
        attempts
    };
    assert!(alone > 2_000, "{alone}");
    let verdict = |attempts| check(kv, &recording, Budget::StopAfter(attempts)).expect("calls of kv").verdict;
    let Verdict::NotLinearizable(witness) = verdict(10 * 4 * alone) else { panic!("one part is refuted") };
    let key = &recording.calls[witness.stuck.expect("a call is stuck")].invocation.arguments[0];
    assert_eq!(*key, Value::Int(10));
    assert_eq!(verdict(alone), Verdict::Unknown(Bound::Attempts));
    // The steps make no difference.
    let mut search = Search::new(kv, &recording).expect("calls of kv");
    let checked = loop {
        if let Progress::Done(checked) = search.advance(777) {
            break checked;
        }
    };
    assert_eq!(checked.verdict, Verdict::NotLinearizable(witness));
}

/// With 50,000 parts, nothing that takes time in the square of their number would end.
#[test]
fn many_parts() {
    let keys = 50_000;
    let mut recorder = Recorder::new();
    for key in 0..keys {
        for (method, arguments, result) in
            [("put", vec![Value::Int(key), Value::Int(1)], Value::None), ("get", vec![Value::Int(key)], Value::Int(1))]
        {
            recorder.invoke(0, Invocation::new(method, arguments)).expect("idle");
            recorder.returned(0, result).expect("busy");
        }
    }
    let recording = recorder.finish();
    let checked = check(type_named("map").expect("a type"), &recording, Budget::Unlimited).expect("calls of map");
    let order = (0..2 * keys as usize).collect();
    assert_eq!(checked.verdict, Verdict::Linearizable { order });
    assert_eq!((checked.parts, checked.checker), (keys as usize, Checker::General));
}

#[test]
fn calls_that_return_nothing() {
    // However "nothing" is written.
    for nothing in ["null", "\"()\""] {
        let nothing = |text: &str| text.replace("NOTHING", nothing);
        accept("register", &[&nothing("<write(1) → NOTHING> <read() → 1>")], &[0, 1], Checker::Distinct, 1);
        accept("register", &[&nothing("<write(1) → NOTHING> <cas(1,2) → true>")], &[0, 1], Checker::General, 1);
        accept("kv", &[&nothing("<put(1,\"a\") → NOTHING> <get(1) → \"a\">")], &[0, 1], Checker::Distinct, 1);
        accept("kv", &[&nothing("<append(1,\"\") → NOTHING> <get(1) → \"\">")], &[0, 1], Checker::General, 1);
        accept("queue", &[&nothing("<put(1) → NOTHING> <poll() → 1>")], &[0, 1], Checker::Distinct, 1);
    }
    // A result is a result, and nothing is not a text.
    refuse("register", &["<write(1) → 0>"], 0, &[], Checker::General, 1);
    refuse("kv", &["<put(1,\"a\") → \"a\">"], 0, &[], Checker::General, 1);
    refuse("register", &["<read() → \"()\">"], 0, &[], Checker::Distinct, 1);
}

/// A type of which only the behaviour of its calls is known.
fn opaque(data_type: &DataType) -> DataType {
    let methods: Vec<Signature> =
        data_type.methods().map(|signature| Signature { keyed: false, ..*signature }).collect();
    DataType { methods: Vec::leak(vec![&*methods.leak()]), family: None, ..*data_type }
}

/// The verdict, and how far a linearization gets.
fn reached(data_type: &DataType, recording: &Recording) -> (bool, Option<usize>) {
    match check(data_type, recording, Budget::Unlimited).expect("calls of the type").verdict {
        Verdict::Linearizable { .. } => (true, None),
        Verdict::NotLinearizable(witness) => (false, witness.stuck),
        Verdict::Unknown(_) => panic!("there is no budget"),
    }
}

#[test]
fn what_is_known_of_a_type_changes_no_verdict() {
    let mut random = Stream::new(5, Purpose::History, 0);
    let mut good = 0;
    for round in 0..300 {
        let calls = [Calls::Map { keys: 3 }, Calls::KeyedText { keys: 3 }][round % 2];
        let workload = Workload { calls, processes: 4, length: 30, pending: [0, 100][round / 2 % 2] };
        let mut recording = correct(&workload, &mut random);
        if round % 3 > 0 {
            corrupt(&mut recording, &mut random);
        }
        let data_type = calls.data_type();
        let opaque = opaque(data_type);
        let expected = reached(&opaque, &recording);
        good += usize::from(expected.0);
        assert_eq!(reached(data_type, &recording), expected);
        // Some gets become calls about the whole map, with a result that may be wrong.
        if matches!(calls, Calls::Map { .. }) {
            for call in recording.calls.iter_mut().filter(|call| &*call.invocation.method == "get") {
                if random.index(6) == 0 {
                    call.invocation = Invocation::new("size", []);
                    call.result = call.result.as_ref().map(|_| Value::Int(random.index(3) as i64));
                }
            }
            assert_eq!(reached(data_type, &recording), reached(&opaque, &recording));
        }
    }
    assert!(100 < good && good < 250, "{good}");
}
