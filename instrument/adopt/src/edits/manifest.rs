//! The dependency in the manifest of a crate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cargo_metadata::semver::Version;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::MIRROR;
use crate::project::Features;

/// Where the mirror comes from: the place that the project takes it from, so that there is one of it in the build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mirror {
    /// A folder.
    Path(PathBuf),
    /// A registry or a repository: the keys of the dependency.
    Elsewhere(BTreeMap<String, String>),
}

impl Mirror {
    fn dependency(&self) -> InlineTable {
        match self {
            Mirror::Path(folder) => InlineTable::from_iter([("path", folder.display().to_string())]),
            Mirror::Elsewhere(keys) => keys.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
        }
    }
}

/// What is changed in a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The mirror becomes a dependency.
    pub(crate) mirror: bool,
    /// Warnings are not shown, as those of a crate from a registry are not.
    pub(crate) cap_lints: bool,
}

/// Makes a package the root of a workspace, so that cargo does not look for one above it, or gives `None` where it is one
/// already. `others` are folders below it that are not members.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn make_root(manifest: &str, others: &[String]) -> Result<Option<String>, String> {
    let mut document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    if document.contains_key("workspace") {
        return Ok(None);
    }
    table(&mut document, "workspace")?.insert("exclude", value(others.iter().collect::<Array>()));
    Ok(Some(document.to_string()))
}

/// The targets that `cargo test` runs without the harness of std, since they have `harness = false`: the words for each.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn without_harness(manifest: &str) -> Result<Vec<String>, String> {
    let document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let is_without = |target: &dyn TableLike| target.get("harness").and_then(Item::as_bool) == Some(false);
    let library = document.get("lib").and_then(Item::as_table_like).filter(|library| is_without(*library));
    let mut all: Vec<String> = library.map(|_| "the library".to_owned()).into_iter().collect();
    for (key, words) in [("bin", "the binary"), ("test", "the test target")] {
        let targets: Vec<&dyn TableLike> = match document.get(key) {
            Some(Item::ArrayOfTables(tables)) => tables.iter().map(|table| table as &dyn TableLike).collect(),
            Some(Item::Value(Value::Array(tables))) => {
                tables.iter().filter_map(|table| Some(table.as_inline_table()? as &dyn TableLike)).collect()
            }
            _ => Vec::new(),
        };
        for target in targets.into_iter().filter(|target| is_without(*target)) {
            let name = target.get("name").and_then(Item::as_str).unwrap_or("without a name");
            all.push(format!("{words} {name}"));
        }
    }
    Ok(all)
}

/// The manifest of a package under another name, with its library alone.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn renamed(manifest: &str, name: &str) -> Result<String, String> {
    let mut document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    table(&mut document, "package")?.insert("name", value(name));
    for key in ["test", "bench", "example", "bin", "dev-dependencies", "lints"] {
        document.remove(key);
    }
    Ok(document.to_string())
}

/// As [`renamed`], with another name for the library, too: its symbols are not those of the package's other build.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn renamed_wholly(manifest: &str, name: &str) -> Result<String, String> {
    let renamed = renamed(manifest, name)?;
    let mut document: DocumentMut = renamed.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    table(&mut document, "lib")?.insert("name", value(name.replace('-', "_")));
    Ok(document.to_string())
}

/// Another package in the place of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stand {
    /// The name of the package.
    pub(crate) package: String,
    /// Where it is.
    pub(crate) folder: PathBuf,
    /// The features that are turned on.
    pub(crate) features: Features,
}

/// Puts other packages in the place of dependencies, by their names. What is optional stays so.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn redirect(manifest: &str, stands: &BTreeMap<String, Stand>) -> Result<String, String> {
    let mut document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let redirect = |dependencies: Option<&mut Item>| {
        let Some(dependencies) = dependencies.and_then(Item::as_table_like_mut) else { return };
        for (name, dependency) in dependencies.iter_mut() {
            let Some(stand) = stands.get(name.get()) else { continue };
            let optional = dependency.as_table_like().and_then(|table| table.get("optional")?.as_bool());
            let mut keys = InlineTable::new();
            keys.insert("package", stand.package.as_str().into());
            keys.insert("path", stand.folder.display().to_string().into());
            keys.insert("default-features", stand.features.default.into());
            keys.insert("features", stand.features.named.iter().collect::<Array>().into());
            keys.extend(optional.map(|optional| ("optional", Value::from(optional))));
            *dependency = value(keys);
        }
    };
    redirect(document.get_mut("dependencies"));
    each(document.get_mut("target"), &mut |target| redirect(target.get_mut("dependencies")));
    Ok(document.to_string())
}

