//! Notifications, messages and tokens that get lost.

use std::collections::VecDeque;

use interloper::ToValue;

use super::platform::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use super::platform::sync::{Arc, Condvar, Mutex, MutexGuard};
use super::platform::{atomic, beside, thread};
use super::{Bug, CLASSIC, Expected, Family, Program};

const FILE: Family = Family::new(CLASSIC, include_str!("waiting.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "lost-notify",
            "lost-notify-mended",
            Bug::Deadlock,
            "Looks, releases the lock, takes it again and waits: the notification came between the two, and none will \
             follow.",
            || lost_notify(wait_after_looking).to_value(),
        ),
        FILE.good(
            "lost-notify-mended",
            Expected::Clean,
            "Looks and waits under one lock, so no notification can come between the two.",
            || lost_notify(wait_while_looking).to_value(),
        ),
        FILE.showing("bounded-buffer").bad(
            "bounded-buffer-one-notified",
            "bounded-buffer-all-notified",
            Bug::Deadlock,
            "A buffer for one element, with one condition for empty and for full, of which one waiter is notified. \
             A consumer that takes an element notifies another consumer, which finds nothing; the producer waits on.",
            || bounded_buffer(Condvar::notify_one).to_value(),
        ),
        FILE.showing("bounded-buffer").good(
            "bounded-buffer-all-notified",
            Expected::Clean,
            "The same, and all waiters are notified.",
            || bounded_buffer(Condvar::notify_all).to_value(),
        ),
        FILE.bad(
            "wait-without-loop",
            "wait-in-loop",
            Bug::Panic("the queue is empty"),
            "Waits once if the queue is empty, and then takes. Both consumers are notified of the first element, and \
             the second to wake up finds nothing.",
            || queue(Queue::take_after_one_wait).to_value(),
        ),
        FILE.good("wait-in-loop", Expected::Clean, "Waits while the queue is empty.", || queue(Queue::take).to_value()),
        FILE.threads_must_end().bad(
            "detached-worker",
            "detached-worker-told",
            Bug::Leaked,
            "A thread without a join waits for the signal to end; the main thread ends without sending it. A process \
             would end there; here, threads must end.",
            || detached(false).to_value(),
        ),
        FILE.threads_must_end().showing("detached-worker").good(
            "detached-worker-told",
            Expected::Clean,
            "The main thread tells the other one before it ends. It need not wait for it.",
            || detached(true).to_value(),
        ),
        FILE.bad(
            "thread-pool-shutdown",
            "thread-pool-shutdown-locked",
            Bug::Deadlock,
            "The flag is raised without the lock: a worker that has looked at it, and does not yet wait, is not \
             notified.",
            || thread_pool(Pool::shut_down_unlocked).to_value(),
        ),
        FILE.good(
            "thread-pool-shutdown-locked",
            Expected::Clean,
            "The flag is raised under the lock: a worker waits by then, or has not looked yet.",
            || thread_pool(Pool::shut_down).to_value(),
        ),
        FILE.bad(
            "channel-close",
            "channel-close-locked",
            Bug::NotSerialisable,
            "Looks whether the channel is open, then sends. Meanwhile the channel was closed and emptied: the message \
             was accepted, and no thread receives it.",
            || channel_close(Channel::send_after_looking).to_value(),
        ),
        FILE.good("channel-close-locked", Expected::Clean, "Looks and sends under one lock.", || {
            channel_close(Channel::send).to_value()
        }),
        FILE.bad(
            "channel-close-unnoticed",
            "channel-close-noticed",
            Bug::Deadlock,
            "The channel is closed while a receiver waits for a message, and no thread tells the receiver.",
            || channel_receive(Channel::close_silently).to_value(),
        ),
        FILE.good(
            "channel-close-noticed",
            Expected::Clean,
            "The channel is closed and all receivers are notified.",
            || channel_receive(Channel::close).to_value(),
        ),
        FILE.bad(
            "park-token-loss",
            "park-token-and-count",
            Bug::Deadlock,
            "Parks twice for two that unpark. Who is unparked twice before it parks has one token: the second park \
             never ends.",
            || park(park_twice).to_value(),
        ),
        FILE.good(
            "park-token-and-count",
            Expected::Clean,
            "Parks until both have counted; a token says no more than that it is worth looking.",
            || park(park_until_counted).to_value(),
        ),
    ]
}

/// Something that becomes true.
struct Event {
    happened: Mutex<bool>,
    condition: Condvar,
}

/// One thread waits, the other one notifies; gives whether it has happened.
fn lost_notify(wait: fn(&Event)) -> bool {
    let event = Arc::new(Event { happened: Mutex::new(false), condition: Condvar::new() });
    beside(&event, wait, |event| {
        *event.happened.lock().unwrap() = true;
        event.condition.notify_one();
    });
    *event.happened.lock().unwrap()
}

