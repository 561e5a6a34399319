//! What the programs have in common that print a page of `docs` from data in the repository.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Does what was typed: `print` prints the page of the data in `file`, and `other` does the rest. `other` gives `None` for words that it
/// does not know; `expected` names all that is known.
pub fn run<D: DeserializeOwned>(
    file: &Path,
    page: impl FnOnce(&D) -> String,
    expected: &str,
    other: impl FnOnce(&[&str]) -> Option<ExitCode>,
) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["print"] => {
            print!("{}", page(&read(file)));
            ExitCode::SUCCESS
        }
        words => other(words).unwrap_or_else(|| {
            eprintln!("error: expected {expected}");
            ExitCode::from(2)
        }),
    }
}

/// Changes the data in a file.
pub fn change<D: Serialize + DeserializeOwned>(file: &Path, change: impl FnOnce(&mut D)) -> ExitCode {
    let mut data = read(file);
    change(&mut data);
    let text = serde_json::to_string_pretty(&data).expect("plain data is always JSON");
    fs::write(file, text + "\n").expect("the data can be written");
    ExitCode::SUCCESS
}

fn read<D: DeserializeOwned>(file: &Path) -> D {
    let text = fs::read_to_string(file).expect("the data");
    serde_json::from_str(&text).expect("the data has its form")
}
