//! `scope`: threads that borrow.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;

use super::builder::{Body, Builder, returning};
use super::join::{Kind, ScopedJoinHandle, Started};
use crate::runtime::{self, Current, Place, Slot, TaskId};

/// Mirrors [`std::thread::Scope`].
#[repr(transparent)]
pub struct Scope<'scope, 'env: 'scope>(std::thread::Scope<'scope, 'env>);

/// As [`std::thread::scope`].
///
/// # Panics
/// When a thread panicked that the program did not join.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let location = Location::caller();
    std::thread::scope(|real| {
        let scope = Scope::of(real);
        match runtime::with(|current| Children::open(&current, scope.key(), location)) {
            None => f(scope),
            Some(children) => children.around(|| f(scope)),
        }
    })
}

impl<'scope, 'env> Scope<'scope, 'env> {
    fn of(real: &'scope std::thread::Scope<'scope, 'env>) -> &'scope Scope<'scope, 'env> {
        let real: *const std::thread::Scope<'scope, 'env> = real;
        // SAFETY: the representation is that of the real scope.
        unsafe { &*real.cast::<Scope<'scope, 'env>>() }
    }

    /// The tasks of the scope, if it was opened in the running execution.
    fn tasks(&self, current: &Current<'_>) -> Option<Tasks> {
        Scopes::of(current).0.borrow().get(&self.key()).cloned()
    }

    /// The name of an open scope: the real scope does not move.
    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Starts a thread, or a task if the scope was opened under control.
    fn start(
        &'scope self,
        builder: Builder,
        body: Body<'scope>,
        location: Place,
    ) -> io::Result<Started<std::thread::ScopedJoinHandle<'scope, ()>>> {
        let Some(tasks) = runtime::with(|current| self.tasks(&current)).flatten() else {
            let handle = builder.real().spawn_scoped(&self.0, body);
            return handle.map(|handle| Started::real(handle.thread().clone(), handle));
        };
        // SAFETY: only the lifetime changes. The scope waits for the end of each task in the list before anything of `'scope`
        // ends, and the runtime has dropped the closure by then.
        let body = unsafe { std::mem::transmute::<Body<'scope>, Body<'static>>(body) };
        let task = runtime::with(|current| builder.spawn_task(&current, body, location))
            .expect("this thread is controlled")?;
        if let Kind::Task(_, task) = task.kind {
            tasks.borrow_mut().push(task);
        }
        Ok(task)
    }

    /// As [`std::thread::Scope::spawn`].
    ///
    /// # Panics
    /// When the operating system fails to create a thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("failed to spawn thread")
    }
}

impl Builder {
    /// As [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    /// When the operating system fails to create a thread; under control when no machine has room for its stack.
    ///
    /// # Panics
    /// When the name contains null bytes.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (body, value) = returning(f);
        Ok(ScopedJoinHandle::new(scope.start(self, body, Location::caller())?, value))
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The tasks of a scope, in the order of spawning.
type Tasks = Rc<RefCell<Vec<TaskId>>>;

/// The open scopes of an execution.
#[derive(Default)]
struct Scopes(RefCell<BTreeMap<usize, Tasks>>);

static SCOPES: Slot = Slot::new();

impl Scopes {
    fn of(current: &Current<'_>) -> Rc<Scopes> {
        let runtime = current.runtime();
        let scopes = runtime.shared(SCOPES.index()).unwrap_or_else(|| {
            let scopes = Rc::new(Scopes::default());
            runtime.set_shared(SCOPES.index(), scopes.clone());
            scopes
        });
        scopes.downcast().expect("the slot is used here alone")
    }
}

/// The tasks of an open scope. When this is dropped they have ended, even if the task unwinds.
struct Children {
    scopes: Rc<Scopes>,
    key: usize,
    tasks: Tasks,
    /// How many of them this has joined.
    joined: usize,
    location: Place,
}

impl Children {
    fn open(current: &Current<'_>, key: usize, location: Place) -> Children {
        let (scopes, tasks) = (Scopes::of(current), Tasks::default());
        scopes.0.borrow_mut().insert(key, tasks.clone());
        Children { scopes, key, tasks, joined: 0, location }
    }

    #[track_caller]
    fn around<T>(mut self, f: impl FnOnce() -> T) -> T {
        let result = catch_unwind(AssertUnwindSafe(f));
        let panicked = self.join();
        drop(self);
        match result {
            Err(payload) => resume_unwind(payload),
            Ok(_) if panicked => panic!("a scoped thread panicked"),
            Ok(result) => result,
        }
    }

    /// Waits for the end of all tasks; returns whether one of them panicked that no task had joined.
    fn join(&mut self) -> bool {
        let mut panicked = false;
        while let Some(&task) = self.tasks.clone().borrow().get(self.joined) {
            let result = runtime::with(|current| current.runtime().join(task, self.location));
            // Only now: if joining unwinds, the task has not ended.
            self.joined += 1;
            panicked |= matches!(result, Some(Err(_)));
        }
        panicked
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.join();
        self.scopes.0.borrow_mut().remove(&self.key);
    }
}
