//! What an engine keeps of an execution, guarded.

use std::cell::{BorrowMutError, Ref, RefCell, RefMut};
use std::rc::Rc;

use interloper_std::plain::StackNotes;

/// A cell whose changes end the [notes](StackNotes): these are all made by one task, after one event, in an execution that goes on.
pub(super) struct Guarded<T> {
    cell: RefCell<T>,
    notes: Rc<StackNotes>,
}

impl<T> Guarded<T> {
    pub(super) fn new(value: T, notes: Rc<StackNotes>) -> Guarded<T> {
        Guarded { cell: RefCell::new(value), notes }
    }

    #[inline(always)]
    pub(super) fn borrow(&self) -> Ref<'_, T> {
        self.cell.borrow()
    }

    #[inline(always)]
    pub(super) fn borrow_mut(&self) -> RefMut<'_, T> {
        self.notes.close();
        self.cell.borrow_mut()
    }

    /// For whoever changes nothing that the notes depend on: no task begins, ends, goes on or makes an event, and the execution does not
    /// end.
    #[inline(always)]
    pub(super) fn try_borrow_apart(&self) -> Result<RefMut<'_, T>, BorrowMutError> {
        self.cell.try_borrow_mut()
    }
}
