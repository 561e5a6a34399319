//! Why something cannot be done.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::place::Place;

/// Why what was asked for cannot be done. Nothing of the user's tree has changed, and what was begun is either complete
/// or is made complete by the next try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Cargo cannot read the project: what it says.
    Cargo(String),
    /// No package of the project depends on the mirror of std, directly or through `interloper`.
    NoMirror,
    /// Several versions of the mirror of std are in the build.
    SeveralMirrors(Vec<String>),
    /// What is to be put under control is not a dependency.
    NotADependency {
        /// The name as it was given.
        name: String,
        /// A dependency with a similar name.
        similar: Option<String>,
    },
    /// A package that is not a member of the workspace.
    NotAMember {
        /// The name as it was given.
        name: String,
        /// A member with a similar name.
        similar: Option<String>,
    },
    /// The original of a crate is asked for that has no mirror.
    NoMirrorOf {
        /// The name as it was given.
        name: String,
        /// The crates that have one.
        known: Vec<&'static str>,
    },
    /// What is to be put under control cannot be.
    Unsuitable {
        /// Name and version.
        package: String,
        /// Why.
        reason: String,
    },
    /// The folder with the sources of a package is not there.
    NoSource {
        /// Name and version.
        package: String,
        /// Where it should be.
        folder: PathBuf,
    },
    /// The file that the compiler begins with is not there.
    NoRoot {
        /// Name and version.
        package: String,
        /// Where it should be.
        file: PathBuf,
    },
    /// A file is not Rust, as far as its brackets and literals go.
    NoRust {
        /// Name and version.
        package: String,
        /// Where it stops being Rust.
        place: Place,
        /// What is wrong.
        reason: String,
    },
    /// A manifest is not TOML, or has a value of the wrong kind.
    Manifest {
        /// The manifest.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Cargo chose other versions for the copies than the project has.
    OtherVersions(Vec<String>),
    /// The compiler rejects the project.
    Build {
        /// The messages of the compiler, as it prints them.
        messages: Vec<String>,
        /// What they are about: "the library `spoon`", "the test `counter`".
        rejected: Vec<String>,
        /// What was changed in the copies that do not compile, one line each.
        edits: Vec<String>,
        /// What is under control, as `name@version`: the compiler names it by the paths of the originals.
        controlled: BTreeSet<String>,
    },
    /// What was asked for does not exist, or makes no sense.
    Request(String),
    /// A file or a program cannot be used.
    System {
        /// What was tried.
        doing: String,
        /// What the operating system says.
        reason: String,
    },
}

impl Refusal {
    /// What is to be read before the refusal itself: what the compiler has printed, and what was changed in what it rejects. Empty if
    /// the compiler rejects nothing.
    pub fn preceding(&self) -> String {
        let Refusal::Build { messages, edits, .. } = self else { return String::new() };
        let messages = messages.iter().map(|message| format!("{}\n\n", message.trim_end()));
        messages.chain(edits.iter().map(|edit| format!("{edit}\n"))).collect()
    }

    /// For files.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Refusal {
        Refusal::System { doing: format!("{doing} {}", path.display()), reason: error.to_string() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Cargo(message) => write!(out, "cargo cannot read the project: {message}"),
            Refusal::NoMirror => {
                write!(
                    out,
                    "nothing here depends on interloper: add it with `cargo interloper init`, or check the tests as they are with \
                     `cargo interloper test --every-test`"
                )
            }
            Refusal::SeveralMirrors(all) => {
                write!(out, "the project has several mirrors of std, but only one is possible: {}", all.join(", "))
            }
            Refusal::NotADependency { name, similar: None } => write!(out, "{name} is not a dependency"),
            Refusal::NotADependency { name, similar: Some(similar) } => {
                write!(out, "{name} is not a dependency: did you mean {similar}?")
            }
            Refusal::NotAMember { name, similar: None } => write!(out, "the workspace has no package {name}"),
            Refusal::NotAMember { name, similar: Some(similar) } => {
                write!(out, "the workspace has no package {name}: did you mean {similar}?")
            }
            Refusal::NoMirrorOf { name, known } => {
                write!(
                    out,
                    "{name} has no mirror, so it is the real one anyway; there are mirrors of {}",
                    known.join(", ")
                )
            }
            Refusal::Unsuitable { package, reason } => write!(out, "{package} cannot be put under control: {reason}"),
            Refusal::NoSource { package, folder } => {
                write!(out, "the sources of {package} are not in {}: run `cargo fetch`", folder.display())
            }
            Refusal::NoRoot { package, file } => {
                write!(out, "the root file of {package} is missing: {}", file.display())
            }
            Refusal::NoRust { package, place, reason } => write!(out, "{package} cannot be read at {place}: {reason}"),
            Refusal::Manifest { file, reason } => write!(out, "{} cannot be read: {reason}", file.display()),
            Refusal::OtherVersions(all) => {
                write!(out, "cargo would build other versions than the project has: {}", all.join(", "))
            }
            Refusal::Build { messages, rejected, edits, controlled } => {
                let control = if edits.is_empty() { "" } else { " under control" };
                match &rejected[..] {
                    [] => write!(out, "the build failed")?,
                    [one] => write!(out, "{one} does not compile{control}")?,
                    all => write!(out, "these do not compile{control}: {}", all.join(", "))?,
                }
                // An implementation of a trait counts in a whole build, whoever brings it along.
                if messages.iter().any(|message| message.contains("[E0283]") && message.contains("serde_json")) {
                    write!(
                        out,
                        "\ninterloper brings serde_json along, which compares its values with numbers and texts: where this leaves a type \
                         open, write the type, such as `&[] as &[i32]`"
                    )?;
                }
                let (controlled, crossing): (Vec<String>, Vec<String>) =
                    crate::crossing(messages).into_iter().partition(|package| controlled.contains(package));
                let within = crate::crossing::crossing_within(messages);
                let within: Vec<String> = within.into_iter().chain(controlled).collect();
                match &crossing[..] {
                    [] if within.is_empty() => Ok(()),
                    [] => write!(
                        out,
                        "\ntypes of std cross between {} and a dependency that is not under control: `cargo interloper plan --all` \
                         lists them; try --instrument with one whose collections it uses",
                        within.join(", ")
                    ),
                    all => write!(
                        out,
                        "\ntypes of std cross to what is not under control, or is so in another version: put it under control, too \
                         (--instrument {})",
                        all.join(",")
                    ),
                }
            }
            Refusal::Request(reason) => out.write_str(reason),
            Refusal::System { doing, reason } => write!(out, "cannot {doing}: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}