/// Changes a manifest, or gives `None` where there is nothing to change.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn edit(manifest: &str, mirror: Option<&Mirror>, changes: Changes) -> Result<Option<String>, String> {
    let mut document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    if let (true, Some(mirror)) = (changes.mirror, mirror) {
        let dependencies = table(&mut document, "dependencies")?;
        if !dependencies.contains_key(MIRROR) {
            dependencies.insert(MIRROR, value(mirror.dependency()));
        }
    }
    if changes.cap_lints {
        let mut levels = InlineTable::new();
        levels.insert("warnings", Value::from("allow"));
        let mut lints = Table::new();
        lints.insert("rust", value(levels));
        document.insert("lints", Item::Table(lints));
    }
    let edited = document.to_string();
    Ok((edited != manifest).then_some(edited))
}

/// The manifest of a package beside another one of the same name and version, with a version that differs in what versions are not
/// compared by.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn of_copy(manifest: &str, version: &Version) -> Result<String, String> {
    let mut document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let join = if version.build.is_empty() { '+' } else { '.' };
    table(&mut document, "package")?.insert("version", value(format!("{version}{join}{OF_COPY}")));
    Ok(document.to_string())
}

/// The version of the original of [`of_copy`].
pub(crate) fn of_original(version: &str) -> &str {
    version.strip_suffix(OF_COPY).map_or(version, |rest| rest.trim_end_matches(['+', '.']))
}

const OF_COPY: &str = "interloper-copy";

/// Asks for the versions of dependencies that the project has, where the manifest admits more than cargo's usual range: a package
/// that becomes a folder is resolved anew, and cargo may choose another one of several locked versions. Gives `None` where there is
/// nothing to change.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn pin(manifest: &str, versions: &BTreeMap<String, String>) -> Result<Option<String>, String> {
    let mut document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let mut changed = false;
    let is_wide = |version: &str| version.contains(['<', '>', '*', ',']);
    let mut pin = |kind: Option<&mut Item>| {
        let Some(kind) = kind.and_then(Item::as_table_like_mut) else { return };
        for (name, dependency) in kind.iter_mut() {
            let renamed =
                dependency.as_table_like().and_then(|table| table.get("package")?.as_str().map(str::to_owned));
            let Some(version) = versions.get(renamed.as_deref().unwrap_or(name.get())) else { continue };
            let wanted = match dependency.as_table_like_mut() {
                Some(table) => table.get_mut("version"),
                None => Some(dependency),
            };
            if let Some(wanted) = wanted.filter(|wanted| wanted.as_str().is_some_and(is_wide)) {
                *wanted = value(format!("={version}"));
                changed = true;
            }
        }
    };
    let whole = document.as_table_mut();
    KINDS.iter().for_each(|kind| pin(whole.get_mut(kind)));
    each(whole.get_mut("target"), &mut |target| KINDS.iter().for_each(|kind| pin(target.get_mut(kind))));
    Ok(changed.then(|| document.to_string()))
}

/// Puts other folders in the place of those that dependencies name by absolute paths, or gives `None` where there are
/// none.
///
/// # Errors
/// What is wrong with the manifest.
pub(crate) fn relocate(manifest: &str, to: impl Fn(&Path) -> Option<PathBuf>) -> Result<Option<String>, String> {
    let mut document: DocumentMut = manifest.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let mut changed = false;
    let mut change = |dependency: &mut dyn TableLike| {
        let named = dependency.get("path").and_then(Item::as_str).map(PathBuf::from);
        if let Some(folder) = named.filter(|path| path.is_absolute()).and_then(|path| to(&path)) {
            dependency.insert("path", value(folder.display().to_string()));
            changed = true;
        }
    };
    let whole = document.as_table_mut();
    for kind in KINDS {
        each(whole.get_mut(kind), &mut change);
    }
    each(whole.get_mut("workspace").and_then(|workspace| workspace.get_mut("dependencies")), &mut change);
    each(whole.get_mut("target"), &mut |target| {
        KINDS.iter().for_each(|kind| each(target.get_mut(kind), &mut change));
    });
    each(whole.get_mut("patch"), &mut |source| {
        source.iter_mut().filter_map(|(_, patch)| patch.as_table_like_mut()).for_each(&mut change);
    });
    Ok(changed.then(|| document.to_string()))
}

