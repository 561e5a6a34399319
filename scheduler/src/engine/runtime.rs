//! The engine as the runtime of the mirror of `std`.

use std::any::Any;
use std::rc::Rc;
use std::time::Duration;

use interloper_std::runtime::{
    Action, Addresses, Count, ExecutionId, Exit, Local, Mode, Need, NewTask, ObjectId, ObjectKind, Operation, Place,
    Runtime, Suspension, TaskId, Told, Wakes, Woken,
};

use super::core::{Core, is_unwinding};
use super::freedom::Ended;
use super::state::State;
use super::task::Gate;
use super::turn::MOST_TASKS;
use super::{Clock, Unlock};
use crate::execution::{End, Notice};
use crate::freedoms::Freedom;

impl Runtime for Core {
    fn execution(&self) -> ExecutionId {
        self.state.borrow().execution
    }

    fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    fn task(&self) -> TaskId {
        TaskId(self.state.borrow().current as u32)
    }

    fn runs_program(&self) -> bool {
        // The engine borrows the state while it works for the program.
        self.in_task.get() && !self.choosing.get() && self.state.try_borrow_mut().is_ok_and(|state| !state.aborting)
    }

    fn task_name(&self, task: TaskId) -> Option<String> {
        self.state.borrow().tasks[task.index()].name.clone()
    }

    fn seed(&self) -> u64 {
        self.hashed.set(true);
        self.config.seed
    }

    fn choose(&self, options: u32) -> u32 {
        let mut state = self.state.borrow_mut();
        self.pick(&mut state, options)
    }

    fn register(&self, kind: ObjectKind) -> ObjectId {
        self.state.borrow_mut().register(kind)
    }

    #[inline]
    fn step(&self, operation: Operation) {
        if self.tells_local_states.get() {
            return self.step_in_local_state(operation);
        }
        self.look_or_attempt(operation);
    }

    fn saw(&self, number: u64) {
        let mut state = self.state.borrow_mut();
        let task = state.current;
        let rounds = &mut state.tasks[task].rounds;
        rounds.saw(number);
        self.addresses.watch(rounds.is_watched());
        drop(state);
        self.leave_no_frames();
    }

    fn only_read(&self) {
        let mut state = self.state.borrow_mut();
        if !self.bursting.get() || !self.attempt_of_burst_only_read(&mut state) {
            self.turn_out_only_read(&mut state);
        }
        drop(state);
        self.leave_no_frames();
    }

    fn step_when_free(&self, operation: Operation, needs: &[Need]) {
        self.tell_local_state(operation.location);
        if let Gate::Change = self.gate_of_call(operation) {
            drop(self.make(self.own(Action::Yield, operation.location), Gate::Change));
        }
        {
            let mut state = self.state.borrow_mut();
            let task = state.current;
            let list = &mut state.tasks[task].needs;
            list.clear();
            list.extend_from_slice(needs);
        }
        let mut state = self.make(operation, if needs.is_empty() { Gate::Open } else { Gate::Needs });
        let task = state.current;
        for need in needs {
            self.record_part(&mut state, task, need.lock, Action::Pass(need.mode), operation.location);
        }
    }

    fn step_and_look(&self, operation: Operation, need: Need) -> bool {
        self.tell_local_state(operation.location);
        let mut state = self.make(operation, self.gate_of_call(operation));
        let task = state.current;
        state.tried = true;
        self.record_part(&mut state, task, need.lock, Action::Peek(need.mode), operation.location);
        state.objects[need.lock.index()].holders.admit(need.mode)
    }

    fn keep(&self, lock: ObjectId, mode: Mode, location: Place) {
        let mut state = self.state.borrow_mut();
        let task = state.current;
        state.take(task, lock, mode, location);
        state.dirty |= mode != Mode::Shared;
        self.record_part(&mut state, task, lock, Action::Keep(mode), location);
    }

    fn free(&self, lock: ObjectId, mode: Mode, location: Place) {
        let action = Action::Free(mode);
        let in_turn = self.config.unlock == Unlock::Step || self.state.borrow().aborting;
        let mut state = match in_turn {
            true => self.make(Operation { object: lock, action, location }, Gate::Open),
            false => self.state.borrow_mut(),
        };
        // A task that only looks does not see that the lock is given back by a task that only looked.
        state.dirty = mode != Mode::Shared || (!in_turn && state.dirty);
        let task = state.current;
        state.give_back(task, lock, mode);
        if !in_turn {
            self.record_part(&mut state, task, lock, action, location);
        }
    }

    #[inline]
    fn acquire(&self, lock: ObjectId, mode: Mode, location: Place) {
        if self.prefers_writers.get() && mode == Mode::Exclusive {
            return self.acquire_before_readers(lock, location);
        }
        let operation = Operation { object: lock, action: Action::Lock(mode), location };
        let mut state = self.make(operation, Gate::Lock(lock, mode));
        let task = state.current;
        state.take(task, lock, mode, location);
    }

