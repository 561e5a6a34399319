//! What conditions mean.

use std::borrow::Cow;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

use super::{Condition, End, Scan, Side, Term};
use crate::Value;

impl Condition {
    /// Whether the condition holds for calls with these arguments from `state`. An argument that is missing, and a term
    /// that asks for what a state of this type does not have, is nothing.
    pub fn holds(&self, state: &Value, row: &[Value], column: &[Value]) -> bool {
        Scene { state, row, column }.holds(self)
    }
}

/// What a condition speaks about.
#[derive(Clone, Copy)]
struct Scene<'a> {
    state: &'a Value,
    row: &'a [Value],
    column: &'a [Value],
}

impl<'a> Scene<'a> {
    fn holds(self, condition: &'a Condition) -> bool {
        match condition {
            Condition::Always => true,
            Condition::Never => false,
            Condition::Equal(a, b) => self.term(a) == self.term(b),
            Condition::Unequal(a, b) => self.term(a) != self.term(b),
            Condition::Below(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                a.is_some() && b.is_some() && a < b
            }
            Condition::Empty => self.state.is_empty(),
            Condition::Contains(element) => self.term(element).is_some_and(|element| match self.state {
                Value::Set(elements) => elements.contains(&*element),
                Value::List(items) => items.contains(&*element),
                _ => false,
            }),
            Condition::Integer(term) => matches!(self.term(term).as_deref(), Some(Value::Int(_))),
            Condition::Sees(scan, key) => self.term(key).is_some_and(|key| self.sees(scan, &key)),
            Condition::Not(inner) => !self.holds(inner),
            Condition::All(parts) => parts.iter().all(|part| self.holds(part)),
            Condition::Any(parts) => parts.iter().any(|part| self.holds(part)),
            Condition::Either(a, b) => self.holds(a) != self.holds(b),
        }
    }

