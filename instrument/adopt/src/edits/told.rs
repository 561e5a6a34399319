//! What tokio tells about its tasks, for reports: when a task is spawned, who works on it, and which of its wakers are left.
//!
//! Nothing of this is a step or a decision. Each text is found as those of [`choices`](super::choices) are; without it the
//! reports know less.

use super::choices::{Choice, WORKER};

/// What is told, for messages.
pub(super) const TASKS: &str = "what reports say of its tasks";

/// Under debug assertions a worker that unwinds prints a line and aborts the process, so that a panic of tokio itself is not missed. At
/// the early end of an execution all tasks unwind. A worker that aborts there would leave its stack behind, in each such execution.
pub(super) const END: &str = "the end of workers";

const LIST: &str = "src/runtime/task/list.rs";
const HARNESS: &str = "src/runtime/task/harness.rs";
const WAKER: &str = "src/runtime/task/waker.rs";
const PARK: &str = "src/runtime/park.rs";
const CURRENT_THREAD: &str = "src/runtime/scheduler/current_thread/mod.rs";

pub(super) const TOLD: [Choice; 15] = [
    Choice {
        package: "tokio",
        series: "",
        what: END,
        file: WORKER,
        from: "if std::thread::panicking() {",
        to: "if std::thread::panicking() && !std::runtime::has_ended() {",
        needs: &[(WORKER, "impl Drop for AbortOnPanic {")],
    },
    // A runtime that is dropped waits for its threads. One that was interrupted in a wait cannot wait again, and panics.
    Choice {
        package: "tokio",
        series: "",
        what: END,
        file: "src/runtime/blocking/shutdown.rs",
        from: "if timeout == Some(Duration::from_nanos(0)) {",
        to: "if timeout == Some(Duration::from_nanos(0)) || std::runtime::has_ended() {",
        needs: &[],
    },
    told(
        LIST,
        "let shard = self.list.lock_shard(&task);",
        "std::runtime::tell(task.header_ptr().as_ptr() as usize, std::runtime::Told::Spawned); \
         let shard = self.list.lock_shard(&task);",
        &[HEADER],
    ),
    // The same of a `LocalSet`.
    told(
        LIST,
        "if self.is_closed() {",
        "std::runtime::tell(task.header_ptr().as_ptr() as usize, std::runtime::Told::Spawned); if self.is_closed() {",
        &[HEADER],
    ),
    told(
        HARNESS,
        "match self.poll_inner() {",
        "let _work = std::runtime::Work::on(self.header_ptr().as_ptr() as usize); match self.poll_inner() {",
        &[HEADER],
    ),
    // A task that has ended must not be taken for one that is suspended.
    told(
        HARNESS,
        "let res = poll_future(self.core(), cx);",
        "std::runtime::tell(header_ptr.as_ptr() as usize, std::runtime::Told::Polled); \
         let res = poll_future(self.core(), cx); \
         if res.is_pending() { std::runtime::tell(header_ptr.as_ptr() as usize, std::runtime::Told::Suspended); }",
        &[HEADER, (HARNESS, "fn complete(self) {")],
    ),
    told(
        HARNESS,
        "fn complete(self) {",
        "fn complete(self) { std::runtime::tell(self.header_ptr().as_ptr() as usize, std::runtime::Told::Ended);",
        &[HEADER],
    ),
    told(
        WAKER,
        KEPT,
        "std::runtime::tell(ptr as usize, std::runtime::Told::Kept); unsafe { header.as_ref() }.state.ref_inc();",
        &WAKERS,
    ),
    told(
        WAKER,
        DROPPED,
        "std::runtime::tell(ptr.as_ptr() as usize, std::runtime::Told::Dropped); raw.drop_reference();",
        &WAKERS,
    ),
    told(
        WAKER,
        WOKEN_ONCE,
        "std::runtime::tell(ptr.as_ptr() as usize, std::runtime::Told::WokenOnce); raw.wake_by_val();",
        &WAKERS,
    ),
    told(
        WAKER,
        WOKEN,
        "std::runtime::tell(ptr.as_ptr() as usize, std::runtime::Told::Woken); raw.wake_by_ref();",
        &WAKERS,
    ),
    // The future of `block_on`, on several threads.
    told(
        PARK,
        "if let Ready(v) = crate::task::coop::budget(|| f.as_mut().poll(&mut cx)) {",
        "std::runtime::tell(waker.data() as usize, std::runtime::Told::BlocksOn); \
         if let Ready(v) = crate::task::coop::budget(|| f.as_mut().poll(&mut cx)) {",
        &[(PARK, "let waker = self.waker()?;")],
    ),
    told(
        PARK,
        "self.park();",
        "std::runtime::tell(waker.data() as usize, std::runtime::Told::Suspended); self.park();",
        &[(PARK, "let waker = self.waker()?;")],
    ),
    // The same on one thread.
    told(
        CURRENT_THREAD,
        "crate::task::coop::budget(|| future.as_mut().poll(&mut cx))",
        "{ let task = std::sync::Arc::as_ptr(&context.handle) as usize; \
         std::runtime::tell(task, std::runtime::Told::BlocksOn); \
         let polled = crate::task::coop::budget(|| future.as_mut().poll(&mut cx)); \
         if polled.is_pending() { std::runtime::tell(task, std::runtime::Told::Suspended); } polled }",
        &[(CURRENT_THREAD, "let handle = &context.handle;")],
    ),
    told(
        CURRENT_THREAD,
        "let already_woken = arc_self.shared.woken.swap(",
        "std::runtime::tell(std::sync::Arc::as_ptr(arc_self) as usize, std::runtime::Told::Woken); \
         let already_woken = arc_self.shared.woken.swap(",
        &[(CURRENT_THREAD, "fn wake_by_ref(arc_self: &Arc<Self>) {")],
    ),
];

/// A task is known by the address of its header, which tokio gave to the lists of tasks after 1.19.
const HEADER: (&str, &str) = ("src/runtime/task/mod.rs", "fn header_ptr(&self) -> NonNull<Header> {");

const KEPT: &str = "unsafe { header.as_ref() }.state.ref_inc();";
const DROPPED: &str = "raw.drop_reference();";
const WOKEN_ONCE: &str = "raw.wake_by_val();";
const WOKEN: &str = "raw.wake_by_ref();";

/// Wakers are counted, so all of their texts must be there.
const WAKERS: [(&str, &str); 6] = [
    (WAKER, KEPT),
    (WAKER, DROPPED),
    (WAKER, WOKEN_ONCE),
    (WAKER, WOKEN),
    (WAKER, "unsafe fn clone_waker(ptr: *const ()) -> RawWaker {"),
    (WAKER, "let ptr = unsafe { NonNull::new_unchecked(ptr as *mut Header) };"),
];

const fn told(
    file: &'static str,
    from: &'static str,
    to: &'static str,
    needs: &'static [(&'static str, &'static str)],
) -> Choice {
    Choice { package: "tokio", series: "", what: TASKS, file, from, to, needs }
}
