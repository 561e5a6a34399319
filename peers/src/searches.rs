//! How many executions each search needs to the first bug of the literature's programs, beside the published numbers.

use interloper::blocks::{Program, Schedule};
use interloper_suite::benchmarks::{benchmarks, first_bug};

use crate::table::{Cell, Mean, Table};
use crate::under_shuttle::Strategy as Shuttle;
use crate::{shuttle_searches, under_shuttle};

const SEEDS: u64 = 20;
const LIMIT: u64 = 10_000;

const OURS: [&str; 7] = ["portfolio", "rff", "surw", "urw", "pos", "pct:3", "random"];

/// The best published mean of each program, and whose it is: from the tables of the papers, or the raw data of their
/// artifacts where every one of 20 trials found the bug. RFF is Wolff et al., ASPLOS 2024; the others are from Zhao et
/// al., ASPLOS 2025.
const PUBLISHED: [(&str, &str); 27] = [
    ("reorder-3", "6 (RFF)"),
    ("reorder-4", "6 (RFF)"),
    ("reorder-5", "6 (RFF)"),
    ("reorder-10", "6 (RFF)"),
    ("reorder-20", "6 (RFF, SURW)"),
    ("reorder-50", "6 (RFF)"),
    ("reorder-100", "6 (RFF)"),
    ("twostage", "8 (SURW)"),
    ("twostage-20", "6 (SURW)"),
    ("twostage-50", "20 (SURW)"),
    ("twostage-100", "56 (RFF)"),
    ("wronglock", "2 (RFF)"),
    ("wronglock-3", "2 (RFF)"),
    ("token-ring", "8 (SURW)"),
    ("deadlock01", "2 (SURW)"),
    ("interlocked-work-steal-queue", "1 (RFF)"),
    ("work-steal-queue", "5 (SURW)"),
    ("qsort-mt", "297 (URW)"),
    ("cve-2009-3547", "2 (PCT-10)"),
    ("cve-2013-1792", "15 (SURW)"),
    ("cve-2015-7550", "1 (URW)"),
    ("cve-2016-1972", "10 (SURW)"),
    ("cve-2016-1973", "4 (SURW)"),
    ("cve-2016-7911", "3 (random walk)"),
    ("cve-2016-9806", "2 (SURW)"),
    ("cve-2017-15265", "118 (RFF)"),
    ("cve-2017-6346", "1 (URW)"),
];

/// Needs more executions than all the others together, and has a table of its own.
const SAFE_STACK: &str = "safestack";

const SAFE_STACK_LIMIT: u64 = 1_000_000;

/// The programs that a random walk does not find in most of its executions.
pub fn hard() -> Table {
    table("The programs of the literature: executions to the first bug", |random| random > 2.0)
}

/// The other ones, which say little about a search.
pub fn easy() -> Table {
    table("The programs of the literature that a random walk finds at once", |random| random <= 2.0)
}

fn table(title: &str, belongs: impl Fn(f64) -> bool) -> Table {
    let mut table = Table::new(
        title,
        &[
            "The mean over 20 seeds of those that found the bug within 10,000 executions, and how many did if not all. The \
           published numbers are of the originals, in C and C++, under other tools; ours and shuttle's are of the same \
           ports. SURW and URW, alone and in the portfolio, have a profile of 20 random walks, which do not count; in \
           the papers it is one run, which does not count either.",
        ],
        &[
            "program",
            "best published",
            "portfolio",
            "rff",
            "SURW",
            "URW",
            "POS",
            "PCT-3",
            "random",
            "shuttle random",
            "shuttle PCT-3",
            "shuttle URW",
        ],
    );
    for program in benchmarks().into_iter().filter(|program| program.name != SAFE_STACK) {
        if belongs(ours(&program, "random", LIMIT).mean.unwrap_or(f64::INFINITY)) {
            table.row(row(&program));
        }
    }
    table
}

/// SafeStack, whose bug takes at least five preemptions.
pub fn safe_stack() -> Table {
    let mut table = Table::new(
        "SafeStack: executions to the first bug",
        &[
            "The mean over 20 seeds of those that found the bug within 1,000,000 executions, and how many did if not all. The \
           published number is of the original, in C++, under the tool of its authors (Zhao et al., ASPLOS 2025).",
        ],
        &["strategy", "executions"],
    );
    table.row(vec![Cell::text("SURW, as published"), Cell::text("368921 (19 of 20)")]);
    let programs = benchmarks();
    let program = programs.iter().find(|program| program.name == SAFE_STACK).expect("it is one of them");
    for schedule in ["pos", "rff", "portfolio", "surw"] {
        table.row(vec![Cell::text(schedule), Cell::Mean(ours(program, schedule, SAFE_STACK_LIMIT))]);
    }
    table
}

fn row(program: &Program) -> Vec<Cell> {
    let published = PUBLISHED.iter().find(|(name, _)| *name == program.name);
    let published = published.map_or(Cell::Nothing, |(_, published)| Cell::text(*published));
    let own = OURS.map(|schedule| Cell::Mean(ours(program, schedule, LIMIT)));
    let theirs =
        [Shuttle::Random, Shuttle::Pct(3), Shuttle::Urw].map(|strategy| Cell::Mean(shuttle(program, strategy)));
    [Cell::text(program.name), published].into_iter().chain(own).chain(theirs).collect()
}

fn ours(program: &Program, schedule: &str, limit: u64) -> Mean {
    let schedule: Schedule = schedule.parse().expect("a schedule by its name");
    let blocks = program.own_settings().blocks;
    Mean::of((0..SEEDS).map(|seed| first_bug(program, &schedule, blocks, (seed, limit))))
}

fn shuttle(program: &Program, strategy: Shuttle) -> Mean {
    let body = shuttle_searches::body(program.name);
    let program = move || drop(body());
    Mean::of((0..SEEDS).map(|seed| under_shuttle::first_failure(strategy, seed, LIMIT as usize, program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_its_published_number() {
        let names: Vec<_> =
            benchmarks().iter().map(|program| program.name).filter(|name| *name != SAFE_STACK).collect();
        let published: Vec<_> = PUBLISHED.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, published);
    }
}
