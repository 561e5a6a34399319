//! Generated histories: correct ones, and corrupted ones.
//!
//! A few processes call a reference data type. Each call takes effect at one moment between its invocation and its
//! return, so the history is linearizable. The seed of the numbers decides everything.

use interloper_commutativity::Value;
use interloper_random::Stream;

use crate::recording::{Process, Recorder, Recording};
use crate::schema::Invocation;
use crate::types::{DataType, type_named};

/// What is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The data type and what is called.
    pub calls: Calls,
    /// How many processes call at a time.
    pub processes: usize,
    /// How many calls there are.
    pub length: usize,
    /// How many calls in a thousand never return. Their process continues under another number.
    pub pending: usize,
}

/// What the processes call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// A `register`: as many reads as writes and compare-and-sets of values below a bound.
    Register {
        /// The bound.
        values: usize,
    },
    /// A `register` whose writes are all different.
    DistinctRegister,
    /// A `counter`: as many `get`s as `incrementAndGet`s and `add`s.
    Counter,
    /// A `kv`: gets, puts and appends.
    KeyedText {
        /// How many keys there are.
        keys: usize,
    },
    /// A `map`: gets, puts, removals.
    Map {
        /// How many keys there are.
        keys: usize,
    },
    /// A `set`: every element is added, looked for, removed and looked for.
    Set,
    /// A `queue` with values that are all different: as many `offer`s as `poll`s.
    Queue,
    /// A `stack` with values that are all different: as many `push`es as `pop`s.
    Stack,
    /// A `priority-queue` with values that are all different: as many `offer`s as `poll`s.
    PriorityQueue,
}

/// About how many elements a collection has at most, so that a long history does not take long to generate.
const MOST_ELEMENTS: usize = 100;

impl Calls {
    /// The data type.
    pub fn data_type(self) -> &'static DataType {
        let name = match self {
            Calls::Register { .. } | Calls::DistinctRegister => "register",
            Calls::Counter => "counter",
            Calls::KeyedText { .. } => "kv",
            Calls::Map { .. } => "map",
            Calls::Set => "set",
            Calls::Queue => "queue",
            Calls::Stack => "stack",
            Calls::PriorityQueue => "priority-queue",
        };
        type_named(name).expect("a type of this crate")
    }

    /// The call with this number, of which there are `length`; `size` is the length of a list that is the state.
    fn call(self, number: usize, length: usize, size: usize, random: &mut Stream) -> Invocation {
        let int = |number: usize| Value::Int(number as i64);
        match self {
            Calls::Register { values } => match random.index(4) {
                0 => Invocation::new("write", [int(random.index(values))]),
                1 => Invocation::new("cas", [int(random.index(values)), int(random.index(values))]),
                _ => Invocation::new("read", []),
            },
            Calls::DistinctRegister if random.index(2) == 0 => Invocation::new("write", [int(number)]),
            Calls::DistinctRegister => Invocation::new("read", []),
            Calls::Counter => match random.index(4) {
                0 => Invocation::new("incrementAndGet", []),
                1 => Invocation::new("add", [int(1 + random.index(3))]),
                _ => Invocation::new("get", []),
            },
            Calls::KeyedText { keys } => {
                let key = Value::text(random.index(keys).to_string());
                match random.index(4) {
                    0 => Invocation::new("put", [key, Value::text(format!("{number};"))]),
                    1 => Invocation::new("append", [key, Value::text(format!("{number};"))]),
                    _ => Invocation::new("get", [key]),
                }
            }
            Calls::Map { keys } => match random.index(4) {
                0 => Invocation::new("put", [int(random.index(keys)), int(number)]),
                1 => Invocation::new("remove", [int(random.index(keys))]),
                _ => Invocation::new("get", [int(random.index(keys))]),
            },
            Calls::Set => {
                // Each element lives for a stretch of the history; the four calls come in this order.
                let (element, method) = (number / 4, ["add", "contains", "remove", "contains"][number % 4]);
                Invocation::new(method, [int(element)])
            }
            Calls::Queue | Calls::Stack | Calls::PriorityQueue => {
                let (insert, remove) = if self == Calls::Stack { ("push", "pop") } else { ("offer", "poll") };
                if size < MOST_ELEMENTS && random.index(2) == 0 {
                    // Scattered over all values, each once: an odd multiplier permutes the residues of a power of two.
                    let value = number * 0x9E37_79B1 % length.next_power_of_two();
                    Invocation::new(insert, [int(value)])
                } else {
                    Invocation::new(remove, [])
                }
            }
        }
    }
}

/// The state of a call that a process is in.
enum Call {
    Invoked(Invocation),
    Effective(Value),
}

