//! Recorded histories as JSON Lines: one event in each line.
//!
//! ```text
//! {"process":0,"type":"invoke","call":"cas","args":[1,2]}
//! {"process":0,"type":"return","value":true}
//! ```
//!
//! Instead of a return there may be `{"process":0,"type":"unknown"}`, when the call may have taken effect or may do so
//! later, or `{"process":0,"type":"fail"}`, when it has not and never will. A call with no such line is as an unknown one.
//! Where only one process is in a call, the end of the call need not name it: `{"type":"return","value":true}`. Fields with
//! other names are ignored, and so are blank lines.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use interloper_commutativity::Value;
use interloper_linearize::recording::{Process, RecordedCall, Recorder, Recording};
use interloper_linearize::schema::Invocation;
use interloper_linearize::types::{DataType, Shape, resolve};
use serde_json::{Map, Value as Json};

use crate::values::{from_json, integer, to_json};

/// A recording with the lines that it was read from.
#[derive(Debug, Default)]
pub struct Recorded {
    pub recording: Recording,
    /// For each call of the recording its lines.
    pub lines: Vec<Lines>,
}

/// Where the events of a call stand, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    pub invoked: usize,
    /// Where it returned.
    pub returned: Option<usize>,
}

/// A line that is no event.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line, counted from 1.
    pub line: usize,
    pub reason: String,
}

/// How long a line may be, in bytes.
const LONGEST_LINE: usize = 64 << 20;

/// A history of calls of a type, read piece by piece.
pub struct Reader<'t> {
    data_type: &'t dyn DataType,
    recorder: Recorder,
    /// For each call so far its lines, and whether it happened.
    calls: Vec<(Lines, bool)>,
    /// The last call of each process.
    last: HashMap<Process, usize>,
    /// The processes that are in a call.
    open: BTreeSet<Process>,
    names: HashMap<String, Arc<str>>,
    /// How many lines have ended.
    ended: usize,
    /// The line that has not ended yet.
    rest: Vec<u8>,
}

impl<'t> Reader<'t> {
    /// Nothing is read yet.
    pub fn new(data_type: &'t dyn DataType) -> Self {
        Reader {
            data_type,
            recorder: Recorder::new(),
            calls: Vec::new(),
            last: HashMap::new(),
            open: BTreeSet::new(),
            names: HashMap::new(),
            ended: 0,
            rest: Vec::new(),
        }
    }

