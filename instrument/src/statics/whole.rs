//! Whole statics: whatever an execution writes to a static of a chosen crate is undone at its end.
//!
//! The initial bytes of a static come from the program's file. They own nothing: nothing can have been allocated for
//! them. A static that still has these bytes when an execution begins gets them back at its end. What the execution has
//! put there is forgotten, not dropped: Rust drops no static either. Its memory is freed once nothing leads to it: see
//! [`remains`]. A static that has other bytes when
//! an execution begins was used outside executions, and references into it may exist outside: it is left as it is. So
//! is a static that a static of another crate refers to (a node of a list of that crate, say), since that crate would
//! find it changed. And so is what the mirror writes in place for the life of the process (see [`keep`]).
//!
//! Threads share these statics. So an execution runs alone, unless the executions before it have changed none of them:
//! see [`Statics::share`].

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::table::{Table, Whole};
use crate::plain::remains;

/// The statics of some crates, which start afresh in each execution, whatever they contain.
///
/// Clones belong together: what one execution shows about the statics holds for all clones.
#[derive(Clone)]
pub struct Statics(Arc<Shared>);

struct Shared {
    crates: BTreeSet<String>,
    chosen: OnceLock<Chosen>,
    /// Executions may run at the same time as others.
    shares: AtomicBool,
    /// An execution has changed one.
    changed: AtomicBool,
    /// An execution has changed one while others ran.
    disturbed: AtomicBool,
}

/// The statics that are restored, and the others.
#[derive(Default)]
struct Chosen {
    all: Vec<&'static Whole>,
    others: Vec<&'static Whole>,
}

/// The variable with the names of the crates that `cargo interloper` has put under control, with commas between them.
const CONTROLLED: &str = "INTERLOPER_CONTROLLED";

/// Larger statics are not covered: each execution looks at all bytes twice.
const LARGEST: usize = 1 << 20;
/// The limit for all statics together.
const LARGEST_SUM: usize = 1 << 24;

/// Write-locked by an execution that runs alone, read-locked by one that does not.
static GATE: RwLock<()> = RwLock::new(());
/// The number of the last execution that ran alone.
static ALONE: AtomicU64 = AtomicU64::new(0);
/// Memory that had to be kept before the table was read.
static EARLY: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
static TABLE: OnceLock<Table> = OnceLock::new();

