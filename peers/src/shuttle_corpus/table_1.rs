//! The programs of Table 1. Of a row only the program is needed here.

use super::{Bug, Expected, Family, Program, platform};

#[path = "../../../mut-suite/src/blocks/table_1/buffers.rs"]
mod buffers;
#[path = "../../../mut-suite/src/blocks/table_1/closed.rs"]
mod closed;
#[path = "../../../mut-suite/src/blocks/table_1/collections.rs"]
mod collections;
#[path = "../../../mut-suite/src/blocks/table_1/strings.rs"]
mod strings;
#[path = "../../../mut-suite/src/blocks/table_1/wrappers.rs"]
mod wrappers;

type Row = Program;

const fn row(_title: &'static str, _probability: Option<f64>, program: Program) -> Row {
    program
}

pub(super) fn programs() -> Vec<Program> {
    let rows = [strings::rows(), wrappers::rows(), buffers::rows(), closed::rows()];
    let others = [strings::twins(), wrappers::twins(), wrappers::methods(), buffers::twins(), closed::others()];
    rows.into_iter().chain(others).flatten().collect()
}
