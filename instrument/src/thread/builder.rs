//! `Builder`: how threads are made.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::{Arc, Mutex};

use super::join::{JoinHandle, TaskHandle};
use super::thread::Thread;
use crate::runtime::{self, Current, NewTask, Place, TaskId};

/// Mirrors [`std::thread::Builder`]. Under control the size of the stack is that of the runtime.
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// As [`std::thread::Builder::new`].
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub fn new() -> Builder {
        Builder { name: None, stack_size: None }
    }

    /// As [`std::thread::Builder::name`].
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// As [`std::thread::Builder::stack_size`].
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// As [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    /// When the operating system fails to create a thread; never under control.
    ///
    /// # Panics
    /// When the name contains null bytes.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T,
        F: Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing here is borrowed.
        unsafe { self.spawn_unchecked(f) }
    }

    /// As [`std::thread::Builder::spawn_unchecked`].
    ///
    /// # Errors
    /// When the operating system fails to create a thread; never under control.
    ///
    /// # Panics
    /// When the name contains null bytes.
    ///
    /// # Safety
    /// What `f` and its result borrow lives until the thread has been joined.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T,
        F: Send,
        T: Send,
    {
        let location = Location::caller();
        if !runtime::is_controlled() {
            // SAFETY: the caller promises what the call asks for.
            return unsafe { self.real().spawn_unchecked(f) }.map(JoinHandle::real);
        }
        let spawn = |current: Current<'_>| {
            // SAFETY: the caller promises what the call asks for.
            unsafe { self.spawn_task(&current, f, location) }
        };
        Ok(JoinHandle::of_task(runtime::with(spawn).expect("this thread is controlled")))
    }

    /// Makes a task that runs `f`.
    ///
    /// # Safety
    /// What `f` and its result borrow lives until the task has been joined.
    pub(super) unsafe fn spawn_task<F, T>(self, current: &Current<'_>, f: F, location: Place) -> TaskHandle<T>
    where
        F: FnOnce() -> T,
    {
        let name = self.name;
        assert!(
            !name.as_ref().is_some_and(|name| name.contains('\0')),
            "thread name may not contain interior null bytes"
        );
        let result = Arc::new(Mutex::new(None));
        let packet = result.clone();
        let body: Box<dyn FnOnce() + '_> = Box::new(move || {
            let value = f();
            *packet.lock().expect("nobody panics while holding this lock") = Some(value);
            // Without a handle that could join the task, this drops the value.
            super::destructors::run(packet);
        });
        // SAFETY: only the lifetime changes. The runtime has dropped the closure by the end of the task, and by the
        // caller's promise its borrows live longer.
        let body = unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(body) };
        let task: TaskId = current.runtime().spawn(NewTask { name, location }, body);
        TaskHandle::new(current.execution(), task, Thread::of_task(current, task), result)
    }

    pub(super) fn real(&self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = &self.name {
            builder = builder.name(name.clone());
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real().fmt(f)
    }
}
