//! Texts with a checksum: a file that was torn or edited is refused, not continued.
//!
//! The checksum is FNV-1a over all other bytes, as 16 hexadecimal digits. Each step of FNV-1a is a bijection of the hash, so a text
//! of which one byte differs always has another checksum. It guards against accidents, not against who writes a checksum too.

mod kind;

use std::io::{self, Read};

pub use kind::{Kind, MAX_BYTES, TORN, in_a_line};

use crate::replay_file::{START, fnv};

/// What begins a JSON object with its checksum, on one line and on several.
const BEGINNINGS: [&str; 2] = ["{\"checksum\":\"", "{\n  \"checksum\": \""];

/// What ends the checksum.
const END: &str = "\",";

/// So many digits has a checksum.
const DIGITS: usize = 16;

/// A JSON object with the checksum of its text as the first field.
///
/// # Panics
/// If the text is not that of an object with a field.
#[must_use]
pub fn seal(object: &str) -> String {
    let rest = object.strip_prefix('{').expect("an object begins with a brace");
    let beginning = BEGINNINGS[usize::from(rest.starts_with('\n'))];
    format!("{beginning}{}{END}{rest}", checksum(START, object))
}

/// The text that was sealed. `None` if it has no checksum, or another one than its text.
#[must_use]
pub fn open(text: &str) -> Option<String> {
    let digits = BEGINNINGS.iter().find_map(|beginning| text.strip_prefix(beginning))?;
    let (digits, rest) = digits.split_at_checked(DIGITS)?;
    let object = format!("{{{}", rest.strip_prefix(END)?);
    // Which of the beginnings it is follows from the object.
    (checksum(START, &object) == digits && seal(&object) == text).then_some(object)
}

/// Lines of JSON objects, each with a checksum of itself and of all lines before it. So no line but the last can go missing.
#[derive(Debug)]
pub struct Chain(u64);

impl Default for Chain {
    fn default() -> Chain {
        Chain(START)
    }
}

impl Chain {
    /// The next line, sealed, without a line end.
    pub fn seal(&mut self, object: &str) -> String {
        let rest = object.strip_prefix('{').expect("an object begins with a brace");
        self.0 = fnv(self.0, object.as_bytes());
        format!("{}{:016x}{END}{rest}", BEGINNINGS[0], self.0)
    }

    /// The object of the next line. `None` if the checksum does not fit; then no further line is read.
    pub fn open(&mut self, line: &str) -> Option<String> {
        let (digits, rest) = line.strip_prefix(BEGINNINGS[0])?.split_at_checked(DIGITS)?;
        let object = format!("{{{}", rest.strip_prefix(END)?);
        let hash = fnv(self.0, object.as_bytes());
        (format!("{hash:016x}") == digits).then(|| {
            self.0 = hash;
            object
        })
    }
}

/// The checksum of a text alone.
#[must_use]
pub fn of(text: &str) -> String {
    checksum(START, text)
}

/// The same as a number.
#[must_use]
pub fn hash(text: &str) -> u64 {
    fnv(START, text.as_bytes())
}

/// A hash of what is read, up to its end: 16 hexadecimal digits. Words of eight bytes are taken at once, since a program with debug
/// information has some hundred megabytes, and it is hashed before it does anything else.
///
/// # Errors
/// When it cannot be read.
pub fn of_bytes(from: impl io::Read) -> io::Result<String> {
    const BUFFER: usize = 1 << 16;
    let (mut from, mut hash, mut length, mut buffer) = (from, START, 0_u64, Vec::with_capacity(BUFFER));
    loop {
        buffer.clear();
        let read = from.by_ref().take(BUFFER as u64).read_to_end(&mut buffer)?;
        if read == 0 {
            return Ok(format!("{:016x}", stir(hash, length)));
        }
        length += read as u64;
        let (words, rest) = buffer.as_chunks::<8>();
        hash = words.iter().fold(hash, |hash, word| stir(hash, u64::from_le_bytes(*word)));
        hash = fnv(hash, rest);
    }
}

/// Each bit of the word changes the hash, and so does each bit of the hash before.
fn stir(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

fn checksum(hash: u64, text: &str) -> String {
    format!("{:016x}", fnv(hash, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECTS: [&str; 3] = ["{\"a\":1}", "{\n  \"a\": [\n    1\n  ]\n}\n", "{\"text\":\"\u{e9}\u{4e16}\"}"];

    /// All texts that differ from this one in one byte, and those that are cut.
    fn damaged(text: &str) -> impl Iterator<Item = String> {
        let flipped = (0..text.len()).flat_map(move |at| {
            (0..8).filter_map(move |bit| {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] ^= 1 << bit;
                String::from_utf8(bytes).ok()
            })
        });
        let cut = (0..text.len()).filter_map(|at| text.get(..at).map(str::to_owned));
        flipped.chain(cut)
    }

    #[test]
    fn a_sealed_text_is_read_and_a_damaged_one_is_not() {
        for object in OBJECTS {
            let sealed = seal(object);
            assert_eq!(open(&sealed).as_deref(), Some(object));
            let value: serde_json::Value = serde_json::from_str(&sealed).expect("it is JSON");
            assert_eq!(value["checksum"], of(object).as_str());
            assert!(damaged(&sealed).all(|text| open(&text).is_none()), "{sealed}");
            assert_eq!(open(object), None);
        }
    }

    #[test]
    fn the_lines_of_a_chain_are_read_in_their_order() {
        let mut chain = Chain::default();
        let lines: Vec<String> = ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"].map(|line| chain.seal(line)).into();
        let read = |lines: &[&str]| {
            let mut chain = Chain::default();
            lines.iter().map(|line| chain.open(line)).collect::<Option<Vec<String>>>()
        };
        let all: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(read(&all).expect("as they were written"), ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
        assert!(read(&all[..2]).is_some(), "the last lines may be missing");
        for other in [&[all[0], all[2]][..], &[all[1], all[2]], &[all[1], all[0], all[2]], &[all[0], all[0]]] {
            assert_eq!(read(other), None, "{other:?}");
        }
        assert!(damaged(all[1]).all(|line| read(&[all[0], &line, all[2]]).is_none()));
    }

    /// Gives a byte at a time.
    struct Slow<'t>(&'t [u8]);

    impl io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (Some((first, rest)), Some(place)) = (self.0.split_first(), buffer.first_mut()) else { return Ok(0) };
            (*place, self.0) = (*first, rest);
            Ok(1)
        }
    }

    /// It does not matter in which pieces a text is read. Every byte matters, and how many there are.
    #[test]
    fn what_is_read_has_a_hash_of_its_own() {
        let hash = |bytes: &[u8]| of_bytes(bytes).expect("no file is read");
        let text = "ab".repeat(100_000);
        assert_eq!(of_bytes(Slow(text.as_bytes())).expect("no file is read"), hash(text.as_bytes()));
        assert_ne!(hash(&text.as_bytes()[1..]), hash(text.as_bytes()));
        let short = "the program that runs";
        let others = damaged(short).map(|other| hash(other.as_bytes()));
        assert!(others.collect::<Vec<_>>().iter().all(|other| *other != hash(short.as_bytes())));
        assert_ne!(hash(&[0; 8]), hash(&[0; 16]));
        assert_ne!(hash(&[]), hash(&[0]));
    }
}
