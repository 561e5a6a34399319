//! What an invocation must see of the invocations that are linearized before it.
//!
//! A linearization is a total order `lin` that includes happens-before, and for each invocation i a part `vis(i)` of
//! the invocations up to i in `lin`, which contains i. The result of i is the last result of running `vis(i)` alone
//! (*Weak-consistency specification via visibility relaxation*, section 3). A specification says for each method which
//! predicates its invocations satisfy: the levels of Figure 6, the predicates `linPrefix` and `linMonotonic` of section
//! 6.2, and each of them for some methods only (section 6.3).
//!
//! # Deviations
//! - `linPrefix(i)` requires nothing of i itself: as printed, with i among the j of vis(i), it is the same as
//!   `complete(i)`, whereas the text and the axiom `ReadLinPrefix` of Table 4 speak of what comes before i.
//! - Lemma 3.2 says that `causal` implies `peer`. By the definitions of Figure 6 this holds when everything that i sees
//!   sees its own happens-before predecessors. This module implements the definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// A level of visibility (Figure 6), weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// An invocation i may see anything.
    Weak,
    /// It sees what happens before it.
    Basic,
    /// It sees what the invocations see that happen before it.
    Monotonic,
    /// It also sees what happens before the invocations that it sees.
    Peer,
    /// It sees what happens before it, and what the invocations see that it sees.
    Causal,
    /// It sees everything that is linearized before it.
    #[default]
    Complete,
}

impl Level {
    /// All levels, weakest first.
    pub const ALL: [Level; 6] =
        [Level::Weak, Level::Basic, Level::Monotonic, Level::Peer, Level::Causal, Level::Complete];

    /// The name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Level::Weak => "weak",
            Level::Basic => "basic",
            Level::Monotonic => "monotonic",
            Level::Peer => "peer",
            Level::Causal => "causal",
            Level::Complete => "complete",
        }
    }

    /// The next weaker level.
    pub fn weaker(self) -> Option<Level> {
        let index = Level::ALL.iter().position(|level| *level == self)?;
        index.checked_sub(1).map(|index| Level::ALL[index])
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What a predicate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A level of Figure 6.
    Level(Level),
    /// What an invocation sees before itself is a prefix of the linearization (section 6.2).
    LinPrefix,
    /// It sees what the invocations before it in the linearization see, except themselves (section 6.2).
    LinMonotonic,
}

/// A predicate on the visibility of an invocation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predicate {
    /// What it says.
    pub kind: Kind,
    /// The methods of the invocations that must be seen (section 6.3); `None`: all methods.
    pub about: Option<BTreeSet<String>>,
}

impl From<Level> for Predicate {
    fn from(level: Level) -> Predicate {
        Predicate { kind: Kind::Level(level), about: None }
    }
}

/// `basic`, or `basic(get|put)`.
impl fmt::Display for Predicate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Level(level) => write!(out, "{level}")?,
            Kind::LinPrefix => out.write_str("linPrefix")?,
            Kind::LinMonotonic => out.write_str("linMonotonic")?,
        }
        match &self.about {
            Some(methods) => write!(out, "({})", methods.iter().map(String::as_str).collect::<Vec<_>>().join("|")),
            None => Ok(()),
        }
    }
}

/// For each method, the predicates that its invocations satisfy. A method without an entry is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    methods: BTreeMap<String, Vec<Predicate>>,
}

/// What is wrong with the text of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadVisibility {
    /// A part is not of the form `method=level`.
    NoLevel(String),
    /// The name is neither a level nor a predicate.
    Unknown(String),
    /// A method has two entries.
    Twice(String),
}

impl fmt::Display for BadVisibility {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadVisibility::NoLevel(part) => write!(out, "{part:?} is not of the form METHOD=LEVEL"),
            BadVisibility::Unknown(name) => {
                let levels: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
                write!(out, "there is no visibility {name:?}; there are {}, linPrefix, linMonotonic", levels.join(", "))
            }
            BadVisibility::Twice(method) => write!(out, "the visibility of {method} is given twice"),
        }
    }
}

impl std::error::Error for BadVisibility {}

impl Visibility {
    /// Every method is complete: outcomes are those of atomic methods.
    pub fn complete() -> Visibility {
        Visibility::default()
    }

