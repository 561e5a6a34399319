//! The page about published crates under control, docs/ADOPTED.md, and the data that it is printed from.
//!
//! `print` prints the page. `run FOLDER [NAME…]` builds a project in the folder with the programs of `cargo-interloper/adopted`, or
//! those that are named, runs each with the `cargo interloper` that was built beside this example, and writes what comes of it
//! into the data. What is built is in `FOLDER/target`. A second run in the same folder waits for the first.

mod page;
mod running;

use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;

use fs4::FileExt;
use page::Data;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("adopted");
    let file = folder.join("results.json");
    let read = || -> Data {
        let text = fs::read_to_string(&file).expect("the data");
        serde_json::from_str(&text).expect("the data has its form")
    };
    let list = fs::read_to_string(folder.join("crates.txt")).expect("the list");
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["print"] => print!("{}", page::page(&list, &read())),
        ["run", place, names @ ..] => {
            let all: Vec<&str> = page::names(&list).filter(|name| folder.join(format!("{name}.rs")).exists()).collect();
            let names = if names.is_empty() { &all[..] } else { names };
            let ran = running::run(&folder, Path::new(place), names, |name, ran| {
                eprintln!("{name}: {}", page::brief(&ran));
                // What is known is kept, whatever becomes of the next one, and what another run has found meanwhile.
                let held = File::open(&file).expect("the data");
                FileExt::lock(&held).expect("the data can be locked");
                let mut data = read();
                data.programs.insert(name.to_owned(), ran);
                let text = serde_json::to_string_pretty(&data).expect("plain data is always JSON");
                fs::write(&file, text + "\n").expect("the data can be written");
            });
            if let Err(reason) = ran {
                eprintln!("error: the project does not build, so nothing was run: {reason}");
                return ExitCode::FAILURE;
            }
        }
        _ => {
            eprintln!("error: expected `print` or `run FOLDER [NAME…]`");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