    fn acquire_recursive(&self, lock: ObjectId, location: Place) {
        let operation = Operation { object: lock, action: Action::LockRecursive, location };
        let mut state = self.make(operation, Gate::LockRecursive(lock));
        let task = state.current;
        state.take(task, lock, Mode::Shared, location);
    }

    fn try_acquire(&self, lock: ObjectId, mode: Mode, location: Place) -> bool {
        self.tell_local_state(location);
        let operation = Operation { object: lock, action: Action::TryLock(mode), location };
        let mut state = self.make(operation, self.gate_of_attempt(operation));
        let task = state.current;
        let free = state.objects[lock.index()].holders.admit(mode);
        let taken = self.attempted(&mut state, task, free, (lock, mode, location));
        drop(state);
        self.leave_no_frames();
        taken
    }

    fn try_acquire_recursive(&self, lock: ObjectId, location: Place) -> bool {
        self.tell_local_state(location);
        let operation = Operation { object: lock, action: Action::TryLock(Mode::Shared), location };
        let mut state = self.make(operation, self.gate_of_attempt(operation));
        let task = state.current;
        let free = state.objects[lock.index()].holders.admit_beside(Mode::Shared);
        let taken = self.attempted(&mut state, task, free, (lock, Mode::Shared, location));
        drop(state);
        self.leave_no_frames();
        taken
    }

    #[inline]
    fn release(&self, lock: ObjectId, mode: Mode, location: Place) {
        if self.config.unlock == Unlock::Step || !self.release_at_once(lock, mode, location) {
            self.release_in_turn(lock, mode, location);
        }
    }

    fn convert(&self, lock: ObjectId, from: Mode, to: Mode, location: Place) {
        if self.prefers_writers.get() && to == Mode::Exclusive {
            self.contend(lock, Some(from), location);
        }
        let operation = Operation { object: lock, action: Action::Convert(from, to), location };
        let mut state = self.make(operation, Gate::Convert(lock, from, to));
        let task = state.current;
        state.change_mode(task, lock, from, to, location);
        state.contend_no_more(task);
    }

    fn try_convert(&self, lock: ObjectId, from: Mode, to: Mode, location: Place) -> bool {
        self.tell_local_state(location);
        let operation = Operation { object: lock, action: Action::TryConvert(from, to), location };
        let mut state = self.make(operation, self.gate_of_attempt(operation));
        let task = state.current;
        let admitted = state.objects[lock.index()].holders.admit_change(from, to);
        state.tried = true;
        if admitted {
            state.change_mode(task, lock, from, to, location);
        } else {
            self.turn_out_only_read(&mut state);
        }
        admitted
    }

    fn hold(&self, lock: ObjectId, mode: Mode, location: Place) {
        let mut state = self.state.borrow_mut();
        let task = state.current;
        state.take(task, lock, mode, location);
        state.dirty = true;
        self.record_part(&mut state, task, lock, Action::Lock(mode), location);
    }

    fn let_go(&self, lock: ObjectId, mode: Mode) {
        let mut state = self.state.borrow_mut();
        let task = state.current;
        let location = state.give_back(task, lock, mode);
        state.dirty = true;
        if let Some(location) = location {
            self.record_part(&mut state, task, lock, Action::Unlock(mode), location);
        }
    }

    fn wait(
        &self,
        queue: ObjectId,
        (lock, mode): (ObjectId, Mode),
        timeout: Option<Duration>,
        wakes: Wakes,
        location: Place,
    ) -> Woken {
        let wait = Operation { object: queue, action: Action::Wait(Some(lock)), location };
        let mut state = self.make(wait, Gate::Open);
        let task = state.current;
        state.give_back(task, lock, mode);
        drop(state);
        let again = Operation { object: lock, action: Action::Lock(mode), location };
        let (mut state, ended) = self.wait_at(Gate::Queue(queue), (timeout, wakes), again, Gate::Lock(lock, mode));
        state.take(task, lock, mode, location);
        ended.woken()
    }

    fn block(&self, queue: ObjectId, timeout: Option<Duration>, then: Operation) -> Woken {
        let mut state = self.state.borrow_mut();
        let task = state.current;
        self.record_part(&mut state, task, queue, Action::Wait(None), then.location);
        drop(state);
        self.wait_at(Gate::Queue(queue), (timeout, Wakes::Notified), then, Gate::Open).1.woken()
    }

    fn notify(&self, queue: ObjectId, count: Count, location: Place) -> u32 {
        let mut state = self.make(Operation { object: queue, action: Action::Notify(count), location }, Gate::Open);
        self.wake_waiters(&mut state, queue, count)
    }