    /// The same with another level for one method.
    pub fn with(mut self, method: &str, level: Level) -> Visibility {
        self.set(method, vec![level.into()]);
        self
    }

    /// Sets the predicates of a method.
    pub fn set(&mut self, method: &str, predicates: Vec<Predicate>) {
        self.methods.insert(method.to_owned(), predicates);
    }

    /// The predicates of a method.
    pub fn of(&self, method: &str) -> Vec<Predicate> {
        self.methods.get(method).cloned().unwrap_or_else(|| vec![Level::Complete.into()])
    }

    /// The methods that have an entry, with their predicates.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &[Predicate])> {
        self.methods.iter().map(|(method, predicates)| (method.as_str(), predicates.as_slice()))
    }
}

/// `isEmpty=weak,size=monotonic`, and `isEmpty=basic(get|put)+linPrefix` for the refinements of section 6.
impl fmt::Display for Visibility {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (method, predicates)) in self.methods.iter().enumerate() {
            let predicates: Vec<String> = predicates.iter().map(Predicate::to_string).collect();
            write!(out, "{}{method}={}", if index == 0 { "" } else { "," }, predicates.join("+"))?;
        }
        Ok(())
    }
}

impl FromStr for Visibility {
    type Err = BadVisibility;

    /// Reads what [`Visibility`] prints.
    fn from_str(text: &str) -> Result<Visibility, BadVisibility> {
        let mut visibility = Visibility::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((method, predicates)) = part.split_once('=') else {
                return Err(BadVisibility::NoLevel(part.to_owned()));
            };
            let method = method.trim();
            if method.is_empty() {
                return Err(BadVisibility::NoLevel(part.to_owned()));
            }
            if visibility.methods.contains_key(method) {
                return Err(BadVisibility::Twice(method.to_owned()));
            }
            visibility.set(method, predicates.split('+').map(predicate).collect::<Result<_, _>>()?);
        }
        Ok(visibility)
    }
}

fn predicate(text: &str) -> Result<Predicate, BadVisibility> {
    let unknown = || BadVisibility::Unknown(text.trim().to_owned());
    let (name, about) = match text.trim().split_once('(') {
        None => (text.trim(), None),
        Some((name, methods)) => (name.trim(), Some(methods.strip_suffix(')').ok_or_else(unknown)?)),
    };
    let kind = match name {
        "linPrefix" => Kind::LinPrefix,
        "linMonotonic" => Kind::LinMonotonic,
        _ => Kind::Level(Level::ALL.into_iter().find(|level| level.name() == name).ok_or_else(unknown)?),
    };
    let about = about.map(|methods| methods.split('|').map(|method| method.trim().to_owned()).collect());
    Ok(Predicate { kind, about })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_round_trip() {
        let check = |text: &str| {
            let visibility: Visibility = text.parse().expect("a specification");
            assert_eq!(visibility.to_string(), text);
        };
        check("");
        check("contains=monotonic,size=weak");
        check("isEmpty=basic(get|put)+linPrefix,size=causal+linMonotonic(add)");
        let built = Visibility::complete().with("size", Level::Weak).with("contains", Level::Monotonic);
        assert_eq!(" size = weak , contains= monotonic,".parse(), Ok(built));
    }

    #[test]
    fn bad_specifications_are_refused() {
        let check = |text: &str, expected: BadVisibility| assert_eq!(text.parse::<Visibility>(), Err(expected));
        check("size", BadVisibility::NoLevel("size".to_owned()));
        check("=weak", BadVisibility::NoLevel("=weak".to_owned()));
        check("size=strong", BadVisibility::Unknown("strong".to_owned()));
        check("size=weak(get", BadVisibility::Unknown("weak(get".to_owned()));
        check("size=weak,size=basic", BadVisibility::Twice("size".to_owned()));
    }

    #[test]
    fn levels_in_order() {
        assert!(Level::ALL.is_sorted());
        assert_eq!(Level::Complete.weaker(), Some(Level::Causal));
        assert_eq!(Level::Weak.weaker(), None);
        assert_eq!(Visibility::complete().of("get"), [Level::Complete.into()]);
    }
}
