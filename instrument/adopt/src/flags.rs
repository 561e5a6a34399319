//! Flags of the compiler, beside those that the user has.
//!
//! Cargo takes the flags from one of these places, the first that is there: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`, all
//! `target.*.rustflags` that apply, `build.rustflags`. What is given with `--config` is joined to what the files say.
//! So ours go to the first of the variables that is set, and otherwise to `build.rustflags` and to every
//! `target.*.rustflags` that a file or a variable has: whichever cargo takes, ours are among them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml_edit::{Array, DocumentMut, Item, Key, Value};

/// Adds `flags` to `command`, which runs cargo in `folder`.
pub(crate) fn add(command: &mut Command, flags: &[String], folder: &Path, triple: Option<&str>) {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(encoded) = variable("CARGO_ENCODED_RUSTFLAGS") {
        command.env("CARGO_ENCODED_RUSTFLAGS", encoded_with(&encoded, flags));
        return;
    }
    if let Some(plain) = variable("RUSTFLAGS") {
        // In the other form a flag may have blanks in it, as a path may.
        let plain: Vec<&str> = plain.split(' ').filter(|flag| !flag.is_empty()).collect();
        command.env("CARGO_ENCODED_RUSTFLAGS", encoded_with(&plain.join(SEPARATOR), flags));
        return;
    }
    let home = variable("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut targets = BTreeSet::new();
    files(folder, home.as_deref()).iter().for_each(|file| targets_with_flags(file, &mut targets));
    let from_variable = |triple: &str| {
        let name = format!("CARGO_TARGET_{}_RUSTFLAGS", triple.to_uppercase().replace(['-', '.'], "_"));
        variable(&name).is_some()
    };
    targets.extend(triple.filter(|triple| from_variable(triple)).map(str::to_owned));
    command.args(settings(&targets, flags));
}

const SEPARATOR: &str = "\u{1f}";

fn encoded_with(encoded: &str, flags: &[String]) -> String {
    let all = encoded.split(SEPARATOR).filter(|flag| !flag.is_empty()).map(str::to_owned).chain(flags.iter().cloned());
    all.collect::<Vec<String>>().join(SEPARATOR)
}

/// The options for cargo.
fn settings(targets: &BTreeSet<String>, flags: &[String]) -> Vec<OsString> {
    let flags = Value::from(flags.iter().collect::<Array>());
    let keys = targets.iter().map(|target| format!("target.{}.rustflags", quoted(target)));
    let keys = keys.chain(["build.rustflags".to_owned()]);
    keys.flat_map(|key| ["--config".into(), format!("{key}={flags}").into()]).collect()
}

/// A key of TOML, in quotes where it needs them.
pub(crate) fn quoted(key: &str) -> String {
    Key::new(key).to_string()
}

/// The files that cargo reads its settings from, in a folder.
fn files(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(home.map(Path::to_owned));
    let file =
        |folder: PathBuf| ["config", "config.toml"].map(|name| folder.join(name)).into_iter().find(|f| f.is_file());
    folders.filter_map(file).collect()
}

/// Takes note of the `target.*` of a file that have flags. A file that cargo rejects has been rejected before.
fn targets_with_flags(file: &Path, targets: &mut BTreeSet<String>) {
    let Some(document) = fs::read_to_string(file).ok().and_then(|text| text.parse::<DocumentMut>().ok()) else {
        return;
    };
    let tables = document.get("target").and_then(Item::as_table_like);
    for (target, table) in tables.into_iter().flat_map(|tables| tables.iter()) {
        if table.as_table_like().is_some_and(|table| table.contains_key("rustflags")) {
            targets.insert(target.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags() -> Vec<String> {
        vec!["--cfg=interloper".to_owned(), "--x=a b".to_owned()]
    }

    #[test]
    fn they_are_joined_to_those_of_the_environment() {
        assert_eq!(encoded_with("", &flags()), "--cfg=interloper\u{1f}--x=a b");
        assert_eq!(encoded_with("-D\u{1f}warnings", &flags()), "-D\u{1f}warnings\u{1f}--cfg=interloper\u{1f}--x=a b");
    }

    #[test]
    fn they_go_beside_those_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, home) = (folder.path().join("a/b"), folder.path().join("home"));
        fs::create_dir_all(inner.join(".cargo")).unwrap();
        fs::create_dir_all(folder.path().join("a/.cargo")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(inner.join(".cargo/config.toml"), "[target.'cfg(unix)']\nrustflags = [\"-a\"]\n").unwrap();
        fs::write(folder.path().join("a/.cargo/config"), "[target.wasm32-wasip1]\nrunner = \"r\"\n").unwrap();
        fs::write(home.join("config.toml"), "[target.x86_64-unknown-linux-gnu]\nrustflags = \"-b\"\n").unwrap();
        let mut targets = BTreeSet::new();
        let found = files(&inner, Some(&home));
        assert_eq!(found.len(), 3);
        found.iter().for_each(|file| targets_with_flags(file, &mut targets));
        let array = "[\"--cfg=interloper\", \"--x=a b\"]";
        assert_eq!(
            settings(&targets, &flags()),
            [
                "--config".to_owned(),
                format!("target.\"cfg(unix)\".rustflags={array}"),
                "--config".to_owned(),
                format!("target.x86_64-unknown-linux-gnu.rustflags={array}"),
                "--config".to_owned(),
                format!("build.rustflags={array}"),
            ]
            .map(OsString::from)
        );
    }
}