// case: lost-notify
/// Waits if it has not happened a moment ago.
fn wait_after_looking(event: &Event) {
    let happened = *event.happened.lock().unwrap();
    if !happened {
        drop(event.condition.wait(event.happened.lock().unwrap()).unwrap());
    }
}
// end

// case: lost-notify-mended
/// Waits while it has not happened.
fn wait_while_looking(event: &Event) {
    let mut happened = event.happened.lock().unwrap();
    while !*happened {
        happened = event.condition.wait(happened).unwrap();
    }
}
// end

// case: bounded-buffer
/// Room for one element.
struct Buffer {
    element: Mutex<Option<i64>>,
    changed: Condvar,
    notify: fn(&Condvar),
}

impl Buffer {
    fn wait_until(&self, ready: fn(&Option<i64>) -> bool) -> MutexGuard<'_, Option<i64>> {
        let mut element = self.element.lock().unwrap();
        while !ready(&element) {
            element = self.changed.wait(element).unwrap();
        }
        element
    }

    fn put(&self, value: i64) {
        *self.wait_until(Option::is_none) = Some(value);
        (self.notify)(&self.changed);
    }

    fn take(&self) -> Option<i64> {
        let taken = self.wait_until(Option::is_some).take();
        (self.notify)(&self.changed);
        taken
    }
}

/// A producer of two elements and two consumers of one; gives the sum of what they took.
fn bounded_buffer(notify: fn(&Condvar)) -> Option<i64> {
    let buffer = Arc::new(Buffer { element: Mutex::new(None), changed: Condvar::new(), notify });
    let theirs = Arc::clone(&buffer);
    let consumer = thread::spawn(move || theirs.take());
    let produce = |buffer: &Buffer| {
        buffer.put(1);
        buffer.put(2);
    };
    let ((), taken) = beside(&buffer, produce, Buffer::take);
    Some(taken? + consumer.join().unwrap()?)
}
// end

/// Elements for those who wait for them.
struct Queue {
    elements: Mutex<VecDeque<i64>>,
    added: Condvar,
}

impl Queue {
    fn put(&self, element: i64) {
        self.elements.lock().unwrap().push_back(element);
        self.added.notify_all();
    }
}

/// Two consumers take an element each of the two that a producer puts; gives the sum.
fn queue(take: fn(&Queue) -> i64) -> i64 {
    let queue = Arc::new(Queue { elements: Mutex::new(VecDeque::new()), added: Condvar::new() });
    let theirs = Arc::clone(&queue);
    let producer = thread::spawn(move || [1, 2].into_iter().for_each(|element| theirs.put(element)));
    let (own, other) = beside(&queue, take, take);
    producer.join().unwrap();
    own + other
}

// case: wait-without-loop
/// Waits once.
impl Queue {
    fn take_after_one_wait(&self) -> i64 {
        let mut elements = self.elements.lock().unwrap();
        if elements.is_empty() {
            elements = self.added.wait(elements).unwrap();
        }
        elements.pop_front().expect("the queue is empty")
    }
}
// end

// case: wait-in-loop
/// Waits until there is something.
impl Queue {
    fn take(&self) -> i64 {
        let mut elements = self.elements.lock().unwrap();
        while elements.is_empty() {
            elements = self.added.wait(elements).unwrap();
        }
        elements.pop_front().expect("the queue is empty")
    }
}
// end

// case: detached-worker
/// Leaves a thread alone; tells it before, or does not.
fn detached(tells: bool) -> bool {
    let event = Arc::new(Event { happened: Mutex::new(false), condition: Condvar::new() });
    let theirs = Arc::clone(&event);
    thread::spawn(move || wait_while_looking(&theirs));
    if tells {
        *event.happened.lock().unwrap() = true;
        event.condition.notify_one();
    }
    tells
}
// end

/// Jobs for a worker.
struct Pool {
    jobs: Mutex<VecDeque<i64>>,
    changed: Condvar,
    shut_down: AtomicBool,
}

/// A worker that is given one job, and is shut down; gives the sum of the jobs that it did.
fn thread_pool(shut_down: fn(&Pool)) -> i64 {
    let pool = Pool { jobs: Mutex::new(VecDeque::new()), changed: Condvar::new(), shut_down: AtomicBool::new(false) };
    let manage = move |pool: &Pool| {
        pool.submit(7);
        shut_down(pool);
    };
    beside(&Arc::new(pool), manage, Pool::work).1
}

