//! Times as users type them.

use std::time::Duration;

/// The longest time, in seconds: thirty years.
pub const MAX_SECONDS: u64 = 1_000_000_000;

/// A time above 0, in seconds, or with a unit: `90`, `1.5`, `90s`, `30m`, `8h`. At most [`MAX_SECONDS`].
///
/// # Errors
/// What a time looks like.
pub fn parse(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (number, unit) =
        units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))).unwrap_or((text, 1.0));
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS as f64);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        format!("a time is a number of seconds above 0, such as 90, or 30m or 8h, and at most {MAX_SECONDS} seconds")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text| parse(text).map(|time| time.as_secs_f64());
        assert_eq!(["90", "1.5", "90s", "30m", "0.5h"].map(seconds), [90.0, 1.5, 90.0, 1800.0, 1800.0].map(Ok));
        for wrong in ["0", "0h", "h", "-1", "1d", "1e-10", "inf", "NaN", "1000000001", "5124095576030432h"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