/// A linearizable history.
///
/// # Panics
/// When there are no processes.
pub fn correct(workload: &Workload, random: &mut Stream) -> Recording {
    let data_type = workload.calls.data_type();
    let mut state = data_type.initial();
    let mut recorder = Recorder::new();
    let mut processes: Vec<(Process, Option<Call>)> =
        (0..workload.processes as Process).map(|name| (name, None)).collect();
    let mut next_name = workload.processes as Process;
    let mut started = 0;
    while started < workload.length || processes.iter().any(|(_, call)| call.is_some()) {
        let (name, call) = &mut processes[random.index(workload.processes)];
        *call = match call.take() {
            None if started == workload.length => None,
            None => {
                let invocation = workload.calls.call(started, workload.length, state.len(), random);
                started += 1;
                recorder.invoke(*name, invocation.clone()).expect("the process is in no call");
                Some(Call::Invoked(invocation))
            }
            Some(Call::Invoked(invocation)) => {
                let never_returns = random.index(1000) < workload.pending;
                // Half of the calls that never return take effect.
                if never_returns && random.index(2) == 0 {
                    (*name, next_name) = (next_name, next_name + 1);
                    None
                } else {
                    let result = data_type.apply(&mut state, &invocation.method, &invocation.arguments);
                    if never_returns {
                        (*name, next_name) = (next_name, next_name + 1);
                    }
                    (!never_returns).then_some(Call::Effective(result))
                }
            }
            Some(Call::Effective(result)) => {
                recorder.returned(*name, result).expect("the process is in a call");
                None
            }
        };
    }
    recorder.finish()
}

/// Exchanges two different results of calls of the same method, and says whether there are two. Usually the history is
/// then not linearizable; calls that are far apart are taken where there are such calls.
pub fn corrupt(recording: &mut Recording, random: &mut Stream) -> bool {
    let calls = &recording.calls;
    if calls.is_empty() {
        return false;
    }
    let start = random.index(calls.len());
    for first in (start..calls.len()).chain(0..start) {
        let (method, result) = (&calls[first].invocation.method, &calls[first].result);
        if result.is_none() {
            continue;
        }
        let differs = |other: &usize| {
            let other = &calls[*other];
            other.invocation.method == *method && other.result.is_some() && other.result != *result
        };
        let far = (first + calls.len() / 2) % calls.len();
        if let Some(second) = (far..calls.len()).chain(0..far).find(differs) {
            let result = recording.calls[second].result.take();
            recording.calls[second].result = std::mem::replace(&mut recording.calls[first].result, result);
            return true;
        }
        // All calls of this method have the same result: the search goes on with another method.
    }
    false
}

#[cfg(test)]
mod tests {
    use interloper_random::Purpose;

    use super::*;
    use crate::general::{Budget, Verdict};
    use crate::recording::{RecordedCall, check};

    const ALL: [Calls; 9] = [
        Calls::Counter,
        Calls::Register { values: 3 },
        Calls::DistinctRegister,
        Calls::KeyedText { keys: 2 },
        Calls::Map { keys: 2 },
        Calls::Set,
        Calls::Queue,
        Calls::Stack,
        Calls::PriorityQueue,
    ];

    fn verdict(calls: Calls, recording: &Recording) -> Verdict {
        check(calls.data_type(), recording, Budget::Unlimited).expect("calls of the type").verdict
    }

    #[test]
    fn generated_histories_are_what_they_say() {
        let mut random = Stream::new(11, Purpose::History, 0);
        for calls in ALL {
            let (mut refused, mut whole) = (0, 0);
            for round in 0..60 {
                let workload = Workload { calls, processes: 3, length: 24, pending: [0, 50][round % 2] };
                let mut recording = correct(&workload, &mut random);
                assert_eq!(recording.calls.len(), 24);
                assert!(matches!(verdict(calls, &recording), Verdict::Linearizable { .. }), "{calls:?}");
                if !corrupt(&mut recording, &mut random) {
                    // Only a history in which all calls of a method have the same result cannot be corrupted.
                    for (at, one) in recording.calls.iter().enumerate() {
                        let like = |other: &&RecordedCall| other.invocation.method == one.invocation.method;
                        let mut others = recording.calls[at..].iter().filter(like);
                        let alike = |other: &RecordedCall| other.result.is_none() || other.result == one.result;
                        assert!(one.result.is_none() || others.all(alike), "{calls:?}");
                    }
                    whole += 1;
                    continue;
                }
                refused += usize::from(matches!(verdict(calls, &recording), Verdict::NotLinearizable(_)));
            }
            assert!(refused > 10 && whole < 6, "{calls:?}: {refused} refused, {whole} not corrupted");
        }
    }

    #[test]
    fn the_numbers_decide_everything() {
        let workload = Workload { calls: Calls::Queue, processes: 2, length: 10, pending: 100 };
        let with = |seed| correct(&workload, &mut Stream::new(seed, Purpose::History, 0));
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
        let mut empty = Recording::default();
        assert!(!corrupt(&mut empty, &mut Stream::new(1, Purpose::History, 0)));
        assert_eq!(
            correct(&Workload { length: 0, ..workload }, &mut Stream::new(1, Purpose::History, 0)),
            Recording::default()
        );
    }
}
