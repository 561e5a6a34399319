//! Check-then-act: two threads see that a jar has no cookie of a session, and both log in.
//!
//! ```toml
//! reqwest = { version = "0.13", default-features = false, features = ["cookies"] }
//! [package.metadata.interloper]
//! instrument = ["reqwest"]
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use reqwest::Url;
use reqwest::cookie::{CookieStore, Jar};

fn two(at_once: bool) {
    let (jar, logins, turn) = (Jar::default(), AtomicU32::new(0), Mutex::new(()));
    let visit = || {
        let url: Url = "http://example.org/".parse().unwrap();
        let _turn = at_once.then(|| turn.lock().unwrap());
        if jar.cookies(&url).is_none() {
            let session = logins.fetch_add(1, SeqCst);
            jar.add_cookie_str(&format!("session={session}"), &url);
        }
    };
    thread::scope(|scope| {
        scope.spawn(visit);
        visit();
    });
    assert_eq!(logins.into_inner(), 1, "one login");
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