/// The tables of dependencies.
const KINDS: [&str; 5] =
    ["dependencies", "build-dependencies", "build_dependencies", "dev-dependencies", "dev_dependencies"];

/// Calls `change` with the tables in a table.
fn each(tables: Option<&mut Item>, change: &mut dyn FnMut(&mut dyn TableLike)) {
    let Some(tables) = tables.and_then(Item::as_table_like_mut) else { return };
    for (_, table) in tables.iter_mut() {
        if let Some(table) = table.as_table_like_mut() {
            change(table);
        }
    }
}

fn table<'a>(document: &'a mut DocumentMut, key: &str) -> Result<&'a mut dyn TableLike, String> {
    let item = document.entry(key).or_insert_with(|| Item::Table(Table::new()));
    item.as_table_like_mut().ok_or_else(|| format!("`{key}` is not a table"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Changes = Changes { mirror: false, cap_lints: false };

    #[track_caller]
    fn check(changes: Changes, manifest: &str, expected: &str) {
        let mirror = Mirror::Path("/mirror".into());
        let edited = edit(manifest, Some(&mirror), changes).unwrap();
        assert_eq!(edited.as_deref().unwrap_or(manifest), expected);
    }

    #[test]
    fn a_copy_beside_its_original_has_another_version_that_compares_equal() {
        for (version, copy) in
            [("1.2.3", "1.2.3+interloper-copy"), ("1.2.3-rc.1+spec", "1.2.3-rc.1+spec.interloper-copy")]
        {
            let manifest = format!("[package]\nname = \"a\"\nversion = \"{version}\"\n");
            let version: Version = version.parse().unwrap();
            let copied = of_copy(&manifest, &version).unwrap();
            assert_eq!(copied, format!("[package]\nname = \"a\"\nversion = \"{copy}\"\n"));
            assert_eq!(of_original(copy), version.to_string());
            assert_eq!(copy.parse::<Version>().unwrap().cmp_precedence(&version), std::cmp::Ordering::Equal);
        }
        assert_eq!(of_original("1.2.3+other"), "1.2.3+other");
    }

    #[test]
    fn the_mirror_becomes_a_dependency() {
        let changes = Changes { mirror: true, ..NOTHING };
        check(
            changes,
            "[package]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\n",
            "[package]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\ninterloper-std = { path = \"/mirror\" }\n",
        );
        check(
            changes,
            "[package]\nname = \"a\"\n",
            "[package]\nname = \"a\"\n\n[dependencies]\ninterloper-std = { path = \"/mirror\" }\n",
        );
        check(
            changes,
            "[package]\nname = \"a\"\n\n[dependencies.b]\nversion = \"1\"\n",
            "[package]\nname = \"a\"\n\n[dependencies]\ninterloper-std = { path = \"/mirror\" }\n\n\
             [dependencies.b]\nversion = \"1\"\n",
        );
        let there = "[dependencies]\ninterloper-std.path = \"x\"\n";
        check(changes, there, there);
    }

    #[test]
    fn it_is_taken_from_where_the_project_takes_it() {
        let keys = [("version", "=0.1.0"), ("registry-index", "https://index")];
        let mirror = Mirror::Elsewhere(keys.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        let edited = edit("", Some(&mirror), Changes { mirror: true, ..NOTHING }).unwrap().unwrap();
        let expected = "interloper-std = { registry-index = \"https://index\", version = \"=0.1.0\" }\n";
        assert_eq!(edited, format!("[dependencies]\n{expected}"));
    }

    #[test]
    fn an_original_has_another_name_and_its_library_alone() {
        let manifest =
            "[package]\nname = \"a\"\n\n[lib]\nname = \"a\"\n\n[[test]]\nname = \"t\"\n\n[dependencies]\nb = \"1\"\n";
        let expected = "[package]\nname = \"a-original\"\n\n[lib]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\n";
        assert_eq!(renamed(manifest, "a-original").as_deref(), Ok(expected));
    }

    #[test]
    fn a_library_gets_the_name_of_its_package() {
        let expected = "[package]\nname = \"a-original\"\n\n[lib]\nname = \"a_original\"\n";
        for library in ["", "\n[lib]\nname = \"a\"\n"] {
            let renamed = renamed_wholly(&format!("[package]\nname = \"a\"\n{library}"), "a-original");
            assert_eq!(renamed.as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_dependency_is_taken_from_elsewhere() {
        let manifest = |a: &str, b: &str| {
            format!(
                "[dependencies]\na{a}\nc.workspace = true\n\n[target.'cfg(unix)'.dependencies]\nb = {b}\n\n\
                 [dev-dependencies]\na.workspace = true\n"
            )
        };
        let stand = |name: &str, features: &[&str]| Stand {
            package: format!("{name}-original"),
            folder: Path::new("/tree").join(name),
            features: Features {
                default: name == "a",
                named: features.iter().map(|&feature| feature.to_owned()).collect(),
            },
        };
        let stands = [("a", stand("a", &["std", "x"])), ("b", stand("b", &[]))];
        let stands = stands.map(|(name, stand)| (name.to_owned(), stand)).into();
        let plain = manifest(".workspace = true", "{ version = \"1\", optional = true }");
        let a =
            " = { package = \"a-original\", path = \"/tree/a\", default-features = true, features = [\"std\", \"x\"] }";
        let b = "{ package = \"b-original\", path = \"/tree/b\", default-features = false, features = [], optional = true }";
        assert_eq!(redirect(&plain, &stands), Ok(manifest(a, b)));
        assert_eq!(redirect(&plain, &BTreeMap::new()), Ok(plain));
    }

    #[test]
    fn lints_are_capped() {
        let changes = Changes { cap_lints: true, ..NOTHING };
        check(changes, "[lints]\nworkspace = true\n", "[lints]\nrust = { warnings = \"allow\" }\n");
        check(changes, "", "[lints]\nrust = { warnings = \"allow\" }\n");
    }

    #[test]
    fn a_package_becomes_a_root_once() {
        let package = "[package]\nname = \"a\"\n";
        let expected = format!("{package}\n[workspace]\nexclude = [\"b\", \"c/d\"]\n");
        assert_eq!(make_root(package, &["b".to_owned(), "c/d".to_owned()]), Ok(Some(expected)));
        assert_eq!(make_root("[workspace]\nmembers = [\"b\"]\n", &[]), Ok(None));
        check(NOTHING, "a = 1\n", "a = 1\n");
    }

    #[test]
    fn absolute_paths_lead_into_the_tree() {
        let manifest = |a: &str| {
            format!(
                "[dependencies]\na = {{ path = \"{a}\" }}\nb = {{ path = \"/other\" }}\nc = {{ path = \"../c\" }}\n\
                 d = \"1\"\n[dev-dependencies.a]\npath = \"{a}\"\n[target.'cfg(unix)'.build-dependencies]\n\
                 a.path = \"{a}\"\n[workspace.dependencies]\na = {{ path = \"{a}\", version = \"1\" }}\n\
                 [patch.crates-io]\na = {{ path = \"{a}\" }}\n"
            )
        };
        let to = |path: &Path| (path == Path::new("/a")).then(|| "/tree/a".into());
        assert_eq!(relocate(&manifest("/a"), to), Ok(Some(manifest("/tree/a"))));
        assert_eq!(relocate(&manifest("a"), to), Ok(None));
    }

    #[test]
    fn a_wide_range_is_pinned_to_the_version_that_the_project_has() {
        let manifest = |a: &str, b: &str, c: &str| {
            format!(
                "[dependencies]\na = \"{a}\"\nnarrow = \"1.2\"\nunknown = \"*\"\n[dependencies.x]\npackage = \"b\"\n\
                 version = \"{b}\"\n[target.'cfg(unix)'.build-dependencies]\nc = {{ version = \"{c}\", optional = true }}\n"
            )
        };
        let versions = [("a", "0.23.1"), ("b", "3.0.0"), ("c", "1.9.0"), ("narrow", "1.2.9")];
        let versions = versions.map(|(name, version)| (name.to_owned(), version.to_owned())).into();
        let pinned = pin(&manifest(">=0.22, <0.24", "*", "> 1, < 3"), &versions);
        assert_eq!(pinned, Ok(Some(manifest("=0.23.1", "=3.0.0", "=1.9.0"))));
        assert_eq!(pin(&manifest("0.23", "3", "^1"), &versions), Ok(None));
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        assert!(edit("a =", None, NOTHING).is_err());
        let mirror = Mirror::Path("/mirror".into());
        let wrong = edit("dependencies = 3", Some(&mirror), Changes { mirror: true, ..NOTHING });
        assert_eq!(wrong, Err("`dependencies` is not a table".to_owned()));
    }
}
