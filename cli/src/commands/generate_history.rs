//! `interloper generate-history`: histories to try `check-history` on.

use interloper_linearize::generate::{Calls, Workload, correct, corrupt};
use interloper_random::{Purpose, Stream};

use crate::answer::{Answer, Rest};
use crate::args::{Format, GenerateHistoryArgs, OutputArgs, SearchArgs};
use crate::failure::{Failure, Finding};
use crate::history_file;
use crate::nearest::unknown;

/// The types that there is a generator for.
const TYPES: [&str; 8] = ["register", "counter", "kv", "map", "set", "queue", "stack", "priority-queue"];

/// How many keys there are, without an option.
const KEYS: usize = 10;

/// A history in JSON Lines.
pub fn run(arguments: &GenerateHistoryArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("generate-history", &["--seed"])?;
    if !matches!(output.format, Format::Text | Format::Json) || output.html.is_some() {
        return Err(Failure::Request("'generate-history' writes JSON Lines only".to_owned()));
    }
    let workload = Workload {
        calls: calls(arguments)?,
        processes: arguments.processes as usize,
        length: arguments.calls as usize,
        pending: arguments.pending as usize,
    };
    let mut random = Stream::new(search.seed(), Purpose::History, 0);
    let mut recording = correct(&workload, &mut random);
    if arguments.corrupt && !corrupt(&mut recording, &mut random) {
        return Err(Failure::Request("no two calls have results to exchange; generate more calls".to_owned()));
    }
    // A text of ten million calls would take more memory than the calls.
    let rest: Rest = Box::new(move |out| history_file::write(&recording, out));
    Ok(Answer { text: String::new(), rest: Some(rest), finding: Finding::Expected })
}

fn calls(arguments: &GenerateHistoryArgs) -> Result<Calls, Failure> {
    let keys = arguments.keys.map(|keys| keys as usize);
    let calls = match arguments.data_type.as_str() {
        "register" => keys.map_or(Calls::DistinctRegister, |values| Calls::Register { values }),
        "kv" => Calls::KeyedText { keys: keys.unwrap_or(KEYS) },
        "map" => Calls::Map { keys: keys.unwrap_or(KEYS) },
        name if keys.is_some() && TYPES.contains(&name) => {
            return Err(Failure::Request(format!("a {name} has no keys: --keys is for kv, map and register")));
        }
        "counter" => Calls::Counter,
        "set" => Calls::Set,
        "queue" => Calls::Queue,
        "stack" => Calls::Stack,
        "priority-queue" => Calls::PriorityQueue,
        name => {
            let otherwise = format!("there are {}", TYPES.join(", "));
            return Err(Failure::Request(unknown("type with a generator", name, TYPES, &otherwise)));
        }
    };
    Ok(calls)
}