impl Pool {
    fn submit(&self, job: i64) {
        self.jobs.lock().unwrap().push_back(job);
        self.changed.notify_one();
    }

    fn work(&self) -> i64 {
        let mut done = 0;
        let mut jobs = self.jobs.lock().unwrap();
        loop {
            if let Some(job) = jobs.pop_front() {
                done += job;
            } else if self.shut_down.load(SeqCst) {
                return done;
            } else {
                jobs = self.changed.wait(jobs).unwrap();
            }
        }
    }
}

// case: thread-pool-shutdown
/// Raises the flag whatever the worker does.
impl Pool {
    fn shut_down_unlocked(&self) {
        self.shut_down.store(true, SeqCst);
        self.changed.notify_all();
    }
}
// end

// case: thread-pool-shutdown-locked
/// Raises the flag while no worker looks at it.
impl Pool {
    fn shut_down(&self) {
        let _jobs = self.jobs.lock().unwrap();
        self.shut_down.store(true, SeqCst);
        self.changed.notify_all();
    }
}
// end

/// Messages, and whether there may be more.
struct Channel {
    messages: Mutex<(VecDeque<i64>, bool)>,
    changed: Condvar,
}

impl Channel {
    fn new() -> Channel {
        Channel { messages: Mutex::new((VecDeque::new(), true)), changed: Condvar::new() }
    }

    /// The next message; none when the channel is closed.
    fn receive(&self) -> Option<i64> {
        let mut messages = self.messages.lock().unwrap();
        while messages.0.is_empty() && messages.1 {
            messages = self.changed.wait(messages).unwrap();
        }
        messages.0.pop_front()
    }

    /// Closes the channel and takes what is left.
    fn close_and_drain(&self) -> Vec<i64> {
        atomic("close", || {
            let mut messages = self.messages.lock().unwrap();
            messages.1 = false;
            messages.0.drain(..).collect()
        })
    }
}

/// Whether a message was accepted, what was there when the channel was closed, and how much is there at the end.
fn channel_close(send: fn(&Channel, i64) -> bool) -> (bool, Vec<i64>, usize) {
    let channel = Arc::new(Channel::new());
    let (accepted, drained) = beside(&channel, |channel| send(channel, 7), Channel::close_and_drain);
    (accepted, drained, channel.messages.lock().unwrap().0.len())
}

// case: channel-close
/// Sends if the channel was open a moment ago.
impl Channel {
    fn is_open(&self) -> bool {
        self.messages.lock().unwrap().1
    }

    fn send_after_looking(&self, message: i64) -> bool {
        atomic("send", || {
            let open = self.is_open();
            if open {
                self.messages.lock().unwrap().0.push_back(message);
                self.changed.notify_one();
            }
            open
        })
    }
}
// end

// case: channel-close-locked
/// Sends if the channel is open.
impl Channel {
    fn send(&self, message: i64) -> bool {
        atomic("send", || {
            let mut messages = self.messages.lock().unwrap();
            if messages.1 {
                messages.0.push_back(message);
                self.changed.notify_one();
            }
            messages.1
        })
    }
}
// end

/// One thread receives until there is nothing more, the other one sends and closes.
fn channel_receive(close: fn(&Channel)) -> i64 {
    let receive = |channel: &Channel| std::iter::from_fn(|| channel.receive()).sum::<i64>();
    let serve = move |channel: &Channel| {
        channel.send(7);
        close(channel);
    };
    beside(&Arc::new(Channel::new()), receive, serve).0
}

// case: channel-close-unnoticed
/// Closes the channel.
impl Channel {
    fn close_silently(&self) {
        self.messages.lock().unwrap().1 = false;
    }
}
// end

// case: channel-close-noticed
/// Closes the channel and says so.
impl Channel {
    fn close(&self) {
        self.messages.lock().unwrap().1 = false;
        self.changed.notify_all();
    }
}
// end

/// Two threads count and unpark the main one.
fn park(wait: fn(&AtomicI64)) -> i64 {
    let done = Arc::new(AtomicI64::new(0));
    let main = thread::current();
    let work = || {
        let (done, main) = (Arc::clone(&done), main.clone());
        thread::spawn(move || {
            done.fetch_add(1, SeqCst);
            main.unpark();
        })
    };
    let threads = [work(), work()];
    wait(&done);
    for thread in threads {
        thread.join().unwrap();
    }
    done.load(SeqCst)
}

// case: park-token-loss
/// One park for each thread.
fn park_twice(_: &AtomicI64) {
    thread::park();
    thread::park();
}
// end

// case: park-token-and-count
/// Looks at the count, not at the tokens.
fn park_until_counted(done: &AtomicI64) {
    while done.load(SeqCst) < 2 {
        thread::park();
    }
}
// end
