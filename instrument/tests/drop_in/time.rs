//! Clocks.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

programs! {
    fn sleeping_takes_time() {
        let (start, of_day) = (Instant::now(), SystemTime::now());
        thread::sleep(Duration::from_millis(3));
        assert!(start.elapsed() >= Duration::from_millis(3));
        assert!(of_day.elapsed().unwrap() >= Duration::from_millis(2));
        assert!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() > 1_500_000_000);
    }

    fn instants_are_ordered() {
        let start = Instant::now();
        let mut later = start + Duration::from_secs(1);
        assert!(later > start && later - start == Duration::from_secs(1));
        assert_eq!(start - later, Duration::ZERO);
        assert_eq!(start.checked_duration_since(later), None);
        assert_eq!(start.saturating_duration_since(later), Duration::ZERO);
        assert_eq!(later.duration_since(start), Duration::from_secs(1));
        later -= Duration::from_millis(500);
        later += Duration::from_millis(200);
        assert_eq!(later.checked_sub(Duration::from_millis(700)), Some(start));
        assert_eq!(start.checked_add(Duration::from_millis(700)), Some(later));
        assert_eq!(later - Duration::from_millis(700), start);
        assert!(format!("{start:?}").starts_with("Instant"));
    }

    fn times_of_day_are_ordered() {
        let mut time = UNIX_EPOCH + Duration::from_secs(5);
        assert_eq!(time.duration_since(SystemTime::UNIX_EPOCH).unwrap(), Duration::from_secs(5));
        assert_eq!(UNIX_EPOCH.duration_since(time).unwrap_err().duration(), Duration::from_secs(5));
        time += Duration::from_secs(1);
        time -= Duration::from_secs(2);
        assert_eq!(time.checked_sub(Duration::from_secs(4)), Some(UNIX_EPOCH));
        assert_eq!(time.checked_add(Duration::from_secs(1)), Some(UNIX_EPOCH + Duration::from_secs(5)));
        assert_eq!(time - Duration::from_secs(4), UNIX_EPOCH);
    }
}
