
use std::fs::File;

fn lock() {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    file.try_lock().unwrap();
    std::mem::forget(file);
}

#[test]
fn a_lock_ends_with_the_execution() {
    lock();
}

#[test]
fn a_thread_waits_for_a_lock() {
    let open = || File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let threads = [0, 1].map(|_| {
        std::thread::spawn(move || {
            let file = open();
            file.lock().unwrap();
            std::thread::yield_now();
            std::thread::sleep(std::time::Duration::from_millis(1));
            drop(file);
        })
    });
    threads.map(|thread| thread.join().unwrap());
}

#[test]
fn a_thread_waits_for_its_own_lock() {
    lock();
    File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap().lock().unwrap();
}

#[test]
fn a_file_is_locked_twice() {
    lock();
    lock();
}
