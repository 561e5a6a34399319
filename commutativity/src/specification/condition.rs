//! The language of conditions.

use std::ops::{BitAnd, BitOr, Not};

use crate::Value;

/// Which of the two calls of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The call named at the left.
    Row,
    /// The call named at the top.
    Column,
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the first element is.
    Front,
    /// Where the last element is.
    Back,
}

/// A way to look for an entry of a map, or an element of a set, in the order of keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Scan {
    /// The smallest key.
    First,
    /// The largest key.
    Last,
    /// The smallest key greater than this cursor ([`Parameter::Cursor`](crate::Parameter::Cursor)).
    After(Box<Term>),
    /// The smallest key that is not below this one.
    AtLeast(Box<Term>),
    /// The largest key that is not above this one.
    AtMost(Box<Term>),
}

/// What a condition compares: a value, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Nothing. Text: `none`.
    Absent,
    /// This value.
    Literal(Value),
    /// The argument with this index of one of the two calls.
    Argument(Side, usize),
    /// The whole state, that is, the content of a register. Text: `load()`.
    Content,
    /// The value that a map has at a key. Text: `get(k)`.
    ValueAt(Box<Term>),
    /// How many elements there are. Text: `len()`.
    Len,
    /// The element of a list at this distance from an end, and what the table calls it.
    Element(End, usize, &'static str),
    /// How often an element occurs in a list. Text: `count(x)`.
    Count(Box<Term>),
    /// The key that a scan finds. Text: the method that scans.
    Found(Scan),
    /// What an unknown function makes of a value. Text: `f(v)`.
    Modified(Box<Term>),
}

/// A condition on the arguments of two calls and the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Text: `true`.
    Always,
    /// Text: `false`.
    Never,
    /// The two are the same, or both nothing.
    Equal(Term, Term),
    /// They are not.
    Unequal(Term, Term),
    /// Both are there and the first is smaller.
    Below(Term, Term),
    /// The state has no elements.
    Empty,
    /// The state, a set or a list, contains this element.
    Contains(Term),
    /// This is a [`Value::Int`]. Text: `v ∈ ℤ`.
    Integer(Term),
    /// The scan depends on whether there is an entry with this key: it lies between where the scan begins and what it
    /// finds, both included.
    Sees(Scan, Term),
    /// It does not hold.
    Not(Box<Condition>),
    /// All hold.
    All(Vec<Condition>),
    /// At least one holds.
    Any(Vec<Condition>),
    /// Exactly one of the two holds.
    Either(Box<Condition>, Box<Condition>),
}

impl Side {
    /// The argument with this index of the call on this side.
    pub fn argument(self, index: usize) -> Term {
        Term::Argument(self, index)
    }

    /// The side of the other call.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Row => Side::Column,
            Side::Column => Side::Row,
        }
    }
}

impl Scan {
    /// Whether the scan depends on the entry with this key.
    pub fn sees(self, key: Term) -> Condition {
        Condition::Sees(self, key)
    }

    fn transposed(self) -> Scan {
        match self {
            Scan::First | Scan::Last => self,
            Scan::After(term) => Scan::After(Box::new(term.transposed())),
            Scan::AtLeast(term) => Scan::AtLeast(Box::new(term.transposed())),
            Scan::AtMost(term) => Scan::AtMost(Box::new(term.transposed())),
        }
    }
}

impl Term {
    /// The value that a map has at this key.
    pub fn value(self) -> Term {
        Term::ValueAt(Box::new(self))
    }

    /// How often this occurs.
    pub fn count(self) -> Term {
        Term::Count(Box::new(self))
    }

    /// What an unknown function makes of this.
    pub fn modified(self) -> Term {
        Term::Modified(Box::new(self))
    }

    /// This integer.
    pub fn integer(number: usize) -> Term {
        Term::Literal(Value::Int(number as i64))
    }

    /// The two are the same.
    pub fn is(self, other: Term) -> Condition {
        if self == other { Condition::Always } else { Condition::Equal(self, other) }
    }

    /// The two are not the same.
    pub fn is_not(self, other: Term) -> Condition {
        if self == other { Condition::Never } else { Condition::Unequal(self, other) }
    }

    /// Both are there and this is the smaller.
    pub fn below(self, other: Term) -> Condition {
        Condition::Below(self, other)
    }

    /// There is nothing.
    pub fn is_absent(self) -> Condition {
        self.is(Term::Absent)
    }

    /// There is something.
    pub fn is_present(self) -> Condition {
        self.is_not(Term::Absent)
    }

    fn transposed(self) -> Term {
        let boxed = |term: Box<Term>| Box::new(term.transposed());
        match self {
            Term::Argument(side, index) => Term::Argument(side.other(), index),
            Term::ValueAt(term) => Term::ValueAt(boxed(term)),
            Term::Count(term) => Term::Count(boxed(term)),
            Term::Modified(term) => Term::Modified(boxed(term)),
            Term::Found(scan) => Term::Found(scan.transposed()),
            Term::Absent | Term::Literal(_) | Term::Content | Term::Len | Term::Element(..) => self,
        }
    }
}

