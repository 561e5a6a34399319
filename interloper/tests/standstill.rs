//! A method that makes no step any more is named, with the last place at which it was seen: the check ends with a message,
//! and neither hangs nor ends the process. A method that ends the process does not pass.
//!
//! Where nothing can be interrupted the process ends, so this program runs itself as a child.

use std::hint::black_box;
use std::process::{Command, Output};
use std::time::Duration;

use interloper::collections::DashMap;
use interloper::{MethodUnderTest, Misuse, Report, Verdict};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("loops") => stands_still(check(1, |map, key| {
            map.insert(key, 1);
            while black_box(true) {}
        })),
        Some("loops among several") => stands_still(check(2, |map, key| {
            map.remove(&key);
            // Alone it returns.
            while map.contains_key(&key) && black_box(true) {}
            while black_box(interloper_std::runtime::with(|_| ()).is_some()) {}
        })),
        Some("leaves") => drop(check(1, |map, key| {
            map.insert(key, 1);
            std::process::exit(0)
        })),
        Some("waits") => stands_still(check(1, |_, _| std::thread::park())),
        Some("works") => {
            // Now and then a step, for longer than the patience.
            let report = check(1, |map, key| {
                (0..8).for_each(|_| {
                    std::thread::sleep(PATIENCE / 10);
                    map.contains_key(&key);
                });
            });
            assert_eq!(report.expect("it works").verdict, Verdict::Unfinished);
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
        let interrupts = cfg!(all(target_os = "linux", target_arch = "x86_64"));
        assert_eq!(child.status.code(), Some(if interrupts { 0 } else { 101 }), "{name}: {told}");
        let message = told.trim_end().rsplit_once(':').map_or("", |(before_the_column, _)| before_the_column);
        // The whole message, so that a change of wording is seen in review.
        let expected = format!(
            "stuck made no step for 300 ms: it loops without synchronising, or waits for something outside control (a lock \
             or a channel of the real std, a file, a socket); its last step was at interloper/tests/standstill.rs:{seen}"
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

/// The check says what stands still, on standard error, and the process goes on.
fn stands_still(checked: Result<Report, Misuse>) {
    let misuse = checked.expect_err("the method does not return");
    assert!(matches!(misuse, Misuse::Stuck(_)), "{misuse:?}");
    eprintln!("{misuse}");
}

fn check(calls: usize, method: fn(&DashMap<u32, u32>, u32)) -> Result<Report, Misuse> {
    let method = MethodUnderTest::new("stuck", DashMap::new, method).arguments([7]).concurrent(calls);
    let settings = |settings: &mut interloper::Settings| {
        (settings.patience, settings.time) = (Some(PATIENCE), Some(Duration::from_secs(2)));
    };
    method.settings(settings).check()
}
