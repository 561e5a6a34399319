//! Whose code it is that accesses memory.

use std::cell::Cell;
use std::ops::Range;

use super::Code;

/// What a watcher has found out about code, by its address: see [`Code::address`].
///
/// A watcher gives code a kind, a number below 4, of which three are named here and one is its own affair. The table is direct-mapped:
/// code that another code has displaced is unknown again.
#[derive(Debug)]
pub struct KnownCode(Box<[Cell<usize>; KnownCode::LENGTH]>);

/// Whose an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The checker's.
    Checker,
    /// The program's; the address of its code, or 0 if that is not known.
    Program(usize),
}

impl KnownCode {
    /// An execution of tokio or rayon meets ten thousand addresses, in a megabyte of code. What lies farther apart than eight bytes
    /// for each entry can displace each other.
    const LENGTH: usize = 1 << 17;
    /// Addresses that differ by this displace each other.
    #[cfg(test)]
    pub(super) const PERIOD: usize = 8 * KnownCode::LENGTH;
    /// No code has this address.
    const NONE: usize = usize::MAX;
    /// More functions of std than this do not call each other before the program's code comes.
    const MOST_FRAMES: usize = 32;

    /// The kind of the checker's code, which the compiler has put into the program. Many accesses of a program under control are made by
    /// it. The watcher does not want to hear of it.
    pub const UNWANTED: usize = 0;
    /// The kind of the program's own code.
    pub const PROGRAM: usize = 1;
    /// The kind of code of std, whose accesses belong to whoever has called it.
    pub const LIBRARY: usize = 3;

    /// Code that runs one after the other is in one line of the cache here, and two calls are seldom in the same eight bytes. With the
    /// address itself as the index, most of an access was the wait for such a line.
    #[inline(always)]
    fn entry(&self, address: usize) -> &Cell<usize> {
        &self.0[address / 8 % KnownCode::LENGTH]
    }

    /// The kind of the code with this address, if it is known.
    #[inline(always)]
    pub fn kind(&self, address: usize) -> Option<usize> {
        let packed = self.entry(address).get();
        (packed >> 2 == address).then_some(packed & 3)
    }

    /// Whether the code with this address is known to be of this kind.
    #[inline(always)]
    pub fn is(&self, address: usize, kind: usize) -> bool {
        self.entry(address).get() == address << 2 | kind
    }

    /// The code with this address is of this kind.
    #[inline]
    pub fn set(&self, address: usize, kind: usize) {
        debug_assert!(kind < 4, "a kind is below 4, unlike {kind}");
        self.entry(address).set(address << 2 | kind);
    }

    /// Whose code this is that runs on `stack`: that of its first caller which is not of std.
    ///
    /// # Errors
    /// The first code whose kind has to be found out for that.
    #[inline]
    pub fn whose(&self, code: Code, stack: &Range<usize>) -> Result<Whose, Code> {
        let mut at = code;
        for _ in 0..KnownCode::MOST_FRAMES {
            match self.kind(at.address) {
                Some(KnownCode::UNWANTED) => return Ok(Whose::Checker),
                Some(KnownCode::PROGRAM) => return Ok(Whose::Program(at.address)),
                Some(KnownCode::LIBRARY) => {}
                Some(_) => return Ok(Whose::Program(0)),
                None => return Err(at),
            }
            match at.caller(stack) {
                Some(caller) => at = caller,
                None => break,
            }
        }
        Ok(Whose::Program(0))
    }
}

impl Default for KnownCode {
    /// Nothing is known: a watcher hears of everything.
    fn default() -> KnownCode {
        let entries = vec![Cell::new(KnownCode::NONE); KnownCode::LENGTH];
        KnownCode(entries.try_into().expect("as many as the table has"))
    }
}

impl Code {
    /// What called this code, if the frame is one of the stack between these addresses, above where this runs itself: code that
    /// was compiled without frame pointers leaves something else there.
    #[inline(always)]
    fn caller(self, stack: &Range<usize>) -> Option<Code> {
        const WORD: usize = size_of::<usize>();
        let here = 0_u8;
        let is_in_use = self.frame > std::ptr::from_ref(&here).addr() && self.frame >= stack.start;
        let is_frame = self.frame.is_multiple_of(WORD) && is_in_use && self.frame + 2 * WORD <= stack.end;
        if !is_frame || size_of::<usize>() != 8 {
            return None;
        }
        let words: *const [usize; 2] = std::ptr::with_exposed_provenance(self.frame);
        // SAFETY: the caller says that a stack is there, of the running task. It is mapped as far as it is in use, which it is
        // above a frame.
        let [frame, address] = unsafe { words.read_volatile() };
        // A stack grows down, so callers are above.
        (frame > self.frame || frame == 0).then_some(Code { address, frame })
    }
}
