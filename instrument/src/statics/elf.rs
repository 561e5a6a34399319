//! The statics of a program as its file describes them: the symbols of writable memory, and their initial bytes.
//!
//! The reader knows only the part of the format that it needs: 64 bits, in the byte order of the machine. It checks
//! every number of the file before it uses it; an inconsistent file gives [`Broken`], never a panic.

/// Where the bytes of a file come from.
pub(super) trait Source {
    /// Fills `into` with the bytes at `offset`; false when the file has no such bytes.
    fn read(&self, offset: u64, into: &mut [u8]) -> bool;
}

/// The reader does not understand the file, for this reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken(pub(super) &'static str);

/// A symbol in writable memory. Addresses are those of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) start: u64,
    pub(super) size: u64,
    /// Where its first byte is in the file; `None` where all bytes are 0.
    offset: Option<u64>,
}

/// The part of a file that was read.
#[derive(Debug)]
pub(super) struct File {
    /// In the order of addresses. They do not overlap.
    pub(super) symbols: Vec<Symbol>,
    /// The program headers as they are written, which the loader maps with the program.
    pub(super) headers: Vec<u8>,
    relocations: Vec<Relocation>,
}

/// A word that the loader writes when it starts the program.
#[derive(Clone, Copy, Debug)]
struct Relocation {
    at: u64,
    /// What is added to the address where the program was loaded; `None` where the word depends on more than that.
    value: Option<u64>,
}

/// A part of a file, by its header.
#[derive(Clone, Copy, Debug)]
struct Section {
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u32,
}

const SYMBOLS: u32 = 2;
const RELOCATIONS: u32 = 4;
const NO_BITS: u32 = 8;
const SHORT_RELOCATIONS: u32 = 9;
const PACKED_RELOCATIONS: u32 = 19;
const WRITE: u64 = 1;
const ALLOCATED: u64 = 2;
const THREAD_LOCAL: u64 = 0x400;
const OBJECT: u8 = 1;
/// Memory that is read-only once the program has started.
const READ_ONLY_AFTER_START: u32 = 0x6474_e552;

/// The relocation that adds the start of the program to a word.
const RELATIVE: u32 = match () {
    () if cfg!(target_arch = "x86_64") => 8,
    () if cfg!(target_arch = "aarch64") => 1027,
    () if cfg!(target_arch = "riscv64") => 3,
    () => u32::MAX,
};

/// Longer than any section that is read as a whole: 1 GiB.
const LONGEST: u64 = 1 << 30;

impl File {
    /// Reads a file, and those of its symbols whose names `wanted` accepts.
    pub(super) fn read(source: &dyn Source, wanted: impl Fn(&str) -> bool) -> Result<File, Broken> {
        let header = part(source, 0, 64)?;
        if header[..4] != *b"\x7fELF"
            || header[4] != 2
            || header[5] != if cfg!(target_endian = "little") { 1 } else { 2 }
        {
            return Err(Broken("it is not a program of this machine"));
        }
        if u16_at(&header, 0x36)? != 56 || u16_at(&header, 0x3a)? != 64 {
            return Err(Broken("its headers have another length"));
        }
        let headers = part(source, u64_at(&header, 0x20)?, u64::from(u16_at(&header, 0x38)?) * 56)?;
        let table = part(source, u64_at(&header, 0x28)?, u64::from(u16_at(&header, 0x3c)?) * 64)?;
        let sections = table.chunks_exact(64).map(Section::read).collect::<Result<Vec<Section>, Broken>>()?;
        let symbols = symbols(source, &sections, &read_only(&headers)?, wanted)?;
        Ok(File { symbols, headers, relocations: relocations(source, &sections)? })
    }

    /// The initial bytes of a symbol in a program that was loaded at `base`; `None` where they depend on other
    /// libraries.
    pub(super) fn initial(&self, source: &dyn Source, symbol: &Symbol, base: u64) -> Option<Box<[u8]>> {
        let length = usize::try_from(symbol.size).ok()?;
        let mut bytes = match symbol.offset {
            Some(offset) => part(source, offset, symbol.size).ok()?,
            None => vec![0; length],
        };
        let end = symbol.start + symbol.size;
        let first = self.relocations.partition_point(|relocation| relocation.at.saturating_add(8) <= symbol.start);
        for relocation in self.relocations[first..].iter().take_while(|relocation| relocation.at < end) {
            let at = usize::try_from(relocation.at.checked_sub(symbol.start)?).ok()?;
            let word = base.wrapping_add(relocation.value?).to_ne_bytes();
            bytes.get_mut(at..at.checked_add(8)?)?.copy_from_slice(&word);
        }
        Some(bytes.into())
    }
}

impl Section {
    fn read(header: &[u8]) -> Result<Section, Broken> {
        Ok(Section {
            kind: u32_at(header, 4)?,
            flags: u64_at(header, 8)?,
            address: u64_at(header, 16)?,
            offset: u64_at(header, 24)?,
            size: u64_at(header, 32)?,
            link: u32_at(header, 40)?,
        })
    }

    fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }
}

/// The stretches of memory that are read-only once the program has started.
fn read_only(headers: &[u8]) -> Result<Vec<(u64, u64)>, Broken> {
    let mut found = Vec::new();
    for header in headers.chunks_exact(56) {
        if u32_at(header, 0)? == READ_ONLY_AFTER_START {
            let start = u64_at(header, 16)?;
            found.push((start, start.saturating_add(u64_at(header, 40)?)));
        }
    }
    Ok(found)
}

fn symbols(
    source: &dyn Source,
    sections: &[Section],
    read_only: &[(u64, u64)],
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Symbol>, Broken> {
    let Some(table) = sections.iter().find(|section| section.kind == SYMBOLS) else {
        return Err(Broken("it has no symbols"));
    };
    let names = sections.get(table.link as usize).ok_or(Broken("its symbols have no names"))?;
    let (table, names) = (part(source, table.offset, table.size)?, part(source, names.offset, names.size)?);
    let mut found = Vec::new();
    for entry in table.chunks_exact(24) {
        let (start, size) = (u64_at(entry, 8)?, u64_at(entry, 16)?);
        if entry[4] & 15 != OBJECT || size == 0 {
            continue;
        }
        let Some(section) = sections.get(usize::from(u16_at(entry, 6)?)) else { continue };
        let end = start.checked_add(size).ok_or(Broken("a symbol is longer than memory"))?;
        let writable = section.flags & (WRITE | ALLOCATED | THREAD_LOCAL) == WRITE | ALLOCATED
            && section.address <= start
            && end <= section.end()
            && !read_only.iter().any(|(from, to)| start < *to && *from < end);
        if !writable {
            continue;
        }
        let name = names.get(u32_at(entry, 0)? as usize..).ok_or(Broken("a symbol has no name"))?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let Some(name) = std::str::from_utf8(name).ok().filter(|name| wanted(name)) else { continue };
        let offset = match section.kind {
            NO_BITS => None,
            _ => Some(section.offset.checked_add(start - section.address).ok_or(Broken("a section is out of reach"))?),
        };
        found.push(Symbol { name: name.to_owned(), start, size, offset });
    }
    // Of two names for the same place, the one of the longer symbol is kept, then the first in alphabetical order.
    found.sort_by(|a, b| (a.start, b.size, &a.name).cmp(&(b.start, a.size, &b.name)));
    let mut end = 0;
    found.retain(|symbol| {
        let apart = symbol.start >= end;
        end = if apart { symbol.start + symbol.size } else { end };
        apart
    });
    Ok(found)
}

fn relocations(source: &dyn Source, sections: &[Section]) -> Result<Vec<Relocation>, Broken> {
    let mut found = Vec::new();
    for section in sections.iter().filter(|section| section.flags & ALLOCATED != 0 && section.size > 0) {
        match section.kind {
            SHORT_RELOCATIONS | PACKED_RELOCATIONS => return Err(Broken("its relocations are of another kind")),
            RELOCATIONS => {}
            _ => continue,
        }
        for entry in part(source, section.offset, section.size)?.chunks_exact(24) {
            let relative = u64_at(entry, 8)? as u32 == RELATIVE;
            let value = u64_at(entry, 16)?;
            found.push(Relocation { at: u64_at(entry, 0)?, value: relative.then_some(value) });
        }
    }
    found.sort_by_key(|relocation| relocation.at);
    Ok(found)
}

fn part(source: &dyn Source, offset: u64, size: u64) -> Result<Vec<u8>, Broken> {
    const SHORTER: Broken = Broken("it is shorter than it says");
    let length = usize::try_from(size).ok().filter(|_| size <= LONGEST).ok_or(Broken("a part of it is too long"))?;
    if let Some(last) = size.checked_sub(1) {
        let last = offset.checked_add(last).ok_or(SHORTER)?;
        if !source.read(last, &mut [0]) {
            return Err(SHORTER);
        }
    }
    let mut bytes = vec![0; length];
    if source.read(offset, &mut bytes) { Ok(bytes) } else { Err(SHORTER) }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Broken> {
    let found = bytes.get(at..at + N).and_then(|found| found.try_into().ok());
    found.ok_or(Broken("a header is cut off"))
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Broken> {
    array_at(bytes, at).map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Broken> {
    array_at(bytes, at).map(u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64, Broken> {
    array_at(bytes, at).map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Source for Vec<u8> {
        fn read(&self, offset: u64, into: &mut [u8]) -> bool {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = start.checked_add(into.len());
            let found = end.and_then(|end| self.get(start..end));
            found.inspect(|found| into.copy_from_slice(found)).is_some()
        }
    }

    const NAMES: &[u8] = b"\0data\0bss\0constant\0tls\0alias\0foreign\0";

    /// A program: statics `data` (16 bytes at 0x1000, of which the loader writes the last 8), `alias` (its first 8) and
    /// `foreign` (8 bytes that another library determines) in .data, `bss` (4 bytes), `constant` in memory that is only
    /// read after the start, and `tls`.
    fn program() -> Vec<u8> {
        let mut file = vec![0_u8; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let mut put = |bytes: &[u8]| {
            let offset = file.len() as u64;
            file.extend_from_slice(bytes);
            offset
        };
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let data = put(&words(&[7, 0, 0]));
        let relocations = put(&words(&[0x1008, u64::from(RELATIVE), 0x42, 0x1010, 1, 0]));
        let symbol = |name: &[u8], kind: u8, section: u16, start: u64, size: u64| {
            let at = NAMES.windows(name.len() + 2).position(|w| w[0] == 0 && w[1..=name.len()] == *name).unwrap() + 1;
            let mut entry = (at as u32).to_le_bytes().to_vec();
            entry.extend([kind, 0]);
            entry.extend(section.to_le_bytes());
            entry.extend(words(&[start, size]));
            entry
        };
        let all = [
            symbol(b"alias", 1, 1, 0x1000, 8),
            symbol(b"data", 1, 1, 0x1000, 16),
            symbol(b"foreign", 1, 1, 0x1010, 8),
            symbol(b"bss", 1, 2, 0x2000, 4),
            symbol(b"constant", 1, 3, 0x3000, 8),
            symbol(b"tls", 6, 4, 0, 8),
        ];
        let symbols = put(&all.concat());
        let names = put(NAMES);
        let header = |kind: u32, flags: u64, address: u64, offset: u64, size: u64, link: u32| {
            let mut header = [0_u32.to_le_bytes(), kind.to_le_bytes()].concat();
            header.extend(words(&[flags, address, offset, size]));
            header.extend(link.to_le_bytes());
            header.resize(64, 0);
            header
        };
        let sections = [
            header(0, 0, 0, 0, 0, 0),
            header(1, WRITE | ALLOCATED, 0x1000, data, 24, 0),
            header(NO_BITS, WRITE | ALLOCATED, 0x2000, data + 24, 8, 0),
            header(1, WRITE | ALLOCATED, 0x3000, data, 8, 0),
            header(1, WRITE | ALLOCATED | THREAD_LOCAL, 0, data, 8, 0),
            header(RELOCATIONS, ALLOCATED, 0, relocations, 48, 0),
            header(SYMBOLS, 0, 0, symbols, 6 * 24, 7),
            header(3, 0, 0, names, NAMES.len() as u64, 0),
        ];
        let sections = (put(&sections.concat()), sections.len() as u16);
        let mut read_only = [READ_ONLY_AFTER_START.to_le_bytes(), [0; 4]].concat();
        read_only.extend(words(&[0, 0x3000, 0, 0, 0x1000, 1]));
        let headers = put(&read_only);
        file[0x20..0x28].copy_from_slice(&headers.to_le_bytes());
        file[0x28..0x30].copy_from_slice(&sections.0.to_le_bytes());
        for (at, number) in [(0x36, 56), (0x38, 1), (0x3a, 64), (0x3c, sections.1)] {
            file[at..at + 2].copy_from_slice(&number.to_le_bytes());
        }
        file
    }

    #[test]
    fn writable_symbols_have_their_initial_bytes() {
        let source = program();
        let file = File::read(&source, |_| true).unwrap();
        let names: Vec<&str> = file.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        assert_eq!(names, ["data", "foreign", "bss"]);
        let initial = |at: usize| file.initial(&source, &file.symbols[at], 0x100);
        assert_eq!(initial(0).as_deref(), Some(&[7_u64.to_le_bytes(), 0x142_u64.to_le_bytes()].concat()[..]));
        assert_eq!(initial(1), None, "another library determines it");
        assert_eq!(initial(2).as_deref(), Some(&[0; 4][..]));
        assert_eq!(File::read(&source, |name| name == "bss").unwrap().symbols.len(), 1);
    }

    #[test]
    fn what_is_no_program_has_a_reason() {
        for (file, reason) in [
            (Vec::new(), "it is shorter than it says"),
            (vec![0; 100], "it is not a program of this machine"),
            (program()[..200].to_vec(), "it is shorter than it says"),
        ] {
            assert_eq!(File::read(&file, |_| true).unwrap_err(), Broken(reason));
        }
    }

    /// Each byte, and pairs of bytes at random, set to values that are likely to hurt.
    #[test]
    fn hostile_bytes_are_no_panic() {
        let program = program();
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let all = |source: &Vec<u8>| {
            if let Ok(file) = File::read(source, |_| true) {
                file.symbols.iter().for_each(|symbol| drop(file.initial(source, symbol, u64::MAX)));
            }
        };
        for at in 0..program.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut mutated = program.clone();
                mutated[at] = value;
                all(&mutated);
            }
            all(&program[..at].to_vec());
        }
        for _ in 0..20_000 {
            let mut mutated = program.clone();
            for _ in 0..=random(8) {
                let at = random(mutated.len());
                mutated[at] = [0, 1, 0x7f, 0xff, random(256) as u8][random(5)];
            }
            all(&mutated);
        }
    }
}
