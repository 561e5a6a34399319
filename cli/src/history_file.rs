//! Recorded histories as JSON Lines: one event in each line.
//!
//! ```text
//! {"process":0,"type":"invoke","call":"cas","args":[1,2]}
//! {"process":0,"type":"return","value":true}
//! ```
//!
//! Instead of a return there may be `{"process":0,"type":"unknown"}`, when the call may have taken effect or may do so
//! later, or `{"process":0,"type":"fail"}`, when it has not and never will. A call with no such line counts as unknown.
//! Where only one process is in a call, the end of the call need not name it: `{"type":"return","value":true}`. Fields
//! with other names are ignored, and so are blank lines.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

use interloper_commutativity::Value;
use interloper_linearize::recording::{Process, RecordedCall, Recorder, Recording};
use interloper_linearize::schema::Invocation;
use interloper_linearize::types::{DataType, Shape};
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

/// A line that is not an event.
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
    data_type: &'t DataType,
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
    pub fn new(data_type: &'t DataType) -> Self {
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
            let reason = format!("the line has more than {} MiB; each event is one line", LONGEST_LINE >> 20);
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
                number.ok_or_else(|| format!("\"process\" is {process}, which is not an integer"))?
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
                other => {
                    Err(format!("\"type\" is {other:?}; the types are \"invoke\", \"return\", \"unknown\", \"fail\""))
                }
            },
            Some(other) => Err(format!("\"type\" is {other}, which is not a string")),
        }
    }

    fn invoke(&mut self, line: usize, process: Process, fields: &Map<String, Json>) -> Result<(), String> {
        let method = match fields.get("call") {
            None => return Err("\"call\" is missing".to_owned()),
            Some(Json::String(name)) => self.names.entry(name.clone()).or_insert_with(|| name.as_str().into()).clone(),
            Some(other) => return Err(format!("\"call\" is {other}, which is not a string")),
        };
        let arguments = match fields.get("args") {
            None => Vec::new(),
            Some(Json::Array(arguments)) => self.arguments(&method, arguments)?,
            Some(other) => return Err(format!("\"args\" is {other}, which is not an array")),
        };
        self.data_type.resolve(&method, &arguments).map_err(|error| format!("in {}: {error}", self.data_type.name))?;
        self.recorder.invoke(process, Invocation { method, arguments }).map_err(|error| error.to_string())?;
        self.open.insert(process);
        self.last.insert(process, self.calls.len());
        self.calls.push((Lines { invoked: line, returned: None }, true));
        Ok(())
    }

    fn arguments(&self, method: &str, arguments: &[Json]) -> Result<Vec<Value>, String> {
        let shapes =
            self.data_type.methods().find(|known| known.name == method && known.parameters.len() == arguments.len());
        let shape = |index: usize| shapes.map(|signature| signature.parameters[index]);
        let value = |(index, argument)| match shape(index) {
            Some(Shape::Entries) => entries(argument),
            _ => from_json(argument),
        };
        arguments.iter().enumerate().map(value).collect()
    }

    fn returned(&mut self, line: usize, process: Process, fields: &Map<String, Json>) -> Result<(), String> {
        let Some(value) = fields.get("value") else {
            return Err("\"value\" is missing; write null when the call returned nothing".to_owned());
        };
        self.recorder.returned(process, from_json(value)?).map_err(|error| error.to_string())?;
        self.open.remove(&process);
        self.calls[self.last[&process]].0.returned = Some(line);
        Ok(())
    }
}

/// The message of the library without its line number, which is always 1.
fn no_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    format!("not JSON: {reason}, at column {}", error.column())
}

/// A map: pairs of keys and values, or an object, whose keys are integers where they look like them.
fn entries(json: &Json) -> Result<Value, String> {
    match json {
        Json::Array(pairs) => {
            let pair = |pair: &Json| match pair.as_array().map(Vec::as_slice) {
                Some([key, value]) => Ok((from_json(key)?, from_json(value)?)),
                _ => Err(format!("{pair} is not a pair of a key and a value")),
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

/// Writes a recording, one line after the other: a line for each event.
pub fn write(recording: &Recording, out: &mut dyn Write) -> io::Result<()> {
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
        writeln!(out, "{line}")?;
    }
    Ok(())
}