thread_local! {
    /// This thread is in an execution.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

impl Statics {
    /// The statics of these crates, without those of std and of interloper.
    pub fn of<S: Into<String>>(crates: impl IntoIterator<Item = S>) -> Statics {
        let crates = crates.into_iter().map(|name| name.into().replace('-', "_"));
        Statics(Arc::new(Shared {
            crates: crates.filter(|name| !is_ours(name)).collect(),
            chosen: OnceLock::new(),
            shares: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            disturbed: AtomicBool::new(false),
        }))
    }

    /// The statics of the crates that `cargo interloper` has put under control; no statics in a program that it did not
    /// start.
    pub fn controlled() -> Statics {
        Statics::of([] as [&str; 0]).and_controlled()
    }

    /// These statics, and those of the crates that `cargo interloper` has put under control.
    pub fn and_controlled(&self) -> Statics {
        let list = std::env::var(CONTROLLED).unwrap_or_default();
        let names = list.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
        Statics::of(self.0.crates.iter().cloned().chain(names))
    }

    /// From now on executions may run at the same time as others, if no execution has changed one of the statics so
    /// far.
    pub fn share(&self) {
        self.0.shares.store(!self.0.changed.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Whether, since the last call, an execution has changed one of the statics although it did not run alone. What
    /// executions have shown may then be wrong; from then on they run alone.
    pub fn disturbed(&self) -> bool {
        self.0.disturbed.swap(false, Ordering::SeqCst)
    }

    /// Begins an execution on this thread, which ends when the result is dropped. Waits for the executions of other
    /// threads if necessary.
    ///
    /// An execution inside another one is part of the outer one.
    #[inline]
    pub fn begin(&self) -> Running<'_> {
        if self.0.crates.is_empty() { Running { running: None } } else { self.begin_with_some() }
    }

    fn begin_with_some(&self) -> Running<'_> {
        let chosen = self.chosen();
        let Some(chosen) = chosen.filter(|chosen| !chosen.all.is_empty() && !INSIDE.get()) else {
            return Running { running: None };
        };
        let gate = self.share_gate(&chosen.all).unwrap_or_else(|| self.be_alone(&chosen.all));
        INSIDE.set(true);
        remains::note(matches!(gate, Gate::Alone { .. }));
        Running { running: Some((&self.0, chosen, gate)) }
    }

    fn share_gate(&self, chosen: &[&Whole]) -> Option<Gate> {
        if !self.0.shares.load(Ordering::SeqCst) {
            return None;
        }
        let gate = GATE.read().unwrap_or_else(PoisonError::into_inner);
        let fresh = |whole: &&Whole| whole.is_left() || (!whole.is_pending() && whole.is_initial());
        if chosen.iter().all(fresh) {
            return Some(Gate::Shared { _held: gate });
        }
        self.0.disturb();
        None
    }

    fn be_alone(&self, chosen: &[&Whole]) -> Gate {
        let held = GATE.write().unwrap_or_else(PoisonError::into_inner);
        for whole in chosen {
            if whole.take_pending() {
                // SAFETY: no other thread is in an execution, and the one that has changed the static is over.
                unsafe { whole.restore() };
            }
            whole.leave(whole.is_pinned() || !whole.is_initial());
        }
        // SAFETY: no other thread is in an execution, and this one is about to begin one.
        unsafe { remains::collect() };
        Gate::Alone { number: ALONE.fetch_add(1, Ordering::SeqCst) + 1, _held: held }
    }

    fn chosen(&self) -> Option<&Chosen> {
        if self.0.crates.is_empty() {
            return None;
        }
        Some(self.0.chosen.get_or_init(|| {
            let mut sum = 0;
            let fits = |whole: &&Whole| {
                let fits = whole.size() <= LARGEST && sum + whole.size() <= LARGEST_SUM && whole.has_image();
                sum += if fits { whole.size() } else { 0 };
                fits
            };
            let small = table().all().filter(|whole| whole.size() <= LARGEST);
            let (all, others): (Vec<_>, Vec<_>) = small.partition(|whole| self.0.crates.contains(whole.crate_name()));
            let (all, too_many) = all.into_iter().partition(fits);
            Chosen { all, others: [others, too_many].concat() }
        }))
    }

    /// The words in statics, without those of std and of interloper, that can be pointers into `range`.
    pub fn pointers_into(range: &Range<usize>) -> Vec<usize> {
        table().all().filter(|whole| whole.size() <= LARGEST).flat_map(|whole| whole.pointers_into(range)).collect()
    }

    /// The names of statics, without those of std and of interloper, that `executions` has changed: they carry
    /// something from one execution to the next. In alphabetical order.
    pub fn outliving(&self, executions: impl FnOnce()) -> Vec<String> {
        let all = table().all().filter(|whole| whole.size() <= LARGEST);
        let before: Vec<(&Whole, Box<[u8]>)> = all.map(|whole| (whole, whole.copied())).collect();
        executions();
        let mut changed: Vec<String> =
            before.iter().filter(|(whole, bytes)| whole.differs(bytes)).map(|(whole, _)| whole.name()).collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

impl Shared {
    fn disturb(&self) {
        self.changed.store(true, Ordering::SeqCst);
        self.disturbed.store(true, Ordering::SeqCst);
        self.shares.store(false, Ordering::SeqCst);
    }
}

impl Default for Statics {
    fn default() -> Statics {
        Statics::controlled()
    }
}

impl fmt::Debug for Statics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Statics").field(&self.0.crates).finish()
    }
}

/// An execution, as far as statics are concerned.
#[must_use]
pub struct Running<'a> {
    running: Option<(&'a Shared, &'a Chosen, Gate)>,
}

enum Gate {
    Alone { number: u64, _held: RwLockWriteGuard<'static, ()> },
    Shared { _held: RwLockReadGuard<'static, ()> },
}

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.running.is_some() {
            self.end();
        }
    }
}

