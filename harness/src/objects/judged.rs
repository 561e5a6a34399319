//! Runs a judge on a thread of its own, with a clock beside it: a call of the object may never return.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use interloper_linearize::visibility::Visibility;
use interloper_scheduler::Deadline;

use crate::judge::{Judge, Refusal};
use crate::object::{Program, Sequential};

/// How long a call that runs alone may take before it counts as blocked.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// The judge of a program, see [`Judge::new`], if there is time. If a call takes longer than `patience`, all calls of the object run
/// under control from then on, where a call that waits blocks its order and no other. If a call takes longer there, too, the refusal
/// names the call. The thread of a call that does not return is left running, which happens twice for each method at most.
///
/// # Errors
/// When the correct outcomes are unknown, and why: [`Refusal::OutOfTime`], for one.
///
/// # Panics
/// When the operating system has no thread left.
pub fn within(
    program: &Program,
    visibility: &Visibility,
    bound: usize,
    patience: Duration,
    deadline: Deadline,
) -> Result<(Judge, Sequential), Refusal> {
    let waits = program.object().waits();
    if let Some(call) = waits.first_outside(program.calls()) {
        return Err(Refusal::Outside(call));
    }
    let judged = watched(program, visibility, bound, patience, deadline);
    let Err(Refusal::Blocked(_)) = judged else { return judged };
    if !waits.take_control() {
        return within(program, visibility, bound, patience, deadline);
    }
    judged
}

/// Runs the judge, and watches it.
fn watched(
    program: &Program,
    visibility: &Visibility,
    bound: usize,
    patience: Duration,
    deadline: Deadline,
) -> Result<(Judge, Sequential), Refusal> {
    if deadline.is_over() {
        return Err(Refusal::OutOfTime);
    }
    let waits = program.object().waits();
    let calls = program.calls();
    let is_under_control = waits.is_under_control();
    let (program, visibility) = (program.clone(), visibility.clone());
    let mut sequential = program.sequential();
    let pulse = sequential.pulse();
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let judge = Judge::new(&program, &mut sequential, &visibility, bound);
        // Sending fails if the watch was given up; the result is not needed then.
        let _ = sender.send(judge.map(|judge| (judge, sequential)));
    };
    let name = "sequential".to_owned();
    let thread = std::thread::Builder::new().name(name).spawn(work).expect("the operating system has no thread left");
    let (mut last, mut since) = (pulse.read(), Instant::now());
    loop {
        let look = patience / 4;
        match receiver.recv_timeout(deadline.left().map_or(look, |left| left.min(look))) {
            Ok(judged) => {
                if judged.as_ref().is_ok_and(|(_, sequential)| sequential.is_under_control()) {
                    waits.take_control();
                }
                return judged;
            }
            Err(RecvTimeoutError::Disconnected) => {
                let payload = thread.join().expect_err("internal error: a judge left without a word");
                std::panic::resume_unwind(payload);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if deadline.is_over() {
            // The thread ends before its next call; its result is not needed.
            pulse.stop();
            return Err(Refusal::OutOfTime);
        }
        let now = pulse.read();
        if now != last {
            (last, since) = (now, Instant::now());
        } else if let Some(call) = now.1
            && since.elapsed() >= patience
        {
            // If the call returns after all, the thread ends before the next one.
            pulse.stop();
            if is_under_control {
                waits.is_outside(calls[call].0);
            }
            return Err(Refusal::Blocked(call));
        }
    }
}
