//! A loop takes messages of two parts, and ticks in between. When a tick comes first, the future that takes a message is
//! dropped, and with it the part that it has taken.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use interloper::spawn;
use interloper::tasks::{cancellable, yield_now};

use crate::channel::{Receiver, Sender, channel};

/// Takes messages of two parts.
struct Reader {
    parts: Receiver<u32>,
    /// The part that was taken when the fixed future was dropped.
    first: Option<u32>,
}

impl Reader {
    async fn message_wrong(&mut self) -> (u32, u32) {
        let first = self.parts.recv().await;
        (first, self.parts.recv().await)
    }

    async fn message_fixed(&mut self) -> (u32, u32) {
        if self.first.is_none() {
            self.first = Some(self.parts.recv().await);
        }
        let second = self.parts.recv().await;
        (self.first.take().expect("it was taken above"), second)
    }
}

/// What is ready first; the other future is dropped.
enum First<A, B> {
    One(A),
    Other(B),
}

async fn select<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> First<A, B> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(First::One(output)),
        Poll::Pending => other.as_mut().poll(context).map(First::Other),
    })
    .await
}

/// Sends one message, part by part, and ticks beside it.
fn senders() -> (Reader, Receiver<()>) {
    let (sender, parts): (Sender<u32>, _) = channel();
    let (ticks, ticked) = channel();
    drop(spawn(async move {
        for part in [1, 2] {
            sender.send(part);
            yield_now().await;
        }
    }));
    drop(spawn(async move { ticks.send(()) }));
    (Reader { parts, first: None }, ticked)
}

async fn receives(message: impl AsyncFn(&mut Reader) -> (u32, u32)) {
    let (mut reader, ticked) = senders();
    let mut ticks = 0;
    let message = loop {
        match select(message(&mut reader), ticked.recv()).await {
            First::One(message) => break message,
            First::Other(()) => ticks += 1,
        }
    };
    assert_eq!(message, (1, 2));
    assert!(ticks <= 1);
}

#[interloper::test(executions = 200, expect = "bug")]
async fn a_part_is_lost() {
    receives(async |reader| reader.message_wrong().await).await;
}

#[interloper::test(executions = 200)]
async fn no_part_is_lost() {
    receives(async |reader| reader.message_fixed().await).await;
}

/// The same without a tick: the test says that the future may be cancelled.
async fn receives_again(message: impl AsyncFn(&mut Reader) -> (u32, u32)) {
    let (mut reader, _ticked) = senders();
    let received = match cancellable(message(&mut reader)).await {
        Ok(received) => received,
        Err(_) => message(&mut reader).await,
    };
    assert_eq!(received, (1, 2));
}

#[interloper::test(executions = 200, cancel = true, expect = "bug")]
async fn a_part_is_lost_when_the_future_is_cancelled() {
    receives_again(async |reader| reader.message_wrong().await).await;
}

#[interloper::test(executions = 200, cancel = true)]
async fn no_part_is_lost_when_the_future_is_cancelled() {
    receives_again(async |reader| reader.message_fixed().await).await;
}
