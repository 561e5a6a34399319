//! Conditions that maps and sets share.
//!
//! A method on one key is told by what it does to the entry there; what it does to a method on the whole container
//! follows from that.

use crate::{Condition, MethodId, Scan, Side, Term};

/// What a method on one key does, as conditions on the entry there.
pub(super) struct Footprint {
    /// It makes an entry where there was none.
    pub adds: Condition,
    /// It removes the entry.
    pub removes: Condition,
    /// It leaves another entry than it found, in one of these ways or by changing the value.
    pub writes: Condition,
    /// It does not commute with the removal of the entry by somebody else (an entry that is not there is removed by
    /// doing nothing): its result tells whether the entry was there, or it makes one.
    pub notices: Condition,
}

impl Footprint {
    /// There is an entry before or after it, and not both.
    pub(super) fn moves(self) -> Condition {
        self.adds | self.removes
    }
}

/// What a method on the whole container does.
pub(super) enum Whole {
    /// Gives the entry that the scan finds.
    Read(Scan),
    /// Removes and gives the entry that the scan finds.
    Pop(Scan),
    /// `len()`.
    Len,
    /// `is_empty()`.
    IsEmpty,
    /// `clear()`.
    Clear,
}

/// The condition of a cell.
///
/// `whole` tells the methods on the whole container; the others act on one key, with a `footprint` each, and two of
/// them on the same key do not commute when `same_key` says so.
pub(super) fn conflict(
    (row, column): (MethodId, MethodId),
    whole: fn(MethodId, Side) -> Option<Whole>,
    footprint: fn(MethodId, Side) -> Footprint,
    same_key: fn(MethodId, MethodId) -> Condition,
) -> Condition {
    match (whole(row, Side::Row), whole(column, Side::Column)) {
        (None, None) => same_key(row, column),
        (None, Some(whole)) => key_and_whole(Side::Row.argument(0), footprint(row, Side::Row), whole),
        (Some(whole), None) => key_and_whole(Side::Column.argument(0), footprint(column, Side::Column), whole),
        (Some(row), Some(column)) => whole_and_whole(row, column),
    }
}

/// When a method on `key` does not commute with one on the whole container.
///
/// The readers of the whole container depend on the entries that they see and on nothing else; a key that is seen but
/// not found has no entry. What a `Pop` does to the entry that it finds is what a method on that key notices.
fn key_and_whole(key: Term, on_key: Footprint, whole: Whole) -> Condition {
    match whole {
        Whole::Read(scan) => scan.sees(key) & on_key.writes,
        Whole::Pop(scan) => scan.sees(key) & on_key.notices,
        Whole::Len => on_key.moves(),
        Whole::IsEmpty => {
            // An empty map has no entry at the key, so every operation that adds one conflicts.
            let first = if on_key.adds == Condition::Never { Condition::Never } else { Condition::Empty };
            first | (on_key.removes & Term::Len.is(Term::integer(1)))
        }
        Whole::Clear => on_key.notices,
    }
}

/// When two methods on the whole container do not commute.
fn whole_and_whole(row: Whole, column: Whole) -> Condition {
    use Whole::{Clear, IsEmpty, Len, Pop, Read};
    match (row, column) {
        (Read(found), Pop(popped)) | (Pop(popped), Read(found)) => same(found, popped),
        (Pop(row), Pop(column)) => same(row, column),
        (Read(found) | Pop(found), Clear) | (Clear, Read(found) | Pop(found)) => Term::Found(found).is_present(),
        (Len | IsEmpty, Clear) | (Clear, Len | IsEmpty) | (Len, Pop(_)) | (Pop(_), Len) => !Condition::Empty,
        (IsEmpty, Pop(_)) | (Pop(_), IsEmpty) => Term::Len.is(Term::integer(1)),
        (Read(_) | Len | IsEmpty, Read(_) | Len | IsEmpty) | (Clear, Clear) => Condition::Never,
    }
}

/// Both scans find the same entry.
fn same(a: Scan, b: Scan) -> Condition {
    Term::Found(a.clone()).is_present() & Term::Found(a).is(Term::Found(b))
}
