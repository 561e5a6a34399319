//! Wrong requests: what is wrong, and what to do.

use std::fmt;

use interloper_scheduler::Stuck;

/// The method under test, or its description, is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The method never used an instrumented collection.
    NoInstrumentedOperation,
    /// The method's calls of collections as they were published were not seen: their crate is not under control.
    CallsNotSeen {
        /// The types of the collections.
        collection: String,
        /// Where the method made a step all the same, if it did.
        place: Option<String>,
    },
    /// The method does the same from every initial state, so the keys that it uses are probably not known.
    KeysNotKnown {
        /// How many initial states there were.
        states: usize,
    },
    /// The state of a described object could not be read while the method held a lock of it.
    StateNotReadable {
        /// The type of the object.
        collection: String,
    },
    /// Some collections of the subject are wrappers, others as they were published.
    MixedSubject,
    /// Two runs of the method alone, with the same argument from the same state, differ.
    Nondeterministic {
        /// The call.
        call: String,
        /// The state that it started from.
        state: String,
        /// What the first run gave.
        first: String,
        /// What the second run gave.
        second: String,
    },
    /// The environment has no key or value to use.
    EmptyDomain {
        /// The collection.
        collection: String,
    },
    /// The environment has more operations than the search can number.
    DomainTooLarge {
        /// How many operations there are.
        operations: usize,
        /// The most that the search can number.
        limit: usize,
    },
    /// No argument was given, and Interloper cannot make one up.
    NoArguments,
    /// The method alone did not return within its step bound.
    SequentialStepBound {
        /// The call.
        call: String,
        /// The state that it started from.
        state: String,
        /// The bound that was reached.
        bound: u32,
    },
    /// An initial state that the collection cannot hold.
    BadState {
        /// The collection.
        collection: String,
        /// What it cannot hold.
        value: String,
    },
    /// No collection has a method of this name.
    UnknownMethod {
        /// The name that was given.
        name: String,
        /// The names of the methods.
        known: String,
    },
    /// A bound of zero.
    ZeroBound,
    /// The mode uses given linearization points, and an execution of the method reached none of them.
    NoLinearizationPoint {
        /// The call.
        call: String,
    },
    /// The environment is closed, but no other method of the object was given.
    NoProgramEnvironment,
    /// The recorded decisions do not fit the method.
    Diverged {
        /// At which decision or step, and why.
        reason: String,
    },
    /// A call ended while a guard that it had taken was alive: forgotten, or kept somewhere else.
    GuardOutlivesCall {
        /// Where the guard was taken.
        place: String,
    },
    /// The method used an instrumented collection that is not part of its subject, and that the call did not create.
    ForeignCollection {
        /// What it is: `map`.
        kind: String,
        /// Where it was used.
        place: String,
    },
    /// The method used a collection of its subject on a thread that it spawned.
    OtherThread {
        /// Where it was used.
        place: String,
    },
    /// All concurrent calls wait for something that is not a collection of the subject.
    WaitsElsewhere {
        /// Where one of the calls waits.
        place: String,
    },
    /// A call was lost inside an operation of a collection, which is now half done.
    LostInOperation {
        /// What happened: `stack overflow`.
        how: String,
    },
    /// A call made no step for longer than [`Settings::patience`](crate::Settings::patience): it loops without
    /// synchronising, or waits for something outside control.
    Stuck(Box<Stuck>),
    /// The subject cannot be created.
    NoSubject {
        /// What happened instead: `panicked: no`.
        how: String,
    },
    /// A limit (time, memory, lost calls) was reached before there was any result. A check returns
    /// [`Verdict::Unfinished`](crate::Verdict::Unfinished) instead.
    CutShort,
    /// A collection and its model contradict each other: a defect of Interloper, or of your own model.
    Contradiction(String),
}

impl Misuse {
    /// The violation did not occur when its execution was rerun.
    pub(crate) fn not_reproduced() -> Misuse {
        Misuse::Diverged {
            reason: "the same decisions gave a violation once and no violation the second time: the method depends on \
                     more than its collections and its argument"
                .to_owned(),
        }
    }
}

