//! What a task does on its own stack.
//!
//! Half of all loads and stores are those of a task to its own stack, and few programs let another task look there. So the hooks write
//! them down, and the watcher reads that when it has to. Whatever it would add to each (who runs, after which event) stays the same from
//! when it opens the notes until it closes them.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

/// A load or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The address of the first byte.
    pub address: usize,
    /// The address of the program's code that made it: see [`Code::address`](super::Code::address).
    pub code: usize,
    /// The number of bytes.
    pub size: u32,
    /// What it does: 0 for a load, 1 for a store. Other numbers are the watcher's own.
    pub doing: u8,
}

impl Note {
    const NONE: Note = Note { address: 0, code: 0, size: 0, doing: 0 };
}

/// The notes of a thread. They are closed at first.
#[derive(Debug, Default)]
pub struct StackNotes {
    /// The stack of the running task, by its ends.
    stack: [Cell<usize>; 2],
    /// Accesses to the stack are noted up to here: to its end, or, while the notes are closed, to 0.
    end: Cell<usize>,
    /// Allocated when they are first needed.
    notes: OnceCell<Box<[Cell<Note>]>>,
    length: Cell<usize>,
}

impl StackNotes {
    /// There is room for so many notes.
    pub const MOST: usize = 1 << 14;

    /// From now on, a task runs on this stack. Closes the notes.
    #[inline]
    pub fn run_on(&self, stack: &Range<usize>) {
        self.close();
        self.stack[0].set(stack.start);
        self.stack[1].set(stack.end);
    }

    /// From now on, hooks note what the task does on its stack, as long as there is room.
    #[inline(always)]
    pub fn open(&self) {
        // A hook makes no room.
        self.room();
        self.end.set(self.stack[1].get());
    }

    /// From now on, the watcher hears of all.
    #[inline(always)]
    pub fn close(&self) {
        self.end.set(0);
    }

    /// Whether hooks note something.
    #[inline(always)]
    pub fn are_open(&self) -> bool {
        self.end.get() != 0
    }

    /// The stack of the running task.
    #[inline(always)]
    pub fn stack(&self) -> Range<usize> {
        self.stack[0].get()..self.stack[1].get()
    }

    /// Whether hooks note an access to this memory.
    #[inline(always)]
    pub(super) fn take(&self, address: usize, size: usize) -> bool {
        self.stack[0].get() <= address && address.wrapping_add(size) <= self.end.get() && self.have_room()
    }

    /// A hook notes an access.
    #[inline(always)]
    pub(super) fn add(&self, address: usize, size: usize, writes: bool, code: usize) {
        let Some(notes) = self.notes.get() else { return debug_assert!(false, "the notes are not open") };
        self.put(notes, Note { address, code, size: size as u32, doing: u8::from(writes) });
    }

    /// Whether there is room for another note.
    #[inline(always)]
    pub fn have_room(&self) -> bool {
        self.length.get() < StackNotes::MOST
    }

    /// Makes the room for the notes, which is the engine's memory and not the program's.
    pub fn make_room(&self) {
        self.room();
    }

    /// Adds a note, if there is room.
    #[inline(always)]
    pub fn push(&self, note: Note) {
        self.put(self.room(), note);
    }

    #[inline(always)]
    fn room(&self) -> &[Cell<Note>] {
        self.notes.get_or_init(|| vec![Cell::new(Note::NONE); StackNotes::MOST].into())
    }

    #[inline(always)]
    fn put(&self, notes: &[Cell<Note>], note: Note) {
        let length = self.length.get();
        if let Some(place) = notes.get(length) {
            place.set(note);
            self.length.set(length + 1);
        }
    }

    /// The number of notes.
    #[inline]
    pub fn len(&self) -> usize {
        self.length.get()
    }

    /// Whether there is no note.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The notes, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Note> {
        self.all().iter().map(Cell::get)
    }

    /// Changes each of the notes.
    pub fn change(&self, change: impl Fn(Note) -> Note) {
        self.all().iter().for_each(|note| note.set(change(note.get())));
    }

    fn all(&self) -> &[Cell<Note>] {
        self.notes.get().map_or(&[], |notes| &notes[..self.len()])
    }

    /// Removes all notes.
    pub fn clear(&self) {
        self.length.set(0);
    }
}