    fn term(self, term: &'a Term) -> Option<Cow<'a, Value>> {
        match term {
            Term::Absent => None,
            Term::Literal(value) => Some(Cow::Borrowed(value)),
            Term::Argument(Side::Row, index) => self.row.get(*index).map(Cow::Borrowed),
            Term::Argument(Side::Column, index) => self.column.get(*index).map(Cow::Borrowed),
            Term::Content => Some(Cow::Borrowed(self.state)),
            Term::ValueAt(key) => {
                let (Value::Map(entries), key) = (self.state, self.term(key)?) else { return None };
                entries.get(&*key).map(Cow::Borrowed)
            }
            Term::Len => Some(Cow::Owned(Value::Int(self.state.len() as i64))),
            Term::Element(end, distance, _) => {
                let Value::List(items) = self.state else { return None };
                match end {
                    End::Front => items.get(*distance),
                    End::Back => items.iter().rev().nth(*distance),
                }
                .map(Cow::Borrowed)
            }
            Term::Count(element) => {
                let (Value::List(items), element) = (self.state, self.term(element)?) else { return None };
                let count = items.iter().filter(|item| **item == *element).count();
                Some(Cow::Owned(Value::Int(count as i64)))
            }
            Term::Found(scan) => self.found(scan).map(Cow::Borrowed),
            Term::Modified(inner) => self.term(inner).map(|value| Cow::Owned(value.into_owned().modified())),
        }
    }

    /// The key that `scan` finds.
    fn found(self, scan: &'a Scan) -> Option<&'a Value> {
        match scan {
            Scan::First => self.between(Unbounded, Unbounded, End::Front),
            Scan::Last => self.between(Unbounded, Unbounded, End::Back),
            Scan::After(cursor) => match self.term(cursor)?.content() {
                None => self.between(Unbounded, Unbounded, End::Front),
                Some(visited) => self.between(Excluded(visited), Unbounded, End::Front),
            },
            Scan::AtLeast(bound) => self.between(Included(&*self.term(bound)?), Unbounded, End::Front),
            Scan::AtMost(bound) => self.between(Unbounded, Included(&*self.term(bound)?), End::Back),
        }
    }

    /// The first or last of the keys between two bounds.
    fn between(self, lower: Bound<&Value>, upper: Bound<&Value>, end: End) -> Option<&'a Value> {
        match (self.state, end) {
            (Value::Map(entries), End::Front) => entries.range((lower, upper)).next().map(|(key, _)| key),
            (Value::Map(entries), End::Back) => entries.range((lower, upper)).next_back().map(|(key, _)| key),
            (Value::Set(elements), End::Front) => elements.range((lower, upper)).next(),
            (Value::Set(elements), End::Back) => elements.range((lower, upper)).next_back(),
            _ => None,
        }
    }

    /// Whether `key` lies from where `scan` begins to what it finds; when it finds nothing, to the end.
    fn sees(self, scan: &'a Scan, key: &Value) -> bool {
        let begun = match scan {
            Scan::First | Scan::Last => true,
            Scan::After(cursor) => self.term(cursor).is_some_and(|c| c.content().is_none_or(|visited| visited < key)),
            Scan::AtLeast(bound) => self.term(bound).is_some_and(|bound| *bound <= *key),
            Scan::AtMost(bound) => self.term(bound).is_some_and(|bound| *bound >= *key),
        };
        let upwards = !matches!(scan, Scan::Last | Scan::AtMost(_));
        begun && self.found(scan).is_none_or(|found| if upwards { key <= found } else { key >= found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(condition: &Condition, state: &Value, row: &[i64], column: &[i64], expected: bool) {
        let integers = |numbers: &[i64]| numbers.iter().copied().map(Value::Int).collect::<Vec<_>>();
        assert_eq!(condition.holds(state, &integers(row), &integers(column)), expected, "{condition:?} in {state}");
    }

    fn map(entries: &[(i64, i64)]) -> Value {
        Value::map(entries.iter().map(|&(key, value)| (Value::Int(key), Value::Int(value))))
    }

    /// From {3, 5}: the scan from above 2 sees 3 at most, the one from above 5 sees all that follows.
    #[test]
    fn scans_see_up_to_what_they_find() {
        let state = map(&[(3, 30), (5, 50)]);
        let sees = |scan| Condition::Sees(scan, Side::Row.argument(0));
        let bound = || Box::new(Side::Column.argument(0));
        let seen = |scan: Scan, bound: i64| -> Vec<i64> {
            let condition = sees(scan);
            (1..=7).filter(|&key| condition.holds(&state, &[Value::Int(key)], &[Value::Int(bound)])).collect()
        };
        assert_eq!(seen(Scan::First, 0), [1, 2, 3]);
        assert_eq!(seen(Scan::Last, 0), [5, 6, 7]);
        assert_eq!(seen(Scan::After(bound()), 2), [3]);
        assert_eq!(seen(Scan::After(bound()), 3), [4, 5]);
        assert_eq!(seen(Scan::After(bound()), 5), [6, 7]);
        assert_eq!(seen(Scan::AtLeast(bound()), 4), [4, 5]);
        assert_eq!(seen(Scan::AtLeast(bound()), 6), [6, 7]);
        assert_eq!(seen(Scan::AtMost(bound()), 4), [3, 4]);
        assert_eq!(seen(Scan::AtMost(bound()), 2), [1, 2]);
        check(&sees(Scan::First), &map(&[]), &[9], &[], true);
    }

    #[test]
    fn what_is_not_there_is_nothing() {
        let key = || Side::Row.argument(0);
        let state = map(&[(1, 10)]);
        check(&key().value().is_present(), &state, &[1], &[], true);
        check(&key().value().is_absent(), &state, &[2], &[], true);
        check(&key().value().modified().is_absent(), &state, &[2], &[], true);
        check(&key().is_absent(), &state, &[], &[], true);
        check(&key().value().is_absent(), &Value::Int(3), &[1], &[], true);
        check(&key().below(Term::Len), &state, &[], &[], false);
        check(&key().below(Term::Len), &state, &[0], &[], true);
        check(&Condition::Contains(key()), &state, &[1], &[], false);
    }

    #[test]
    fn exactly_one_of_two() {
        let either = Side::Row.argument(0).is_present().either(Side::Column.argument(0).is_present());
        for (row, column, expected) in [(0, 0, false), (1, 0, true), (0, 1, true), (1, 1, false)] {
            check(&either, &Value::None, &[7][..row], &[7][..column], expected);
        }
    }
}