impl Running<'_> {
    #[inline(never)]
    fn end(&mut self) {
        let Some((shared, chosen, gate)) = &self.running else { return };
        INSIDE.set(false);
        remains::note(false);
        if !chosen.changed().any(|_| true) {
            return;
        }
        match gate {
            Gate::Alone { number, .. } => {
                shared.changed.store(true, Ordering::SeqCst);
                chosen.pin_what_others_refer_to();
                for whole in chosen.changed().filter(|whole| !whole.is_used_outside(*number)) {
                    // SAFETY: no other thread is in an execution, this one is over, and no thread outside is known to
                    // use the static. A borrow from a static of an execution must not be used after it: see the limits
                    // of the crate.
                    unsafe { whole.restore() };
                }
            }
            Gate::Shared { .. } => {
                chosen.changed().for_each(Whole::make_pending);
                shared.disturb();
            }
        }
    }
}

impl Chosen {
    /// The statics that the finished execution has changed.
    fn changed(&self) -> impl Iterator<Item = &Whole> {
        self.all.iter().copied().filter(|whole| !whole.is_left() && !whole.is_initial())
    }

    fn pin_what_others_refer_to(&self) {
        let (Some(first), Some(last)) = (self.all.first(), self.all.last()) else { return };
        let range = first.start()..last.end();
        let mut open = self.others.clone();
        open.extend(self.all.iter().filter(|whole| whole.is_pinned()));
        while let Some(other) = open.pop() {
            for word in other.pointers_into(&range) {
                let Some(whole) = table().at(word).filter(|whole| !whole.is_left() && !whole.is_initial()) else {
                    continue;
                };
                if self.all.binary_search_by_key(&whole.start(), |whole| whole.start()).is_ok() {
                    whole.pin();
                    open.push(whole);
                }
            }
        }
    }
}

/// The mirror is about to write to this memory in place, for the life of the process or outside executions. The write
/// does not count as a change by the running execution, nor as a use outside.
///
/// This holds only where the static is as the compiler made it: what an execution has made there ends with the
/// execution.
pub(crate) fn keep(start: usize, size: usize) {
    let mut early = lock_early();
    match TABLE.get() {
        None => early.push((start, size)),
        Some(table) => {
            drop(early);
            if let Some(whole) = table.at(start).filter(|whole| whole.has_image() && whole.is_initial()) {
                whole.keep(start, size);
            }
        }
    }
}

/// Something at this address is used outside executions.
pub(crate) fn used_outside(address: usize) {
    if let Some(whole) = TABLE.get().and_then(|table| table.at(address))
        && !INSIDE.try_with(Cell::get).unwrap_or(false)
    {
        whole.note_use_outside(ALONE.load(Ordering::SeqCst));
    }
}

/// Whether this address is in a static that the running execution found used, and so shares with the code outside.
pub(crate) fn is_left(address: usize) -> bool {
    TABLE.get().and_then(|table| table.at(address)).is_some_and(Whole::is_left)
}

fn table() -> &'static Table {
    TABLE.get_or_init(|| {
        let table = Table::of_this_program(|name| !is_ours(name));
        for (start, size) in lock_early().drain(..) {
            if let Some(whole) = table.at(start) {
                whole.keep(start, size);
            }
        }
        table
    })
}

fn lock_early() -> MutexGuard<'static, Vec<(usize, usize)>> {
    EARLY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a crate belongs to std, or runs executions.
fn is_ours(name: &str) -> bool {
    const OURS: [&str; 21] = [
        "std",
        "core",
        "alloc",
        "test",
        "proc_macro",
        "panic_unwind",
        "panic_abort",
        "std_detect",
        "libc",
        "interloper",
        "interloper_std",
        "interloper_scheduler",
        "interloper_parking_lot",
        "interloper_collections",
        "interloper_commutativity",
        "interloper_harness",
        "interloper_linearize",
        "interloper_macros",
        "interloper_report",
        "interloper_cli",
        "interloper_adopt",
    ];
    OURS.contains(&name)
}
