//! In which part of the runs Algorithm 2 sees a violation, beside column 9 of the paper's Table 1.

use interloper::blocks::{Program, Schedule, Settings};
use interloper_suite::blocks::{find_program, table_1};

use crate::table::{Cell, Table};

const EXECUTIONS: u64 = 1_000;

pub fn table() -> Table {
    let mut table = Table::new(
        "How probable it is to see a violation in one run",
        &[
            "The share of 1,000 executions in which Algorithm 2 sees an atomicity violation. The programs are Figures 1 \
             and 2, and rewritten versions of the programs of Table 1. The paper's column 9 is about the originals, \
             with 10 to 1000 runs at q = 0.5.",
        ],
        &["program", "q = 0.5", "q = 1", "paper", "at least as high"],
    );
    for (name, figure) in [("figure-1", "Figure 1"), ("figure-2", "Figure 2")] {
        if let Some(program) = find_program(name) {
            table.row(row(figure, &program, None));
        }
    }
    for paper in table_1() {
        table.row(row(paper.title, &paper.program, paper.probability));
    }
    table
}

fn row(name: &str, program: &Program, paper: Option<f64>) -> Vec<Cell> {
    let [half, one] = [0.5, 1.0].map(|q| probability(program, q));
    let (paper, met) = match paper {
        Some(paper) => (Cell::number(paper, 2), Cell::Yes(half >= paper)),
        None => (Cell::Nothing, Cell::Nothing),
    };
    vec![Cell::text(name), Cell::number(half, 3), Cell::number(one, 3), paper, met]
}

fn probability(program: &Program, q: f64) -> f64 {
    let settings = Settings {
        schedule: Schedule::AtomFuzzer { q },
        executions: EXECUTIONS,
        shrink_executions: 0,
        keep_going: true,
        ..program.own_settings()
    };
    let report = program.check_with(&settings).expect("the programs of the corpus are deterministic");
    report.coverage.violated as f64 / report.coverage.executions as f64
}
