//! The same programs here, under shuttle and under loom, in one run: what a step and an execution cost, how many
//! executions an exhaustive search takes, how many it takes to find a bug, and what tasks cost in memory.
//!
//! Time is measured as the shortest of many rounds, so that a loaded machine matters little; the ratios matter, since all
//! tools ran on the same machine. Everything else is a function of the seeds.

#![warn(missing_docs)]

mod costs;
mod detection;
mod exhaustive;
mod figure_2;
mod memory;
mod ours;
mod outcome;
mod page;
mod probability;
mod searches;
mod shuttle_corpus;
mod shuttle_searches;
mod source;
mod table;
mod under_loom;
mod under_shuttle;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use interloper_report::file;
use interloper_scheduler::panics;

use self::table::Table;

/// Compares what this project's engine costs and finds with shuttle and loom.
#[derive(Parser)]
struct Arguments {
    /// How the tables are written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only this table, or these.
    #[arg(long, value_enum)]
    only: Vec<Section>,
    /// Writes the tables, with date and machine, between the marks of this page.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "only"])]
    into: Option<PathBuf>,
    /// What a process of its own is to go through under loom: see `under_loom::exhaust`.
    #[arg(long = under_loom::ARGUMENT, hide = true)]
    under_loom: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    Costs,
    Memory,
    Exhaustive,
    Figure2,
    Probability,
    Detection,
    Searches,
    EasySearches,
    SafeStack,
}

impl Section {
    /// The table; says on standard error that it is being made.
    fn make(self) -> Table {
        eprintln!("{} …", self.to_possible_value().expect("none is skipped").get_name());
        self.table()
    }

    fn table(self) -> Table {
        match self {
            Section::Costs => costs::table(),
            Section::Memory => memory::table(),
            Section::Exhaustive => exhaustive::table(),
            Section::Figure2 => figure_2::table(),
            Section::Probability => probability::table(),
            Section::Detection => detection::table(),
            Section::Searches => searches::hard(),
            Section::EasySearches => searches::easy(),
            Section::SafeStack => searches::safe_stack(),
        }
    }
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    if let Some(number) = arguments.under_loom {
        under_loom::go_through(number);
        return Ok(());
    }
    // The panics of programs are counted, not printed. Shuttle installs a hook that prints them when it is first used: that
    // happens here, so that our hook goes around it.
    under_shuttle::run(under_shuttle::Strategy::Random, 0, 1, || ());
    panics::quietly(|| print_tables(&arguments))
}

/// Prints the chosen tables, or writes all of them into the page that was named.
///
/// # Errors
/// When standard output or the page cannot be written.
fn print_tables(arguments: &Arguments) -> io::Result<()> {
    if let Some(page) = &arguments.into {
        return write_into(page);
    }
    let mut out = std::io::stdout().lock();
    let mut tables = Vec::new();
    for section in Section::value_variants() {
        if arguments.only.is_empty() || arguments.only.contains(section) {
            let table = section.make();
            match arguments.format {
                Format::Text => writeln!(out, "{table}")?,
                Format::Json => tables.push(table),
            }
        }
    }
    if arguments.format == Format::Json {
        serde_json::to_writer_pretty(&mut out, &serde_json::json!({ "version": 1, "tables": tables }))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Makes all tables and puts them into a page.
///
/// # Errors
/// When the page cannot be read or written, or has no place for them.
fn write_into(path: &Path) -> io::Result<()> {
    let page = std::fs::read_to_string(path)?;
    let no_place = || io::Error::other("the page has no marks between which the tables belong");
    // Before they are made, which takes long.
    page::with_tables(&page, "").ok_or_else(no_place)?;
    let tables: String = Section::value_variants().iter().map(|section| format!("{}\n", section.make())).collect();
    let tables = format!("{}\n{tables}", page::origin());
    file::write(path, page::with_tables(&page, &tables).ok_or_else(no_place)?.as_bytes())
}
