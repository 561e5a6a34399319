//! The page that holds the tables: what is between two marks in it is replaced as a whole.

use std::fs;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::SystemTime;

const BEGIN: &str = "<!-- The tables: from here to the next mark all is written by `interloper-peers --into`. -->\n";
const END: &str = "<!-- The end of the tables. -->\n";

/// The page with these tables in the place of its own. `None` when it has no place for them.
pub fn with_tables(page: &str, tables: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{tables}{END}{after}"))
}

/// When and where the tables were made.
pub fn origin() -> String {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let info = file("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown make", |(_, model)| model);
    let load = file("/proc/loadavg");
    let load = load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!(
        "Made on {}, on a machine with {cores} cores ({model}); its load average was {load} at the end.\n",
        date(now.as_secs() / 86_400)
    )
}

/// The date so many days after 1 January 1970.
fn date(days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [
        ("January", 31),
        ("February", 28 + u64::from(leap(year))),
        ("March", 31),
        ("April", 30),
        ("May", 31),
        ("June", 30),
        ("July", 31),
        ("August", 31),
        ("September", 30),
        ("October", 31),
        ("November", 30),
        ("December", 31),
    ];
    for (month, length) in months {
        if left < length {
            return format!("{} {month} {year}", left + 1);
        }
        left -= length;
    }
    unreachable!("a year has as many days as its months")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1 January 1970");
        assert_eq!(date(59), "1 March 1970");
        assert_eq!(date(364), "31 December 1970");
        assert_eq!(date(365), "1 January 1971");
        // 30 years, 7 of them leap years, and January: 1972, …, 1996.
        assert_eq!(date(30 * 365 + 7 + 31 + 28), "29 February 2000");
        assert_eq!(date(30 * 365 + 7 + 366), "1 January 2001");
    }

    #[test]
    fn what_is_between_the_marks_is_replaced() {
        let page = format!("before\n{BEGIN}old\n{END}after\n");
        let replaced = with_tables(&page, "new\n").unwrap();
        assert_eq!(replaced, format!("before\n{BEGIN}\nnew\n{END}after\n"));
        assert_eq!(with_tables(&replaced, "new\n"), Some(replaced));
        assert_eq!(with_tables("no place", "new\n"), None);
        assert_eq!(with_tables(BEGIN, "new\n"), None);
    }

    #[test]
    fn the_page_has_a_place_for_the_tables() {
        assert!(with_tables(include_str!("../../docs/PEERS.md"), "").is_some());
    }
}
