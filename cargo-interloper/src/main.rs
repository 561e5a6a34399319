//! The `cargo interloper` command: crates under control, without editing them.
//!
//! What it does is in `interloper-adopt`. Here are the command line, the terminal and the exit codes: 0 nothing
//! unexpected, 1 what was run failed or has a finding, 2 the request was wrong or cannot be met, or nothing was explored of a
//! crate that was named, 3 the tool is broken.

mod args;
mod composed;
mod every_test;
mod hunting;
mod init;
mod judged;
mod listed;
mod orderings;
mod pages;
mod progress;
mod recorded;
#[cfg(test)]
#[path = "../../cli/src/reference.rs"]
mod reference;
mod shards;

use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use args::{Command, Common, ComposedArgs, Format, HuntArgs, Rendering, Request, Shown};
use interloper::Shard;
use interloper::recorded::REPLAY;
use interloper_adopt::{Controlled, Members, Plan, Project, Reached, Refusal, Selection, Setup, Task, Wrapper};
use interloper_report::events::Event;
use interloper_report::folder::Folder;
use orderings::Asked;
use pages::Pages;
use recorded::{Files, Recorded};
use serde::Serialize;
use shards::Told;

/// Nothing unexpected.
const EXPECTED: u8 = 0;
/// What was run failed.
const UNEXPECTED: u8 = 1;
/// The request was wrong, or cannot be met; or nothing was explored.
const REFUSED: u8 = 2;
/// The tool is broken.
const BROKEN: u8 = 3;

fn main() -> ExitCode {
    let ending = panic::catch_unwind(AssertUnwindSafe(run));
    ExitCode::from(match ending {
        Ok(Ok(code)) => code,
        Ok(Err(refusal)) => {
            _ = io::stderr().lock().write_all(refusal.preceding().as_bytes());
            note(&format!("error: {refusal}"));
            REFUSED
        }
        Err(_) => {
            note("internal error, please report");
            BROKEN
        }
    })
}

fn run() -> Result<u8, Refusal> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(wrapper) = Wrapper::of_environment(&arguments) {
        return wrapper.run();
    }
    let cli = match args::parse(arguments) {
        Request::Run(cli) => cli,
        Request::Print(text) => return print(&text),
        Request::Refuse(text) => {
            note(text.trim_end());
            return Ok(REFUSED);
        }
    };
    progress::show(cli.command.progress());
    let folder = std::env::current_dir()
        .map_err(|error| Refusal::System { doing: "find the current folder".to_owned(), reason: error.to_string() })?;
    match cli.command {
        Command::Plan { common, all, format } => plan(&folder, &common, all, format),
        Command::Test { common, build, checks, tests, name, arguments } => {
            let arguments: Vec<OsString> = name.map(OsString::from).into_iter().chain(arguments).collect();
            let mut options = common.options(build.options().chain(tests.options(&build)));
            options.again = common.again(&build, &checks, &tests);
            options.checks = checks.variables();
            interloper::blocks::environment_is_usable().map_err(|bad| Refusal::Request(bad.to_string()))?;
            let mut selection = selection(&common);
            if tests.every_test {
                let members = Members::read(&folder, &options)?;
                options.harness = Some(every_test::harness(&folder, &members)?);
                if selection == Selection::Manifest && !members.list("instrument") {
                    selection = Selection::All;
                }
            }
            let mut controlled = control_selected(&folder, &selection, options.clone())?;
            if tests.list {
                return print(&listed::list(&controlled, &arguments, tests.format)?).map(|_| EXPECTED);
            }
            if progress::are_wanted() && tests.format == Rendering::Text {
                let reason =
                    "--progress json needs --format json, junit or sarif: in text the harness of the tests speaks";
                return Err(Refusal::Request(reason.to_owned()));
            }
            let builds = if controlled.takes_all { BUILDS } else { 0 };
            for _ in 0..builds {
                let failed = match controlled.build(Task::Test) {
                    Ok(_) => break,
                    Err(failed) => failed,
                };
                let Refusal::Build { messages, .. } = &failed else { return Err(failed) };
                let Some((with_more, more)) = controlled.with_what_crosses(selection, messages) else {
                    return Err(failed);
                };
                note(&format!(
                    "types of std cross to what is not under control: {} comes under control, too",
                    more.join(", ")
                ));
                drop(controlled);
                selection = with_more;
                controlled = control_selected(&folder, &selection, options.clone())?;
            }
            if tests.no_run {
                return controlled.build(Task::Test).map(|_| EXPECTED);
            }
            let code = match tests.format {
                Rendering::Text => build_and_run(&mut controlled, Task::Test, &arguments)?,
                format => judged::run(&controlled, &arguments, format)?,
            };
            // Who asks for some of the tests knows that others do not run.
            let all = arguments.is_empty() && !tests.targets.selects() && build.package.is_empty();
            let reached = controlled.reached();
            if tests.every_test {
                note(&every_test::passed(&reached));
            }
            let missed = says_missed(&reached, all, is_part(checks.shard.as_ref()), tests.allow_trivial);
            Ok(if missed && all && !tests.allow_trivial && code == EXPECTED { REFUSED } else { code })
        }
        command @ Command::Orderings { .. } => weakened(&folder, command, None),
        Command::Composed(args) => {
            let part = asked_again(args.run)?;
            composed(&folder, args, part)
        }
        Command::Hunt(args) => {
            let part = asked_again(true)?;
            hunt(&folder, args, part)
        }
        Command::Replay { file, shown } => replay(&folder, &file, shown),
        Command::Merge { files, shown } => merge(&folder, &files, shown),
        Command::Run { common, build, arguments } => {
            let mut controlled = control(&folder, &common, common.options(build.options()))?;
            build_and_run(&mut controlled, Task::Run, &arguments)
        }
        Command::Init { undo, dry_run, path, features, manifest_path, package } => {
            let setup = Setup { manifest: manifest_path, packages: package, features };
            let changes = match undo {
                true => setup.undone(&folder)?,
                false => setup.changes(&folder, &init::interloper(&folder, path)?)?,
            };
            print(&init::difference(&folder, &changes))?;
            if dry_run { Ok(EXPECTED) } else { init::write(&changes, undo).map(|()| EXPECTED) }
        }
        Command::Clean { common } => Project::clean(&folder, &common.options([])).map(|()| EXPECTED),
    }
}

