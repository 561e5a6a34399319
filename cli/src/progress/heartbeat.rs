//! Something that is done now and then while a command works. `cargo interloper` has this file, too.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// A command that takes no longer than this shows no progress.
const SILENCE: Duration = Duration::from_secs(1);
/// Then it says something this often.
const NOW_AND_THEN: Duration = Duration::from_secs(2);

/// Calls a function on a thread of its own, after a second and then every two seconds, until it is dropped.
pub struct Heartbeat(Option<(Sender<()>, JoinHandle<()>)>);

impl Heartbeat {
    /// Begins to call `beat`.
    pub fn start(mut beat: impl FnMut() + Send + 'static) -> Heartbeat {
        let (sender, ends) = mpsc::channel();
        let work = move || {
            let mut pause = SILENCE;
            while ends.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                beat();
                pause = NOW_AND_THEN;
            }
        };
        // Without a thread, no progress is shown.
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(work).ok();
        Heartbeat(thread.map(|thread| (sender, thread)))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_heart_beats_after_a_second_and_stops() {
        let beats = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&beats);
        let heartbeat = Heartbeat::start(move || _ = count.fetch_add(1, Ordering::Relaxed));
        assert_eq!(beats.load(Ordering::Relaxed), 0);
        let begun = Instant::now();
        while beats.load(Ordering::Relaxed) == 0 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(begun.elapsed() >= SILENCE / 2, "{:?}", begun.elapsed());
        drop(heartbeat);
        let before = beats.load(Ordering::Relaxed);
        assert!(before > 0);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(beats.load(Ordering::Relaxed), before);
    }
}