    /// Reads the next bytes, which may end anywhere.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut lines = bytes.split(|&byte| byte == b'\n');
        let mut text = lines.next().unwrap_or_default();
        for next in lines {
            if self.rest.is_empty() {
                self.line(text)?;
            } else {
                self.rest.extend_from_slice(text);
                let line = std::mem::take(&mut self.rest);
                self.line(&line)?;
            }
            text = next;
        }
        if self.rest.len() + text.len() > LONGEST_LINE {
            let reason = format!("it has more than {} MiB, and an event is one line", LONGEST_LINE >> 20);
            return Err(Malformed { line: self.ended + 1, reason });
        }
        self.rest.extend_from_slice(text);
        Ok(())
    }

    /// What was read so far; the last line need not have an end.
    pub fn finish(mut self) -> Result<Recorded, Malformed> {
        let rest = std::mem::take(&mut self.rest);
        self.line(&rest)?;
        Ok(self.recorded())
    }

    /// What the lines that have ended say.
    pub fn recorded(self) -> Recorded {
        let lines = self.calls.into_iter().filter_map(|(lines, happened)| happened.then_some(lines)).collect();
        Recorded { recording: self.recorder.finish(), lines }
    }

    fn line(&mut self, text: &[u8]) -> Result<(), Malformed> {
        self.ended += 1;
        let text = if self.ended == 1 { text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text) } else { text };
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        self.event(self.ended, text).map_err(|reason| Malformed { line: self.ended, reason })
    }

    fn event(&mut self, line: usize, text: &[u8]) -> Result<(), String> {
        let text =
            std::str::from_utf8(text).map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to() + 1))?;
        let json: Json = serde_json::from_str(text).map_err(|error| no_json(&error))?;
        let Json::Object(fields) = json else { return Err("a line holds one object: { … }".to_owned()) };
        let is_end = fields.get("type").is_some_and(|kind| kind != "invoke");
        let process = match fields.get("process") {
            None if is_end && self.open.len() == 1 => self.open.first().copied().expect("there is one"),
            None => return Err("\"process\" is missing".to_owned()),
            Some(process) => {
                let number = process.as_number().and_then(integer);
                number.ok_or_else(|| format!("\"process\" is {process}, which is no integer"))?
            }
        };
        match fields.get("type") {
            None => Err("\"type\" is missing".to_owned()),
            Some(Json::String(kind)) => match kind.as_str() {
                "invoke" => self.invoke(line, process, &fields),
                "return" => self.returned(line, process, &fields),
                "unknown" => {
                    self.recorder.unknown(process).map_err(|error| error.to_string())?;
                    self.open.remove(&process);
                    Ok(())
                }
                "fail" => {
                    self.recorder.failed(process).map_err(|error| error.to_string())?;
                    self.open.remove(&process);
                    self.calls[self.last[&process]].1 = false;
                    Ok(())
                }
                other => Err(format!("\"type\" is {other:?}; there are \"invoke\", \"return\", \"unknown\", \"fail\"")),
            },
            Some(other) => Err(format!("\"type\" is {other}, which is no string")),
        }
    }

    fn invoke(&mut self, line: usize, process: Process, fields: &Map<String, Json>) -> Result<(), String> {
        let method = match fields.get("call") {
            None => return Err("\"call\" is missing".to_owned()),
            Some(Json::String(name)) => self.names.entry(name.clone()).or_insert_with(|| name.as_str().into()).clone(),
            Some(other) => return Err(format!("\"call\" is {other}, which is no string")),
        };
        let arguments = match fields.get("args") {
            None => Vec::new(),
            Some(Json::Array(arguments)) => self.arguments(&method, arguments)?,
            Some(other) => return Err(format!("\"args\" is {other}, which is no array")),
        };
        resolve(self.data_type, &method, &arguments)
            .map_err(|error| format!("in {}: {error}", self.data_type.name()))?;
        self.recorder.invoke(process, Invocation { method, arguments }).map_err(|error| error.to_string())?;
        self.open.insert(process);
        self.last.insert(process, self.calls.len());
        self.calls.push((Lines { invoked: line, returned: None }, true));
        Ok(())
    }

    fn arguments(&self, method: &str, arguments: &[Json]) -> Result<Vec<Value>, String> {
        let shapes = self
            .data_type
            .methods()
            .iter()
            .find(|known| known.name == method && known.parameters.len() == arguments.len());
        let shape = |index: usize| shapes.map(|signature| signature.parameters[index]);
        let value = |(index, argument)| match shape(index) {
            Some(Shape::Entries) => entries(argument),
            _ => from_json(argument),
        };
        arguments.iter().enumerate().map(value).collect()
    }

    fn returned(&mut self, line: usize, process: Process, fields: &Map<String, Json>) -> Result<(), String> {
        let Some(value) = fields.get("value") else {
            return Err("\"value\" is missing; it is null where nothing is returned".to_owned());
        };
        self.recorder.returned(process, from_json(value)?).map_err(|error| error.to_string())?;
        self.open.remove(&process);
        self.calls[self.last[&process]].0.returned = Some(line);
        Ok(())
    }
}

/// What the library says, but for the line, which is always the first of the text that it was given.
fn no_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    format!("no JSON: {reason}, at column {}", error.column())
}

/// A map: pairs of keys and values, or an object, whose keys are integers where they look like them.
fn entries(json: &Json) -> Result<Value, String> {
    match json {
        Json::Array(pairs) => {
            let pair = |pair: &Json| match pair.as_array().map(Vec::as_slice) {
                Some([key, value]) => Ok((from_json(key)?, from_json(value)?)),
                _ => Err(format!("{pair} is no pair of a key and a value")),
            };
            Ok(Value::map(pairs.iter().map(pair).collect::<Result<Vec<_>, _>>()?))
        }
        Json::Object(fields) => {
            let key = |name: &str| match name.parse::<i64>() {
                Ok(number) if number.to_string() == name => Value::Int(number),
                _ => Value::text(name),
            };
            let entry = |(name, value): (&String, &Json)| Ok((key(name), from_json(value)?));
            Ok(Value::map(fields.iter().map(entry).collect::<Result<Vec<_>, String>>()?))
        }
        other => from_json(other),
    }
}

