//! Building and running what is under control.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufReader, IsTerminal};
use std::iter;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use cargo_metadata::{Artifact, Message, Target, TargetKind, diagnostic::DiagnosticLevel};
use toml_edit::Value;

use crate::announce;
use crate::cargo::cannot_run;
use crate::control::Controlled;
use crate::edits::manifest;
use crate::flags;
use crate::orderings::TestBinary;
use crate::project::{Package, Project, Role};
use crate::refusal::Refusal;
use crate::replacement;

/// Where the mirror of std looks for the crates whose statics it restores.
const CONTROLLED: &str = "INTERLOPER_CONTROLLED";

/// The variable from which const-random takes what it draws while a program is compiled: without it, a hasher of ahash that has its keys
/// from there orders a map in another way after each build.
const CONST_RANDOM: &str = "CONST_RANDOM_SEED";
/// Where the mirror of std looks whether executions are judged for data races.
const RACES: &str = "INTERLOPER_RACES";
/// Where checks look for where tasks are preempted.
const PREEMPT: &str = "INTERLOPER_PREEMPT";
/// Where the mirror of std finds the folders whose code is not the program's but ours.
const REPLACED: &str = "INTERLOPER_REPLACED";
/// Where the build of the mirror of std looks whether freed memory is kept.
const QUARANTINE: &str = "INTERLOPER_QUARANTINE";
/// Where the build of the mirror of parking_lot looks whether it is parking_lot itself.
const REAL_PARKING_LOT: &str = "INTERLOPER_REAL_PARKING_LOT";
/// Where tests look for the command that runs them again.
const AGAIN: &str = "INTERLOPER_AGAIN";
/// Where tests look for how many of them run at once.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// What every step of an execution goes through.
const QUICK: [&str; 3] = [ENGINE, "interloper-std", "rustc-hash"];
/// What the searches of composed operations go through at each step, in a project that has them. The driver, the judge and the report are
/// not among them: with them optimised too an execution takes 25 µs less, and the first run of a project a minute more of processor
/// time. The usual search of an operation has fewer than 3,000 executions. The tests that such a search writes run with the build that
/// it has made.
const COMPOSED: [&str; 2] = ["interloper-collections", "interloper-commutativity"];
/// What hears of every load and store.
const ENGINE: &str = "interloper-scheduler";

/// What reads the debug information of a test, for the places of its accesses and for a finding: half of the run of a small
/// test (0.5 s, with this 0.2 s). It takes 6 s of processor time more to compile, once.
const LINES: [&str; 2] = ["backtrace", "miniz_oxide"];

/// What is done with the crates under control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// `cargo test`.
    Test,
    /// `cargo run`.
    Run,
}

/// How a build went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// Crates that were compiled.
    pub compiled: usize,
    /// Crates that were as they should be already.
    pub fresh: usize,
    /// The test binaries, in the order of their names.
    pub tests: Vec<TestBinary>,
}

