//! Choices that a crate makes by itself, as decisions of the scheduler.
//!
//! The executors of tokio take ready tasks in the order of their queues, `select!` (of tokio and of futures) draws a random branch to
//! begin with, `race` of futures-lite a future, and rayon the worker to steal from.
//! Under control all such orders are possible, so each choice asks `interloper_std::runtime::which_of`. The first answer is
//! the order of the queue, so shrinking leads back to it. Outside of a controlled run nothing changes.
//!
//! getrandom asks the operating system for random numbers. Under control they come from the seed of the run instead, so that
//! generators, identifiers and hashers that begin with such numbers are the same in each execution. ahash, foldhash (the default of
//! hashbrown) and rapidhash seed their hashers with addresses and the time, which differ in each execution. They ask for a number as well.
//!
//! A choice is found by its text. If a later version has another text, the crate keeps its own order, and the command says so.
//! Lines keep their numbers.

use super::source::Edited;
use super::told::{END, TASKS, TOLD};

/// A choice of a crate.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(super) package: &'static str,
    /// How the version begins.
    pub(super) series: &'static str,
    /// What is chosen, for messages.
    pub(crate) what: &'static str,
    /// The file, below the folder of the package.
    pub(crate) file: &'static str,
    /// The text that makes the choice; it must be there once.
    pub(super) from: &'static str,
    /// The text in its place.
    pub(super) to: &'static str,
    /// What the new text calls: files, and texts that must be in them.
    pub(crate) needs: &'static [(&'static str, &'static str)],
}

/// The choices of a package in a version.
pub(crate) fn of(package: &str, version: &str) -> impl Iterator<Item = &'static Choice> {
    let all = CHOICES.iter().chain(&TOLD).chain(&RANDOM);
    all.filter(move |choice| choice.package == package && version.starts_with(choice.series))
}

/// Whether a package in a version gets its random numbers from the seed of the run.
pub(crate) fn draws_from_seed(package: &str, version: &str) -> bool {
    package == GETRANDOM && of(package, version).next().is_some()
}

impl Choice {
    /// The file with the choice as a decision; `None` if the text is not there once.
    pub(crate) fn edit(&self, source: &str) -> Option<Edited> {
        let (before, after) = source.split_once(self.from)?;
        if after.contains(self.from) {
            return None;
        }
        let line = before.matches('\n').count() + 1;
        let what = match self.package {
            _ if self.what == TASKS => format!("{} is announced", self.what),
            _ if self.what == END => format!("{} follows that of the execution", self.what),
            _ if self.what == NUMBERS => format!("{} come from the seed", self.what),
            _ => format!("{} is a decision of the scheduler", self.what),
        };
        Some(Edited { source: format!("{before}{}{after}", self.to), changes: vec![(line, what)] })
    }

    /// What follows if the text is not there.
    pub(crate) fn otherwise(&self) -> &'static str {
        match self.what {
            TASKS => "some of it is missing",
            END => "executions that end early leave stacks behind",
            NUMBERS => "they are its own",
            _ => "its own order is kept",
        }
    }
}

const ORDER: &str = "the order of ready tasks";
const CURRENT_THREAD: &str = "src/runtime/scheduler/current_thread/mod.rs";
pub(super) const WORKER: &str = "src/runtime/scheduler/multi_thread/worker.rs";
const QUEUE: &str = "src/runtime/scheduler/multi_thread/queue.rs";
const INJECTED: &str = "src/runtime/scheduler/inject/synced.rs";
const RAYON: &str = "src/registry.rs";
const TASK: &str = "src/runtime/task/core.rs";

