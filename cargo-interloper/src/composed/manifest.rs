//! What the manifests say of collections and constructors.

use std::path::Path;

use interloper_adopt::{Members, Refusal};
use interloper_composed::{Family, Options};
use serde_json::Value;

/// `[package.metadata.interloper.composed]` of each package, and `[workspace.metadata.interloper.composed]`.
pub fn options(members: &Members) -> Result<Options, Refusal> {
    let mut options = Options { base: members.root.clone(), ..Options::default() };
    let packages = members.packages.iter().map(|member| (member.manifest.as_path(), &member.metadata));
    for (file, metadata) in packages.chain([(members.manifest.as_path(), &members.metadata)]) {
        let Some(table) = metadata.get("interloper").and_then(|ours| ours.get("composed")) else { continue };
        for (name, value) in entries(file, table, "collections")? {
            let family: Family = serde_json::from_value(value.clone()).map_err(|_| {
                let families = "\"map\", \"queue\", \"atomic\", \"once\", \"swap\" or \"lock\"";
                wrong(file, &format!("collections.{name}"), families)
            })?;
            options.collections.insert(name.clone(), family);
        }
        for (name, value) in entries(file, table, "constructors")? {
            let text = value
                .as_str()
                .ok_or_else(|| wrong(file, &format!("constructors.{name}"), "an expression in a string"))?;
            options.constructors.insert(name.clone(), text.to_owned());
        }
    }
    Ok(options)
}

fn entries<'v>(file: &Path, table: &'v Value, key: &str) -> Result<Vec<(&'v String, &'v Value)>, Refusal> {
    match table.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Object(entries)) => Ok(entries.iter().collect()),
        Some(_) => Err(wrong(file, key, "a table")),
    }
}

fn wrong(file: &Path, key: &str, expected: &str) -> Refusal {
    Refusal::Manifest {
        file: file.to_owned(),
        reason: format!("`metadata.interloper.composed.{key}` is not {expected}"),
    }
}
