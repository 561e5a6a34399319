//! What tasks share: permits, channels, a lock, a cell that is written once, and notifications.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![semaphore(), mpsc(), unbounded(), broadcast(), watch(), rw_lock(), once_cell(), notify()]
}

fn semaphore() -> Object {
    use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError};
    let taken = |permits: Result<SemaphorePermit<'_>, TryAcquireError>| match permits {
        Ok(permits) => {
            permits.forget();
            "taken"
        }
        Err(TryAcquireError::NoPermits) => "too few",
        Err(TryAcquireError::Closed) => "closed",
    };
    Object::describe("tokio::sync::Semaphore", || Semaphore::new(1))
        .core("try_acquire", move |permits, ()| taken(permits.try_acquire()))
        .core("add_permits", |permits, ()| permits.add_permits(1))
        .method("try_acquire_many", move |permits, ()| taken(permits.try_acquire_many(2)))
        .method("available_permits", |permits, ()| permits.available_permits() as i64)
        .reads()
        .method("forget_permits", |permits, ()| permits.forget_permits(1) as i64)
        .method("close", |permits, ()| permits.close())
        .method("is_closed", |permits, ()| permits.is_closed())
        .reads()
        .build()
}

fn mpsc() -> Object {
    use tokio::sync::mpsc::channel;
    use tokio::sync::mpsc::error::{TryRecvError, TrySendError};
    // One thread at a time may receive.
    Object::describe("tokio::sync::mpsc::channel", || {
        let (sender, receiver) = channel::<i64>(2);
        (sender, Mutex::new(receiver))
    })
    .core("try_send", |(sender, _), (value,): (i64,)| match sender.try_send(value) {
        Ok(()) => "sent",
        Err(TrySendError::Full(_)) => "full",
        Err(TrySendError::Closed(_)) => "closed",
    })
    .core("try_recv", |(_, receiver), ()| {
        receiver.lock().unwrap().try_recv().map_err(|error| match error {
            TryRecvError::Empty => "empty",
            TryRecvError::Disconnected => "closed",
        })
    })
    .method("capacity", |(sender, _), ()| sender.capacity() as i64)
    .reads()
    .method("len", |(_, receiver), ()| receiver.lock().unwrap().len() as i64)
    .reads()
    .method("is_empty", |(_, receiver), ()| receiver.lock().unwrap().is_empty())
    .reads()
    .method("close", |(_, receiver), ()| receiver.lock().unwrap().close())
    .method("is_closed", |(sender, _), ()| sender.is_closed())
    .reads()
    .build()
}

fn unbounded() -> Object {
    use tokio::sync::mpsc::error::TryRecvError;
    use tokio::sync::mpsc::unbounded_channel;
    Object::describe("tokio::sync::mpsc::unbounded_channel", || {
        let (sender, receiver) = unbounded_channel::<i64>();
        (sender, Mutex::new(receiver))
    })
    .core("send", |(sender, _), (value,): (i64,)| sender.send(value).is_ok())
    .core("try_recv", |(_, receiver), ()| {
        receiver.lock().unwrap().try_recv().map_err(|error| match error {
            TryRecvError::Empty => "empty",
            TryRecvError::Disconnected => "closed",
        })
    })
    .method("len", |(_, receiver), ()| receiver.lock().unwrap().len() as i64)
    .reads()
    .method("is_empty", |(_, receiver), ()| receiver.lock().unwrap().is_empty())
    .reads()
    .method("close", |(_, receiver), ()| receiver.lock().unwrap().close())
    .method("is_closed", |(sender, _), ()| sender.is_closed())
    .reads()
    .build()
}