const CHOICES: [Choice; 14] = [
    Choice {
        package: "tokio",
        series: "",
        what: ORDER,
        file: CURRENT_THREAD,
        from: "self.tasks.pop_front()",
        to: "self.tasks.remove(std::runtime::which_of(self.tasks.len()))",
        needs: &[(CURRENT_THREAD, "tasks: VecDeque<Notified>")],
    },
    // A task that another thread has woken waits in another queue.
    Choice {
        package: "tokio",
        series: "",
        what: ORDER,
        file: CURRENT_THREAD,
        from: "if self.tick % self.global_queue_interval == 0 {",
        to: "if self.tick % self.global_queue_interval == 0 \
             || (!self.tasks.is_empty() && handle.shared.inject.len() > 0 && std::runtime::which_of(2) == 1) {",
        // `is_empty` comes with the runtime of several threads.
        needs: &[
            (CURRENT_THREAD, "inject: Inject<Arc<Handle>>"),
            ("src/runtime/scheduler/inject/metrics.rs", "pub(crate) fn len(&self) -> usize"),
            // An older tokio has it only with `tokio_unstable`.
            ("src/runtime/scheduler/inject.rs", "\nmod metrics;\n"),
        ],
    },
    // The future of `block_on` is polled before all tasks if it was woken, and then when no task is left, or after 61 of them.
    // In an older tokio (1.32, say), a thread that has no task left waits without a look at whether the future was woken: it was polled before them, or
    // the event loop has a token. The token may be gone if the future had to wait for a second turn.
    Choice {
        package: "tokio",
        series: "",
        what: "the turn of block_on among ready tasks",
        file: CURRENT_THREAD,
        from: "if handle.reset_woken() {",
        to: "if (core.tasks.is_empty() || !handle.shared.woken.load(std::sync::atomic::Ordering::SeqCst) \
             || std::runtime::which_of(2) == 0) && handle.reset_woken() {",
        needs: &[(CURRENT_THREAD, "woken: AtomicBool"), (CURRENT_THREAD, "self.shared.woken.swap(false, AcqRel)")],
    },
    Choice {
        package: "tokio",
        series: "",
        what: "the turn of block_on among ready tasks",
        file: CURRENT_THREAD,
        from: "let entry = core.next_task(handle);",
        to: "if !core.tasks.is_empty() && handle.shared.woken.load(std::sync::atomic::Ordering::SeqCst) \
             && std::runtime::which_of(2) == 1 { break; } let entry = core.next_task(handle); \
             if entry.is_none() && std::runtime::is_controlled() \
             && handle.shared.woken.load(std::sync::atomic::Ordering::SeqCst) { break; }",
        needs: &[
            (CURRENT_THREAD, "woken: AtomicBool"),
            (CURRENT_THREAD, "for _ in 0..handle.shared.config.event_interval"),
        ],
    },
    Choice {
        package: "tokio",
        series: "",
        what: ORDER,
        file: INJECTED,
        from: "let task = self.head?;",
        to: "let mut tasks = 0; let mut next = self.head; \
             while let Some(task) = next { tasks += 1; next = unsafe { task.get_queue_next() }; } \
             for _ in 0..std::runtime::which_of(tasks) { \
             let (first, last) = (self.head?, self.tail?); self.head = unsafe { first.get_queue_next() }; \
             unsafe { first.set_queue_next(None); last.set_queue_next(Some(first)); } self.tail = Some(first); } \
             let task = self.head?;",
        needs: &[
            (INJECTED, "tail: Option<task::RawTask>"),
            (INJECTED, "unsafe { task.get_queue_next() }"),
            (INJECTED, "unsafe { task.set_queue_next(None) }"),
            (TASK, "queue_next: UnsafeCell<Option<NonNull<Header>>>"),
        ],
    },
    // The slot for the task that was woken last, and the queue of a worker.
    Choice {
        package: "tokio",
        series: "",
        what: ORDER,
        file: WORKER,
        from: "self.lifo_slot.take().or_else(|| self.run_queue.pop())",
        to: "let slot = usize::from(self.lifo_slot.is_some()); \
             let next = std::runtime::which_of(slot + self.run_queue.len()); \
             if next < slot { return self.lifo_slot.take(); } \
             for _ in slot..next { let first = self.run_queue.pop(); self.run_queue.push_back(first.into_iter()); } \
             self.run_queue.pop().or_else(|| self.lifo_slot.take())",
        needs: &[
            (QUEUE, "pub(crate) fn len(&self) -> usize"),
            (QUEUE, "pub(crate) fn push_back(&mut self, tasks: impl ExactSizeIterator"),
        ],
    },
    // A worker runs the task in the slot at once, without looking at the queue.
    Choice {
        package: "tokio",
        series: "",
        what: ORDER,
        file: WORKER,
        from: "let task = match core.lifo_slot.take() {",
        to: "let others = core.lifo_slot.is_some() && core.run_queue.has_tasks(); \
             let waits = std::runtime::which_of(1 + usize::from(others)) == 1; \
             let task = match if waits { None } else { core.lifo_slot.take() } {",
        needs: &[
            (QUEUE, "pub(crate) fn has_tasks(&self) -> bool"),
            (WORKER, "core.stats.end_poll();\n                        return "),
        ],
    },
    Choice {
        package: "tokio",
        series: "",
        what: ORDER,
        file: WORKER,
        from: "if self.tick % self.global_queue_interval == 0 {",
        to: "if self.tick % self.global_queue_interval == 0 \
             || std::runtime::which_of(1 + usize::from(!worker.inject().is_empty())) == 1 {",
        needs: &[(WORKER, "if worker.inject().is_empty() {")],
    },
    Choice {
        package: "tokio",
        series: "",
        what: "the worker to steal from",
        file: WORKER,
        from: "let start = self.rand.fastrand_n(num as u32) as usize;",
        to: "let start = match std::runtime::is_controlled() { \
             true => (worker.index + 1 + std::runtime::which_of(num - 1)) % num, \
             false => self.rand.fastrand_n(num as u32) as usize };",
        needs: &[(WORKER, "let num = worker.handle.shared.remotes.len();"), (WORKER, "if i == worker.index {")],
    },
    Choice {
        package: "rayon-core",
        series: "1.",
        what: "the worker to steal from",
        file: RAYON,
        from: "let start = self.rng.next_usize(num_threads);",
        to: "let start = match std::runtime::is_controlled() { \
             true => (self.index + 1 + std::runtime::which_of(num_threads - 1)) % num_threads, \
             false => self.rng.next_usize(num_threads) };",
        needs: &[(RAYON, "if num_threads <= 1 {"), (RAYON, ".filter(move |&i| i != self.index)")],
    },
    Choice {
        package: "tokio",
        series: "",
        what: "the order of ready tasks of a LocalSet",
        file: "src/task/local.rs",
        from: "(*ptr).pop_front()",
        to: "(*ptr).remove(std::runtime::which_of((*ptr).len()))",
        needs: &[("src/task/local.rs", "local_queue: UnsafeCell<VecDeque<")],
    },
    Choice {
        package: "tokio",
        series: "",
        what: "the first branch of select!",
        file: "src/macros/support.rs",
        from: "crate::runtime::context::thread_rng_n(n)",
        to: "match std::runtime::is_controlled() { true => std::runtime::which_of(n as usize) as u32, \
             false => crate::runtime::context::thread_rng_n(n) }",
        needs: &[],
    },
    // `select!` and `join!` of futures shuffle their branches, and a generator of each thread says how: it would begin with the same
    // numbers in each execution. The shuffle exchanges a branch with itself for the first answer.
    Choice {
        package: "futures-util",
        series: "0.3.",
        what: "the order of the branches of select!",
        file: "src/async_await/random.rs",
        from: "(random() % n as u64) as usize",
        to: "match std::runtime::is_controlled() { true => n - 1 - std::runtime::which_of(n), \
             false => (random() % n as u64) as usize }",
        needs: &[("src/async_await/random.rs", "slice.swap(i, gen_index(i + 1));")],
    },
    Choice {
        package: "futures-lite",
        series: "2.",
        what: "the future that race polls first",
        file: "src/future.rs",
        from: "if this.rng.bool() {",
        to: "if match std::runtime::is_controlled() { true => std::runtime::which_of(2) == 0, false => this.rng.bool() } {",
        needs: &[],
    },
];

