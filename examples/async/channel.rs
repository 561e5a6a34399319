//! A channel with one receiver, as simple as possible.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use interloper::sync::Mutex;

struct Queue<T> {
    messages: VecDeque<T>,
    receiver: Option<Waker>,
}

/// Sends messages.
pub struct Sender<T>(Arc<Mutex<Queue<T>>>);

/// Receives messages.
pub struct Receiver<T>(Arc<Mutex<Queue<T>>>);

/// Makes a channel.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Mutex::new(Queue { messages: VecDeque::new(), receiver: None }));
    (Sender(Arc::clone(&queue)), Receiver(queue))
}

impl<T> Sender<T> {
    /// Sends a message.
    pub fn send(&self, message: T) {
        let mut queue = self.0.lock().unwrap();
        queue.messages.push_back(message);
        let receiver = queue.receiver.take();
        drop(queue);
        receiver.into_iter().for_each(Waker::wake);
    }
}

impl<T> Receiver<T> {
    /// Receives the next message. A receive that is cancelled has taken nothing.
    pub async fn recv(&self) -> T {
        poll_fn(|context| {
            let mut queue = self.0.lock().unwrap();
            match queue.messages.pop_front() {
                Some(message) => Poll::Ready(message),
                None => {
                    queue.receiver = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