    fn wake(&self, queue: ObjectId, count: Count) -> u32 {
        let mut state = self.state.borrow_mut();
        let task = state.current;
        let location = state.operation(task).location;
        self.record_part(&mut state, task, queue, Action::Notify(count), location);
        self.wake_waiters(&mut state, queue, count)
    }

    fn spawn(&self, task: NewTask, body: Box<dyn FnOnce()>) -> TaskId {
        let mut state = self.state.borrow_mut();
        if state.aborting || state.live >= MOST_TASKS {
            drop(state);
            self.may_not_spawn(task.location);
            state = self.state.borrow_mut();
        }
        let parent = state.current;
        if let (Some(beat), Some(name)) = (&self.beat, &task.name) {
            beat.name(state.live, name);
        }
        let child = state.add_task(task.name, task.location, Some(body));
        state.dirty = true;
        let object = state.tasks[child].object;
        self.record_part(&mut state, parent, object, Action::Spawn, task.location);
        state.tasks[child].cause = state.present();
        TaskId(child as u32)
    }

    fn join(&self, task: TaskId, location: Place) -> Result<(), Box<dyn Any + Send>> {
        let object = self.state.borrow().tasks[task.index()].object;
        let mut state = self.make(Operation { object, action: Action::Join, location }, Gate::Ended(task));
        state.tasks[task.index()].joined = true;
        if state.tasks[task.index()].panicked {
            let joining = state.current;
            state.tasks[joining].joined_panic = Some(task);
        }
        state.tasks[task.index()].payload.take().map_or(Ok(()), Err)
    }

    fn is_finished(&self, task: TaskId, location: Place) -> bool {
        let object = self.state.borrow().tasks[task.index()].object;
        self.step(Operation { object, action: Action::Read, location });
        self.state.borrow().tasks[task.index()].done
    }

    fn park(&self, timeout: Option<Duration>, location: Place) -> Woken {
        let operation = self.own(Action::Park, location);
        let (mut state, ended) = self.wait_at(Gate::Token, (timeout, Wakes::AlsoUnasked), operation, Gate::Open);
        let task = state.current;
        match ended {
            Ended::Ordinarily(_) => {
                state.tasks[task].token = false;
                let object = state.tasks[task].object;
                self.synchronise(|kept| kept.acquire(TaskId(task as u32), object, Mode::Exclusive));
            }
            // If the token has come meanwhile, it stays for the next park.
            Ended::Unasked | Ended::Early(_) => state.leave_token(),
        }
        ended.woken()
    }

    fn unpark(&self, task: TaskId, location: Place) {
        let object = self.state.borrow().tasks[task.index()].object;
        let mut state = self.make(Operation { object, action: Action::Unpark, location }, Gate::Open);
        state.tasks[task.index()].token = true;
        if state.tasks[task.index()].gate == Gate::Token && state.tasks[task.index()].position.is_none() {
            state.rouse(task.index(), Woken::Notified);
        }
    }

    fn suspend(&self, lock: Option<ObjectId>, suspension: Suspension, location: Place) -> Woken {
        self.suspend_poll(lock, suspension, location)
    }

    fn wake_task(&self, task: TaskId, location: Place) {
        self.wake_poll(task, location);
    }

    fn cancels(&self) -> bool {
        self.cancels_poll()
    }

    fn last_place(&self) -> Place {
        let state = self.state.borrow();
        state.operation(state.current).location
    }

    fn yield_now(&self, location: Place) {
        self.let_others_go_on(location);
        self.leave_no_frames();
    }

    fn sleep(&self, duration: Duration, location: Place) {
        let operation = self.own(Action::Sleep, location);
        if duration.is_zero() {
            drop(self.make(operation, Gate::Open));
        } else {
            drop(self.wait_at(Gate::Clock, (Some(duration), Wakes::Notified), operation, Gate::Open));
        }
        self.leave_no_frames();
    }

    fn now(&self) -> Duration {
        let mut state = self.state.borrow_mut();
        if self.clock_matters.get() {
            self.look_at_clock(&mut state);
        }
        let passed = state.poll_clock(self.config.clock == Clock::Ticks);
        match self.config.clock {
            Clock::StandsStill => passed,
            // Waits do not count the ticks: a wait for the rest of the time until a moment ends when the clock without them says so, and a look
            // after the wait sees more ticks than the look before.
            Clock::Ticks => {
                self.ticks.set(self.ticks.get() + 1);
                passed + Duration::from_nanos(self.ticks.get())
            }
        }
    }

    fn block_begin(&self, name: &'static str, location: Place) {
        let number = {
            let mut state = self.state.borrow_mut();
            match state.blocks.iter().position(|&block| block == name) {
                Some(number) => number,
                None => {
                    state.blocks.push(name);
                    state.blocks.len() - 1
                }
            }
        };
        self.mark(Action::BlockBegin(number as u32), location);
    }