impl Condition {
    /// The same condition for the two calls the other way round.
    #[must_use]
    pub fn transposed(&self) -> Condition {
        use Condition::*;
        let turned = |term: &Term| term.clone().transposed();
        let all = |list: &[Condition]| list.iter().map(Condition::transposed).collect();
        match self {
            Always | Never | Empty => self.clone(),
            Equal(a, b) => row_first(Equal, turned(a), turned(b)),
            Unequal(a, b) => row_first(Unequal, turned(a), turned(b)),
            Below(a, b) => Below(turned(a), turned(b)),
            Contains(a) => Contains(turned(a)),
            Integer(a) => Integer(turned(a)),
            Sees(scan, key) => Sees(scan.clone().transposed(), turned(key)),
            Not(inner) => Not(Box::new(inner.transposed())),
            All(list) => All(all(list)),
            Any(list) => Any(all(list)),
            Either(a, b) => Either(Box::new(a.transposed()), Box::new(b.transposed())),
        }
    }

    /// Exactly one of the two holds.
    #[must_use]
    pub fn either(self, other: Condition) -> Condition {
        Condition::Either(Box::new(self), Box::new(other))
    }
}

/// An argument of the row stands before one of the column: `v₁ = v₂`.
fn row_first(compare: fn(Term, Term) -> Condition, a: Term, b: Term) -> Condition {
    match (&a, &b) {
        (Term::Argument(Side::Column, _), Term::Argument(Side::Row, _)) => compare(b, a),
        _ => compare(a, b),
    }
}

/// Both hold. Trivial parts are left out, and a part is not repeated.
impl BitAnd for Condition {
    type Output = Condition;
    fn bitand(self, other: Condition) -> Condition {
        let mut parts = Vec::new();
        for part in [self, other].into_iter().flat_map(Condition::conjuncts) {
            match part {
                Condition::Never => return Condition::Never,
                part if parts.contains(&part) => {}
                part => parts.push(part),
            }
        }
        single(parts, Condition::Always, Condition::All)
    }
}

/// At least one holds. Trivial parts are left out, and a part is not repeated.
impl BitOr for Condition {
    type Output = Condition;
    fn bitor(self, other: Condition) -> Condition {
        let mut parts = Vec::new();
        for part in [self, other].into_iter().flat_map(Condition::disjuncts) {
            match part {
                Condition::Always => return Condition::Always,
                part if parts.contains(&part) => {}
                part => parts.push(part),
            }
        }
        single(parts, Condition::Never, Condition::Any)
    }
}

impl Not for Condition {
    type Output = Condition;
    fn not(self) -> Condition {
        match self {
            Condition::Always => Condition::Never,
            Condition::Never => Condition::Always,
            Condition::Equal(a, b) => Condition::Unequal(a, b),
            Condition::Unequal(a, b) => Condition::Equal(a, b),
            Condition::Not(inner) => *inner,
            other => Condition::Not(Box::new(other)),
        }
    }
}

impl Condition {
    fn conjuncts(self) -> Vec<Condition> {
        match self {
            Condition::Always => Vec::new(),
            Condition::All(parts) => parts,
            other => vec![other],
        }
    }

    fn disjuncts(self) -> Vec<Condition> {
        match self {
            Condition::Never => Vec::new(),
            Condition::Any(parts) => parts,
            other => vec![other],
        }
    }
}

fn single(mut parts: Vec<Condition>, none: Condition, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        0 => none,
        1 => parts.remove(0),
        _ => many(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::Condition::{Always, Empty, Never};
    use super::*;

    #[test]
    fn trivial_parts_vanish() {
        let (x, y) = (|| Side::Row.argument(0).is_present(), || Side::Column.argument(0).is_present());
        assert_eq!(Always & x(), x());
        assert_eq!(Never & x(), Never);
        assert_eq!(Always | x(), Always);
        assert_eq!(Never | x(), x());
        assert_eq!(x() & x(), x());
        assert_eq!((x() | y()) | x(), Condition::Any(vec![x(), y()]));
        assert_eq!(x() & (y() & Empty), Condition::All(vec![x(), y(), Empty]));
        assert_eq!(!!(x() & y()), x() & y());
        assert_eq!(!x(), Side::Row.argument(0).is_absent());
        assert_eq!(Term::Len.is(Term::Len), Always);
        assert_eq!(Term::Len.is_not(Term::Len), Never);
    }

    #[test]
    fn transposing_exchanges_the_calls() {
        let scan = |side: Side| Term::Found(Scan::After(Box::new(side.argument(0))));
        let cell = |side: Side| {
            (side.argument(1).value().modified().below(scan(side)) & !Condition::Contains(side.argument(0).count()))
                | Scan::AtLeast(Box::new(side.argument(0))).sees(side.other().argument(1)).either(Empty)
        };
        assert_eq!(cell(Side::Row).transposed(), cell(Side::Column));
        assert_eq!(cell(Side::Column).transposed(), cell(Side::Row));
        let same = || Side::Row.argument(0).is(Side::Column.argument(0));
        assert_eq!(same().transposed(), same());
    }
}