impl Misuse {
    /// Whether the method did nothing that depends on a state, so that there was nothing to search.
    pub(crate) fn explored_nothing(&self) -> bool {
        matches!(self, Misuse::NoInstrumentedOperation | Misuse::CallsNotSeen { .. } | Misuse::KeysNotKnown { .. })
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misuse::NoInstrumentedOperation => out.write_str(
                "the method under test performed no operation on an instrumented collection, so nothing can interrupt \
                 it: does it use the collections that it is given?",
            ),
            Misuse::CallsNotSeen { collection, place } => {
                write!(
                    out,
                    "nothing was explored: no call of {collection} was seen, so nothing can come between the calls of the \
                     method"
                )?;
                if let Some(place) = place {
                    write!(out, ", although it makes a step at {place}")?;
                }
                out.write_str(
                    ": run this under `cargo interloper`, with the collection's crate listed under `instrument` and, unless \
                     it is dashmap, under `calls`; or use the wrapper in interloper::collections",
                )
            }
            Misuse::KeysNotKnown { states } => write!(
                out,
                "nothing was explored: the method returns the same from each of {states} initial states and changes nothing, so \
                 the environment probably does not touch what it reads; name the keys that it reads with .keys(…)",
            ),
            Misuse::StateNotReadable { collection } => write!(
                out,
                "the state of {collection} cannot be read between the calls of the method, since the method keeps a lock of \
                 it: let the function that reads the state do so without waiting",
            ),
            Misuse::MixedSubject => out.write_str(
                "some collections of the subject are wrappers of interloper::collections and others are not: use either \
                 only wrappers or only the published types",
            ),
            Misuse::Nondeterministic { call, state, first, second } => write!(
                out,
                "the method under test is not deterministic: {call} run alone from {state} gave {first} the first \
                 time and {second} the second time; it must not depend on time, randomness or state outside its \
                 collections",
            ),
            Misuse::EmptyDomain { collection } => write!(
                out,
                "the environment has no key or value to use on {collection}: give some with .keys(…) or .values(…)",
            ),
            Misuse::DomainTooLarge { operations, limit } => write!(
                out,
                "the environment has {operations} operations to choose from, and the search can handle {limit}: give \
                 fewer keys or values",
            ),
            Misuse::NoArguments => {
                out.write_str("the method under test has no arguments to be called with: give some with .arguments(…)")
            }
            Misuse::SequentialStepBound { call, state, bound } => write!(
                out,
                "{call} run alone from {state} did not return within {bound} steps: make sure that it ends, or raise \
                 Settings::step_bound",
            ),
            Misuse::BadState { collection, value } => write!(out, "{collection} cannot hold {value}"),
            Misuse::UnknownMethod { name, known } => {
                write!(out, "no collection has a method called {name}; the methods are {known}")
            }
            Misuse::ZeroBound => out.write_str("a bound of 0 leaves nothing to search: it must be at least 1"),
            Misuse::NoLinearizationPoint { call } => write!(
                out,
                "{call} took a path without a call of linearization_point(): mark the point on every path, or choose \
                 a mode without given points",
            ),
            Misuse::NoProgramEnvironment => out.write_str(
                "the environment of the program is unknown: restrict the open environment with .without(…), or name \
                 the object's other methods with .beside(…)",
            ),
            Misuse::Diverged { reason } => write!(out, "the recorded execution cannot be replayed: {reason}"),
            Misuse::GuardOutlivesCall { place } => write!(
                out,
                "the method under test ended while a guard that it had taken at {place} was alive, so the lock is \
                 never released: drop the guard before the method returns, and neither forget it nor store it \
                 elsewhere",
            ),
            Misuse::ForeignCollection { kind, place } => write!(
                out,
                "the method under test uses a {kind} at {place} that is not part of its subject, so the environment \
                 never acts on this {kind}: make the {kind} a part of the subject, create it inside the method, or \
                 use the original type if no other thread changes it",
            ),
            Misuse::OtherThread { place } => write!(
                out,
                "the method under test uses a collection of its subject on a thread of its own, at {place}, and this \
                 thread is not under control: ask for several calls with .concurrent(…), or check a program with \
                 threads by interloper::check",
            ),
            Misuse::WaitsElsewhere { place } => write!(
                out,
                "all concurrent calls wait, one of them at {place}, for something that is not a collection of the \
                 subject: check the calls as a program with threads, by interloper::check",
            ),
            Misuse::LostInOperation { how } => write!(
                out,
                "{how} inside an operation of a collection, in the code of its keys and values (Hash, Eq, Clone) or of its \
                 model: fix this first: until then, the method cannot be judged",
            ),
            Misuse::Stuck(stuck) => write!(out, "{stuck}"),
            Misuse::NoSubject { how } => {
                write!(out, "the subject of the method under test cannot be created: {how}")
            }
            Misuse::CutShort => {
                out.write_str("a limit (time, memory, lost calls) was reached before there was any result")
            }
            Misuse::Contradiction(message) => write!(out, "internal error, please report: {message}"),
        }
    }
}

impl std::error::Error for Misuse {}
