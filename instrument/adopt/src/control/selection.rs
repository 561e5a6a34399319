//! Which packages are put under control: those that are named, by the command or by manifests.

use std::collections::BTreeSet;

use crate::plan::Class;
use crate::project::{Package, Project, Role};
use crate::refusal::Refusal;
use crate::replacement;

/// The crates with collections that can be the subject of a composed operation as they are.
const COLLECTIONS: [&str; 10] = [
    "arc-swap",
    "crossbeam-queue",
    "crossbeam-skiplist",
    "dashmap",
    "flurry",
    "moka",
    "once_cell",
    "papaya",
    "quick_cache",
    "scc",
];

/// What is to be put under control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// What the manifests say: `instrument` in `[package.metadata.interloper]` and `[workspace.metadata.interloper]`.
    Manifest,
    /// These: `name`, or `name@version` for one of several versions; `all` for all that the plan proposes. What the plan
    /// says cannot be put under control is put there all the same: who names it knows better.
    Named(Vec<String>),
    /// All that the plan proposes.
    All,
    /// These, and what else the compiler needs under control, as `name@version`.
    With(Box<Selection>, Vec<String>),
}

impl Project {
    /// The packages whose methods are marked if they come under control: those that have collections which the driver of
    /// composed operations knows, and those that `calls` in the manifests lists.
    pub(super) fn marked(&self) -> Result<BTreeSet<usize>, Refusal> {
        let known = self.indices(|package| COLLECTIONS.contains(&package.name.as_str()));
        Ok(self.named(self.listed("calls")?)?.into_iter().chain(known).collect())
    }

    /// The packages that are asked for: those that are named, and what `all` means if it is said.
    pub(super) fn select(&self, selection: &Selection) -> Result<(BTreeSet<usize>, Option<BTreeSet<usize>>), Refusal> {
        let names = match selection {
            Selection::With(selection, more) => {
                let (named, proposed) = self.select(selection)?;
                let more = self.named(more.clone())?;
                return Ok((named, Some(proposed.into_iter().flatten().chain(more).collect())));
            }
            Selection::All => vec!["all".to_owned()],
            Selection::Named(names) => names.clone(),
            Selection::Manifest => self.listed("instrument")?,
        };
        let (all, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name == "all");
        Ok((self.named(names)?, (!all.is_empty()).then(|| self.proposed())))
    }

    /// The packages with these names.
    pub(super) fn named(&self, names: Vec<String>) -> Result<BTreeSet<usize>, Refusal> {
        let mut selected = BTreeSet::new();
        for name in names {
            let (wanted, version) = name.split_once('@').map_or((name.as_str(), None), |(a, b)| (a, Some(b)));
            let fits = |package: &Package| {
                package.name == wanted && version.is_none_or(|version| package.version.to_string() == version)
            };
            let found = self.indices(fits);
            if found.is_empty() {
                return Err(Refusal::NotADependency { similar: self.similar(wanted), name });
            }
            let found = match version {
                Some(_) => found,
                None => meant(found, |index| suitable(&self.packages[*index]).is_ok()),
            };
            found.iter().try_for_each(|index| suitable(&self.packages[*index]))?;
            selected.extend(found);
        }
        Ok(selected)
    }

    /// All that the plan proposes.
    fn proposed(&self) -> BTreeSet<usize> {
        let proposed = |package: &Package| {
            package.role == Role::Dependency && matches!(self.judge(package).class, Class::Instrument | Class::Replace)
        };
        self.indices(proposed).into_iter().collect()
    }

    /// The packages whose originals are wanted although there are mirrors of them, by their names.
    pub(crate) fn wanted_originals(&self) -> Result<BTreeSet<String>, Refusal> {
        let names: BTreeSet<String> =
            self.listed("real")?.into_iter().chain(self.options.real.iter().cloned()).collect();
        match names.iter().find(|name| !replacement::mirrors().any(|mirror| mirror == *name)) {
            Some(name) => Err(Refusal::NoMirrorOf { name: name.clone(), known: replacement::mirrors().collect() }),
            None => Ok(names),
        }
    }

    /// What the manifests list under a key.
    pub(super) fn listed(&self, key: &str) -> Result<Vec<String>, Refusal> {
        let mut names = Vec::new();
        let own = self.packages.iter().filter(|package| package.role == Role::Own);
        let metadata = own.map(|package| (package.folder.join("Cargo.toml"), &package.metadata));
        let workspace = (self.locals.manifest(), &self.workspace_metadata);
        for (file, metadata) in metadata.chain([workspace]) {
            let Some(list) = metadata.get("interloper").and_then(|ours| ours.get(key)) else { continue };
            let wrong = || Refusal::Manifest {
                file: file.clone(),
                reason: format!("`metadata.interloper.{key}` is not a list of names"),
            };
            for name in list.as_array().ok_or_else(wrong)? {
                names.push(name.as_str().ok_or_else(wrong)?.to_owned());
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn similar(&self, name: &str) -> Option<String> {
        let possible = self.packages.iter().filter(|package| suitable(package).is_ok());
        let scored = possible.map(|package| (strsim::jaro_winkler(name, &package.name), &package.name));
        let best = scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, name)| name.clone())
    }
}

/// Which of the packages of a name are meant, where no version is said. Interloper or a build script may use another version than the
/// project does: nobody means that one.
fn meant<T>(mut packages: Vec<T>, can_be: impl Fn(&T) -> bool) -> Vec<T> {
    if packages.iter().any(&can_be) {
        packages.retain(can_be);
    }
    packages
}

fn suitable(package: &Package) -> Result<(), Refusal> {
    let reason = match package.role {
        Role::Own | Role::Dependency | Role::Development => return Ok(()),
        Role::Macro => "it is a procedural macro, which runs while the project is built",
        Role::Build => "only build scripts and procedural macros use it",
        Role::Interloper => "it is a part of interloper",
        Role::BelowInterloper => "only interloper itself uses it",
    };
    Err(Refusal::Unsuitable { package: package.label(), reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_versions_that_can_be_under_control() {
        let can_be = |version: &&str| version.starts_with("5.");
        assert_eq!(meant(vec!["5.5.3", "6.2.1", "5.4.0"], can_be), ["5.5.3", "5.4.0"]);
        // If none can be, the refusal names the first one.
        assert_eq!(meant(vec!["6.2.1", "6.1.0"], can_be), ["6.2.1", "6.1.0"]);
    }
}
