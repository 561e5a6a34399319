//! What can be put under control, and why.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::edits::features::Off;
use crate::edits::traits;
use crate::place::Place;
use crate::project::{Package, Project, Role};
use crate::reading::{self, Found, Kind, Reading, Unreadable};
use crate::replacement::{Choice, Replacement};

/// What is proposed for each package that a project is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// By class, name and version.
    pub packages: Vec<Entry>,
}

/// What is proposed for one package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Entry {
    /// What is proposed.
    pub class: Class,
    /// The package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Why.
    pub reason: String,
    /// Where in the package the reason is.
    pub place: Option<Place>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A crate of your own: the line at its root puts it under control.
    Own,
    /// It synchronises and must come along.
    Instrument,
    /// One that is written for Interloper is built in its place.
    Replace,
    /// It synchronises in a way that nobody can see.
    Cannot,
    /// It does not synchronise.
    Nothing,
    /// It is not part of what runs under control.
    LeftAlone,
}

impl Class {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Class::Own => "own",
            Class::Instrument => "instrument",
            Class::Replace => "replace",
            Class::Cannot => "cannot",
            Class::Nothing => "nothing",
            Class::LeftAlone => "left alone",
        }
    }
}

/// A package with what its sources say.
pub(crate) struct Judged {
    pub(crate) class: Class,
    pub(crate) reason: String,
    pub(crate) place: Option<Place>,
    pub(crate) note: Option<String>,
    /// Whether what is mirrored is named through `core::`.
    pub(crate) names_core: bool,
    /// Whether it is to come under control only for what it reads: the clock, or the keys of hashers. It synchronises nothing.
    pub(crate) only_reads: bool,
}

impl Project {
    /// Reads the sources of what the project is made of.
    pub fn plan(&self) -> Plan {
        let mut packages: Vec<Entry> =
            self.packages.iter().map(|package| entry(package, self.judge(package))).collect();
        packages.sort();
        Plan { packages }
    }

    /// What is proposed for a package.
    pub(crate) fn judge(&self, package: &Package) -> Judged {
        let left = |reason: &str| Judged::new(Class::LeftAlone, reason.to_owned(), None);
        match package.role {
            Role::Macro => return left("a procedural macro"),
            Role::Build => return left("for build scripts and procedural macros only"),
            Role::Interloper => return left("a part of interloper"),
            Role::BelowInterloper => return left("for interloper only"),
            Role::Own | Role::Dependency | Role::Development => {}
        }
        let judged = self.read(package);
        match (judged.class, package.role) {
            (Class::Instrument | Class::Replace, Role::Development) if !package.draws_random_numbers() => Judged {
                class: Class::LeftAlone,
                reason: format!("for tests without checks, can be named: {}", judged.reason),
                ..judged
            },
            _ => judged,
        }
    }

    /// What the sources of a crate of a package say, from its root on.
    pub(crate) fn reading(&self, package: &Package, root: &Path) -> Result<Reading, Unreadable> {
        reading::read(&package.folder, root, &self.configuration(package))
    }

    /// What the sources of a package say, whatever it is to the project.
    pub(crate) fn read(&self, package: &Package) -> Judged {
        let left = |reason: &str| Judged::new(Class::LeftAlone, reason.to_owned(), None);
        if package.draws_random_numbers() {
            return Judged::new(Class::Instrument, "its random numbers come from the seed of the run".to_owned(), None);
        }
        // Such a crate names the locks and atomics of std to implement its traits for them. Under control it would have them for the
        // types of the mirror alone, and crates that are not under control need them for the originals.
        if package.source.is_some() && traits::implemented(&package.name, &package.version).is_some() {
            return left("its copy implements its traits for the types of the mirror, too");
        }
        let Some(root) = package.library().or(package.roots.first().map(|root| root.as_path())) else {
            return left("it has no library");
        };
        match self.reading(package, root) {
            Err(bad) => Judged::new(Class::Cannot, bad.reason, Some(bad.place)),
            Ok(reading) => {
                let mut judged = judge(package, &reading, &self.replacement(package));
                if matches!(judged.class, Class::Instrument | Class::Replace) {
                    let notes = judged.note.into_iter().chain(self.switched_off(package).map(Off::said));
                    judged.note = notes.reduce(|notes, note| format!("{notes}; {note}"));
                }
                judged
            }
        }
    }
}

