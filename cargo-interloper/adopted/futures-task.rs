//! A lost wake-up: an executor sleeps without looking whether its task was woken already.
//!
//! ```toml
//! futures-task = "0.3"
//! [package.metadata.interloper]
//! instrument = ["futures-task"]
//! ```

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use futures_task::{ArcWake, waker};

#[derive(Default)]
struct Sleeper {
    woken: Mutex<bool>,
    wakes: Condvar,
}

impl ArcWake for Sleeper {
    fn wake_by_ref(own: &Arc<Self>) {
        *own.woken.lock().unwrap() = true;
        own.wakes.notify_one();
    }
}

fn run<T>(future: impl Future<Output = T>, looks: bool) -> T {
    let (mut future, sleeper) = (pin!(future), Arc::new(Sleeper::default()));
    let waker = waker(Arc::clone(&sleeper));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        let mut woken = sleeper.woken.lock().unwrap();
        if !looks {
            woken = sleeper.wakes.wait(woken).unwrap();
        }
        while !*woken {
            woken = sleeper.wakes.wait(woken).unwrap();
        }
        *woken = false;
    }
}

#[derive(Default)]
struct Answer {
    value: Option<u32>,
    waker: Option<Waker>,
}

fn answered(looks: bool) {
    let answer = Arc::new(Mutex::new(Answer::default()));
    let theirs = Arc::clone(&answer);
    let other = thread::spawn(move || {
        let mut answer = theirs.lock().unwrap();
        answer.value = Some(7);
        answer.waker.take().map(Waker::wake);
    });
    let waits = std::future::poll_fn(|context| {
        let mut answer = answer.lock().unwrap();
        answer.waker = Some(context.waker().clone());
        answer.value.map_or(Poll::Pending, Poll::Ready)
    });
    assert_eq!(run(waits, looks), 7);
    other.join().unwrap();
}

pub fn planted() {
    answered(false);
}

pub fn correct() {
    answered(true);
}
