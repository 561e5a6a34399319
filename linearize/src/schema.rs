//! Schemas: small concurrent programs.
//!
//! A schema is a list of sequences of invocations with literal arguments, to be run in parallel, and constraints that
//! make all of one sequence happen before another begins (*Exposing non-atomic methods*, section 3.1). It is written
//!
//! ```text
//! { put(1,0); contains(0) } || { put(0,0); put(1,1) }
//! [put(0,0); put(2,0)], [clear(); put(1,1)], [put(3,1)], {0<2, 1<2}
//! ```
//!
//! with curly or square brackets and `||` or `,` between the sequences. Arguments are integers (`7`), texts (`"a"`),
//! `true`, `false`, `null` (or `none`), lists (`[0,1]` or `{0,1}`), and maps (`{0=1,1=0}`; `{}` is empty).

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use interloper_commutativity::Value;

use crate::types::DataType;

/// One call in a program: the method and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Invocation {
    /// The method's name.
    pub method: Arc<str>,
    /// The arguments, in order.
    pub arguments: Vec<Value>,
}

impl Invocation {
    /// A call of `method` with `arguments`.
    pub fn new(method: impl Into<Arc<str>>, arguments: impl IntoIterator<Item = Value>) -> Invocation {
        Invocation { method: method.into(), arguments: arguments.into_iter().collect() }
    }
}

/// `put(1, 0)`, in the notation of schemas.
impl fmt::Display for Invocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}(", self.method)?;
        for (index, argument) in self.arguments.iter().enumerate() {
            write!(out, "{}{}", if index == 0 { "" } else { ", " }, Literal(argument))?;
        }
        out.write_str(")")
    }
}

/// A value in the notation of schemas.
struct Literal<'v>(&'v Value);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |index: usize| if index == 0 { "" } else { ", " };
        match self.0 {
            Value::None => out.write_str("null"),
            Value::List(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{}", comma(index), Literal(item))?;
                }
                out.write_str("]")
            }
            Value::Map(entries) => {
                out.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    write!(out, "{}{}={}", comma(index), Literal(key), Literal(value))?;
                }
                out.write_str("}")
            }
            other => write!(out, "{other}"),
        }
    }
}

/// A concurrent program.
///
/// **Invariant:** the constraints name sequences of the schema and have no cycle.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    sequences: Vec<Vec<Invocation>>,
    /// Pairs (first, second): all of the first sequence happens before the second begins. Sorted.
    before: Vec<(usize, usize)>,
    source: Option<Source>,
}

/// The text that a schema was read from.
#[derive(Clone, Debug)]
struct Source {
    text: Arc<str>,
    /// Where each invocation stands, in text order.
    spans: Vec<Range<usize>>,
}

/// Schemas are equal when they are the same program, whatever text they were read from.
impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        self.sequences == other.sequences && self.before == other.before
    }
}

impl Eq for Schema {}

/// What is wrong with the text of a schema, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The text.
    pub text: Arc<str>,
    /// The byte where the mistake is.
    pub at: usize,
    /// What is wrong.
    pub reason: String,
}

impl Mistake {
    /// How many characters are shown on each side of the mistake.
    const AROUND: usize = 60;

    /// The line of the text with the mistake, or the part of it around the mistake when it is long, and the column of the
    /// mistake in it. Every character takes one column.
    fn excerpt(&self) -> (String, usize) {
        let (before, after) = self.text.split_at(self.at);
        let before: Vec<char> = before.rsplit('\n').next().unwrap_or_default().chars().collect();
        let after: Vec<char> = after.split('\n').next().unwrap_or_default().chars().collect();
        let (from, until) = (before.len().saturating_sub(Self::AROUND), after.len().min(Self::AROUND));
        let start = if from > 0 { "…" } else { "" };
        let end = if until < after.len() { "…" } else { "" };
        // A character that Rust would escape has no width, or has an effect on the terminal.
        let is_escaped = |letter: char| letter.escape_debug().len() > 1 && !matches!(letter, '\\' | '"' | '\'');
        let visible = |&letter: &char| if is_escaped(letter) { ' ' } else { letter };
        let shown: String = before[from..].iter().chain(&after[..until]).map(visible).collect();
        (format!("{start}{shown}{end}"), before.len() - from + usize::from(from > 0))
    }
}

/// The reason, then the line of the text with a caret below the mistake.
impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.excerpt();
        writeln!(out, "{}", self.reason)?;
        writeln!(out, "  {line}")?;
        write!(out, "  {}^", " ".repeat(column))
    }
}

impl std::error::Error for Mistake {}

/// Why sequences and constraints do not form a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconsistent {
    /// A constraint names a sequence that does not exist.
    NoSuchSequence {
        /// The number.
        number: usize,
        /// How many sequences there are.
        sequences: usize,
    },
    /// The constraints have a cycle; a sequence on it.
    Cycle(usize),
}

impl fmt::Display for Inconsistent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inconsistent::NoSuchSequence { number, sequences } => {
                write!(out, "there is no sequence {number}: the sequences are numbered from 0 to {}", sequences - 1)
            }
            Inconsistent::Cycle(number) => write!(out, "sequence {number} would happen before itself"),
        }
    }
}

impl std::error::Error for Inconsistent {}