fn judge(package: &Package, reading: &Reading, replacement: &Choice<&Replacement>) -> Judged {
    let names_core = reading.names_core;
    let hidden = hidden(reading);
    let with = |class, kind, what: &str| {
        let found = reading.first(kind)?;
        let reason = if what.is_empty() { found.text.clone() } else { format!("{what}: {}", found.text) };
        Some(Judged { class, reason, place: Some(found.place.clone()), note: None, names_core, only_reads: false })
    };
    if package.role == Role::Own {
        let uses = with(Class::Own, Kind::Synchronises, "");
        let uses = uses.unwrap_or_else(|| Judged::new(Class::Own, "no synchronisation".to_owned(), None));
        let note = hidden.map(|(what, found)| format!("outside of control: {what}: {} at {}", found.text, found.place));
        return Judged { note, ..uses };
    }
    if let Choice::Replace(mirror) = replacement
        && mirror.is_mirror()
    {
        return Judged { names_core, ..Judged::new(Class::Replace, mirror.reason().to_owned(), None) };
    }
    let class = if let Choice::Replace(_) = replacement { Class::Replace } else { Class::Cannot };
    let cannot = hidden.and_then(|(what, found)| with(class, found.kind, what));
    // The copy gets a fence beside one in assembly.
    let fence = reading.first(Kind::Fence).map(|found| format!("assembly at {} counts as a fence", found.place));
    let synchronises = with(Class::Instrument, Kind::Synchronises, "").map(|judged| Judged { note: fence, ..judged });
    let reads = || {
        let judged = with(Class::Instrument, Kind::Reads, "that of the system, unless it is under control")?;
        Some(Judged { only_reads: true, ..judged })
    };
    let judged = cannot.or(synchronises).or_else(|| with(Class::Instrument, Kind::Fence, "a fence in assembly"));
    let judged = judged.or_else(reads);
    let mut judged = judged.unwrap_or_else(|| Judged::new(Class::Nothing, "no synchronisation".to_owned(), None));
    if let Choice::Real(why) = replacement {
        judged.reason = format!("no mirror, since {why}: {}", judged.reason);
    }
    judged
}

/// How a crate synchronises in a way that nobody can see, with what it is called.
pub(crate) fn hidden(reading: &Reading) -> Option<(&'static str, &Found)> {
    let kinds = [
        (Kind::Futex, "a futex system call"),
        (Kind::BlockingCall, "a foreign function that waits"),
        (Kind::Assembly, "assembly that changes memory atomically"),
    ];
    kinds.into_iter().find_map(|(kind, what)| Some((what, reading.first(kind)?)))
}

impl Judged {
    fn new(class: Class, reason: String, place: Option<Place>) -> Judged {
        Judged { class, reason, place, note: None, names_core: false, only_reads: false }
    }
}

fn entry(package: &Package, judged: Judged) -> Entry {
    Entry {
        class: judged.class,
        name: package.name.clone(),
        version: package.version.to_string(),
        reason: judged.reason,
        place: judged.place,
        note: judged.note,
    }
}

impl Plan {
    /// The plan in which each package has a line, also where nothing is to be done.
    pub fn in_full(&self) -> String {
        let shown: Vec<&Entry> = self.packages.iter().collect();
        format!("{}{}", lines(&shown), self.counts())
    }

    fn counts(&self) -> String {
        let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
        self.packages.iter().for_each(|entry| *counts.entry(entry.class).or_default() += 1);
        let counts: Vec<String> = counts.iter().map(|(class, count)| format!("{count} {}", class.name())).collect();
        counts.join(", ")
    }
}

impl Entry {
    /// Whether nothing is to be done about the package, and nothing about it can be chosen.
    fn is_settled(&self) -> bool {
        matches!(self.class, Class::Nothing | Class::LeftAlone) && self.place.is_none()
    }
}

/// A line for each package.
fn lines(entries: &[&Entry]) -> String {
    let label = |entry: &Entry| format!("{} {}", entry.name, entry.version);
    let width = entries.iter().map(|entry| label(entry).chars().count()).max().unwrap_or_default();
    let line = |entry: &&Entry| {
        let place = entry.place.iter().map(|place| format!(" at {place}"));
        let note = entry.note.iter().map(|note| format!("; {note}"));
        let more: String = place.chain(note).collect();
        format!("{:<11} {:<width$}  {}{more}\n", entry.class.name(), label(entry), entry.reason)
    };
    entries.iter().map(line).collect()
}

impl fmt::Display for Plan {
    /// What is to be done or can be chosen, a package in each line. All other packages are counted.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (settled, open): (Vec<&Entry>, Vec<&Entry>) = self.packages.iter().partition(|entry| entry.is_settled());
        write!(out, "{}", lines(&open))?;
        let mut reasons: BTreeMap<(Class, &str), usize> = BTreeMap::new();
        settled.iter().for_each(|entry| *reasons.entry((entry.class, &entry.reason)).or_default() += 1);
        for ((class, reason), count) in reasons {
            writeln!(out, "{:<11} {count} more: {reason}", class.name())?;
        }
        write!(out, "{}", self.counts())
    }
}