    fn block_end(&self, location: Place) {
        // This runs in destructors: where the execution has ended it must not unwind.
        if !self.state.borrow().aborting {
            self.mark(Action::BlockEnd, location);
        }
    }

    fn local(&self, slot: usize) -> Local {
        let state = self.state.borrow();
        state.tasks[state.current].locals.get(slot)
    }

    fn set_local(&self, slot: usize, value: Rc<dyn Any>, lasts: bool) {
        let mut state = self.state.borrow_mut();
        let task = state.current;
        let before = state.tasks[task].locals.set(slot, value, lasts);
        drop(state);
        drop(before);
    }

    fn shared(&self, slot: usize) -> Option<Rc<dyn Any>> {
        match self.state.borrow().shared.get(slot) {
            Local::Value(value) => Some(value),
            Local::Empty | Local::Destroyed => None,
        }
    }

    fn set_shared(&self, slot: usize, value: Rc<dyn Any>) {
        let before = self.state.borrow_mut().shared.set(slot, value, false);
        drop(before);
    }

    fn panicking(&self) -> bool {
        std::thread::panicking() && {
            let state = self.state.borrow();
            is_unwinding(&state, state.current)
        }
    }

    fn has_ended(&self) -> bool {
        self.state.borrow().aborting
    }

    fn fails_weakly(&self) -> bool {
        let mut state = self.state.borrow_mut();
        self.departs(&mut state, Freedom::Weak)
    }

    fn is_short(&self) -> bool {
        let mut state = self.state.borrow_mut();
        self.departs(&mut state, Freedom::Io)
    }

    fn is_late(&self) -> bool {
        let mut state = self.state.borrow_mut();
        self.departs(&mut state, Freedom::Delays)
    }

    fn is_reset(&self) -> bool {
        let mut state = self.state.borrow_mut();
        self.departs(&mut state, Freedom::Resets)
    }

    fn tell(&self, about: usize, told: Told) {
        let mut state = self.state.borrow_mut();
        if self.config.trace && !state.aborting {
            let (before, by) = (state.trace.len() as u32, TaskId(state.current as u32));
            state.notices.push(Notice { before, by, about, told });
        }
    }

    fn exit(&self, exit: Exit, location: Place) -> ! {
        self.exit_process(exit, location)
    }

    fn fail(&self, reason: String) {
        self.stop(End::Failed { task: self.task(), reason });
    }
}

impl Core {
    fn wake_waiters(&self, state: &mut State, queue: ObjectId, count: Count) -> u32 {
        let waiters = state.objects[queue.index()].waiters as u32;
        if waiters == 0 || state.aborting {
            return 0;
        }
        state.dirty = true;
        let (first, woken) = match count {
            Count::One => (self.pick(state, waiters), 1),
            Count::All => (0, waiters),
        };
        for _ in 0..woken {
            let task = state.waiter(queue, first).expect("there are as many waiters as counted");
            state.rouse(task, Woken::Notified);
        }
        woken
    }

    /// The result of an attempt to take a lock.
    fn attempted(
        &self,
        state: &mut State,
        task: usize,
        free: bool,
        (lock, mode, location): (ObjectId, Mode, Place),
    ) -> bool {
        state.tried = true;
        if free {
            state.take(task, lock, mode, location);
        } else {
            self.turn_out_only_read(state);
        }
        free
    }

    /// Gives a lock back as part of the last step. Returns false when the execution has ended.
    #[inline(always)]
    fn release_at_once(&self, lock: ObjectId, mode: Mode, location: Place) -> bool {
        let mut state = self.state.borrow_mut();
        if state.aborting {
            return false;
        }
        let task = state.current;
        state.give_back(task, lock, mode);
        state.dirty = true;
        self.record_part(&mut state, task, lock, Action::Unlock(mode), location);
        true
    }

    /// Not inlined: a path that does not switch should not pay for the switch.
    #[inline(never)]
    fn release_in_turn(&self, lock: ObjectId, mode: Mode, location: Place) {
        let operation = Operation { object: lock, action: Action::Unlock(mode), location };
        let mut state = self.make(operation, Gate::Open);
        let task = state.current;
        state.give_back(task, lock, mode);
    }

    /// The running task enters or leaves a block.
    fn mark(&self, action: Action, location: Place) {
        let operation = self.own(action, location);
        if self.wants_marks.get() || !self.go_on(operation) {
            drop(self.make(operation, Gate::Open));
        }
    }

    /// An operation of the running task on itself.
    pub(super) fn own(&self, action: Action, location: Place) -> Operation {
        let state = self.state.borrow();
        Operation { object: state.tasks[state.current].object, action, location }
    }
}
