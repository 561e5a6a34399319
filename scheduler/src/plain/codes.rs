//! Which code makes an access: the program's, or that of whoever checks it.
//!
//! The mirror of std and the drivers are generic, so the compiler puts much of them into the crates that use them, where
//! their loads and stores are announced like the program's. They must not count: what a mutex of the mirror keeps is not
//! protected by any lock. Functions of std that stand between the two (`Vec::push`, drop glue) belong to whoever calls them.

use std::collections::HashMap;
use std::ops::Range;

use interloper_std::plain::{Code, KnownCode, Whose};
use rustc_hash::FxBuildHasher;

use crate::execution::SourcePlace;

/// Whose code is at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// That of std, or code that nothing is known of: it belongs to its caller.
    Library,
    /// That of Interloper.
    Checker,
    /// A file `destructors.rs`, of the engine or of the mirror. What std does there (it drops the `Arc` in a thread-local, say) is
    /// the program's, though no code of the program has called it.
    Destructors,
    /// The program's, with its place in the sources.
    Program(SourcePlace),
}

/// Says whose code is at an address. It must give the same answer each time.
pub type Locate = fn(usize) -> Located;

/// Where an access is made, beside the address of its code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// The stack of the running task.
    pub(crate) stack: &'a Range<usize>,
    pub(crate) locate: Option<Locate>,
    /// The kinds of code that were met lately.
    pub(crate) known: &'a KnownCode,
}

/// What is known of the code of the process.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    all: HashMap<usize, Located, FxBuildHasher>,
}

/// A kind of code in [`KnownCode`], beside those that it names.
const DESTRUCTORS: usize = 2;

impl Codes {
    /// Whose code this is.
    #[inline(always)]
    pub(crate) fn whose(&mut self, code: Code, site: Site<'_>) -> Whose {
        // What most code is comes first: the program's own, and met before.
        match site.known.is(code.address, KnownCode::PROGRAM) {
            true => Whose::Program(code.address),
            false => self.whose_in_general(code, site),
        }
    }

    #[inline(never)]
    fn whose_in_general(&mut self, code: Code, Site { stack, locate, known }: Site<'_>) -> Whose {
        let Some(locate) = locate else { return Whose::Program(0) };
        let mut at = code;
        loop {
            match known.whose(at, stack) {
                Ok(whose) => return whose,
                // From there on, since what is found out now can displace what was known before.
                Err(unknown) => at = unknown,
            }
            self.find(at.address, locate, known);
        }
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, address: usize, locate: Locate, known: &KnownCode) {
        let kind = match self.at(address, locate) {
            Located::Checker => KnownCode::UNWANTED,
            Located::Destructors => DESTRUCTORS,
            Located::Program(_) => KnownCode::PROGRAM,
            Located::Library => KnownCode::LIBRARY,
        };
        known.set(address, kind);
    }

    fn at(&mut self, address: usize, locate: Locate) -> &Located {
        // The address is that of a return: the call before it is what is looked for.
        let find = || if address == 0 { Located::Library } else { locate(address - 1) };
        self.all.entry(address).or_insert_with(find)
    }

    /// The place of the program's code.
    pub(crate) fn place(&self, address: usize) -> Option<SourcePlace> {
        match self.all.get(&address) {
            Some(Located::Program(place)) if address != 0 => Some(place.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32) -> SourcePlace {
        SourcePlace { file: "a.rs".to_owned(), line, column: 1 }
    }

    /// Code below 100 is of std, below 200 of the checker, all other of the program.
    fn locate(address: usize) -> Located {
        match address {
            0..100 => Located::Library,
            100..200 => Located::Checker,
            _ => Located::Program(place(address as u32)),
        }
    }

    /// A stack of frames, each of which has called the one before it: the code of the first, and where the stack is.
    fn stack(words: &mut [[usize; 2]], codes: &[usize]) -> (Code, Range<usize>) {
        let at = |index: usize, words: &[[usize; 2]]| words.as_ptr().expose_provenance() + 16 * index;
        for (index, code) in codes[1..].iter().enumerate() {
            let above = if index + 2 == codes.len() { 0 } else { at(index + 1, words) };
            words[index] = [above, *code];
        }
        (Code { address: codes[0], frame: at(0, words) }, at(0, words)..at(words.len(), words))
    }

    #[track_caller]
    fn check(codes: &[usize], expected: Whose) {
        let mut words = [[0; 2]; 4];
        let (code, range) = stack(&mut words, codes);
        let (mut all, known) = (Codes::default(), KnownCode::default());
        for _ in 0..2 {
            let site = Site { stack: &range, locate: Some(locate), known: &known };
            assert_eq!(all.whose(code, site), expected, "{codes:?}");
        }
        if let Whose::Program(address @ 1..) = expected {
            assert_eq!(all.place(address), Some(place(address as u32 - 1)));
        }
    }

    #[test]
    fn functions_of_std_belong_to_their_callers() {
        check(&[300, 150], Whose::Program(300));
        check(&[150, 300], Whose::Checker);
        check(&[50, 60, 300], Whose::Program(300));
        check(&[50, 60, 150, 300], Whose::Checker);
        check(&[0, 60, 300], Whose::Program(300));
        check(&[50, 60], Whose::Program(0));
    }

    #[test]
    fn a_frame_outside_of_the_stack_is_not_read() {
        let code = Code { address: 50, frame: 8 };
        let site = Site { stack: &(4096..8192), locate: Some(locate), known: &KnownCode::default() };
        assert_eq!(Codes::default().whose(code, site), Whose::Program(0));
    }
}
