//! `interloper` and `interloper run`: cases and programs, their verdicts, and the reports of what is to be seen.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interloper::Notices;
use interloper::Shard;
use interloper::blocks::Program;
use interloper::blocks::progress::{InMemory, Progress};
use interloper_report::explorer::{Exploration, VERSION, trace};
use interloper_report::file;
use interloper_report::replay_file::{self, FOLDER};
use interloper_suite::Case;
use serde::Serialize;

use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OF_CASES, OF_PROGRAMS, OutputArgs, RunArgs, SearchArgs};
use crate::catalogue::{self, Entry};
use crate::entries::cases::{CaseResult, check_part};
use crate::entries::programs::{ProgramResult, check_kept, is_split, keeps_progress};
use crate::entries::told::{self, Part};
use crate::entries::{Begun, Checked, Item};
use crate::failure::Failure;
use crate::files::{can_write, make_folder, page_can_be_written, write_pages, write_text};
use crate::output;
use crate::services::{self, Judged};
use crate::shards::{Asked, ShardResult, Split, Told, refuse_form};
use crate::state::{OfPart, State};

/// What the cases are called together.
pub const CASES: &str = "composed operations";
/// What the programs are called together.
pub const PROGRAMS: &str = "programs with blocks";

#[derive(Serialize)]
struct Document {
    version: u32,
    seed: u64,
    cases: Vec<CaseResult>,
    programs: Vec<ProgramResult>,
}

/// Checks every case and every program. Only what is unexpected is reported in full. In `folder` the verdicts are kept, and the progress
/// of what is being checked.
pub fn suite(folder: Option<&Path>, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("the suite")?;
    refuse_form(search, output)?;
    page_can_be_written(output.html.as_deref())?;
    let (of_cases, of_programs) = own_share(&catalogue::all(), search);
    let state = folder.map(|folder| State::open(folder, search.shard)).transpose()?;
    let (of_cases, of_programs) =
        (Left::new(of_cases, state.as_ref(), search)?, Left::new(of_programs, state.as_ref(), search)?);
    let told = Told { of_cases: of_cases.told(search)?, of_programs: of_programs.told(search)? };
    answer(&Asked::new(&[], search), told, (search.shard, None), output)
}

/// The entries of one kind, of which earlier processes have checked some.
struct Left<'s, I: Item> {
    state: Option<&'s State>,
    /// What is known of each entry, in their order.
    known: Vec<Option<told::Told<I::Checked>>>,
    left: Vec<Begun<I>>,
}

