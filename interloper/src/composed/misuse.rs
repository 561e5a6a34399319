//! What is wrong with a request, and what to do about it.

use std::fmt;

/// The request was wrong: the method under test, or how it was described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The method never used an instrumented collection.
    NoInstrumentedOperation,
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
    /// There is nothing that the environment could use as a key or a value.
    EmptyDomain {
        /// The collection.
        collection: String,
    },
    /// The environment has more operations to choose from than the search can number.
    DomainTooLarge {
        /// How many operations there are.
        operations: usize,
        /// How many there may be.
        limit: usize,
    },
    /// No argument was given and none can be made up.
    NoArguments,
    /// The method alone did not return within the bound on its steps.
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
    /// A method that no collection has.
    UnknownMethod {
        /// The name that was given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A bound of zero.
    ZeroBound,
    /// The program's linearization points were asked for, and a run of the method reached none.
    NoLinearizationPoint {
        /// The call.
        call: String,
    },
    /// The closed environment was asked for, and no method of the object was given beside the method under test.
    NoProgramEnvironment,
    /// Decisions to be replayed do not fit the method.
    Diverged {
        /// At which decision or step, and why.
        reason: String,
    },
    /// A call ended while a guard that it had taken was alive: forgotten, or kept somewhere else.
    GuardOutlivesCall {
        /// Where the guard was taken.
        place: String,
    },
    /// The method used an instrumented collection that is no part of its subject, and that it did not make in the call.
    ForeignCollection {
        /// What it is: `map`.
        kind: String,
        /// Where it was used.
        place: String,
    },
    /// The method used a collection of its subject on a thread that it had made.
    OtherThread {
        /// Where it was used.
        place: String,
    },
    /// All concurrent calls wait, for something that is no collection of the subject.
    WaitsElsewhere {
        /// Where one of them waits.
        place: String,
    },
    /// A call was lost inside an operation of a collection, which is left half done.
    LostInOperation {
        /// What happened: `stack overflow`.
        how: String,
    },
    /// There is no subject to call the method on.
    NoSubject {
        /// What happened instead: `panicked: no`.
        how: String,
    },
    /// A limit (time, memory, lost calls) was reached before there was any result. A check gives [`Verdict::Unfinished`]
    /// instead.
    CutShort,
    /// A collection and its model contradict each other. This is a defect of Interloper, or of a model of one's own.
    Contradiction(String),
}

impl Misuse {
    /// A violation was not there any more when its run was made again.
    pub(crate) fn not_reproduced() -> Misuse {
        Misuse::Diverged {
            reason: "the same decisions gave a violation once and no violation the second time: the method depends on \
                     more than its collections and its argument"
                .to_owned(),
        }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misuse::NoInstrumentedOperation => out.write_str(
                "the method under test performed no operation on an instrumented collection, so nothing can interrupt \
                 it: does it use the collections that it is given?",
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
