//! Table 1 of the paper: its programs in words of our own.
//!
//! As in the paper's experiments there are no marks: critical sections count as blocks (section 5.1), except where a
//! program says otherwise. Each row is a driver like those of the paper: threads that call methods on two objects of a
//! class. weblech, jspider and jigsaw are missing: the paper shows only the snippets of their code in section 5.4,
//! which are among the other programs.

mod buffers;
mod closed;
mod collections;
mod strings;
mod wrappers;

use super::platform;
use super::{Bug, Expected, Family, Program};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What the table calls it: `Apache BlockingBuffer`.
    pub title: &'static str,
    /// Column 9: in what share of the runs AtomFuzzer saw a violation; `None` where it saw no violation.
    pub probability: Option<f64>,
    /// The program.
    pub program: Program,
}

/// The rows of Table 1, in its order.
pub fn table_1() -> Vec<Row> {
    let families = [strings::rows(), wrappers::rows(), buffers::rows(), closed::rows()];
    families.into_iter().flatten().collect()
}

/// The programs of the rows, their twins, and single methods.
pub(super) fn programs() -> Vec<Program> {
    let rows = table_1().into_iter().map(|row| row.program);
    let others = [strings::twins(), wrappers::twins(), wrappers::methods(), buffers::twins(), closed::others()];
    rows.chain(others.into_iter().flatten()).collect()
}

/// A row.
const fn row(title: &'static str, probability: Option<f64>, program: Program) -> Row {
    Row { title, probability, program }
}