impl<'s, I: Item> Left<'s, I> {
    /// Reads all that is kept, so that what belongs to another search is refused before anything is checked.
    fn new(entries: Vec<I>, state: Option<&'s State>, search: &SearchArgs) -> Result<Left<'s, I>, Failure> {
        let (mut known, mut left) = (Vec::new(), Vec::new());
        for entry in entries {
            let told = match state {
                Some(state) => state.verdict(entry.listed().name, &suite_asked(search))?,
                None => None,
            };
            if told.is_none() {
                left.push(begun(entry, state, search)?);
            }
            known.push(told);
        }
        Ok(Left { state, known, left })
    }

    /// Checks what is left. What is unexpected is shown.
    fn told(self, search: &SearchArgs) -> Result<Part<I::Checked>, Failure> {
        let asked = suite_asked(search);
        let tell = |checked: &I::Checked| {
            let kept = if checked.is_unexpected() { checked.kept(search) } else { None };
            told::Told::new(checked, kept)
        };
        let done = |checked: &I::Checked| {
            if let Some(state) = self.state.filter(|_| checked.is_settled()) {
                state.keep_verdict(&tell(checked), &asked);
            }
        };
        let checked = I::check_begun(&self.left, search, &done)?;
        let mut checked = checked.iter().map(tell);
        let all = self.known.into_iter().filter_map(|known| known.or_else(|| checked.next()));
        let part = Part(all.collect());
        part.0.iter().try_for_each(told::Told::write_file)?;
        Ok(part)
    }
}

/// What the suite was asked for, whatever the limit on the time.
fn suite_asked(search: &SearchArgs) -> Asked {
    Asked::new(&[], search).whenever()
}

/// An entry with what keeps the progress of its check, if that is kept.
fn begun<I: Item>(entry: I, state: Option<&State>, search: &SearchArgs) -> Result<Begun<I>, Failure> {
    let Some(state) = state else { return Ok((entry, None)) };
    let name = entry.listed().name;
    let keep = state.of(name, Asked::new(&[name.to_owned()], search).whenever())?;
    Ok((entry, Some(Arc::new(keep))))
}

/// Checks the named cases and programs and reports every violation.
pub fn run(arguments: &RunArgs, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    output.no_html("run")?;
    refuse_form(search, output)?;
    let entries = arguments.names.iter().map(|name| catalogue::find(name)).collect::<Result<Vec<_>, _>>()?;
    refuse_unused("run", &entries, search)?;
    let parted = match (search.shard, &entries[..]) {
        (Some(shard), [entry]) if entry.program().map_or(Ok(true), |program| is_split(&program, search))? => {
            Some((entry, shard))
        }
        _ => None,
    };
    if arguments.state.is_some() && parted.is_none() && search.shard.is_some() {
        return Err(Failure::Request("--state is for a shard of one search, and for a whole search".to_owned()));
    }
    if let Some((entry, shard)) = parted {
        refuse_files(arguments, search, output)?;
        return part(entry, shard, arguments.state.as_deref(), search);
    }
    let (of_cases, of_programs) = own_share(&entries, search);
    refuse_files(arguments, search, output)?;
    let state = arguments.state.as_deref().map(|folder| State::open(folder, None)).transpose()?;
    let of_cases = check_in(state.as_ref(), &of_cases, search)?;
    if let Some(reason) = of_cases.iter().find_map(Checked::refused) {
        return Err(Failure::Request(reason));
    }
    let of_programs = check_in(state.as_ref(), &of_programs, search)?;
    let told =
        Told { of_cases: told(&of_cases, |_| true, search)?, of_programs: told(&of_programs, |_| true, search)? };
    answer(&Asked::new(&arguments.names, search), told, (search.shard, arguments.trace.as_deref()), output)
}

/// Checks entries, whose progress is kept if there is a folder for it.
fn check_in<I: Item>(state: Option<&State>, entries: &[I], search: &SearchArgs) -> Result<Vec<I::Checked>, Failure> {
    let entries = entries.iter().map(|entry| begun(*entry, state, search)).collect::<Result<Vec<_>, Failure>>()?;
    I::check_begun(&entries, search, &|_| ())
}

/// Runs the part of the executions of an entry that belongs to a shard. A part has no verdict: that is for the whole. In `folder` the
/// parts tell each other what they have found.
fn part(entry: &Entry, shard: Shard, folder: Option<&Path>, search: &SearchArgs) -> Result<Answer, Failure> {
    if search.time.is_some() {
        let reason = "--time does not go with a part of one search: all its executions must run; use --executions";
        return Err(Failure::Request(reason.to_owned()));
    }
    let asked = Asked::new(&[entry.name().to_owned()], search);
    let state = folder.map(|folder| State::open(folder, Some(shard))).transpose()?;
    let notices = |state: &State| state.notices(entry.name(), &asked, shard.of());
    // Where another part has found something before this one began, this one has no execution either.
    let executions = |progress: Option<Progress>, is_told: bool| {
        let progress = progress.unwrap_or_default();
        (progress.is_empty() && !is_told, Split::Executions(Box::new(progress)))
    };
    let (nothing_to_do, split) = match (entry, &state) {
        (Entry::Case(case), state) => {
            let notices = state.as_ref().map(notices).transpose()?;
            let notices = notices.map(|notices| Arc::new(notices) as Arc<dyn Notices>);
            let parts = check_part(case, shard, notices, search)?;
            (parts.is_empty(), Split::Searches(parts))
        }
        (Entry::Program(program), None) => {
            let memory = Arc::new(InMemory::default());
            check_kept(program, search, memory.clone())?;
            executions(memory.take(), false)
        }
        (Entry::Program(program), Some(state)) => {
            let keeps = keeps_progress(program, search)?;
            let disk = keeps.then(|| state.of(program.name, asked.clone())).transpose()?;
            let kept = OfPart::new(disk, notices(state)?);
            check_kept(program, search, kept.clone())?;
            executions(kept.take(), kept.is_told())
        }
    };
    Ok(Answer::expected(ShardResult::of(shard, asked, split, nothing_to_do).said().document()))
}

/// The cases and the programs among `entries` that are for this shard, in their order.
fn own_share(entries: &[Entry], search: &SearchArgs) -> (Vec<Case>, Vec<Program>) {
    let shard = search.shard.unwrap_or(Shard::WHOLE);
    let own = || (0..).zip(entries).filter(move |(number, _)| shard.has(*number)).map(|(_, entry)| entry);
    (own().filter_map(Entry::case).collect(), own().filter_map(Entry::program).collect())
}

/// What is told of the entries. Writes the replay files of those that are `shown`.
pub fn told<C: Checked>(checked: &[C], shown: fn(&C) -> bool, search: &SearchArgs) -> Result<Part<C>, Failure> {
    let kept = |one: &C| if shown(one) { one.kept(search) } else { None };
    let told = Part(checked.iter().map(|one| told::Told::new(one, kept(one))).collect());
    told.0.iter().try_for_each(told::Told::write_file)?;
    Ok(told)
}

/// The answer to what was asked for: of a shard, its document.
fn answer(
    asked: &Asked,
    told: Told,
    (shard, steps): (Option<Shard>, Option<&Path>),
    output: &OutputArgs,
) -> Result<Answer, Failure> {
    let finding = told.finding();
    match shard {
        Some(shard) => Ok(Answer::new(ShardResult::new(shard, asked.clone(), told).said().document(), finding)),
        None => whole(asked, told, steps, output),
    }
}

/// Writes the pages, and the steps of the last one as a trace, if they are wanted. Each is made once.
fn write_files(asked: &Asked, told: &Told, steps: Option<&Path>, html: Option<&Path>) -> Result<(), Failure> {
    if steps.is_none() && html.is_none() {
        return Ok(());
    }
    let pages = told.pages()?;
    if let Some(path) = steps {
        let (name, verdict) = (asked.names[0].clone(), "no violation".to_owned());
        let nothing = Exploration { version: VERSION, name, verdict, ..Exploration::default() };
        write_text(&trace::lines(pages.last().unwrap_or(&nothing), asked.seed), path)?;
    }
    html.map_or(Ok(()), |path| write_pages(&pages, path, "no violation is to be shown"))
}

/// The answer to what was asked for, about all entries.
pub fn whole(asked: &Asked, told: Told, steps: Option<&Path>, output: &OutputArgs) -> Result<Answer, Failure> {
    let finding = told.finding();
    let judged: Vec<Judged> = match services::are_asked(output.format) {
        true => told.of_cases.judged(CASES).chain(told.of_programs.judged(PROGRAMS)).collect(),
        false => Vec::new(),
    };
    services::annotate(&judged);
    write_files(asked, &told, steps, output.html.as_deref())?;
    let Told { of_cases, of_programs } = told;
    let (names, options) = (&asked.names, &asked.options);
    let text = match output.format {
        Format::Json => {
            let with = !names.is_empty();
            let (cases, programs) = (of_cases.results(with), of_programs.results(with));
            json(&Document { version: JSON_VERSION, seed: asked.seed, cases, programs })
        }
        Format::Junit | Format::Sarif => services::document(output.format, judged),
        Format::Text | Format::Html if names.is_empty() => {
            let style = output::style(output.color);
            let (of_cases, of_programs) = (of_cases.unexpected(style), of_programs.unexpected(style));
            format!("{of_cases}\n{of_programs}again: interloper {options}\n")
        }
        Format::Text | Format::Html => {
            let style = output::style(output.color);
            let (mut case_reports, mut program_reports) = (of_cases.reports(style), of_programs.reports(style));
            let report = |name: &String| {
                Ok(match catalogue::find(name)? {
                    Entry::Case(_) => case_reports.next(),
                    Entry::Program(_) => program_reports.next(),
                })
            };
            let reports = names.iter().map(report).collect::<Result<Vec<Option<String>>, Failure>>()?;
            let reports: String = reports.into_iter().flatten().map(|report| report + "\n").collect();
            let mut overviews = Vec::new();
            if !of_cases.0.is_empty() {
                overviews.push(of_cases.overview("", style));
            }
            if !of_programs.0.is_empty() {
                overviews.push(of_programs.overview("", style));
            }
            format!("{reports}{}again: interloper run {} {options}\n", overviews.join("\n"), names.join(" "))
        }
    };
    Ok(Answer::new(text, finding))
}

/// Refuses options that no checked entry uses: an option that would be ignored is a misunderstanding.
pub fn refuse_unused(command: &str, entries: &[Entry], search: &SearchArgs) -> Result<(), Failure> {
    let has_cases = entries.iter().any(|entry| entry.case().is_some());
    let has_programs = entries.iter().any(|entry| entry.program().is_some());
    let unused =
        |option: &&str| (!has_cases && OF_CASES.contains(option)) || (!has_programs && OF_PROGRAMS.contains(option));
    match search.given().find(unused) {
        Some(option) => {
            let others = if has_programs { "composed operations" } else { "programs with blocks" };
            Err(Failure::Request(format!("'{command}' uses {option} for {others} only")))
        }
        None => Ok(()),
    }
}

/// Refuses files that describe one entry when several are checked, that cannot be written, or that would overwrite each
/// other.
fn refuse_files(arguments: &RunArgs, search: &SearchArgs, output: &OutputArgs) -> Result<(), Failure> {
    if search.shard.is_some() && arguments.trace.is_some() {
        return Err(Failure::Request("--trace is for a whole search, not for a shard".to_owned()));
    }
    if arguments.trace.is_some() && arguments.names.len() != 1 {
        return Err(Failure::Request("--trace is for one case or program".to_owned()));
    }
    let files: Vec<&PathBuf> = arguments.trace.iter().chain(&output.html).collect();
    let replay = replay_file::path(&arguments.names[0], search.seed(), Path::new(FOLDER));
    for (index, path) in files.iter().enumerate() {
        make_folder(path)?;
        can_write(path)?;
        let other = files[..index].iter().any(|other| file::same(other, path));
        if other || file::same(path, &replay) {
            let what = if other { "the trace" } else { "the replay file" };
            return Err(Failure::Request(format!("cannot write {}: {what} is written there", path.display())));
        }
    }
    Ok(())
}
