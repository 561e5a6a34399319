//! The bluetooth driver of S. Qadeer and D. Wu, *KISS: keep it simple and sequential*, PLDI 2004, Figure 2.

use interloper::ToValue;

use super::platform::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use super::platform::sync::{Arc, Condvar, Mutex};
use super::platform::{atomic, beside};
use super::{Bug, Expected, Family, Program};

const FILE: Family = Family::new("KISS (PLDI 2004), Figure 2", include_str!("bluetooth.rs"));

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.bad(
            "bluetooth",
            "bluetooth-count-first",
            Bug::Panic("the driver is stopped"),
            "A request looks whether the driver is stopping, and then counts itself in. A driver that stops between \
             the two sees no request, and has stopped when the request starts its work.",
            || bluetooth(io_increment).to_value(),
        ),
        FILE.good(
            "bluetooth-count-first",
            Expected::Error,
            "A request counts itself in, then looks, and counts itself out again when the driver is stopping. The \
             driver may count itself out between the two, as it may before or after.",
            || bluetooth(io_increment_first).to_value(),
        ),
    ]
}

/// Gives whether the request was let in.
fn bluetooth(io_increment: fn(&Device) -> bool) -> bool {
    let device = Arc::new(Device::new());
    beside(&device, Device::stop, move |device| device.request(io_increment)).1
}

// case: bluetooth
/// The driver counts the requests that are under way, and itself.
struct Device {
    pending_io: AtomicI64,
    stopping: AtomicBool,
    /// Nothing is under way any more.
    stopping_event: (Mutex<bool>, Condvar),
    stopped: AtomicBool,
}

impl Device {
    fn new() -> Device {
        Device {
            pending_io: AtomicI64::new(1),
            stopping: AtomicBool::new(false),
            stopping_event: (Mutex::new(false), Condvar::new()),
            stopped: AtomicBool::new(false),
        }
    }

    /// `BCSP_PnpAdd`: gives whether the request was let in.
    fn request(&self, io_increment: fn(&Device) -> bool) -> bool {
        let admitted = io_increment(self);
        if admitted {
            assert!(!self.stopped.load(SeqCst), "the driver is stopped");
            self.io_decrement();
        }
        admitted
    }

    /// `BCSP_PnpStop`
    fn stop(&self) {
        self.stopping.store(true, SeqCst);
        self.io_decrement();
        let (event, condition) = &self.stopping_event;
        let mut happened = event.lock().unwrap();
        while !*happened {
            happened = condition.wait(happened).unwrap();
        }
        self.stopped.store(true, SeqCst);
    }

    /// `BCSP_IoDecrement`
    fn io_decrement(&self) {
        if self.pending_io.fetch_sub(1, SeqCst) == 1 {
            let (event, condition) = &self.stopping_event;
            *event.lock().unwrap() = true;
            condition.notify_all();
        }
    }
}

/// `BCSP_IoIncrement`
fn io_increment(device: &Device) -> bool {
    atomic("io_increment", || {
        if device.stopping.load(SeqCst) {
            return false;
        }
        device.pending_io.fetch_add(1, SeqCst);
        true
    })
}
// end

// case: bluetooth-count-first
/// `BCSP_IoIncrement`, mended.
fn io_increment_first(device: &Device) -> bool {
    atomic("io_increment", || {
        device.pending_io.fetch_add(1, SeqCst);
        let admitted = !device.stopping.load(SeqCst);
        if !admitted {
            device.io_decrement();
        }
        admitted
    })
}
// end
