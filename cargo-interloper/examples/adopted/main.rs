//! The page about published crates under control, docs/ADOPTED.md, and the data that it is printed from.
//!
//! `print` prints the page. `run FOLDER [NAME…]` builds a project in the folder with the programs of `cargo-interloper/adopted`, or
//! those that are named, runs each with the `cargo interloper` that was built beside this example, and writes what comes of it
//! into the data. What is built is in `FOLDER/target`. A second run in the same folder waits for the first.

mod page;
#[path = "../../../composed/examples/printed/mod.rs"]
mod printed;
mod running;

use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;

use fs4::FileExt;
use page::Data;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("adopted");
    let file = folder.join("results.json");
    let list = fs::read_to_string(folder.join("crates.txt")).expect("the list");
    let page = |data: &Data| page::page(&list, data);
    printed::run(&file, page, "`print` or `run FOLDER [NAME…]`", |words| {
        let ["run", place, names @ ..] = words else { return None };
        let all: Vec<&str> = page::names(&list).filter(|name| folder.join(format!("{name}.rs")).exists()).collect();
        let names = if names.is_empty() { &all[..] } else { names };
        let ran = running::run(&folder, Path::new(place), names, |name, ran| {
            eprintln!("{name}: {}", page::brief(&ran));
            // What is known is kept, whatever becomes of the next one, and what another run has found meanwhile.
            let held = File::open(&file).expect("the data");
            FileExt::lock(&held).expect("the data can be locked");
            printed::change(&file, |data: &mut Data| drop(data.programs.insert(name.to_owned(), ran)));
        });
        Some(match ran {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => {
                eprintln!("error: the project does not build, so nothing was run: {reason}");
                ExitCode::FAILURE
            }
        })
    })
}
