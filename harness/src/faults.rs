//! Faults of plain memory in words: data races, and memory that is used after it was freed.

use std::collections::BTreeSet;

use interloper_report::{Event as Shown, Row};
use interloper_scheduler::runtime::TaskId;
use interloper_scheduler::words::Names;
use interloper_scheduler::{Doing, Fault, FaultKind, Handed, SourcePlace, Touch};

/// A row of a report, before rows are put together.
pub struct Drawn {
    /// The event of the trace that the row shows, or the next event for a row without one.
    pub index: usize,
    /// Whether it is an event.
    pub is_event: bool,
    /// Whether it is part of what is wrong.
    pub is_marked: bool,
    /// The row.
    pub row: Row,
}

/// The kind of a fault as one word, as files have it.
pub fn word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Race => "data-race",
        FaultKind::UseAfterFree => "use-after-free",
        FaultKind::DoubleFree => "double-free",
        FaultKind::OtherLayout => "wrong-layout",
        FaultKind::Leak(_) => "leak",
    }
}

/// The fault with what distinguishes it from others of its kind.
pub fn in_full(fault: &Fault) -> String {
    let places = [fault.first.as_ref(), Some(&fault.second)].into_iter().flatten();
    let places: Vec<String> = places.map(|touch| format!("{} {}", does(touch), at(touch))).collect();
    format!("{}: {}", fault.kind, places.join(", "))
}

/// Whether two faults are the same: of one kind, between the same places.
pub fn is_like(one: &Fault, other: &Fault) -> bool {
    let places = |fault: &Fault| {
        let mut places = [fault.first.as_ref().map(at), Some(at(&fault.second))];
        places.sort();
        places
    };
    word(one.kind) == word(other.kind) && places(one) == places(other)
}

/// The lines of a fault, each with the name of its file alone, as far as they are known.
pub fn lines(fault: &Fault) -> Vec<String> {
    let places = fault.first.iter().chain([&fault.second]).filter_map(|touch| touch.place.as_ref());
    places.map(|place| format!("{}:{}", place.file.rsplit('/').next().unwrap_or_default(), place.line)).collect()
}

fn at(touch: &Touch) -> String {
    touch.place.as_ref().map_or("at an unknown place".to_owned(), |place| format!("at {place}"))
}

/// Puts what a fault is about between the steps of the execution, each of which has its index. `column` gives the column of a
/// task.
pub fn add_rows(rows: &mut Vec<Drawn>, fault: &Fault, names: &Names, column: &dyn Fn(TaskId) -> usize) {
    let fault = &with_files_of(rows, fault);
    let touches: Vec<&Touch> = fault.first.iter().chain([&fault.second]).collect();
    for (position, touch) in touches.iter().enumerate() {
        let mut notes = vec![format!("▲ {} of {}: {}", position + 1, touches.len(), role(fault, position, names))];
        if position + 1 == touches.len() {
            notes.extend(block(fault, names));
            notes.extend(advice(fault).iter().map(|line| (*line).to_owned()));
        }
        let is_step = matches!(touch.doing, Some(Doing::AtomicRead | Doing::AtomicWrite));
        let step = rows
            .iter_mut()
            .rev()
            .find(|drawn| is_step && drawn.index < touch.event as usize && drawn.row.column == column(touch.task));
        if let Some(drawn) = step {
            drawn.is_marked = true;
            drawn.row.notes.extend(notes);
            continue;
        }
        let event = Shown::Operation(does(touch).to_owned());
        let location = touch.place.as_ref().map(ToString::to_string);
        let row = Row { location, notes, ..Row::event(column(touch.task), event) };
        let index = touch.event as usize;
        let place = rows.iter().position(|drawn| drawn.index >= index).unwrap_or(rows.len());
        rows.insert(place, Drawn { index, is_event: false, is_marked: true, row });
    }
}

/// The fault with its places as the steps have them: the debug information names the folder of a file, the places of steps do
/// not.
fn with_files_of(rows: &[Drawn], fault: &Fault) -> Fault {
    let files: BTreeSet<&str> =
        rows.iter().filter_map(|drawn| drawn.row.location.as_ref()?.rsplitn(3, ':').nth(2)).collect();
    let shorten = |place: &mut SourcePlace| {
        let is_same = |file: &&&str| place.file.strip_suffix(**file).is_some_and(|folder| folder.ends_with('/'));
        if let Some(file) = files.iter().filter(is_same).max_by_key(|file| file.len()) {
            place.file = (*file).to_owned();
        }
    };
    let mut fault = fault.clone();
    let made = fault.block.as_mut().and_then(|block| block.made.as_mut());
    let touches = fault.first.iter_mut().chain([&mut fault.second]).chain(made);
    touches.filter_map(|touch| touch.place.as_mut()).for_each(shorten);
    fault
}

/// What is done, as a step says it.
fn does(touch: &Touch) -> &'static str {
    match touch.doing {
        Some(Doing::Read) => "reads plain memory",
        Some(Doing::Write) => "writes plain memory",
        Some(Doing::AtomicRead) => "reads an atomic",
        Some(Doing::AtomicWrite) => "writes an atomic",
        Some(Doing::Free) => "frees memory",
        None => "allocates memory",
    }
}

/// What a touch is in the fault.
fn role(fault: &Fault, position: usize, names: &Names) -> String {
    let other = fault.first.as_ref().map(|first| names.task(first.task)).unwrap_or_default();
    match (fault.kind, position) {
        (FaultKind::Race, 0) => "one side of the race".to_owned(),
        (FaultKind::Race, _) => format!("nothing orders this after what {other} does"),
        (FaultKind::UseAfterFree, 0) => "the memory is free from here on".to_owned(),
        (FaultKind::UseAfterFree, _) => "uses the freed memory".to_owned(),
        (FaultKind::DoubleFree, 0) => "the memory is free from here on".to_owned(),
        (FaultKind::DoubleFree, _) => "frees the same memory again".to_owned(),
        (FaultKind::OtherLayout, _) => "with another size or alignment than it was allocated with".to_owned(),
        (FaultKind::Leak(1), _) => "no task frees it".to_owned(),
        (FaultKind::Leak(blocks), _) => format!("no task frees this block, nor {} other", blocks - 1),
    }
}

/// What would put things right, in lines.
fn advice(fault: &Fault) -> &'static [&'static str] {
    match fault.kind {
        FaultKind::Race => &[
            "what would order the two: a lock held for both, or a Release store",
            "after the first that an Acquire load reads before the second",
        ],
        _ => &[],
    }
}

/// Which memory it is.
fn block(fault: &Fault, names: &Names) -> Option<String> {
    let block = fault.block.as_ref()?;
    let byte = if block.offset == 0 { String::new() } else { format!("byte {} of ", block.offset) };
    let made = match (block.holds, &block.made) {
        // Its size is that under control, where the mirror keeps something beside the value.
        (Some(Handed::Static), _) => return Some("in a static".to_owned()),
        (Some(Handed::Local(size)), Some(made)) => {
            return Some(format!("{byte}a thread-local of {size} bytes, of {}", names.task(made.task)));
        }
        (_, Some(made)) if made.place.is_some() => format!(", allocated by {} {}", names.task(made.task), at(made)),
        (_, Some(made)) => format!(", allocated by {}", names.task(made.task)),
        (_, None) => ", allocated before the execution".to_owned(),
    };
    Some(format!("{byte}a block of {} bytes{made}", block.size))
}