/// Says what each memory ordering is for, after what the shards have tried, and in that form.
fn weakened(
    folder: &Path,
    command: Command,
    joined: Option<(Told, Option<PathBuf>, Rendering)>,
) -> Result<u8, Refusal> {
    let Command::Orderings { common, build, targets, sites, time, html, shard, format, progress: _, name, arguments } =
        command
    else {
        return Err(other_parts());
    };
    let (split, html, format) = match (shard, joined) {
        (_, Some((Told::Orderings(trials), html, format))) => (orderings::Split::Joined(trials), html, format),
        (_, Some(_)) => return Err(other_parts()),
        (Some(shard), None) => (orderings::Split::Shard(shard, typed(&[])), html, format),
        (None, None) => (orderings::Split::Whole, html, format),
    };
    let pages = Pages::of(folder, html)?;
    let controlled = control(folder, &common, common.options(build.options().chain(targets.options(&build))))?;
    let arguments = name.map(OsString::from).into_iter().chain(arguments).collect();
    let time = time.map(Duration::from_secs);
    let instrument = common.instrument.clone().unwrap_or_default();
    let asked = Asked { sites, packages: build.package.clone(), time, arguments, instrument, pages, split };
    orderings::run(&controlled, asked, format)
}

/// What runs instead of a whole search.
enum Part {
    /// What the shards have found is joined. The search was asked for by these words.
    Joined(Told, shards::Asked),
    /// A recorded execution is run again.
    Again(Box<Recorded>),
}

/// The recorded execution that the environment names, if what runs can run it again.
fn asked_again(runs: bool) -> Result<Option<Part>, Refusal> {
    let path = std::env::var_os(REPLAY).filter(|_| runs);
    path.map(|path| Recorded::read(Path::new(&path)).map(|file| Part::Again(Box::new(file)))).transpose()
}

/// Runs the execution of a file again: what was typed when it was found says what is built.
fn replay(folder: &Path, path: &Path, Shown { html, format, .. }: Shown) -> Result<u8, Refusal> {
    let recorded = Box::new(Recorded::read(path)?);
    let words = recorded.origin().arguments.iter().map(OsString::from);
    let request = args::parse(std::iter::once("cargo-interloper".into()).chain(words));
    let command = match request {
        Request::Run(cli) => Some(cli.command),
        Request::Print(_) | Request::Refuse(_) => None,
    };
    match command {
        Some(Command::Composed(args)) if args.run => composed(
            folder,
            ComposedArgs { html, format, write: None, shard: None, ..args },
            Some(Part::Again(recorded)),
        ),
        Some(Command::Hunt(args)) => {
            hunt(folder, HuntArgs { html, format, state: None, shard: None, ..args }, Some(Part::Again(recorded)))
        }
        _ => recorded.refused("damaged: what it says was typed is not a search of cargo interloper"),
    }
}

