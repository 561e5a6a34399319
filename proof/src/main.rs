//! The composed operations of the suite on a real `DashMap` under control, and how quickly the engine gets on with it: the tables of
//! docs/PROOF.md.
//!
//! ```text
//! cargo interloper run --release --races on --manifest-path proof/Cargo.toml -- print      all tables
//! …                                                               -- check      compares them with the page
//! …                                                               -- write      puts them into the page
//! …                                                               -- rate       how quickly it gets on
//! ```
//!
//! It runs in the root of the repository. What it prints on standard output depends on nothing but the sources. What single methods of
//! published crates do is in docs/FINDINGS.md, which `cargo interloper hunt` has found out.

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

// The files of the suite speak of `interloper`. Here that is this crate, whose `DashMap` is the original. The real
// `interloper` is `driver`.
extern crate self as interloper;

mod composed;
// As `cargo interloper hunt --crate` describes it.
#[path = "../../cargo-interloper/objects/dashmap.rs"]
mod dashmap_object;
mod page;
mod rate;
#[path = "../../mut-suite/src/source.rs"]
mod source;

use std::fs;
use std::process::ExitCode;

use interloper_report::file;

pub use composed::{Case, Check, collections};
pub use driver::{Datum, MethodUnderTest, ToValue, Value, Verdict, linearization_point};

/// The descriptions speak of `interloper::objects`, and `interloper` is this crate.
pub mod objects {
    pub use driver::objects::Object;
}

/// What the tables stand in.
const PAGE: &str = "docs/PROOF.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["print"] => parts().into_iter().for_each(|(_, text)| println!("{text}")),
        ["check"] => return compare(),
        ["write"] => write(),
        ["rate"] => rate::measure(200_000),
        _ => {
            eprintln!("print, check, write, or rate");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The parts of the page that are printed, with their names.
fn parts() -> [(&'static str, String); 2] {
    [("rate", rate::table()), ("composed", composed::table())]
}

fn write() {
    for (name, text) in parts() {
        let page = page::with_part(&read(), name, &text).unwrap_or_else(|| panic!("{PAGE} has no part {name}"));
        file::write(PAGE.as_ref(), page.as_bytes()).unwrap_or_else(|error| panic!("{PAGE}: {error}"));
    }
}

/// Whether the page says what is printed.
fn compare() -> ExitCode {
    let page = read();
    let mut same = true;
    for (name, text) in parts() {
        if page::part(&page, name) != Some(&text) {
            println!("{PAGE}, {name}: it should be\n\n{text}");
            same = false;
        }
    }
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read() -> String {
    fs::read_to_string(PAGE).unwrap_or_else(|error| panic!("{PAGE}: {error}; this runs in the root of the repository"))
}
