//! The places of accesses to plain memory, as places of steps.
//!
//! The place of a step is what the compiler makes of `#[track_caller]`, a [`Location`]. The place of an access to plain memory
//! comes from debug information, and std has no way to make a location of it. So a location is put together in memory. How std
//! lays one out is looked up in a real one, and what was made is compared with what it should say. Where that fails, with a
//! future version of std, places of such steps say that they are not known, and nothing else changes.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use interloper_std::runtime::Place;

use crate::execution::SourcePlace;

/// The place of an access at this place in the sources, or of one whose place is not known. The same place each time.
pub(crate) fn place(of: Option<&SourcePlace>) -> Place {
    static MADE: Mutex<BTreeMap<SourcePlace, Place>> = Mutex::new(BTreeMap::new());
    let unknown = SourcePlace { file: "code without lines".to_owned(), line: 0, column: 0 };
    let of = of.unwrap_or(&unknown);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    match made.get(of) {
        Some(place) => place,
        None => {
            let place = make(of).unwrap_or_else(Location::caller);
            made.insert(of.clone(), place);
            place
        }
    }
}

/// A location, as std has it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Laid {
    file: *const u8,
    /// Of the name of the file, with a zero after it if std has one there.
    length: usize,
    line: u32,
    column: u32,
}

/// How many bytes std has after the name of a file. `None` if std lays out locations in another way.
fn zeros() -> Option<usize> {
    // The two differ in everything but the file, and their numbers are not those of each other.
    let samples = [Location::caller(), { Location::caller() }];
    let after = samples.map(|sample| {
        let laid = read(sample)?;
        let same = laid.file == sample.file().as_ptr() && laid.line == sample.line() && laid.column == sample.column();
        laid.length.checked_sub(sample.file().len()).filter(|after| same && *after <= 1)
    });
    let [one, other] = after;
    let differ = samples[0].column() != samples[1].column() && samples[0].line() != samples[0].column();
    one.filter(|_| differ && one == other)
}

const SAME_SIZE: bool =
    size_of::<Laid>() == size_of::<Location<'static>>() && align_of::<Laid>() == align_of::<Location<'static>>();

fn read(location: Place) -> Option<Laid> {
    // `Laid` has no bytes that do not matter, so a location of this size that holds a name and two numbers has none either.
    // SAFETY: as many bytes are there, with this alignment, all of them written; each value of them is valid for the fields.
    SAME_SIZE.then(|| unsafe { std::ptr::from_ref(location).cast::<Laid>().read() })
}

fn make(of: &SourcePlace) -> Option<Place> {
    let zeros = zeros()?;
    let name: &'static str = Box::leak(format!("{}{}", of.file, &"\0"[..zeros]).into_boxed_str());
    let laid = Laid { file: name.as_ptr(), length: name.len(), line: of.line, column: of.column };
    let location: &'static mut MaybeUninit<Location<'static>> = Box::leak(Box::new(MaybeUninit::uninit()));
    // SAFETY: the sizes are the same, or there would be no `zeros`. Real locations have their name, line and column where
    // `Laid` has them, and nothing else; the name lives as long as the program.
    let location: Place = unsafe {
        location.as_mut_ptr().cast::<Laid>().write(laid);
        location.assume_init_ref()
    };
    (SourcePlace::from(location) == *of).then_some(location)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_what_it_was_made_of() {
        let of = |file: &str, line, column| SourcePlace { file: file.to_owned(), line, column };
        let one = place(Some(&of("src/é.rs", 12, 9)));
        assert_eq!(one.to_string(), "src/é.rs:12:9", "std lays out locations in another way now");
        assert_eq!((one.file(), one.line(), one.column()), ("src/é.rs", 12, 9));
        assert!(std::ptr::eq(one, place(Some(&of("src/é.rs", 12, 9)))), "places are compared by their addresses");
        assert!(!std::ptr::eq(one, place(Some(&of("src/é.rs", 12, 8)))));
        assert_ne!(one, place(Some(&of("src/e.rs", 12, 9))));
        assert_eq!(place(Some(&of("", 0, 0))).file(), "");
        assert_eq!(place(None).to_string(), "code without lines:0:0");
    }
}
