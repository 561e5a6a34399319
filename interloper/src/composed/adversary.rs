//! The environment: how it chooses its operations, and which operations it may use.

use interloper_collections::session::{Instrumented, PartId};
use interloper_commutativity::{Invocation, MethodId, Parameter, Value};
use interloper_scheduler::decisions::{Question, Source};

use crate::composed::world::World;

/// How the environment chooses its operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adversary {
    /// Operations that do not commute with the last step or the next step: the approach that the paper implements
    /// (section 4.3, "Implemented Approach").
    Nearest,
    /// Operations that do not commute with the next step or with some earlier step: the paper's general
    /// approach (section 4.3, "General Approach").
    #[default]
    Preceding,
    /// Random operations on random keys at random moments (section 4.2): the baseline.
    Naive,
    /// Every operation of the domain in every gap: slow and obvious. Tests compare the other adversaries with this one.
    Unfiltered,
}

impl Adversary {
    const WORDS: [(Adversary, &'static str); 4] = [
        (Adversary::Nearest, "nearest"),
        (Adversary::Preceding, "preceding"),
        (Adversary::Naive, "naive"),
        (Adversary::Unfiltered, "unfiltered"),
    ];

    /// Its name in replay files.
    pub fn word(self) -> &'static str {
        word(&Adversary::WORDS, self)
    }

    /// The adversary with this name.
    pub fn of_word(word: &str) -> Option<Adversary> {
        of_word(&Adversary::WORDS, word)
    }
}

/// Which environment a method is checked in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Environment {
    /// Every operation of the collections. When this environment shows a violation and the method declares the environment
    /// of its program, the search tries that environment too, to tell "not linearizable" from "modular".
    #[default]
    Open,
    /// The operations that the method's program uses ([`crate::MethodUnderTest::without`]).
    Restricted,
    /// The methods of the object itself ([`crate::MethodUnderTest::beside`]), running concurrently.
    Closed,
}

impl Environment {
    const WORDS: [(Environment, &'static str); 3] =
        [(Environment::Open, "open"), (Environment::Restricted, "restricted"), (Environment::Closed, "closed")];

    /// Its name in replay files.
    pub fn word(self) -> &'static str {
        word(&Environment::WORDS, self)
    }

    /// The environment with this name.
    pub fn of_word(word: &str) -> Option<Environment> {
        of_word(&Environment::WORDS, word)
    }
}

fn word<T: Copy + PartialEq>(words: &[(T, &'static str)], wanted: T) -> &'static str {
    words.iter().find(|(value, _)| *value == wanted).expect("every variant has a word").1
}

fn of_word<T: Copy>(words: &[(T, &'static str)], wanted: &str) -> Option<T> {
    words.iter().find(|(_, known)| *known == wanted).map(|(value, _)| *value)
}

/// Draws a random operation with random arguments on a random collection; `None` when nothing can be drawn.
pub(crate) fn random_call(
    source: &mut dyn Source,
    world: &World,
    parts: &[&dyn Instrumented],
) -> Option<(PartId, Invocation)> {
    let part = source.decide(Question::Other, u32::try_from(parts.len()).ok()?);
    let collection = parts[part as usize];
    let methods = world.parts()[part as usize].model.methods();
    let usable: Vec<usize> = (0..methods.len()).filter(|&method| methods[method].environment).collect();
    let method = usable[source.decide(Question::Other, u32::try_from(usable.len()).ok()?) as usize];
    let domain = collection.domain();
    let mut argument = |parameter: &Parameter| -> Option<Value> {
        match parameter {
            Parameter::Key | Parameter::Cursor => (domain.key.arbitrary)(random_bits(source)),
            Parameter::Value => (domain.value.arbitrary)(random_bits(source)),
            Parameter::Amount => Some(Value::Int(i64::from(random_bits(source) as u32 as i32))),
        }
    };
    let arguments: Option<Vec<Value>> = methods[method].parameters.iter().map(&mut argument).collect();
    Some((PartId(part), Invocation::new(MethodId(u8::try_from(method).ok()?), arguments?)))
}

/// 32 random bits, spread over a word: the paper's drivers draw Java's `int`.
pub(crate) fn random_bits(source: &mut dyn Source) -> u64 {
    let high = source.decide(Question::Other, 1 << 16);
    let low = source.decide(Question::Other, 1 << 16);
    u64::from(high << 16 | low)
}
