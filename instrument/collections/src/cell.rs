//! A cell that is filled once.

use std::fmt;
use std::panic::Location;
use std::sync as real;
use std::sync::atomic::{AtomicBool, Ordering};

use interloper_commutativity::{Datum, ToValue, Value, pending};
use interloper_std::runtime;

use crate::session::{controlled, current};
use crate::task::{Kind, Task, Tie};

/// [`std::sync::OnceLock`], instrumented.
///
/// In a controlled run each method that takes a shared reference is a visible moment: environment operations and other
/// tasks may run just before it. A cell is not a collection, so nothing is reported; the content of a cell that is a
/// value in a map shows in the map. A task that finds another one filling the cell lets others run until the cell is
/// full.
///
/// Its plain form is the form of its content, or `pending` when it is empty.
pub struct OnceLock<T> {
    inner: real::OnceLock<T>,
    /// In a controlled run: a task is making the content.
    filling: AtomicBool,
    tie: Tie,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    pub const fn new() -> OnceLock<T> {
        OnceLock::holding(real::OnceLock::new())
    }

    const fn holding(inner: real::OnceLock<T>) -> OnceLock<T> {
        OnceLock { inner, filling: AtomicBool::new(false), tie: Tie::new(Kind::Cell, 0) }
    }

    /// The content, if there is any. It does not wait for a task that fills the cell.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.moment("OnceLock::get", false);
        self.inner.get()
    }

    /// The content, if there is any.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.inner.get_mut()
    }

    /// The content, as soon as there is any.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let Some(moment) = self.moment("OnceLock::wait", false) else { return self.inner.wait() };
        loop {
            match self.inner.get() {
                Some(content) => return content,
                None => moment.stalled("a cell that nobody has filled"),
            }
        }
    }

    /// Fills the cell.
    ///
    /// # Errors
    /// `content`, when the cell is full.
    #[track_caller]
    pub fn set(&self, content: T) -> Result<(), T> {
        let Some(moment) = self.moment("OnceLock::set", true) else { return self.inner.set(content) };
        let mut content = Some(content);
        self.fill(moment, || content.take().expect("a cell is filled once"));
        content.map_or(Ok(()), Err)
    }

    /// The content; an empty cell is filled with the result of `make`. If several tasks call this, one runs `make` and
    /// the others wait for it.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.moment("OnceLock::get_or_init", true) {
            None => self.inner.get_or_init(make),
            Some(moment) => self.fill(moment, make),
        }
    }

    /// In a controlled run: the content. `make` makes it if the cell is empty and no other task is filling it.
    fn fill(&self, moment: Moment, make: impl FnOnce() -> T) -> &T {
        struct Filling<'a>(&'a AtomicBool, Moment);
        impl Drop for Filling<'_> {
            fn drop(&mut self) {
                self.0.store(false, Ordering::Relaxed);
                self.1.progressed();
            }
        }
        loop {
            if let Some(content) = self.inner.get() {
                moment.only_read();
                return content;
            }
            if !self.filling.swap(true, Ordering::Relaxed) {
                break;
            }
            moment.stalled("a cell that another task is filling");
        }
        // This holds even if `make` panics: the next task tries again, as with the original.
        let _filling = Filling(&self.filling, moment);
        let content = make();
        self.inner.get_or_init(|| content)
    }

    /// The content, if there is any. The cell is owned.
    pub fn into_inner(self) -> Option<T> {
        self.inner.into_inner()
    }

    /// Empties the cell and returns its content.
    pub fn take(&mut self) -> Option<T> {
        self.inner.take()
    }
}

impl<T> OnceLock<T> {
    /// A visible moment of the caller; `None` outside a controlled execution.
    #[inline]
    #[track_caller]
    fn moment(&self, what: &'static str, writes: bool) -> Option<Moment> {
        let location = Location::caller();
        if controlled() {
            current(|session| session.pause(what, location));
            return Some(Moment { task: None, writes, location });
        }
        if !runtime::is_controlled() {
            return None;
        }
        let task = self.tie.task(writes, location)?;
        task.visit(writes, location);
        Some(Moment { task: Some(task), writes, location })
    }
}

/// A call of a method of a cell in a controlled run.
#[derive(Clone, Copy)]
struct Moment {
    /// The cell in the program of a runtime; `None` under a session.
    task: Option<Task>,
    writes: bool,
    location: &'static Location<'static>,
}

impl Moment {
    /// The cell is not full yet, and another task has to go on first.
    fn stalled(&self, what: &'static str) {
        match self.task {
            Some(task) => task.stalled(self.writes, self.location),
            None => {
                current(|session| session.stalled(what, self.location));
            }
        }
    }