impl Schema {
    /// A schema of sequences, and of pairs (first, second) of which the first sequence happens before the second.
    ///
    /// # Errors
    /// When a pair names no sequence, or a sequence would happen before itself.
    pub fn new(sequences: Vec<Vec<Invocation>>, mut before: Vec<(usize, usize)>) -> Result<Schema, Inconsistent> {
        let count = sequences.len();
        if let Some(&number) = before.iter().flat_map(|(one, other)| [one, other]).find(|&&number| number >= count) {
            return Err(Inconsistent::NoSuchSequence { number, sequences: count });
        }
        before.sort_unstable();
        before.dedup();
        match on_a_cycle(count, &before) {
            Some(number) => Err(Inconsistent::Cycle(number)),
            None => Ok(Schema { sequences, before, source: None }),
        }
    }

    /// Reads a schema.
    ///
    /// # Errors
    /// When the text is not a schema: the place of the mistake, and what was expected there.
    pub fn parse(text: &str) -> Result<Schema, Mistake> {
        parse::schema(text)
    }

    /// The sequences.
    pub fn sequences(&self) -> &[Vec<Invocation>] {
        &self.sequences
    }

    /// The constraints: pairs (first, second), sorted.
    pub fn happens_before(&self) -> &[(usize, usize)] {
        &self.before
    }

    /// All invocations in text order, which is the order of the results in an outcome.
    pub fn invocations(&self) -> impl Iterator<Item = &Invocation> {
        self.sequences.iter().flatten()
    }

    /// How many invocations there are.
    pub fn len(&self) -> usize {
        self.sequences.iter().map(Vec::len).sum()
    }

    /// Whether the schema has no invocation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For each sequence whether it happens before sequence `number`.
    fn sequences_before(&self, number: usize) -> Vec<bool> {
        let mut found = vec![false; self.sequences.len()];
        let mut open = vec![number];
        while let Some(later) = open.pop() {
            for &(first, second) in &self.before {
                if second == later && !found[first] {
                    found[first] = true;
                    open.push(first);
                }
            }
        }
        found
    }

    /// The happens-before order: for each invocation in text order those that happen before it, as indices in text
    /// order. Within a sequence it is the order of the sequence.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut starts = vec![0];
        for sequence in &self.sequences {
            starts.push(starts[starts.len() - 1] + sequence.len());
        }
        let mut all = Vec::with_capacity(self.len());
        for (number, sequence) in self.sequences.iter().enumerate() {
            let before = self.sequences_before(number);
            let outer: Vec<usize> = (0..before.len())
                .filter(|&other| before[other])
                .flat_map(|other| starts[other]..starts[other + 1])
                .collect();
            for place in 0..sequence.len() {
                let mut predecessors = outer.clone();
                predecessors.extend(starts[number]..starts[number] + place);
                predecessors.sort_unstable();
                all.push(predecessors);
            }
        }
        all
    }

    /// Checks every invocation against a data type.
    ///
    /// # Errors
    /// When the type has no such method, or not with such arguments: where in the text, if there is one.
    pub fn check(&self, data_type: &DataType) -> Result<(), Mistake> {
        for (index, invocation) in self.invocations().enumerate() {
            if let Err(reason) = data_type.resolve(&invocation.method, &invocation.arguments) {
                return Err(self.mistake(index, format!("in {}: {reason}", data_type.name)));
            }
        }
        Ok(())
    }

    /// A mistake in the invocation with this index in text order.
    pub fn mistake(&self, invocation: usize, reason: String) -> Mistake {
        match &self.source {
            Some(source) => Mistake { text: source.text.clone(), at: source.spans[invocation].start, reason },
            None => {
                let place = self.invocations().take(invocation).map(|earlier| earlier.to_string().len()).sum();
                let text: String = self.invocations().map(Invocation::to_string).collect();
                Mistake { text: text.into(), at: place, reason }
            }
        }
    }
}

/// The smallest number on some cycle of pairs of numbers below `count`, in time linear in both.
fn on_a_cycle(count: usize, before: &[(usize, usize)]) -> Option<usize> {
    // Removes sequences without predecessors as long as there are any.
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits_for = vec![0_usize; count];
    for &(first, second) in before {
        after[first].push(second);
        waits_for[second] += 1;
    }
    let mut free: Vec<usize> = (0..count).filter(|&number| waits_for[number] == 0).collect();
    while let Some(first) = free.pop() {
        for &second in &after[first] {
            waits_for[second] -= 1;
            if waits_for[second] == 0 {
                free.push(second);
            }
        }
    }
    // Each remaining sequence has a remaining predecessor, so going back leads into a cycle.
    let mut previous = vec![None; count];
    for &(first, second) in before.iter().rev().filter(|(first, _)| waits_for[*first] > 0) {
        previous[second] = Some(first);
    }
    let mut at = (0..count).find(|&number| waits_for[number] > 0)?;
    for _ in 0..count {
        at = previous[at].expect("something that remains is before it");
    }
    let start = at;
    let mut least = at;
    loop {
        at = previous[at].expect("it is on a cycle");
        least = least.min(at);
        if at == start {
            return Some(least);
        }
    }
}

/// In curly brackets with `||`, or in square brackets when there are constraints.
impl fmt::Display for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close, between) = if self.before.is_empty() { ("{ ", " }", " || ") } else { ("[", "]", ", ") };
        for (number, sequence) in self.sequences.iter().enumerate() {
            out.write_str(if number == 0 { "" } else { between })?;
            out.write_str(open)?;
            for (place, invocation) in sequence.iter().enumerate() {
                write!(out, "{}{invocation}", if place == 0 { "" } else { "; " })?;
            }
            out.write_str(close)?;
        }
        for (index, (first, second)) in self.before.iter().enumerate() {
            write!(out, "{}{first}<{second}", if index == 0 { ", {" } else { ", " })?;
        }
        out.write_str(if self.before.is_empty() { "" } else { "}" })
    }
}