/// The package through which nearly all crates ask the system for random numbers.
pub(crate) const GETRANDOM: &str = "getrandom";

const NUMBERS: &str = "the random numbers";

const RANDOM: [Choice; 12] = [
    random(
        "0.2.",
        "imp::getrandom_inner(dest)?;",
        "if !std::runtime::fill_random(dest) { imp::getrandom_inner(dest)?; }",
    ),
    random("0.3.", FILL.0, FILL.1),
    random("0.3.", U32.0, U32.1),
    random("0.3.", U64.0, U64.1),
    random("0.4.", FILL.0, FILL.1),
    random("0.4.", U32.0, U32.1),
    random("0.4.", U64.0, U64.1),
    hashers(
        "ahash",
        "0.",
        "src/random_state.rs",
        "self.counter.fetch_add(stack, Ordering::Relaxed)",
        "match std::runtime::random() { Some(number) => number as usize, \
         None => self.counter.fetch_add(stack, Ordering::Relaxed) }",
    ),
    hashers(
        "foldhash",
        "0.",
        "src/seed.rs",
        "let stack_ptr = core::ptr::addr_of!(per_hasher_seed) as u64;",
        "let stack_ptr = std::runtime::random().unwrap_or(core::ptr::addr_of!(per_hasher_seed) as u64);",
    ),
    hashers(
        "foldhash",
        "0.",
        "src/seed.rs",
        "SharedSeed::from_u64(seed)",
        "SharedSeed::from_u64(std::runtime::random().unwrap_or(seed))",
    ),
    hashers(
        "rapidhash",
        "4.",
        "src/inner/seeding.rs",
        "let arbitrary = core::ptr::addr_of!(seed) as u64;",
        "let arbitrary = std::runtime::random().unwrap_or(core::ptr::addr_of!(seed) as u64);",
    ),
    hashers(
        "rapidhash",
        "4.",
        "src/inner/seeding.rs",
        "let randomness = generate_random();",
        "let randomness = std::runtime::random().unwrap_or_else(generate_random);",
    ),
];