/// What the command starts has the same addresses each time, where the system allows it: executions of a program that hashes or compares
/// addresses depend on them.
fn at_the_same_addresses(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let fixed = || {
            const ASK: libc::c_ulong = 0xffff_ffff;
            // SAFETY: the system call asks for the personality of the process, or sets it. It touches no memory.
            unsafe {
                let now = libc::personality(ASK);
                if now >= 0 {
                    libc::personality(now as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                }
            }
            Ok(())
        };
        // SAFETY: between the fork and the program, the closure makes two system calls and allocates nothing.
        unsafe { command.pre_exec(fixed) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

impl Controlled {
    /// What is under control: name, version, and whether it has come along.
    pub fn copies(&self) -> impl Iterator<Item = (String, bool)> + '_ {
        let changed = self.copies.iter().filter(|copy| copy.changed);
        changed.map(|copy| (self.project.packages[copy.package].label(), !copy.named))
    }

    /// Builds, and writes nothing to the terminal but cargo's progress.
    ///
    /// # Errors
    /// When cargo chooses other versions, or the compiler rejects something.
    pub fn build(&self, task: Task) -> Result<Built, Refusal> {
        self.same_versions()?;
        let mut command = match task {
            Task::Test => self.command_with("test", self.starts_examples)?,
            Task::Run => self.command("build")?,
        };
        if task == Task::Test {
            command.arg("--no-run");
        }
        let colours = std::io::stderr().is_terminal();
        let format = if colours { "json-diagnostic-rendered-ansi" } else { "json" };
        command.args(["--message-format", format]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| cannot_run(&command, &error))?;
        let messages = child.stdout.take().expect("it is piped");
        let mut reader = Reader {
            controlled: self,
            built: Built::default(),
            errors: Vec::new(),
            rejected: BTreeSet::new(),
            edits: BTreeSet::new(),
        };
        for message in Message::parse_stream(BufReader::new(messages)).flatten() {
            reader.message(message);
        }
        let status = child.wait().map_err(|error| cannot_run(&command, &error))?;
        if status.success() {
            reader.built.tests.sort_by(|a, b| (&a.name, &a.executable).cmp(&(&b.name, &b.executable)));
            Ok(reader.built)
        } else {
            let (rejected, edits) = (Vec::from_iter(reader.rejected), Vec::from_iter(reader.edits));
            Err(Refusal::Build { messages: reader.errors, rejected, edits, controlled: self.keys() })
        }
    }

    /// Whether tests that are run with `arguments` begin each execution with fresh statics: if so they run one after the
    /// other, since threads share statics.
    pub fn restores_statics(&self, task: Task, arguments: &[OsString]) -> bool {
        let says = |argument: &OsString| argument.to_str().is_some_and(|text| text.starts_with("--test-threads"));
        let one = |argument: &OsString| argument == "--test-threads=1";
        match arguments.iter().position(says) {
            _ if task == Task::Run => true,
            Some(at) => one(&arguments[at]) || arguments.get(at + 1).is_some_and(|next| next == "1"),
            None => std::env::var_os(TEST_THREADS).is_none_or(|threads| threads == "1"),
        }
    }

    /// Runs what was built, with `arguments` for it. From here on another build of the project can begin.
    ///
    /// # Errors
    /// When cargo cannot be started.
    pub fn run(&mut self, task: Task, arguments: &[OsString]) -> Result<ExitStatus, Refusal> {
        drop(self.project.held.take());
        let mut command = self.command(match task {
            Task::Test => "test",
            Task::Run => "run",
        })?;
        if task == Task::Test {
            self.prepare_reached()?;
            command.env(crate::reached::VARIABLE, self.reached_folder());
        }
        self.prepare(&mut command, task, arguments);
        command.arg("--").args(arguments);
        command.status().map_err(|error| cannot_run(&command, &error))
    }

    /// What a program under control finds in its environment: the crates whose statics start fresh in each execution, unless
    /// `arguments` prevent it, and whether executions are judged for races.
    pub(crate) fn prepare(&self, command: &mut Command, task: Task, arguments: &[OsString]) {
        if self.restores_statics(task, arguments) {
            command.env(CONTROLLED, self.crates().into_iter().collect::<Vec<String>>().join(","));
            command.env(TEST_THREADS, "1");
        }
        at_the_same_addresses(command);
        command.env(RACES, if self.races.is_ok() { "on" } else { "off" });
        if self.project.options.preempts {
            command.env(PREEMPT, "memory");
        }
        command.envs(self.project.options.checks.iter().map(|(name, value)| (*name, value)));
        if !self.project.options.again.is_empty() {
            command.env(AGAIN, &self.project.options.again);
        }
        command.env(REPLACED, std::env::join_paths(self.replaced()).unwrap_or_default());
    }

    /// The folders of the packages in whose place ours are built.
    fn replaced(&self) -> impl Iterator<Item = &Path> {
        let copies = self.copies.iter().filter(|copy| copy.changed).map(|copy| &self.project.packages[copy.package]);
        copies.filter(|package| self.project.is_replaced(package)).map(|package| package.folder.as_path())
    }

    /// The packages that announce what they do: the user's own, and those that are under control.
    fn announcing(&self) -> impl Iterator<Item = &Package> {
        let packages = &self.project.packages;
        let own = packages.iter().filter(|package| package.role == Role::Own);
        let copies = self.copies.iter().filter(|copy| copy.changed).map(|copy| &packages[copy.package]);
        own.chain(copies.filter(|package| !self.project.is_replaced(package)))
    }

    /// The crates whose statics are restored between executions: those that announce what they do, and those above what is under
    /// control. A static of such a crate can have a part that each execution has for itself, such as the atomic of a `Lazy` of
    /// once_cell, so all of it has to be fresh. What the checker uses as well is left as it is.
    fn crates(&self) -> BTreeSet<String> {
        let project = &self.project;
        let ours = project.indices(|package| package.role == Role::Interloper);
        let checker = project.reach(ours, |_| false);
        let controlled: BTreeSet<usize> =
            self.copies.iter().filter(|copy| copy.changed).map(|copy| copy.package).collect();
        let is_above = |index: &usize| {
            matches!(project.packages[*index].role, Role::Dependency | Role::Development)
                && !checker.contains(index)
                && !project.closure([*index]).is_disjoint(&controlled)
        };
        let above = (0..project.packages.len()).filter(is_above).map(|index| &project.packages[index]);
        self.announcing().chain(above).flat_map(|package| &package.crates).cloned().collect()
    }

    /// Cargo with the patches, the flags and what the user said.
    fn command(&self, subcommand: &str) -> Result<Command, Refusal> {
        self.command_with(subcommand, false)
    }

    fn command_with(&self, subcommand: &str, builds_examples: bool) -> Result<Command, Refusal> {
        let project = &self.project;
        let options = &project.options;
        let mut command = project.cargo.command(subcommand);
        command.arg("--manifest-path").arg(self.tree.of(&project.manifest));
        let target = project.folder.join("build");
        command.arg("--target-dir").arg(&target).env("CARGO_BUILD_BUILD_DIR", &target);
        if std::env::var_os(CONST_RANDOM).is_none() {
            command.env(CONST_RANDOM, "0");
        }
        // Reports need the lines of dependencies, and the whole paths of functions, which line tables alone lack: a frame of the
        // checker is known by its path. More takes long to build.
        set(&mut command, "*", "debug=\"limited\"");
        // Cargo compiles in steps what has a path, which takes half as long again. Nobody edits the checker.
        for package in project.packages.iter().filter(|package| package.role == Role::Interloper && !package.is_macro) {
            set(&mut command, &package.name, "incremental=false");
        }
        // Without these, an execution takes fifteen times as long. Overflows and wrong indices of these crates are looked for by
        // their own tests; here each step would pay for it.
        let is_composed = project.packages.iter().any(|package| package.name == COMPOSED[0]);
        let composed = is_composed.then_some(COMPOSED).into_iter().flatten();
        for package in QUICK.into_iter().chain(composed).flat_map(|name| self.builds_of(name)) {
            for setting in ["opt-level=2", "debug-assertions=false", "overflow-checks=false"] {
                set(&mut command, &package, setting);
            }
        }
        // Optimised once: to optimise across pieces afterwards takes as long again. The engine in one piece takes ten seconds more to
        // build than in four, with one core idle, and 13 % fewer instructions for each execution of a test of tokio's threads.
        command.args(["--config", "profile.dev.lto=\"off\""]);
        set(&mut command, ENGINE, "opt-level=3");
        set(&mut command, ENGINE, "codegen-units=1");
        for package in LINES.into_iter().flat_map(|name| self.builds_of(name)) {
            for setting in ["opt-level=1", "debug-assertions=false", "overflow-checks=false"] {
                set(&mut command, &package, setting);
            }
        }
        // What cargo builds for tests when no target is chosen: examples, too.
        let is_left_out = |option: &&OsString| builds_examples && *option == "--tests";
        let build = options.build.iter().filter(|option| !is_left_out(option));
        command.args(&options.features).args(&options.settings).args(build).args(self.patches());
        if let Some(triple) = &options.target {
            command.args(["--target", triple]);
        }
        let real_parking_lot = self.controls("interloper-parking-lot", "parking_lot");
        for (variable, package, on) in [
            (QUARANTINE, "interloper-std", self.own_allocator.is_none()),
            (REAL_PARKING_LOT, "interloper-parking-lot", real_parking_lot),
        ] {
            // Not a flag: a flag is for all crates, and all of them would be compiled again when it changes.
            command.env(variable, if on { "on" } else { "off" });
            // In pieces of which one more or less makes no difference.
            set_apart(&mut command, package, if on { "codegen-units=4" } else { "codegen-units=5" });
        }
        flags::add(&mut command, &self.flags(), project.cargo.folder(), options.target.as_deref());
        if project.announces() {
            if self.announces_all {
                // This is how it is anyway on the platforms where accesses are announced.
                for package in self.announcing() {
                    set_apart(&mut command, &package.name, "split-debuginfo=\"off\"");
                }
            }
            let crates = (&self.crates(), self.announces_all);
            announce::add(&mut command, crates, &self.quiet_targets(), (&project.folder, &project.triple))?;
        }
        Ok(command)
    }

    /// The name of a package, and that of the checker's own build of it, if there is one.
    fn builds_of(&self, name: &str) -> impl Iterator<Item = String> + use<> {
        let is_kept = self.kept.iter().any(|&index| self.project.packages[index].name == name);
        iter::once(name.to_owned()).chain(is_kept.then(|| replacement::original(name)))
    }

    /// What puts the copies in the place of the originals.
    fn patches(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        for copy in &self.copies {
            let package = &self.project.packages[copy.package];
            if package.source.is_none() {
                continue;
            }
            let folder = self.tree.of(&self.project.built_folder(package)).display().to_string();
            let keys = [("package", Value::from(package.name.as_str())), ("path", Value::from(folder))];
            // Several versions of one package need several names.
            let name = format!("{}-{}", package.name, package.version.to_string().replace(['.', '+'], "-"));
            for source in &package.declared {
                for (key, value) in &keys {
                    let setting = format!("patch.{}.{name}.{key}={value}", flags::quoted(source));
                    arguments.extend(["--config".into(), setting.into()]);
                }
            }
        }
        arguments
    }

    /// What the compiler is told, for all crates.
    fn flags(&self) -> Vec<String> {
        let tree = self.tree.base().display();
        let mut flags = vec![
            "--cfg=interloper".to_owned(),
            "--check-cfg=cfg(interloper)".to_owned(),
            // What waits for input and output is seen where it calls the C library: see `interloper_std`'s module `kernel`.
            "--cfg=rustix_use_libc".to_owned(),
            // Copies are folders, whose lints cargo does not cap.
            "--cap-lints=warn".to_owned(),
            // Messages and places name the originals.
            format!("--remap-path-prefix={tree}=/"),
        ];
        if self.project.announces() {
            flags.extend(announce::ALL.map(str::to_owned));
        }
        flags
    }

    /// Whether the crate that interloper's own mirror of it is made over is under control itself, or replaced by a mirror. Then
    /// it needs no other mirror, and the mirror is that crate.
    fn controls(&self, mirror: &str, original: &str) -> bool {
        let mirrors = self.project.packages.iter().filter(|package| package.name == mirror);
        let originals = mirrors.flat_map(|mirror| &mirror.edges).map(|edge| edge.to);
        let changed = |original| self.copies.iter().any(|copy| copy.changed && copy.package == original);
        originals.filter(|index| self.project.packages[*index].name == original).any(changed)
    }

    /// Compares the versions that would be built with those that the project has.
    fn same_versions(&self) -> Result<(), Refusal> {
        let options = &self.project.options;
        let arguments = options.resolving().chain(self.patches());
        let arguments = arguments.chain(["--filter-platform".into(), self.project.triple.clone().into()]);
        let metadata = self.project.cargo.metadata(&self.tree.of(&self.project.manifest), arguments)?;
        let version =
            |package: &cargo_metadata::Package| manifest::of_original(&package.version.to_string()).to_owned();
        let would = metadata.packages.iter().map(|package| (package.name.to_string(), version(package)));
        let has = self.project.packages.iter().map(|package| (package.name.clone(), package.version.to_string()));
        let (would, has): (BTreeSet<_>, BTreeSet<_>) = (would.collect(), has.collect());
        // An original beside its copy has the version of it.
        let is_original = |(name, version): &(String, String)| {
            replacement::of_original(name).is_some_and(|of| has.contains(&(of.to_owned(), version.clone())))
        };
        let others = would.difference(&has).filter(|other| !is_original(other));
        let others: Vec<String> = others.map(|(name, version)| format!("{name} {version}")).collect();
        if others.is_empty() { Ok(()) } else { Err(Refusal::OtherVersions(others)) }
    }

    /// The copies by the folders that they are in.
    fn by_folder(&self) -> BTreeMap<std::path::PathBuf, &crate::control::Copied> {
        let folder = |package: usize| self.tree.of(&self.project.built_folder(&self.project.packages[package]));
        self.copies.iter().map(|copy| (folder(copy.package), copy)).collect()
    }
}

impl Project {
    /// Removes everything that Interloper has written for the project.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn clean(folder: &Path, options: &crate::Options) -> Result<(), Refusal> {
        let cargo = crate::cargo::Cargo::new(folder);
        let manifest = match &options.manifest {
            Some(manifest) => folder.join(manifest),
            None => cargo.find_manifest()?,
        };
        let metadata = cargo.metadata(&manifest, ["--no-deps"])?;
        let folder = metadata.target_directory.as_std_path().join("interloper");
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Refusal::file("remove", &folder, &error)),
            _ => Ok(()),
        }
    }
}

