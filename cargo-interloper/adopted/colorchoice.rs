//! A setting that is saved and restored: two threads save and restore the choice of the whole program.
//!
//! ```toml
//! colorchoice = "1"
//! [package.metadata.interloper]
//! instrument = ["colorchoice"]
//! ```

use std::sync::Mutex;
use std::thread;

use colorchoice::ColorChoice;

fn without_colors() {
    let saved = ColorChoice::global();
    ColorChoice::Never.write_global();
    saved.write_global();
}

fn two(at_once: bool) {
    let turn = Mutex::new(());
    let prints = || {
        let _turn = at_once.then(|| turn.lock().unwrap());
        without_colors();
    };
    thread::scope(|scope| {
        scope.spawn(prints);
        prints();
    });
    assert_eq!(ColorChoice::global(), ColorChoice::Auto);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
