use interloper_linearize::general::Budget;
use interloper_linearize::generate::{Calls, Workload, correct};
use interloper_linearize::recording::check;
use interloper_linearize::types::type_named;
use interloper_random::{Purpose, Stream};

use super::*;

fn written(recording: &Recording) -> String {
    let mut text = Vec::new();
    write(recording, &mut text).expect("memory can be written to");
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn read(bytes: &[u8], data_type: &DataType) -> Result<Recorded, Malformed> {
    let mut reader = Reader::new(data_type);
    reader.read(bytes)?;
    reader.finish()
}

fn parse(name: &str, text: &str) -> Result<Recorded, Malformed> {
    read(text.as_bytes(), type_named(name).expect("a type"))
}

#[test]
fn what_is_written_is_read() {
    for calls in [Calls::Register { values: 2 }, Calls::KeyedText { keys: 2 }, Calls::Queue, Calls::Set] {
        let workload = Workload { calls, processes: 3, length: 40, pending: 100 };
        let recording = correct(&workload, &mut Stream::new(3, Purpose::History, 0));
        let read = read(written(&recording).as_bytes(), calls.data_type()).expect("what was written");
        assert_eq!(read.recording.history, recording.history);
        for (read, written) in read.recording.calls.iter().zip(&recording.calls) {
            assert_eq!((read.process, &read.invocation), (written.process, &written.invocation));
            // No result is written as null.
            let result = written.result.clone().map(|result| if result == Value::Unit { Value::None } else { result });
            assert_eq!(read.result, result);
        }
        assert_eq!(read.lines.len(), recording.calls.len());
    }
}

/// Keeps only the length of the longest piece, and is full after `room` bytes.
struct Pieces {
    room: usize,
    longest: usize,
    whole: usize,
}

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.whole + piece.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        (self.longest, self.whole) = (self.longest.max(piece.len()), self.whole + piece.len());
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_history_is_written_piece_by_piece() {
    let workload = Workload { calls: Calls::Queue, processes: 3, length: 1_000, pending: 0 };
    let recording = correct(&workload, &mut Stream::new(3, Purpose::History, 0));
    let text = written(&recording);
    let line = text.lines().map(|line| line.len() + 1).max().expect("there are lines");
    let mut pieces = Pieces { room: text.len(), longest: 0, whole: 0 };
    write(&recording, &mut pieces).expect("there is room");
    assert_eq!(pieces.whole, text.len());
    assert!(pieces.longest <= line, "{} bytes at once, and no line has more than {line}", pieces.longest);
    // A full reader receives no more pieces.
    let mut full = Pieces { room: text.len() / 2, longest: 0, whole: 0 };
    let error = write(&recording, &mut full).expect_err("there is no room");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(full.whole > text.len() / 2 - line);
}

#[test]
fn it_does_not_matter_where_pieces_end() {
    let workload = Workload { calls: Calls::KeyedText { keys: 2 }, processes: 3, length: 6, pending: 100 };
    let text = format!("\u{feff}{}", written(&correct(&workload, &mut Stream::new(4, Purpose::History, 0))));
    let kv = type_named("kv").expect("a type");
    let whole = read(text.as_bytes(), kv).expect("what was written");
    for size in [1, 2, 3, 7, 64] {
        let mut reader = Reader::new(kv);
        text.as_bytes().chunks(size).for_each(|piece| reader.read(piece).expect("what was written"));
        let pieces = reader.finish().expect("what was written");
        assert_eq!((pieces.recording, pieces.lines), (whole.recording.clone(), whole.lines.clone()));
    }
    // A mistake has the number of its line there, too.
    let mut reader = Reader::new(kv);
    let wrong = format!("{text}\n\n[]");
    wrong.as_bytes().chunks(3).for_each(|piece| reader.read(piece).expect("the last line has not ended"));
    let lines = wrong.lines().count();
    assert_eq!(reader.finish().expect_err("no event").line, lines);
}

#[test]
fn a_line_without_an_end() {
    let mut reader = Reader::new(type_named("register").expect("a type"));
    reader.read(b"\n").expect("an empty line");
    let piece = vec![b' '; 1 << 20];
    let last = (0..100).find_map(|count| reader.read(&piece).err().map(|malformed| (count, malformed)));
    let (count, malformed) = last.expect("it is too long");
    assert_eq!((count, malformed.line), (64, 2));
    assert_eq!(malformed.reason, "the line has more than 64 MiB; each event is one line");
}

#[test]
fn endings_of_calls() {
    let text = "{\"process\":0,\"type\":\"invoke\",\"call\":\"cas\",\"args\":[1,2]}\r\n\
                {\"process\":1,\"type\":\"invoke\",\"call\":\"write\",\"args\":[1],\"time\":5}\r\n\r\n\
                {\"process\":0,\"type\":\"return\",\"value\":true}\r\n\
                {\"process\":1,\"type\":\"fail\"}\r\n\
                {\"process\":0,\"type\":\"invoke\",\"call\":\"read\"}\r\n\
                {\"process\":0,\"type\":\"unknown\"}\r\n\
                {\"process\":0,\"type\":\"invoke\",\"call\":\"read\",\"args\":[]}";
    let read = parse("register", text).expect("events");
    let calls: Vec<String> = read.recording.calls.iter().map(|call| call.invocation.to_string()).collect();
    assert_eq!(calls, ["cas(1, 2)", "read()", "read()"]);
    let results: Vec<&Option<Value>> = read.recording.calls.iter().map(|call| &call.result).collect();
    assert_eq!(results, [&Some(Value::Bool(true)), &None, &None]);
    let lines = |invoked, returned| Lines { invoked, returned };
    assert_eq!(read.lines, [lines(1, Some(4)), lines(6, None), lines(8, None)]);
    for empty in ["", "\n\n", "\u{feff}"] {
        assert_eq!(parse("register", empty).expect("no events").recording, Recording::default());
    }
}

#[test]
fn ends_of_the_only_call_that_is_open() {
    let invoke = |process: i64| format!("{{\"process\":{process},\"type\":\"invoke\",\"call\":\"read\"}}\n");
    let end = |kind: &str| format!("{{\"type\":\"{kind}\",\"value\":null}}\n");
    let text = [invoke(3), end("return"), invoke(4), end("fail"), invoke(5), end("unknown"), invoke(6)].concat();
    let read = parse("register", &text).expect("events");
    let calls: Vec<(Process, bool)> =
        read.recording.calls.iter().map(|call| (call.process, call.result.is_some())).collect();
    assert_eq!(calls, [(3, true), (5, false), (6, false)]);
    // No process is in a call, or several are.
    for text in [end("return"), [invoke(1), end("return"), end("return")].concat()] {
        assert_eq!(parse("register", &text).expect_err("no process").reason, "\"process\" is missing");
    }
    let malformed = parse("register", &[invoke(1), invoke(2), end("return")].concat()).expect_err("two processes");
    assert_eq!((malformed.line, malformed.reason.as_str()), (3, "\"process\" is missing"));
}

#[test]
fn maps_are_pairs_or_objects() {
    let check = |argument: &str, expected: &str| {
        let text = format!("{{\"process\":0,\"type\":\"invoke\",\"call\":\"putAll\",\"args\":[{argument}]}}");
        let read = parse("map", &text).map_err(|malformed| malformed.reason);
        let shown = read.map(|read| read.recording.calls[0].invocation.to_string()).unwrap_or_else(|reason| reason);
        assert_eq!(shown, expected);
    };
    check("[[0,1],[1,0]]", "putAll({0=1, 1=0})");
    check("{\"0\":1,\"-7\":0,\"07\":2}", "putAll({-7=0, 0=1, \"07\"=2})");
    check("[[0]]", "[0] is not a pair of a key and a value");
    check("3", "in map: argument 1 of putAll is a map such as {0=1}, not 3");
}

#[test]
fn malformed_lines_have_a_number_and_a_reason() {
    let check = |line: &str, reason: &str| {
        let malformed = parse("register", &format!("\n{line}\n")).expect_err(line);
        assert_eq!((malformed.line, malformed.reason.as_str()), (2, reason), "{line}");
    };
    check("{\"process\":0", "not JSON: EOF while parsing an object, at column 12");
    check("read", "not JSON: expected value, at column 1");
    check("[]", "a line holds one object: { … }");
    check("{} {}", "not JSON: trailing characters, at column 4");
    check("{}", "\"process\" is missing");
    check("{\"process\":-0}", "\"type\" is missing");
    check("{\"process\":0.5}", "\"process\" is 0.5, which is not an integer");
    check("{\"process\":\"a\"}", "\"process\" is \"a\", which is not an integer");
    check("{\"process\":0}", "\"type\" is missing");
    check("{\"process\":0,\"type\":3}", "\"type\" is 3, which is not a string");
    check(
        "{\"process\":0,\"type\":\"ok\"}",
        "\"type\" is \"ok\"; the types are \"invoke\", \"return\", \"unknown\", \"fail\"",
    );
    check("{\"process\":0,\"type\":\"invoke\"}", "\"call\" is missing");
    check("{\"process\":0,\"type\":\"invoke\",\"call\":1}", "\"call\" is 1, which is not a string");
    check("{\"process\":0,\"type\":\"invoke\",\"call\":\"read\",\"args\":1}", "\"args\" is 1, which is not an array");
    check("{\"process\":0,\"type\":\"invoke\",\"call\":\"write\",\"args\":[1.5]}", "1.5 is not a 64-bit integer");
    check("{\"process\":0,\"type\":\"invoke\",\"call\":\"write\"}", "in register: write takes 1 argument, not 0");
    check(
        "{\"process\":0,\"type\":\"invoke\",\"call\":\"pop\"}",
        "in register: there is no method pop; there are cas, read, write",
    );
    check("{\"process\":7,\"type\":\"return\",\"value\":1}", "process 7 has no open call that could end here");
    check("{\"process\":7,\"type\":\"return\"}", "\"value\" is missing; write null when the call returned nothing");
    check("{\"process\":7,\"type\":\"unknown\"}", "process 7 has no open call that could end here");
    check("{\"process\":7,\"type\":\"fail\"}", "process 7 has no open call that could end here");
    let twice = "{\"process\":0,\"type\":\"invoke\",\"call\":\"read\"}\n".repeat(2);
    let malformed = parse("register", &twice).expect_err("in a call");
    assert_eq!(malformed.line, 2);
    assert_eq!(malformed.reason, "process 0 makes a call before its last call returned");
    let malformed = read(b"{\"a\":\"\xFF\"}", type_named("register").expect("a type")).expect_err("no text");
    assert_eq!((malformed.line, malformed.reason.as_str()), (1, "byte 7 is not UTF-8"));
    let deep = "[".repeat(100_000);
    assert!(parse("register", &deep).expect_err("deep").reason.starts_with("not JSON: recursion limit exceeded"));
}

/// Bytes with a few random changes: some taken away, doubled, exchanged, turned or put in.
fn damaged(bytes: &[u8], random: &mut Stream) -> Vec<u8> {
    const PIECES: [&str; 16] = [
        "\n",
        "\"",
        "{",
        "}",
        "[",
        "]",
        "null",
        "-0",
        "1e999",
        "99999999999999999999",
        "\\ud800",
        "\u{feff}",
        "\\",
        ",",
        "{\"process\":0,\"type\":\"unknown\"}\n",
        "{\"type\":\"return\",\"value\":{\"error\":\"\\u001b\"}}\n",
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.index(3) {
        let at = random.index(bytes.len() + 1);
        let end = (at + 1 + random.index(60)).min(bytes.len());
        match random.index(9) {
            0 => drop(bytes.drain(at.min(end)..end)),
            1 => {
                let doubled = bytes[at.min(end)..end].to_vec();
                drop(bytes.splice(at..at, doubled));
            }
            2 if !bytes.is_empty() => {
                let (one, other) = (random.index(bytes.len()), random.index(bytes.len()));
                bytes.swap(one, other);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << random.index(8),
            4 | 5 => {
                // Two lines change places.
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                let (one, other) = (random.index(lines.len().max(1)), random.index(lines.len().max(1)));
                if !lines.is_empty() {
                    lines.swap(one, other);
                }
                bytes = lines.concat();
            }
            6 | 7 => {
                // Another digit.
                if let Some(digit) = bytes[at.min(end)..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                    *digit = b'0' + random.index(10) as u8;
                }
            }
            _ => drop(bytes.splice(at..at, PIECES[random.index(PIECES.len())].bytes())),
        }
    }
    bytes
}

/// What is read of damaged histories can be judged and written, and nothing takes much memory.
#[test]
fn damaged_histories() {
    let kinds = [
        Calls::Register { values: 3 },
        Calls::KeyedText { keys: 2 },
        Calls::Map { keys: 2 },
        Calls::Queue,
        Calls::Set,
        Calls::Counter,
        Calls::PriorityQueue,
        Calls::Stack,
    ];
    let mut random = Stream::new(5, Purpose::History, 0);
    let (mut good, mut bad) = (0, 0);
    for round in 0..6_000 {
        let calls = kinds[round % kinds.len()];
        let workload = Workload { calls, processes: 3, length: 12, pending: 50 };
        let text = written(&correct(&workload, &mut random));
        let bytes = damaged(text.as_bytes(), &mut random);
        match read(&bytes, calls.data_type()) {
            Ok(recorded) => {
                good += 1;
                assert_eq!(recorded.lines.len(), recorded.recording.calls.len());
                let checked = check(calls.data_type(), &recorded.recording, Budget::StopAfter(2_000));
                assert!(checked.is_ok(), "each call was looked at when it was read");
                let again = read(written(&recorded.recording).as_bytes(), calls.data_type());
                assert_eq!(again.expect("what was written").lines.len(), recorded.lines.len());
            }
            Err(malformed) => {
                bad += 1;
                let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
                assert!((1..=lines).contains(&malformed.line) && !malformed.reason.is_empty());
            }
        }
    }
    assert!(good > 300 && bad > 300, "{good} good, {bad} bad");
    // The most memory that this process has had.
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says it");
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kilobytes < 1 << 20, "{kilobytes} kB");
    }
}
