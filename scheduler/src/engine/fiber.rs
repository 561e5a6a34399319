//! Fibers and their stacks.

use std::cell::RefCell;

use corosensei::stack::{DefaultStack, Stack};

/// `--cfg interloper_portable` leaves out what is written for one processor, to test the rest there.
#[cfg_attr(all(unix, target_arch = "x86_64", not(miri), not(interloper_portable)), path = "fiber/direct.rs")]
#[cfg_attr(not(all(unix, target_arch = "x86_64", not(miri), not(interloper_portable))), path = "fiber/portable.rs")]
mod switching;

mod abandoned;

/// What other processors use is tested here, too.
#[cfg(test)]
#[cfg_attr(
    all(target_os = "linux", target_arch = "x86_64"),
    expect(dead_code, reason = "tasks are led out by the other one")
)]
#[path = "fiber/portable.rs"]
mod portable;

pub(super) use switching::Way;
use switching::{Fiber, Hub};

/// How a running fiber suspends itself, and how much stack it has.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) way: Way,
    /// The lowest address of the stack, where the guard page is.
    #[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), expect(dead_code))]
    limit: usize,
    /// Below this address there is just enough stack left for the engine itself, and to unwind.
    pub(super) floor: usize,
    /// Where the frames of the fiber begin: the stack grows down from here.
    pub(super) base: usize,
}

/// The stacks that one thread keeps for its next engine, at the most. A hunt sets up an engine for each of some thousand
/// schemas, and the system takes longer to make the stacks than many schemas to run.
const KEPT: usize = 8;

/// The largest stack that is kept: an engine with larger ones is rare, and what it has written there stays in memory.
const KEPT_SIZE: usize = 2 << 20;