/// Reads what cargo says of a build.
struct Reader<'a> {
    controlled: &'a Controlled,
    built: Built,
    errors: Vec<String>,
    /// What does not compile.
    rejected: BTreeSet<String>,
    edits: BTreeSet<String>,
}

impl Reader<'_> {
    fn artifact(&mut self, artifact: Artifact) {
        *(if artifact.fresh { &mut self.built.fresh } else { &mut self.built.compiled }) += 1;
        let folder = artifact.manifest_path.parent().map(|folder| folder.as_std_path().to_owned());
        if let (Some(executable), Some(folder), true) = (artifact.executable, folder, artifact.profile.test) {
            let (name, executable) = (artifact.target.name, executable.into_std_path_buf());
            self.built.tests.push(TestBinary { name, folder, executable });
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::CompilerArtifact(artifact) => self.artifact(artifact),
            Message::CompilerMessage(message)
                if matches!(message.message.level, DiagnosticLevel::Error | DiagnosticLevel::Ice) =>
            {
                self.rejected.insert(named(&message.target));
                // The compiler counts its errors at the end. Two targets may have the same one: a library, and the same with its tests.
                let counts = message.message.message.starts_with("aborting due to ");
                let text = message.message.rendered.unwrap_or(message.message.message);
                if !counts && !self.errors.contains(&text) {
                    self.errors.push(text);
                }
                let root = message.target.src_path.as_std_path().to_owned();
                let copies = self.controlled.by_folder();
                let copy = copies.iter().find(|(folder, _)| root.starts_with(folder)).map(|(_, copy)| *copy);
                self.edits.extend(copy.into_iter().flat_map(|copy| copy.edits.iter().cloned()));
            }
            _ => {}
        }
    }
}

/// What a target is to its user.
fn named(target: &Target) -> String {
    let is = |kind: TargetKind| target.kind.contains(&kind);
    let what = if is(TargetKind::Test) {
        "test"
    } else if is(TargetKind::Bin) {
        "program"
    } else if is(TargetKind::Example) {
        "example"
    } else if is(TargetKind::Bench) {
        "benchmark"
    } else if is(TargetKind::CustomBuild) {
        "build script"
    } else {
        "library"
    };
    format!("the {what} `{}`", target.name)
}

/// Keeps two builds of a package apart which cargo would have undo each other in a target folder that projects share: they differ in a
/// variable that a build script reads, or in whether our wrapper of the compiler has each load announced. Cargo keeps what it built with
/// different profiles side by side, so the two have profiles that differ in a setting which changes nothing.
fn set_apart(command: &mut Command, package: &str, setting: &str) {
    set(command, package, setting);
}

/// Sets how a package is compiled. What the user says comes later, and counts.
fn set(command: &mut Command, package: &str, setting: &str) {
    command.args(["--config", &format!("profile.dev.package.{}.{setting}", flags::quoted(package))]);
}