const FILL: (&str, &str) =
    ("backends::fill_inner(dest)?;", "if !std::runtime::fill_random(dest) { backends::fill_inner(dest)?; }");
const U32: (&str, &str) = (
    "backends::inner_u32()",
    "match std::runtime::random() { Some(number) => Ok(number as u32), None => backends::inner_u32() }",
);
const U64: (&str, &str) = (
    "backends::inner_u64()",
    "match std::runtime::random() { Some(number) => Ok(number), None => backends::inner_u64() }",
);

const fn random(series: &'static str, from: &'static str, to: &'static str) -> Choice {
    hashers(GETRANDOM, series, "src/lib.rs", from, to)
}

/// The numbers with which a crate seeds its hashers.
const fn hashers(
    package: &'static str,
    series: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
) -> Choice {
    Choice { package, series, what: NUMBERS, file, from, to, needs: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_found_once_or_not_at_all() {
        let choice = &CHOICES[0];
        let edited =
            choice.edit("fn next(&mut self) {\n    let next = self.tasks.pop_front();\n}\n").expect("it is there");
        assert_eq!(
            edited.source,
            "fn next(&mut self) {\n    let next = self.tasks.remove(std::runtime::which_of(self.tasks.len()));\n}\n"
        );
        assert_eq!(edited.changes, [(2, "the order of ready tasks is a decision of the scheduler".to_owned())]);
        assert_eq!(choice.edit("self.tasks.pop_front(); self.tasks.pop_front();"), None);
        assert_eq!(choice.edit("self.tasks.pop()"), None);
    }

    #[test]
    fn lines_keep_their_numbers() {
        for choice in CHOICES.iter().chain(&TOLD).chain(&RANDOM) {
            assert_eq!(choice.from.matches('\n').count(), choice.to.matches('\n').count(), "{choice:?}");
        }
        assert_eq!(of("tokio", "1.54.0").count(), CHOICES.len() - 3 + TOLD.len());
        assert_eq!([of("futures-util", "0.3.34").count(), of("futures-lite", "2.6.1").count()], [1, 1]);
        assert_eq!(of("rayon-core", "1.13.0").count(), 1);
        assert_eq!(of("tokio-util", "0.7.0").count(), 0);
        assert_eq!(["0.1.16", "0.2.17", "0.3.4"].map(|version| of(GETRANDOM, version).count()), [0, 1, 3]);
        let hashers = [("ahash", "0.8.12"), ("foldhash", "0.2.0"), ("rapidhash", "4.5.1")];
        assert_eq!(hashers.map(|(package, version)| of(package, version).count()), [1, 2, 2]);
        assert!(hashers.iter().all(|(package, version)| !draws_from_seed(package, version)));
        assert!(draws_from_seed(GETRANDOM, "0.4.3") && !draws_from_seed(GETRANDOM, "0.1.16"));
    }
}
