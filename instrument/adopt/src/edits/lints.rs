//! What a user's own manifest has: interloper among the dev-dependencies, and the cfg among those that the compiler knows.

use std::path::Path;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

/// The name of the package that users depend on.
pub(crate) const NAME: &str = "interloper";
const LINT: &str = "unexpected_cfgs";
const KNOWN: &str = "check-cfg";
const CFG: &str = "cfg(interloper)";

fn parsed(manifest: &str) -> Result<DocumentMut, String> {
    manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

/// Whether the package takes its lints from its workspace.
pub(crate) fn inherits_lints(manifest: &str) -> Result<bool, String> {
    let document = parsed(manifest)?;
    let inherits = document.get("lints").and_then(|lints| lints.get("workspace")).and_then(Item::as_bool);
    Ok(inherits == Some(true))
}

/// Adds the package `name`, as it is in `folder`, to the dev-dependencies, unless the package has it, and turns these features of it on.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn depend(manifest: &str, name: &str, folder: &Path, features: &[&str]) -> Result<String, String> {
    let mut document = parsed(manifest)?;
    let has = |key: &&str| document.get(key).and_then(|all| all.get(name)).is_some();
    let kind = ["dependencies", "dev-dependencies"].into_iter().find(has);
    let dependencies = table(document.as_table_mut(), kind.unwrap_or("dev-dependencies"), false)?;
    let dependency = dependencies
        .entry(name)
        .or_insert_with(|| value(InlineTable::from_iter([("path", folder.display().to_string())])));
    if features.is_empty() {
        return Ok(document.to_string());
    }
    if let Some(version) = dependency.as_str().map(str::to_owned) {
        *dependency = value(InlineTable::from_iter([("version", version)]));
    }
    let dependency =
        dependency.as_table_like_mut().ok_or_else(|| format!("`{name}` is neither a version nor a table"))?;
    let on = dependency.entry("features").or_insert_with(|| value(Array::new()));
    let on = on.as_array_mut().ok_or_else(|| format!("the features of `{name}` are not a list"))?;
    for feature in features {
        if !on.iter().any(|other| other.as_str() == Some(*feature)) {
            on.push(*feature);
        }
    }
    Ok(document.to_string())
}

/// Adds the cfg to those that the compiler knows, for a package or for a workspace.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn know(manifest: &str, workspace: bool) -> Result<String, String> {
    let mut document = parsed(manifest)?;
    let mut root: &mut dyn TableLike = document.as_table_mut();
    if workspace {
        root = table(root, "workspace", true)?;
    }
    let rust = table(table(root, "lints", true)?, "rust", false)?;
    let lint = rust.entry(LINT).or_insert_with(|| value(InlineTable::from_iter([("level", "warn")])));
    if let Some(level) = lint.as_str().map(str::to_owned) {
        *lint = value(InlineTable::from_iter([("level", level)]));
    }
    let lint = lint.as_table_like_mut().ok_or_else(|| format!("`{LINT}` is neither a level nor a table"))?;
    let known = lint.entry(KNOWN).or_insert_with(|| value(Array::new()));
    let known = known.as_array_mut().ok_or_else(|| format!("`{KNOWN}` is not a list"))?;
    if !known.iter().any(|cfg| cfg.as_str() == Some(CFG)) {
        known.push(CFG);
    }
    Ok(document.to_string())
}

/// Takes out what [`depend`] and [`know`] put in.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn forget(manifest: &str) -> Result<String, String> {
    let mut document = parsed(manifest)?;
    let root = document.as_table_mut();
    remove_in(root, &["dev-dependencies"], |dependencies| {
        let ours = dependencies.get(NAME).and_then(|dependency| dependency.get("path")).is_some();
        if ours {
            dependencies.remove(NAME);
        }
    });
    for above in [&["lints", "rust"][..], &["workspace", "lints", "rust"]] {
        remove_in(root, above, |rust| {
            let Some(lint) = rust.get_mut(LINT).and_then(Item::as_table_like_mut) else { return };
            if let Some(known) = lint.get_mut(KNOWN).and_then(Item::as_array_mut) {
                known.retain(|cfg| cfg.as_str() != Some(CFG));
                if known.is_empty() {
                    lint.remove(KNOWN);
                }
            }
            // The level that a lint has anyway says nothing.
            let is_default = lint.iter().all(|(key, level)| key == "level" && level.as_str() == Some("warn"));
            if is_default {
                rust.remove(LINT);
            }
        });
    }
    Ok(document.to_string())
}

/// The table of this name, which is made where it is missing. An implicit table has no heading of its own.
fn table<'a>(of: &'a mut dyn TableLike, key: &str, implicit: bool) -> Result<&'a mut dyn TableLike, String> {
    let item = of.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(implicit);
        Item::Table(table)
    });
    item.as_table_like_mut().ok_or_else(|| format!("`{key}` is not a table"))
}