    fn progressed(&self) {
        match self.task {
            Some(task) => task.progressed(),
            None => {
                current(|session| session.progressed());
            }
        }
    }

    fn only_read(&self) {
        if let Some(task) = self.task {
            task.only_read();
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(out)
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        OnceLock::holding(self.inner.clone())
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(content: T) -> Self {
        OnceLock::holding(real::OnceLock::from(content))
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

/// An empty cell has the form `pending`.
impl<T: ToValue> ToValue for OnceLock<T> {
    const INTERIOR: bool = true;

    fn to_value(&self) -> Value {
        self.inner.to_value()
    }
}

impl<T: Datum> Datum for OnceLock<T> {
    fn from_value(form: &Value) -> Option<Self> {
        if *form == pending() { Some(OnceLock::new()) } else { T::from_value(form).map(OnceLock::from) }
    }

    fn fresh(seen: &[Value]) -> Option<Value> {
        T::fresh(seen)
    }

    fn arbitrary(bits: u64) -> Option<Value> {
        T::arbitrary(bits)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use interloper_commutativity::Invocation;
    use interloper_commutativity::models::map;

    use super::*;
    use crate::DashMap;
    use crate::session::Instrumented;
    use crate::testing::{Recorder, done};

    #[test]
    fn each_method_is_a_visible_moment() {
        let recorder = Recorder::new();
        let cell = OnceLock::new();
        let ((), log) = recorder.run(|| {
            assert_eq!(cell.get(), None);
            assert_eq!(cell.get_or_init(|| 3), &3);
            assert_eq!(cell.get_or_init(|| 4), &3);
            assert_eq!(cell.set(5), Err(5));
            assert_eq!(cell.wait(), &3);
        });
        let pauses = |names: &[&str]| names.iter().map(|name| format!("pause OnceLock::{name}")).collect::<Vec<_>>();
        assert_eq!(log[..2], pauses(&["get", "get_or_init"]));
        assert_eq!(log[2], "progressed");
        assert_eq!(log[3..], pauses(&["get_or_init", "set", "wait"]));
    }

    #[test]
    fn outside_a_run_it_is_the_original() {
        let mut cell = OnceLock::default();
        let original = real::OnceLock::new();
        assert_eq!(cell.get(), original.get());
        assert_eq!(cell.set(3), original.set(3));
        assert_eq!(cell.set(4), original.set(4));
        assert_eq!(cell.get_or_init(|| 5), original.get_or_init(|| 5));
        assert_eq!((cell.wait(), format!("{cell:?}")), (original.wait(), format!("{original:?}")));
        assert_eq!(cell, OnceLock::from(3));
        *cell.get_mut().expect("full") = 6;
        assert_eq!((cell.clone().into_inner(), cell.take(), cell.get()), (Some(6), Some(6), None));
    }

    #[test]
    fn filling_a_cell_while_it_is_filled_waits() {
        let recorder = Recorder::new();
        let cell = OnceLock::new();
        let log = recorder.run_to_deadlock(|| done(cell.get_or_init(|| *cell.get_or_init(|| 3))));
        assert_eq!(log[2..], ["stalled a cell that another task is filling", "progressed"]);
        // The first task is gone, so the next may fill the cell.
        recorder.run(|| assert_eq!(cell.get_or_init(|| 4), &4));
        let empty = OnceLock::<i32>::new();
        let log = recorder.run_to_deadlock(|| done(empty.wait()));
        assert_eq!(log, ["pause OnceLock::wait", "stalled a cell that nobody has filled"]);
    }

    #[test]
    fn a_cell_in_a_map_is_read_again() {
        let recorder = Recorder::new();
        let cells = recorder.make(DashMap::<i64, Arc<OnceLock<i64>>>::new);
        let insert = Invocation::new(map::INSERT_IF_ABSENT, [Value::Int(1), pending()]);
        assert_eq!(cells.apply(&insert).expect("a cell").now, Value::None);
        let existing = cells.apply(&insert).expect("a cell");
        let ((), log) = recorder.run(|| {
            let cell = Arc::clone(&*cells.entry(1).or_default());
            assert_eq!(cell.get_or_init(|| 7), &7);
            cells.restore(&Value::map([(Value::Int(1), pending())])).expect("cells");
        });
        assert_eq!(log[..4], ["? modify(1) w", "hold w", "get(1) -> pending", "free w"]);
        assert_eq!(log[4..], ["pause OnceLock::get_or_init", "progressed"]);
        assert_eq!((existing.now, existing.later.expect("it can change")()), (pending(), Value::Int(7)));
        assert!(cells.domain().interior);
    }
}
