//! The thread that looks at all engines of the process. A hunt sets up an engine for each of some thousand schemas: a
//! thread for each would cost more than many of the schemas.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Beat, Watchdog};

/// A step has ended late once this many looks in a row have seen it.
const LOOKS: u32 = 64;

/// One engine, as the thread sees it.
pub(super) struct Watch {
    watchdog: Watchdog,
    beat: Arc<Beat>,
    pause: Duration,
    /// Locked during each look.
    looks: Mutex<Looks>,
}

struct Looks {
    next: Instant,
    /// The step that was seen last, and how many further looks have seen it.
    seen: Option<u64>,
    again: u32,
}

impl Watch {
    /// From now on the thread looks at the engine of this beat.
    pub(super) fn begin(watchdog: Watchdog, beat: Arc<Beat>) -> Arc<Watch> {
        let pause = (watchdog.patience / LOOKS).max(Duration::from_micros(1));
        let looks = Looks { next: Instant::now() + pause, seen: None, again: 0 };
        let watch = Arc::new(Watch { watchdog, beat, pause, looks: Mutex::new(looks) });
        let mut all = all();
        all.watches.push(watch.clone());
        if !all.is_running {
            let thread = std::thread::Builder::new().name("watchdog".to_owned());
            thread.spawn(look_at_all).expect("the operating system has no thread left");
            all.is_running = true;
        } else if pause < all.waits {
            EARLIER.notify_one();
        }
        watch
    }

    /// The thread looks at this engine no more: a look that has begun ends before this returns.
    pub(super) fn end(self: &Arc<Watch>) {
        all().watches.retain(|other| !Arc::ptr_eq(other, self));
        // The thread may have read the list before.
        self.looks().next = Instant::now() + FOR_EVER;
    }

    /// Looks at the engine ([`Watch::look`]). What [`Watchdog::then`] does may panic: the other engines are
    /// watched all the same.
    fn look_safely(&self) -> Instant {
        panic::catch_unwind(AssertUnwindSafe(|| self.look())).unwrap_or_else(|_| Instant::now())
    }

    /// Looks at the engine, if it is time to. Returns when the next look is due.
    fn look(&self) -> Instant {
        let mut looks = self.looks();
        if looks.next > Instant::now() {
            return looks.next;
        }
        let steps = self.beat.steps();
        looks.again = if steps.is_some() && steps == looks.seen { looks.again + 1 } else { 0 };
        looks.seen = steps;
        if let (Some(steps), LOOKS) = (steps, looks.again) {
            looks.again = 0;
            if let Some(stuck) = self.beat.stuck(steps, &self.watchdog)
                && !(self.watchdog.interrupts && self.beat.interrupt(&stuck))
            {
                (self.watchdog.then)(&stuck);
            }
        }
        // However late this look was, the next one is a whole pause away: see `Watchdog`.
        looks.next = Instant::now() + self.pause;
        looks.next
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time after the end of any process.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

/// All engines that are watched.
struct All {
    watches: Vec<Arc<Watch>>,
    is_running: bool,
    /// How long the thread is waiting at present.
    waits: Duration,
}

static ALL: Mutex<All> = Mutex::new(All { watches: Vec::new(), is_running: false, waits: Duration::ZERO });

/// There is an engine that must be looked at before the thread wakes up by itself.
static EARLIER: Condvar = Condvar::new();

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look_at_all() {
    let mut present: Vec<Arc<Watch>> = Vec::new();
    loop {
        let next = present.drain(..).map(|watch| watch.look_safely()).min();
        let mut all = all();
        // Without an engine, until there is one. An engine that came during the looks is looked at no later than it asks for.
        let due = next.map_or(FOR_EVER, |next| next.saturating_duration_since(Instant::now()));
        all.waits = all.watches.iter().map(|watch| watch.pause).fold(due, Duration::min);
        let waits = all.waits;
        let (mut all, _) = EARLIER.wait_timeout(all, waits).unwrap_or_else(PoisonError::into_inner);
        all.waits = Duration::ZERO;
        present.clone_from(&all.watches);
    }
}
