//! Which methods of real crates are atomic, with their own sources under control: the tables of docs/PROOF.md.
//!
//! ```text
//! cargo interloper run --release --races on --manifest-path proof/Cargo.toml -- print [NAME…]   all tables, or those of some objects
//! …                                                               -- check           compares them with the page
//! …                                                               -- write           puts them into the page
//! …                                                               -- composed        the composed operations only
//! …                                                               -- rate            how quickly it gets on
//! …                                        -- schema OBJECT SCHEMA EXECUTIONS         one schema, as far as that goes
//! ```
//!
//! It runs in the root of the repository. What it prints on standard output depends on nothing but the sources.

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

// The files of the suite speak of `interloper`. Here that is this crate, whose `DashMap` is the original. The real
// `interloper` is `driver`.
extern crate self as interloper;

mod composed;
mod objects;
mod page;
mod rate;
mod search;
#[path = "../../mut-suite/src/source.rs"]
mod source;
mod tables;

use std::fs;
use std::process::ExitCode;

use interloper_harness::MethodId;
use interloper_harness::systematic::{Executions, Settings};
use interloper_linearize::schema::Schema;
use interloper_report::file;
use tables::Outcome;

pub use composed::{Case, Check, collections};
pub use driver::{Datum, MethodUnderTest, ToValue, Value, Verdict, linearization_point};

/// What the tables stand in.
const PAGE: &str = "docs/PROOF.md";
/// What the traces stand in.
const TRACES: &str = "docs/PROOF-TRACES.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] | ["print", ..] => print(arguments.get(1..).unwrap_or_default()),
        ["check"] => return compare(),
        ["write"] => write(),
        ["composed"] => print!("{}", composed::table()),
        ["rate"] => rate::measure(200_000),
        ["schema", object, schema, executions] => return one(object, schema, executions),
        _ => {
            eprintln!("print [NAME…], check, write, composed, rate, or schema OBJECT SCHEMA EXECUTIONS");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// A part of a page.
struct Part {
    page: &'static str,
    name: &'static str,
    text: String,
}

/// All that is printed.
fn parts(outcomes: &[Outcome]) -> Vec<Part> {
    let part = |page, name, text| Part { page, name, text };
    vec![
        part(PAGE, "methods", tables::methods(outcomes)),
        part(PAGE, "violations", tables::violations(outcomes)),
        part(PAGE, "composed", composed::table()),
        part(PAGE, "rate", rate::table()),
        part(TRACES, "traces", tables::traces(outcomes)),
    ]
}

/// The objects whose names contain one of these, or all of them.
fn outcomes(names: &[&str]) -> Vec<Outcome> {
    let wanted = objects::all().into_iter();
    let wanted = wanted.filter(|object| names.is_empty() || names.iter().any(|name| object.name().contains(name)));
    wanted
        .map(|object| {
            let methods = (0..object.methods().len()).map(|method| {
                eprintln!("{}::{}", object.name(), object.label(MethodId(method)));
                search::search(&object, MethodId(method), objects::effort(object.name()))
            });
            Outcome { methods: methods.collect(), object }
        })
        .collect()
}

fn print(names: &[&str]) {
    let outcomes = outcomes(names);
    if names.is_empty() {
        parts(&outcomes).into_iter().for_each(|part| println!("{}", part.text));
    } else {
        println!("{}\n{}\n{}", tables::methods(&outcomes), tables::violations(&outcomes), tables::traces(&outcomes));
    }
}

/// Runs one schema of one object.
fn one(object: &str, schema: &str, executions: &str) -> ExitCode {
    let object = objects::all().into_iter().find(|other| other.name() == object);
    let (Some(object), Ok(schema), Ok(executions)) = (object, Schema::parse(schema), executions.parse()) else {
        eprintln!("there is no such object, or that is no schema, or no number");
        return ExitCode::from(2);
    };
    let settings = Settings { executions: Executions::AtMost(executions), ..Settings::default() };
    match search::attempt(&object, &schema, &settings) {
        Err(reason) => println!("{reason}"),
        Ok((explored, found)) => {
            let found = found.map_or("nothing".to_owned(), |found| tables::what(&found.what));
            println!("{} executions, complete: {}, found: {found}", explored.executions, explored.complete);
        }
    }
    ExitCode::SUCCESS
}

fn write() {
    for Part { page, name, text } in parts(&outcomes(&[])) {
        let old = read(page);
        let new = page::with_part(&old, name, &text).unwrap_or_else(|| panic!("{page} has no part {name}"));
        file::write(page.as_ref(), new.as_bytes()).unwrap_or_else(|error| panic!("{page}: {error}"));
    }
}

/// Whether the pages say what is printed.
fn compare() -> ExitCode {
    let mut same = true;
    for Part { page, name, text } in parts(&outcomes(&[])) {
        if page::part(&read(page), name) != Some(&text) {
            println!("{page}, {name}: it should be\n\n{text}");
            same = false;
        }
    }
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(page: &str) -> String {
    fs::read_to_string(page).unwrap_or_else(|error| panic!("{page}: {error}; this runs in the root of the repository"))
}