fn broadcast() -> Object {
    use tokio::sync::broadcast::channel;
    use tokio::sync::broadcast::error::TryRecvError;
    Object::describe("tokio::sync::broadcast::channel", || {
        let (sender, receiver) = channel::<i64>(2);
        (sender, Mutex::new(receiver))
    })
    .core("send", |(sender, _), (value,): (i64,)| sender.send(value).is_ok())
    .core("try_recv", |(_, receiver), ()| {
        receiver.lock().unwrap().try_recv().map_err(|error| match error {
            TryRecvError::Empty => "empty".to_owned(),
            TryRecvError::Closed => "closed".to_owned(),
            TryRecvError::Lagged(missed) => format!("missed {missed}"),
        })
    })
    .method("len", |(sender, _), ()| sender.len() as i64)
    .reads()
    .method("is_empty", |(sender, _), ()| sender.is_empty())
    .reads()
    .method("receiver_len", |(_, receiver), ()| receiver.lock().unwrap().len() as i64)
    .reads()
    .method("receiver_is_empty", |(_, receiver), ()| receiver.lock().unwrap().is_empty())
    .reads()
    .build()
}

fn watch() -> Object {
    use tokio::sync::watch::channel;
    Object::describe("tokio::sync::watch::channel", || {
        let (sender, receiver) = channel(0_i64);
        (sender, Mutex::new(receiver))
    })
    .core("send_replace", |(sender, _), (value,): (i64,)| sender.send_replace(value))
    .core("borrow", |(sender, _), ()| *sender.borrow())
    .reads()
    .method("add", |(sender, _), (value,): (i64,)| sender.send_modify(|old| *old += value))
    .method("replace_if_other", |(sender, _), (value,): (i64,)| {
        sender.send_if_modified(|old| std::mem::replace(old, value) != value)
    })
    .method("borrow_and_update", |(_, receiver), ()| *receiver.lock().unwrap().borrow_and_update())
    .method("has_changed", |(_, receiver), ()| receiver.lock().unwrap().has_changed().ok())
    .reads()
    .method("mark_changed", |(_, receiver), ()| receiver.lock().unwrap().mark_changed())
    .method("mark_unchanged", |(_, receiver), ()| receiver.lock().unwrap().mark_unchanged())
    .build()
}

fn rw_lock() -> Object {
    use tokio::sync::RwLock;
    Object::describe("tokio::sync::RwLock", || RwLock::new(0_i64))
        .core("add", |lock, (value,): (i64,)| {
            let mut guard = lock.blocking_write();
            *guard += value;
            *guard
        })
        .core("read", |lock, ()| *lock.blocking_read())
        .reads()
        .method("add_downgraded", |lock, (value,): (i64,)| {
            let mut guard = lock.blocking_write();
            *guard += value;
            *guard.downgrade()
        })
        .build()
}

fn once_cell() -> Object {
    use tokio::sync::{OnceCell, SetError};
    // A cell that is being initialized has no value yet, and may get none: a `set` that meets this is tried again.
    Object::describe("tokio::sync::OnceCell", OnceCell::<i64>::new)
        .core("set", |cell, (value,): (i64,)| {
            loop {
                match cell.set(value) {
                    Ok(()) => return true,
                    Err(SetError::AlreadyInitializedError(_)) => return false,
                    Err(SetError::InitializingError(_)) => thread::yield_now(),
                }
            }
        })
        .core("get", |cell, ()| cell.get().copied())
        .reads()
        .method("get_or_init", |cell, (value,): (i64,)| *block_on(cell.get_or_init(|| async move { value })))
        .method("get_or_fail", |cell, ()| block_on(cell.get_or_try_init(|| async { Err(()) })).copied())
        .reads()
        .method("initialized", |cell, ()| cell.initialized())
        .reads()
        .build()
}

fn notify() -> Object {
    use tokio::sync::Notify;
    // Not `notify_waiters`: it wakes calls that wait, and one after the other, no call waits.
    Object::describe("tokio::sync::Notify", Notify::new)
        .core("notify_one", |notify, ()| notify.notify_one())
        .core("notified", |notify, ()| block_on(notify.notified()))
        .method("notify_last", |notify, ()| notify.notify_last())
        .build()
}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}