thread_local! {
    /// Stacks of engines that have ended, each with the size that was asked for.
    static SPARE: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// A stack of this size that an engine of this thread has left.
fn spare(size: usize) -> Option<DefaultStack> {
    let take = |spare: &RefCell<Vec<(usize, DefaultStack)>>| {
        let mut spare = spare.borrow_mut();
        let at = spare.iter().rposition(|(other, _)| *other == size)?;
        Some(spare.swap_remove(at).1)
    };
    SPARE.try_with(take).ok().flatten()
}

/// What the engine reserves of a stack for itself and for unwinding; at most a quarter of the stack.
const RESERVE: usize = 64 << 10;

/// The fibers of an engine by their tasks, and stacks that no fiber uses. Each stack has a guard page below it.
pub(super) struct Fibers {
    stack_size: usize,
    hub: Box<Hub>,
    fibers: Vec<Option<Fiber>>,
    free: Vec<DefaultStack>,
    /// Fibers that are never resumed again. Their stacks are used again after the execution.
    given_up: Vec<Fiber>,
}

impl Fibers {
    pub(super) fn new(stack_size: usize) -> Fibers {
        Fibers { stack_size, hub: Box::default(), fibers: Vec::new(), free: Vec::new(), given_up: Vec::new() }
    }

    /// Whether the task has a fiber that has not ended.
    #[inline]
    pub(super) fn has(&self, task: usize) -> bool {
        matches!(self.fibers.get(task), Some(Some(_)))
    }

    /// Gives the task a fiber that will run `body`. `on_stack` is told where the stack is, with its length: other tasks may have left
    /// things there.
    ///
    /// # Safety
    /// What `body` borrows lives until the fiber has ended or is never resumed again.
    ///
    /// # Panics
    /// When there is no memory for another stack.
    pub(super) unsafe fn start(&mut self, task: usize, on_stack: impl FnOnce(usize, usize), body: impl FnOnce(Link)) {
        let size = self.stack_size;
        let stack = self.free.pop().or_else(|| spare(size)).unwrap_or_else(|| {
            // Rounding up to whole pages must not overflow.
            assert!(size <= isize::MAX as usize / 2, "no stack of {size} bytes for another task");
            DefaultStack::new(size).unwrap_or_else(|error| panic!("no stack of {size} bytes for another task: {error}"))
        });
        let (limit, base) = (stack.limit().get(), stack.base().get());
        on_stack(limit, base - limit);
        let floor = limit + RESERVE.min(size / 4);
        // SAFETY: the caller promises what the call asks for. The hub is boxed, and goes with the fibers.
        let fiber =
            unsafe { Fiber::new(stack, &self.hub, task, move |way, base| body(Link { way, limit, floor, base })) };
        if self.fibers.len() <= task {
            self.fibers.resize_with(task + 1, || None);
        }
        self.fibers[task] = Some(fiber);
    }

    /// Runs the fiber of a task, and those that are resumed from there, until one suspends itself or ends. Returns the stack of
    /// one that has ended, for [`Fibers::take_back`].
    ///
    /// # Panics
    /// When the task has no fiber.
    #[inline(always)]
    pub(super) fn resume(&mut self, task: usize) -> Option<DefaultStack> {
        let fiber = self.fibers[task].as_mut().expect("a task that is resumed has a fiber");
        let ended = fiber.resume(&self.hub)?;
        let fiber = self.fibers[ended].take().expect("a fiber that ends was there");
        // SAFETY: the fiber has ended.
        Some(unsafe { fiber.into_stack() })
    }

    /// Makes the stack ready for another task.
    #[inline]
    pub(super) fn take_back(&mut self, stack: DefaultStack) {
        self.free.push(stack);
    }

    /// Abandons the fibers that have not ended, as the end of a process abandons threads: they are never resumed. Their
    /// stacks stay as they are until [`Fibers::reclaim`].
    pub(super) fn give_up(&mut self) {
        self.given_up.extend(self.fibers.iter_mut().filter_map(Option::take));
    }

    /// Makes the stacks of abandoned fibers ready for others, without running destructors.
    ///
    /// # Safety
    /// Nothing looks at the content of these stacks any more.
    pub(super) unsafe fn reclaim(&mut self) {
        if !self.given_up.is_empty() {
            // SAFETY: as the caller promises.
            self.free.extend(self.given_up.drain(..).map(|fiber| unsafe { fiber.into_stack() }));
        }
    }

    /// Abandons the fibers that have not ended: they are never resumed, and their stacks stay as they are for long.
    pub(super) fn abandon(&mut self) {
        let fibers = self.fibers.iter_mut().filter_map(Option::take).chain(self.given_up.drain(..));
        fibers.for_each(abandoned::keep);
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        self.abandon();
        // A thread that is ending keeps nothing.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            let room = if self.stack_size <= KEPT_SIZE { KEPT.saturating_sub(spare.len()) } else { 0 };
            spare.extend(self.free.drain(..).take(room).map(|stack| (self.stack_size, stack)));
        });
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
impl Link {
    /// Whether the address is on the stack, or on the guard page below it.
    pub(super) fn is_on_stack(&self, address: usize) -> bool {
        (self.limit..self.base).contains(&address)
    }
}

#[cfg(test)]
mod tests {
    /// Three fibers that resume each other or the thread's side, and what they and the thread's side have seen, in this order.
    macro_rules! tests_of {
        ($switching:ident) => {
            mod $switching {
                use std::cell::{Cell, RefCell};

                use corosensei::stack::DefaultStack;

                use super::super::$switching::{Fiber, Hub, Way};

                /// Runs them until all have ended, as the engine does: `next` says whom the thread's side resumes.
                fn run(body: &dyn Fn(usize, Way, &[Cell<Option<Way>>], &Cell<usize>)) -> Vec<usize> {
                    let (hub, next, ended) = (Hub::default(), Cell::new(0), RefCell::new(Vec::new()));
                    let ways: [Cell<Option<Way>>; 3] = Default::default();
                    let mut fibers: Vec<Option<Fiber>> = (0..3)
                        .map(|task| {
                            let (stack, ways, next) = (DefaultStack::new(64 << 10).unwrap(), &ways, &next);
                            let body = move |way: Way, base: usize| {
                                let here = std::ptr::from_ref(&way).addr();
                                assert!(here < base && base - here < 64 << 10, "{here} is not below {base}");
                                ways[task].set(Some(way));
                                body(task, way, ways, next);
                            };
                            // SAFETY: what it borrows lives as long as this function, which ends when all fibers have ended.
                            Some(unsafe { Fiber::new(stack, &hub, task, body) })
                        })
                        .collect();
                    while ended.borrow().len() < 3 {
                        let fiber = fibers[next.get()].as_mut().expect("it has not ended");
                        if let Some(task) = fiber.resume(&hub) {
                            ended.borrow_mut().push(task);
                            // SAFETY: it has ended.
                            drop(fibers[task].take().map(|fiber| unsafe { fiber.into_stack() }));
                            next.set((0..3).find(|task| fibers[*task].is_some()).unwrap_or(0));
                        }
                    }
                    ended.into_inner()
                }

                #[test]
                fn values_survive_and_each_end_is_told() {
                    let seen = RefCell::new(Vec::new());
                    let ended = run(&|task, way, ways, next| {
                        let mut numbers = [task as u64 + 1; 8];
                        let mut fraction = 1.5 * (task + 1) as f64;
                        for round in 0..4 {
                            seen.borrow_mut().push(task);
                            numbers.iter_mut().for_each(|number| *number *= 3);
                            fraction *= 2.0;
                            let other = (task + 1) % 3;
                            next.set(other);
                            match ways[other].get() {
                                // SAFETY: the way is the running fiber's. Nobody ends before all have gone round four times.
                                Some(other) if round > 0 => unsafe { way.resume(other) },
                                // SAFETY: as above.
                                _ => unsafe { way.suspend() },
                            }
                        }
                        assert_eq!(numbers, [(task as u64 + 1) * 81; 8]);
                        assert_eq!(fraction, 24.0 * (task + 1) as f64);
                    });
                    assert_eq!(*seen.borrow(), [0, 1, 2].repeat(4));
                    assert_eq!(ended, [0, 1, 2]);
                }

                #[test]
                fn a_panic_is_caught_on_the_fiber_where_it_began() {
                    let caught = Cell::new(0);
                    let ended = run(&|task, way, _, next| {
                        let result = crate::engine::panics::quietly(|| {
                            std::panic::catch_unwind(|| assert_ne!(task, 1, "the second one panics"))
                        });
                        caught.set(caught.get() + usize::from(result.is_err()));
                        next.set((task + 1) % 3);
                        // SAFETY: the way is the running fiber's.
                        unsafe { way.suspend() };
                    });
                    assert_eq!((caught.get(), ended), (1, vec![0, 1, 2]));
                }
            }
        };
    }

    tests_of!(switching);
    tests_of!(portable);
}