fn composed(folder: &Path, args: ComposedArgs, part: Option<Part>) -> Result<u8, Refusal> {
    let ComposedArgs {
        common,
        package,
        tests,
        run,
        no_pairs,
        bound,
        time,
        no_fixes,
        html,
        write,
        shard,
        format,
        name,
        progress: _,
    } = args;
    let limits = run.then_some(composed::Limits { bound, time, fixes: !no_fixes });
    let mut search = typed(&[]);
    let split = match (shard, part) {
        (_, Some(Part::Joined(Told::Operations(outcomes), asked))) => {
            search = asked;
            composed::Split::Joined(outcomes)
        }
        (None, Some(Part::Again(recorded))) if !recorded.is_of_a_hunt() => composed::Split::Again(recorded),
        (_, Some(Part::Again(recorded))) => return recorded.refused(&not_found_by("composed", shard)),
        (_, Some(_)) => return Err(other_parts()),
        (Some(shard), None) => composed::Split::Shard(shard, typed(&["--html"])),
        (None, None) => composed::Split::Whole,
    };
    let pages = Pages::of(folder, html)?;
    let instrument = common.instrument.clone().unwrap_or_default();
    let asked = composed::Asked {
        packages: package,
        tests,
        name,
        run: limits,
        pairs: !no_pairs,
        instrument,
        pages,
        files: Files::of(&search),
        write,
        split,
    };
    composed::run(folder, &common.options([]), &asked, format)
}

fn hunt(folder: &Path, args: HuntArgs, part: Option<Part>) -> Result<u8, Refusal> {
    let HuntArgs {
        common,
        package,
        published,
        method,
        schema,
        seed,
        schemas,
        time,
        memory,
        html,
        shard,
        state,
        format,
        progress: _,
        name,
    } = args;
    let kept = |state: PathBuf| {
        let suffix = shard.map(Shard::suffix).unwrap_or_default();
        let folder = Folder::open(&folder.join(state), suffix).map_err(Refusal::Request)?;
        Ok(hunting::Kept { folder, line: typed(&["--state", "--time"]).line() })
    };
    let mut search = typed(&[]);
    let split = match (shard, part) {
        (_, Some(Part::Joined(Told::Hunts(hunts), asked))) => {
            search = asked;
            hunting::Split::Joined(hunts)
        }
        (None, Some(Part::Again(recorded))) if recorded.is_of_a_hunt() => hunting::Split::Again(recorded),
        (_, Some(Part::Again(recorded))) => return recorded.refused(&not_found_by("hunt", shard)),
        (_, Some(_)) => return Err(other_parts()),
        // Where the progress is kept makes no other search of it.
        (Some(shard), None) => hunting::Split::Shard(shard, typed(&["--state"]), state.map(kept).transpose()?),
        (None, None) => hunting::Split::Whole(state.map(kept).transpose()?),
    };
    let subjects = hunting::Subjects { published, packages: package, name };
    let (json, command) = (format != Rendering::Text, "cargo interloper hunt".to_owned());
    let memory = memory.map(|memory| memory.to_string());
    // What is not looked for does not end an execution.
    let options = memory.iter().map(|memory| format!(" --memory {memory}"));
    let options = options.chain(common.races.option()).chain(common.preempt.option()).collect();
    let asked = hunting::Asked {
        seed,
        schemas,
        time,
        method,
        schema,
        memory,
        json,
        tells: progress::are_wanted(),
        command,
        options,
        ..hunting::Asked::default()
    };
    let pages = Pages::of(folder, html)?;
    hunting::run(
        folder,
        &common.options([]),
        &selection(&common),
        &subjects,
        &asked,
        (&split, &pages, &Files::of(&search)),
        format,
    )
}

/// Why a command does not run a recorded execution.
fn not_found_by(command: &str, shard: Option<Shard>) -> String {
    match shard {
        None => format!("it was not found by '{command}'"),
        Some(_) => "one execution has no parts: leave out --shard".to_owned(),
    }
}

/// What was typed, without these options and those that never determine a result.
fn typed(without: &[&str]) -> shards::Asked {
    shards::Asked::typed(std::env::args_os(), &[&["--shard", "--format", "--progress"], without].concat())
}

fn other_parts() -> Refusal {
    Refusal::Request("the files are not parts of the command that they name".to_owned())
}

