//! A future looks at a flag, and stores its waker after that. If the flag is set between the two, nobody wakes the future.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};

use interloper::spawn;
use interloper::sync::Mutex;
use interloper::sync::atomic::AtomicBool;

/// Something that happens once.
#[derive(Default)]
struct Event {
    happened: AtomicBool,
    waiter: Mutex<Option<Waker>>,
}

impl Event {
    fn happens(&self) {
        self.happened.store(true, SeqCst);
        let waiter = self.waiter.lock().unwrap().take();
        waiter.into_iter().for_each(Waker::wake);
    }

    fn look(&self) -> Poll<()> {
        if self.happened.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }

    fn poll_wrong(&self, context: &Context<'_>) -> Poll<()> {
        if self.look().is_ready() {
            return Poll::Ready(());
        }
        *self.waiter.lock().unwrap() = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_fixed(&self, context: &Context<'_>) -> Poll<()> {
        *self.waiter.lock().unwrap() = Some(context.waker().clone());
        self.look()
    }
}

async fn waits(poll: fn(&Event, &Context<'_>) -> Poll<()>) {
    let event = Arc::new(Event::default());
    let waiting = spawn({
        let event = Arc::clone(&event);
        async move { poll_fn(|context| poll(&event, context)).await }
    });
    let happens = spawn(async move { event.happens() });
    waiting.await.unwrap();
    happens.await.unwrap();
}

#[interloper::test(flavor = "multi_thread", executions = 200, expect = "bug")]
async fn a_wake_up_is_lost() {
    waits(Event::poll_wrong).await;
}

#[interloper::test(flavor = "multi_thread", executions = 200)]
async fn no_wake_up_is_lost() {
    waits(Event::poll_fixed).await;
}
