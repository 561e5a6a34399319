//! `Builder`: how threads are made.

use std::fmt;
use std::io;
use std::panic::Location;

use super::join::{JoinHandle, Returned, Started};
use crate::runtime::{self, Current, NewTask, Place, TaskId};

/// No process has a stack of a quarter of all addresses.
const LARGEST_STACK: usize = usize::MAX / 4;

/// What a thread runs. Starting it is compiled once, and not for each closure.
pub(super) type Body<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs `f`, and where its value will be.
pub(super) fn returning<'a, F, T>(f: F) -> (Body<'a>, Returned<T>)
where
    F: FnOnce() -> T + Send + 'a,
    T: Send + 'a,
{
    let (mut theirs, value) = Returned::new();
    let body = move || {
        theirs.put(f());
        // Without a handle that could join the thread, this drops the value.
        super::destructors::run(theirs);
    };
    (Box::new(body), value)
}

/// Mirrors [`std::thread::Builder`]. Under control the size of the stack is that of the runtime. A stack that no machine has room for is
/// refused, as by the operating system.
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
    /// When the operating system fails to create a thread; under control when no machine has room for its stack.
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
    /// When the operating system fails to create a thread; under control when no machine has room for its stack.
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
        let (body, value) = returning(f);
        // SAFETY: only the lifetime changes. The thread or the task has dropped the closure by its end, and by the caller's promise
        // its borrows live longer.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        Ok(JoinHandle::new(self.start(body, Location::caller())?, value))
    }

    /// Starts a thread, or a task under control.
    fn start(self, body: Body<'static>, location: Place) -> io::Result<Started<std::thread::JoinHandle<()>>> {
        if !runtime::is_controlled() {
            return self.real().spawn(body).map(|handle| Started::real(handle.thread().clone(), handle));
        }
        let task = runtime::with(|current| self.spawn_task(&current, body, location));
        task.expect("this thread is controlled")
    }

    /// Makes a task that runs `body`.
    pub(super) fn spawn_task<R>(
        self,
        current: &Current<'_>,
        body: Body<'static>,
        location: Place,
    ) -> io::Result<Started<R>> {
        if self.stack_size.is_some_and(|size| size > LARGEST_STACK) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let name = self.name;
        assert!(
            !name.as_ref().is_some_and(|name| name.contains('\0')),
            "thread name may not contain interior null bytes"
        );
        let task: TaskId = current.runtime().spawn(NewTask { name: name.clone(), location }, body);
        Ok(Started::task(name, current.execution(), task))
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