/// Joins the results of all shards: the command that was split runs again, without what the shards have done.
fn merge(folder: &Path, files: &[PathBuf], Shown { html, format, .. }: Shown) -> Result<u8, Refusal> {
    let (asked, told) = shards::join(files)?;
    let Request::Run(cli) = args::parse(asked.again()) else { return Err(other_parts()) };
    match cli.command {
        Command::Composed(args) => {
            composed(folder, ComposedArgs { html, format, ..args }, Some(Part::Joined(told, asked)))
        }
        Command::Hunt(args) => hunt(folder, HuntArgs { html, format, ..args }, Some(Part::Joined(told, asked))),
        command @ Command::Orderings { .. } => weakened(folder, command, Some((told, html, format))),
        _ => Err(other_parts()),
    }
}

fn plan(folder: &Path, common: &Common, all: bool, format: Format) -> Result<u8, Refusal> {
    let plan = Project::open(folder, common.options([]))?.plan();
    print(&match format {
        Format::Text if all => format!("{}\n", plan.in_full()),
        Format::Text => format!("{plan}\n"),
        Format::Json => json(&plan),
    })
}

/// The version of the document that `plan --format json` prints.
const VERSION: u32 = 1;

fn json(plan: &Plan) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        version: u32,
        #[serde(flatten)]
        plan: &'a Plan,
    }
    let document = Document { version: VERSION, plan };
    let mut text = serde_json::to_string_pretty(&document).expect("strings and numbers are always JSON");
    text.push('\n');
    text
}

fn selection(common: &Common) -> Selection {
    common.instrument.clone().map_or(Selection::Manifest, Selection::Named)
}

/// So often the command builds at most, each time with more under control.
const BUILDS: usize = 4;

fn control(folder: &Path, common: &Common, options: interloper_adopt::Options) -> Result<Controlled, Refusal> {
    control_selected(folder, &selection(common), options)
}

fn control_selected(
    folder: &Path,
    selection: &Selection,
    options: interloper_adopt::Options,
) -> Result<Controlled, Refusal> {
    let own = match &options.harness {
        Some(harness) if harness.every_test => "the crates of the workspace",
        _ => "crates with the line at their root",
    };
    let controlled = Project::open(folder, options)?.control(selection)?;
    let (along, named): (Vec<_>, Vec<_>) = controlled.copies().partition(|(_, along)| *along);
    let labels = |all: Vec<(String, bool)>| all.into_iter().map(|(label, _)| label).collect::<Vec<_>>().join(", ");
    match (named.is_empty(), along.is_empty()) {
        (true, true) => note(&format!("under control: only {own}")),
        (true, false) => note(&format!("under control: {own}, and with them {}", labels(along))),
        (false, true) => note(&format!("under control: {}", labels(named))),
        (false, false) => note(&format!("under control: {}, and with it {}", labels(named), labels(along))),
    }
    for unseen in &controlled.unseen {
        note(&format!("not under control: {unseen}"));
    }
    for off in &controlled.off {
        note(&format!("switched off: {off}"));
    }
    says_memory(&controlled);
    Ok(controlled)
}

/// Says what is seen of plain memory, and what is not.
fn says_memory(controlled: &Controlled) {
    match &controlled.races {
        Ok(()) => note("data races: looked for"),
        Err(reason) => note(&format!("data races: not looked for, {reason}")),
    }
    if controlled.announces_all {
        note("plain memory: loads and stores can be steps");
    }
    if let Some(file) = &controlled.own_allocator {
        note(&format!(
            "freed memory: uses of it are not found, since the project has an allocator of its own: {}",
            file.display()
        ));
    }
}

/// Whether the tests of a process are a part of a search, of which other processes run the rest.
fn is_part(shard: Option<&Shard>) -> bool {
    shard.is_some_and(|shard| !shard.is_whole())
}