/// Changes the table at a path of keys, and removes the tables on the path that are then empty.
fn remove_in(table: &mut dyn TableLike, path: &[&str], change: impl FnOnce(&mut dyn TableLike)) {
    let Some((first, rest)) = path.split_first() else { return change(table) };
    let Some(inner) = table.get_mut(first).and_then(Item::as_table_like_mut) else { return };
    remove_in(inner, rest, change);
    if inner.is_empty() {
        table.remove(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: &str = "[package]\nname = \"a\"\n";

    fn changed(manifest: &str) -> String {
        let with = depend(manifest, NAME, Path::new("/there"), &[]).expect("a manifest");
        know(&with, false).expect("a manifest")
    }

    #[track_caller]
    fn check(manifest: &str, expected: &str) {
        let new = changed(manifest);
        assert_eq!(new, expected);
        assert_eq!(changed(&new), new, "the second time changes nothing");
        assert_eq!(forget(&new).expect("a manifest"), manifest, "undoing gives what was there");
    }

    #[test]
    fn a_manifest_without_either() {
        check(
            PACKAGE,
            "[package]\nname = \"a\"\n\n[dev-dependencies]\ninterloper = { path = \"/there\" }\n\n[lints.rust]\n\
             unexpected_cfgs = { level = \"warn\", check-cfg = [\"cfg(interloper)\"] }\n",
        );
    }

    #[test]
    fn what_is_there_stays() {
        check(
            "# Mine.\n[package]\nname = \"a\" # a name\n\n[dev-dependencies]\nserde = \"1\"\n\n[lints.rust]\nunsafe_code = \"deny\"\n",
            "# Mine.\n[package]\nname = \"a\" # a name\n\n[dev-dependencies]\nserde = \"1\"\ninterloper = { path = \"/there\" }\n\n\
             [lints.rust]\nunsafe_code = \"deny\"\nunexpected_cfgs = { level = \"warn\", check-cfg = [\"cfg(interloper)\"] }\n",
        );
        check(
            "[package]\nname = \"a\"\n\n[lints.rust]\nunexpected_cfgs = { level = \"deny\", check-cfg = [\"cfg(loom)\"] }\n",
            "[package]\nname = \"a\"\n\n[lints.rust]\nunexpected_cfgs = { level = \"deny\", check-cfg = [\"cfg(loom)\", \
             \"cfg(interloper)\"] }\n\n[dev-dependencies]\ninterloper = { path = \"/there\" }\n",
        );
    }

    #[test]
    fn a_level_becomes_a_table() {
        let known = know("[lints.rust]\nunexpected_cfgs = \"deny\"\n", false).expect("a manifest");
        assert_eq!(known, "[lints.rust]\nunexpected_cfgs = { level = \"deny\", check-cfg = [\"cfg(interloper)\"] }\n");
    }

    #[test]
    fn a_workspace_has_lints_of_its_own() {
        let manifest = "[workspace]\nmembers = [\"a\"]\n";
        let known = know(manifest, true).expect("a manifest");
        assert_eq!(
            known,
            "[workspace]\nmembers = [\"a\"]\n\n[workspace.lints.rust]\nunexpected_cfgs = { level = \"warn\", check-cfg = \
             [\"cfg(interloper)\"] }\n"
        );
        assert_eq!(forget(&known).expect("a manifest"), manifest);
        assert_eq!(inherits_lints("[lints]\nworkspace = true\n"), Ok(true));
        assert_eq!(inherits_lints(PACKAGE), Ok(false));
    }

    #[test]
    fn a_dependency_that_is_there_is_enough() {
        for manifest in ["[dependencies]\ninterloper = \"1\"\n", "[dev-dependencies]\ninterloper = { git = \"x\" }\n"] {
            assert_eq!(depend(manifest, NAME, Path::new("/there"), &[]).as_deref(), Ok(manifest));
            assert_eq!(forget(manifest).as_deref(), Ok(manifest), "it was not put in by us");
        }
    }

    #[test]
    fn features_are_turned_on() {
        let check = |manifest: &str, expected: &str| {
            let on = |manifest: &str| {
                depend(manifest, NAME, Path::new("/there"), &["composed", "pages"]).expect("a manifest")
            };
            assert_eq!(on(manifest), expected);
            assert_eq!(on(expected), expected, "the second time changes nothing");
        };
        check("", "[dev-dependencies]\ninterloper = { path = \"/there\", features = [\"composed\", \"pages\"] }\n");
        check(
            "[dependencies]\ninterloper = \"1\"\n",
            "[dependencies]\ninterloper = { version = \"1\", features = [\"composed\", \"pages\"] }\n",
        );
        check(
            "[dev-dependencies]\ninterloper = { workspace = true, features = [\"pages\"] }\n",
            "[dev-dependencies]\ninterloper = { workspace = true, features = [\"pages\", \"composed\"] }\n",
        );
        check(
            "[dev-dependencies.interloper]\ngit = \"x\"\n",
            "[dev-dependencies.interloper]\ngit = \"x\"\nfeatures = [\"composed\", \"pages\"]\n",
        );
        for manifest in ["[dependencies]\ninterloper = 1\n", "[dependencies.interloper]\nfeatures = \"composed\"\n"] {
            assert!(depend(manifest, NAME, Path::new("/there"), &["composed"]).is_err(), "{manifest}");
        }
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        for manifest in ["[", "lints = 1\n", "[lints]\nrust = 1\n", "[lints.rust]\nunexpected_cfgs = 1\n"] {
            assert!(know(manifest, false).is_err(), "{manifest}");
        }
    }
}
