//! A method that makes no step any more is named, with the last place at which it was seen; the process does not hang.
//! So is one that ends the process.
//!
//! Its call cannot be unwound, so the process ends: this program runs itself as a child that has to.

use std::hint::black_box;
use std::process::{Command, Output};
use std::time::Duration;

use interloper::collections::DashMap;
use interloper::{MethodUnderTest, Report, Verdict};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("loops") => drop(check(1, |map, key| {
            map.insert(key, 1);
            while black_box(true) {}
        })),
        Some("loops among several") => drop(check(2, |map, key| {
            map.remove(&key);
            // Alone it returns.
            while map.contains_key(&key) && black_box(true) {}
            while black_box(interloper_std::runtime::with(|_| ()).is_some()) {}
        })),
        Some("leaves") => drop(check(1, |map, key| {
            map.insert(key, 1);
            std::process::exit(0)
        })),
        Some("waits") => drop(check(1, |_, _| std::thread::park())),
        Some("works") => {
            // Now and then a step, for longer than the patience.
            let report = check(1, |map, key| {
                (0..8).for_each(|_| {
                    std::thread::sleep(PATIENCE / 10);
                    map.contains_key(&key);
                });
            });
            assert_eq!(report.verdict, Verdict::Unfinished, "{report}");
        }
        _ => parent(),
    }
}

const PATIENCE: Duration = Duration::from_millis(300);

fn parent() {
    let told = |child: &Output| String::from_utf8_lossy(&child.stderr).into_owned();
    let ends = |name: &str, seen: &str| {
        let child = run(name);
        let told = told(&child);
        assert_eq!(child.status.code(), Some(1), "{name}: {told}");
        let message = told.trim_end().rsplit_once(':').map_or("", |(before_the_column, _)| before_the_column);
        // The whole message, so that a change of wording is seen in review.
        let expected = format!(
            "stuck made no step for 300ms: it loops without synchronising, or waits for something outside control (a lock \
             or a channel of the real std, another thread, a file). It was last seen at \
             interloper/tests/standstill.rs:{seen}"
        );
        assert_eq!(message, expected, "{name}: {told}");
    };
    // The last step; or, where there was none, the description.
    ends("loops", &line_of("map.insert(key, 1);"));
    ends("loops among several", &line_of("while map.contains_key(&key) && black_box(true)"));
    ends("waits", &line_of("MethodUnderTest::new(\"stuck\", DashMap::new"));
    // It does not pass by leaving.
    let child = run("leaves");
    assert_eq!(child.status.code(), Some(1), "{}", told(&child));
    assert!(told(&child).starts_with("stuck: no result: the process ended during the check"), "{}", told(&child));
    let child = run("works");
    assert!(child.status.success(), "{}", told(&child));
}

fn run(name: &str) -> Output {
    Command::new(std::env::current_exe().unwrap()).arg(name).output().unwrap()
}

/// The first line of this file with this text.
fn line_of(text: &str) -> String {
    let line = include_str!("standstill.rs").lines().position(|line| line.contains(text)).expect("the line is there");
    (line + 1).to_string()
}

fn check(calls: usize, method: fn(&DashMap<u32, u32>, u32)) -> Report {
    let method = MethodUnderTest::new("stuck", DashMap::new, method).arguments([7]).concurrent(calls);
    let settings = |settings: &mut interloper::Settings| {
        (settings.patience, settings.time) = (Some(PATIENCE), Some(Duration::from_secs(2)));
    };
    method.settings(settings).check().expect("well described")
}