/// Names the crates that are under control in vain, and the atomic blocks that never ran if all tests did; gives whether
/// there are any. A part of the tests need not reach them.
fn says_missed(reached: &Reached, all: bool, is_part: bool, allowed: bool) -> bool {
    let Reached { checked, missed, unseen, idle, .. } = reached;
    if *checked && all && !is_part && !unseen.is_empty() {
        note(&format!("under control, but these tests made no step in them: {}", unseen.join(", ")));
    }
    if is_part {
        if !missed.is_empty() {
            note(&format!("this shard explored nothing of {}; other shards may", missed.join(", ")));
        }
        return false;
    }
    // Who runs some of the tests does not expect every block to run.
    let idle = if all && *checked { &idle[..] } else { &[] };
    if missed.is_empty() && idle.is_empty() {
        return false;
    }
    if !checked {
        note("no program was checked: no `#[interloper::test]` ran");
        return false;
    }
    let accepts = if allowed { "accepted by `--allow-trivial`" } else { "`--allow-trivial` accepts this" };
    if !missed.is_empty() && !all {
        note(&format!("these tests explored nothing of {}; others may", missed.join(", ")));
    } else if !missed.is_empty() {
        note(&format!(
            "nothing was explored of {}: no check saw a step of it; perhaps no `#[interloper::test]` calls it, or the \
             tests call another version; {accepts}",
            missed.join(", ")
        ));
    }
    for (name, place) in idle {
        note(&format!("nothing was explored of the atomic block `{name}` at {place}: it ran in no check; {accepts}"));
    }
    true
}

fn build_and_run(controlled: &mut Controlled, task: Task, arguments: &[OsString]) -> Result<u8, Refusal> {
    controlled.build(task)?;
    if !controlled.restores_statics(task, arguments) {
        note("several tests run at once and share their statics: only the mirrored values in statics start fresh");
    }
    let status = controlled.run(task, arguments)?;
    Ok(if status.success() { EXPECTED } else { UNEXPECTED })
}

/// Writes the result. A reader that has gone away has seen what it wanted.
fn print(text: &str) -> Result<u8, Refusal> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Refusal::System { doing: "write to standard output".to_owned(), reason: error.to_string() })
        }
        _ => Ok(EXPECTED),
    }
}

/// Annotates lines for GitHub, in a job of which this runs: on standard error, since standard output is the result.
/// A program that reads events has the places there.
fn annotate(lines: impl FnOnce() -> String) {
    if !progress::are_wanted() && std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        lines().lines().for_each(note);
    }
}

/// Writes a line for the person at the terminal. Nothing is left to do when that fails.
fn note(line: &str) {
    match line.starts_with("error: ") {
        false if progress::are_wanted() => progress::tell(&Event::Note { says: line }),
        _ => _ = writeln!(io::stderr().lock(), "{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a part of the tests does not reach, another part may reach.
    #[test]
    fn a_part_of_the_tests_need_not_reach_everything() {
        let reached = |missed: &[&str]| Reached {
            checked: true,
            missed: missed.iter().map(|name| (*name).to_owned()).collect(),
            unseen: vec!["b".to_owned()],
            ..Reached::default()
        };
        let missed = |missed: &[&str], shard: Option<&str>| {
            let shard: Option<Shard> = shard.map(|shard| shard.parse().unwrap());
            says_missed(&reached(missed), true, is_part(shard.as_ref()), false)
        };
        assert!(missed(&["a"], None) && missed(&["a"], Some("1/1")));
        assert!(!missed(&["a"], Some("2/2")) && !missed(&[], None));
    }

    #[test]
    fn the_page_of_exit_codes_is_current() {
        let codes = [
            (EXPECTED, "nothing unexpected"),
            (
                UNEXPECTED,
                "a test or the program failed, a hunt found a violation, an operation or a pair of methods is not atomic, or a \
                 replay shows another history",
            ),
            (
                REFUSED,
                "the request was wrong, the project does not build, or nothing was explored of a named crate or a marked block",
            ),
            (BROKEN, "the tool is broken: please report"),
        ];
        let constants =
            include_str!("main.rs").lines().filter(|line| line.starts_with("const ") && line.contains(": u8 = "));
        assert_eq!(constants.count(), codes.len());
        let rows = codes.map(|(code, meaning)| vec![code.to_string(), meaning.to_owned()]);
        reference::assert_table("exit-codes.md", "## `cargo interloper`", &rows);
    }

    #[test]
    fn the_page_of_files_has_the_versions() {
        let versions = [
            ("`plan --format json`", VERSION),
            ("`test --format json`", judged::VERSION),
            ("`test --list --format json`", listed::VERSION),
            ("`composed --format json`", composed::VERSION),
            ("`hunt --format json`", hunting::VERSION),
            ("`orderings --format json`", interloper::report::orderings::VERSION),
            ("`replay --format json`", recorded::VERSION),
            ("results of shards", shards::VERSION),
        ];
        let rows = versions.map(|(file, version)| vec![file.to_owned(), version.to_string()]);
        reference::assert_table("files.md", "### Of `cargo interloper`", &rows);
    }
}