/// Writes a recording, one line for each event.
pub fn write(recording: &Recording) -> String {
    let mut text = String::new();
    for event in recording.history.events() {
        let RecordedCall { process, invocation, result } = &recording.calls[event.call()];
        let line = if event.is_return() {
            // What a method without a result has given.
            let value = result.as_ref().filter(|result| **result != Value::Unit).map_or(Json::Null, to_json);
            serde_json::json!({ "process": process, "type": "return", "value": value })
        } else {
            let arguments: Vec<Json> = invocation.arguments.iter().map(to_json).collect();
            serde_json::json!({ "process": process, "type": "invoke", "call": &*invocation.method, "args": arguments })
        };
        text.push_str(&line.to_string());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use interloper_linearize::generate::{Calls, Workload, correct};
    use interloper_linearize::random::Random;
    use interloper_linearize::types::type_named;

    use super::*;

    fn read(bytes: &[u8], data_type: &dyn DataType) -> Result<Recorded, Malformed> {
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
            let recording = correct(&workload, &mut Random::seeded(3));
            let read = read(write(&recording).as_bytes(), calls.data_type()).expect("what was written");
            assert_eq!(read.recording.history, recording.history);
            for (read, written) in read.recording.calls.iter().zip(&recording.calls) {
                assert_eq!((read.process, &read.invocation), (written.process, &written.invocation));
                // No result is written as null.
                let result =
                    written.result.clone().map(|result| if result == Value::Unit { Value::None } else { result });
                assert_eq!(read.result, result);
            }
            assert_eq!(read.lines.len(), recording.calls.len());
        }
    }

    #[test]
    fn it_does_not_matter_where_pieces_end() {
        let workload = Workload { calls: Calls::KeyedText { keys: 2 }, processes: 3, length: 6, pending: 100 };
        let text = format!("\u{feff}{}", write(&correct(&workload, &mut Random::seeded(4))));
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
        assert_eq!(malformed.reason, "it has more than 64 MiB, and an event is one line");
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
        // Nobody is in a call, or several are.
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
        check("[[0]]", "[0] is no pair of a key and a value");
        check("3", "in map: argument 1 of putAll is a map such as {0=1}, not 3");
    }

    #[test]
    fn malformed_lines_have_a_number_and_a_reason() {
        let check = |line: &str, reason: &str| {
            let malformed = parse("register", &format!("\n{line}\n")).expect_err(line);
            assert_eq!((malformed.line, malformed.reason.as_str()), (2, reason), "{line}");
        };
        check("{\"process\":0", "no JSON: EOF while parsing an object, at column 12");
        check("read", "no JSON: expected value, at column 1");
        check("[]", "a line holds one object: { … }");
        check("{} {}", "no JSON: trailing characters, at column 4");
        check("{}", "\"process\" is missing");
        check("{\"process\":-0}", "\"type\" is missing");
        check("{\"process\":0.5}", "\"process\" is 0.5, which is no integer");
        check("{\"process\":\"a\"}", "\"process\" is \"a\", which is no integer");
        check("{\"process\":0}", "\"type\" is missing");
        check("{\"process\":0,\"type\":3}", "\"type\" is 3, which is no string");
        check(
            "{\"process\":0,\"type\":\"ok\"}",
            "\"type\" is \"ok\"; there are \"invoke\", \"return\", \"unknown\", \"fail\"",
        );
        check("{\"process\":0,\"type\":\"invoke\"}", "\"call\" is missing");
        check("{\"process\":0,\"type\":\"invoke\",\"call\":1}", "\"call\" is 1, which is no string");
        check("{\"process\":0,\"type\":\"invoke\",\"call\":\"read\",\"args\":1}", "\"args\" is 1, which is no array");
        check("{\"process\":0,\"type\":\"invoke\",\"call\":\"write\",\"args\":[1.5]}", "1.5 is no integer of 64 bits");
        check("{\"process\":0,\"type\":\"invoke\",\"call\":\"write\"}", "in register: write takes 1 argument, not 0");
        check(
            "{\"process\":0,\"type\":\"invoke\",\"call\":\"pop\"}",
            "in register: there is no method pop; there are cas, read, write",
        );
        check("{\"process\":7,\"type\":\"return\",\"value\":1}", "process 7 has no call that could end here");
        check("{\"process\":7,\"type\":\"return\"}", "\"value\" is missing; it is null where nothing is returned");
        check("{\"process\":7,\"type\":\"unknown\"}", "process 7 has no call that could end here");
        check("{\"process\":7,\"type\":\"fail\"}", "process 7 has no call that could end here");
        let twice = "{\"process\":0,\"type\":\"invoke\",\"call\":\"read\"}\n".repeat(2);
        let malformed = parse("register", &twice).expect_err("in a call");
        assert_eq!(malformed.line, 2);
        assert_eq!(malformed.reason, "process 0 calls while its last call has not returned");
        let malformed = read(b"{\"a\":\"\xFF\"}", type_named("register").expect("a type")).expect_err("no text");
        assert_eq!((malformed.line, malformed.reason.as_str()), (1, "byte 7 is not UTF-8"));
        let deep = "[".repeat(100_000);
        assert!(parse("register", &deep).expect_err("deep").reason.starts_with("no JSON: recursion limit exceeded"));
    }
}
