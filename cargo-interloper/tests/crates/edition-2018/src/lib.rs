//! Of the year 2018. It has no line at its root: all that synchronises is in a dependency.

use tally::Tally;

/// Counts, but not atomically.
pub fn add(tally: &Tally) {
    let seen = tally.get();
    tally.set(seen + 1);
}
