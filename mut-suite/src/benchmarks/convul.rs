//! The vulnerabilities of ConVul: what is left of them when everything that the bug does not need is taken away. A
//! pointer is a number here, and 0 is null.

use interloper::Value;

use super::platform::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use super::platform::sync::{Arc, Mutex};
use super::platform::thread;
use super::{Bug, Program, Suite, done};

const SUITE: Suite = Suite("ConVul");

const NULL: &str = "a null pointer";
const FREED: &str = "used or freed after it was freed";

pub(super) fn programs() -> Vec<Program> {
    let (null, freed) = (Bug::Panic(NULL), Bug::Panic(FREED));
    vec![
        SUITE.bad("cve-2009-3547", null, "A pipe is opened without a look at whether it is still there.", || {
            together(open_pipe, drop_pipe)
        }),
        SUITE.bad(
            "cve-2013-1792",
            null,
            "Two keyrings are installed one after the other; who sees the first takes the second for granted.",
            || together(look_up_key, |keyrings| keyrings.install(false)),
        ),
        SUITE.good("cve-2013-1792-second-first", "The keyring that is looked at first is installed last.", || {
            together(
                |keyrings: &Keyrings| {
                    if keyrings.session.load(SeqCst) == 0 {
                        keyrings.install(true);
                    }
                    used(keyrings.session.load(SeqCst));
                },
                |keyrings| keyrings.install(true),
            )
        }),
        SUITE.bad("cve-2015-7550", null, "A key is checked before its lock is taken, and revoked in between.", || {
            together(read_key, revoke_key)
        }),
        SUITE.bad(
            "cve-2016-1972",
            null,
            "The last thread that leaves an initialisation frees its lock, while another one is about to take it.",
            || together(initialise, initialise),
        ),
        SUITE.bad(
            "cve-2016-1973",
            null,
            "A shared instance is counted before it is stored: who finds the count raised finds no instance.",
            || together(Counted::get_and_give_back, Counted::get),
        ),
        SUITE.bad("cve-2016-7911", null, "A pointer is looked at, and read again after it was cleared.", || {
            together(read_priority, clear_context)
        }),
        SUITE.bad("cve-2016-9806", freed, "Two threads free what the second of them stored.", || together(dump, dump)),
        SUITE.bad(
            "cve-2017-15265",
            freed,
            "A new port is in the list before its creator has written to it; another thread deletes it.",
            || together(create_port, delete_port),
        ),
        SUITE.bad(
            "cve-2017-6346",
            freed,
            "Two threads store what they allocated in one pointer, and both free what it points to.",
            || together(add_fanout, add_fanout),
        ),
    ]
}

/// Runs both in threads of their own, on shared data.
fn together<T: Default + Send + Sync + 'static>(one: fn(&T), other: fn(&T)) -> Value {
    let shared = Arc::new(T::default());
    let threads = [one, other].map(|body| {
        let shared = shared.clone();
        thread::spawn(move || body(&shared))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    done()
}

/// What happens when a pointer is followed.
fn used(pointer: usize) {
    assert!(pointer != 0, "{NULL}");
}

/// Blocks of memory: how often each was freed.
#[derive(Default)]
struct Heap {
    next: AtomicUsize,
    freed: [AtomicUsize; 4],
}

impl Heap {
    fn allocate(&self) -> usize {
        self.next.fetch_add(1, SeqCst) + 1
    }

    fn free(&self, block: usize) {
        assert!(block == 0 || self.freed[block - 1].swap(1, SeqCst) == 0, "{FREED}");
    }

    fn follow(&self, block: usize) {
        assert!(block != 0 && self.freed[block - 1].load(SeqCst) == 0, "{FREED}");
    }
}

struct Pipe {
    lock: Mutex<()>,
    pipe: AtomicUsize,
}

impl Default for Pipe {
    fn default() -> Pipe {
        Pipe { lock: Mutex::new(()), pipe: AtomicUsize::new(1) }
    }
}

fn open_pipe(inode: &Pipe) {
    let _section = inode.lock.lock().unwrap();
    used(inode.pipe.load(SeqCst));
}

fn drop_pipe(inode: &Pipe) {
    let _section = inode.lock.lock().unwrap();
    inode.pipe.store(0, SeqCst);
}

#[derive(Default)]
struct Keyrings {
    user: AtomicUsize,
    session: AtomicUsize,
    lock: Mutex<()>,
}

impl Keyrings {
    fn install(&self, session_first: bool) {
        if self.user.load(SeqCst) != 0 {
            return;
        }
        let _section = self.lock.lock().unwrap();
        if self.user.load(SeqCst) != 0 {
            return;
        }
        let (first, second) = if session_first { (&self.session, &self.user) } else { (&self.user, &self.session) };
        first.store(1, SeqCst);
        second.store(2, SeqCst);
    }
}

fn look_up_key(keyrings: &Keyrings) {
    if keyrings.session.load(SeqCst) == 0 {
        keyrings.install(false);
    }
    used(keyrings.session.load(SeqCst));
}

struct Key {
    lock: Mutex<()>,
    revoked: AtomicUsize,
    keys: AtomicUsize,
}

impl Default for Key {
    fn default() -> Key {
        Key { lock: Mutex::new(()), revoked: AtomicUsize::new(0), keys: AtomicUsize::new(1) }
    }
}

fn read_key(key: &Key) {
    if key.revoked.load(SeqCst) == 0 {
        let _section = key.lock.lock().unwrap();
        used(key.keys.load(SeqCst));
    }
}

fn revoke_key(key: &Key) {
    let _section = key.lock.lock().unwrap();
    key.revoked.store(1, SeqCst);
    key.keys.store(0, SeqCst);
}

struct Once {
    done: AtomicUsize,
    waiters: AtomicI64,
    /// Points to the mutex, as long as that is there.
    lock: AtomicUsize,
    entered: AtomicUsize,
    mutex: Mutex<()>,
}

impl Default for Once {
    fn default() -> Once {
        let (done, waiters, entered) = (AtomicUsize::new(0), AtomicI64::new(0), AtomicUsize::new(0));
        Once { done, waiters, lock: AtomicUsize::new(1), entered, mutex: Mutex::new(()) }
    }
}

fn initialise(once: &Once) {
    if once.done.load(SeqCst) != 0 {
        return;
    }
    let waiters = once.waiters.load(SeqCst);
    once.waiters.store(waiters + 1, SeqCst);
    used(once.lock.load(SeqCst));
    once.entered.store(1, SeqCst);
    {
        let _section = once.mutex.lock().unwrap();
        if once.done.load(SeqCst) == 0 {
            once.done.store(1, SeqCst);
        }
        used(once.lock.load(SeqCst));
    }
    let waiters = once.waiters.load(SeqCst) - 1;
    once.waiters.store(waiters, SeqCst);
    if waiters == 0 {
        once.lock.store(0, SeqCst);
    }
}

#[derive(Default)]
struct Counted {
    count: AtomicI64,
    instance: AtomicUsize,
}

impl Counted {
    fn get(&self) {
        if self.count.load(SeqCst) != 0 && self.count.fetch_add(1, SeqCst) > 0 {
            return used(self.instance.load(SeqCst));
        }
        if self.count.fetch_add(1, SeqCst) == 0 {
            self.instance.swap(1, SeqCst);
        } else {
            self.count.fetch_sub(1, SeqCst);
        }
        used(self.instance.load(SeqCst));
    }

    fn get_and_give_back(&self) {
        self.get();
        if self.count.fetch_sub(1, SeqCst) == 1 {
            self.instance.swap(0, SeqCst);
        }
    }
}

struct Task {
    lock: Mutex<()>,
    context: AtomicUsize,
}

impl Default for Task {
    fn default() -> Task {
        Task { lock: Mutex::new(()), context: AtomicUsize::new(1) }
    }
}

fn read_priority(task: &Task) {
    if task.context.load(SeqCst) != 0 {
        used(task.context.load(SeqCst));
    }
}

fn clear_context(task: &Task) {
    let _section = task.lock.lock().unwrap();
    task.context.load(SeqCst);
    task.context.store(0, SeqCst);
}

#[derive(Default)]
struct Netlink {
    heap: Heap,
    lock: Mutex<()>,
    buffer: AtomicUsize,
}

fn dump(netlink: &Netlink) {
    {
        let _section = netlink.lock.lock().unwrap();
        netlink.buffer.store(netlink.heap.allocate(), SeqCst);
    }
    netlink.heap.free(netlink.buffer.load(SeqCst));
}

#[derive(Default)]
struct Client {
    heap: Heap,
    mutex: Mutex<()>,
    lock: Mutex<()>,
    port: AtomicUsize,
    use_lock: Mutex<()>,
}

fn create_port(client: &Client) {
    let port = client.heap.allocate();
    {
        let _mutex = client.mutex.lock().unwrap();
        let _lock = client.lock.lock().unwrap();
        client.port.store(port, SeqCst);
    }
    client.heap.follow(port);
    client.heap.follow(port);
}

fn delete_port(client: &Client) {
    let found = {
        let _mutex = client.mutex.lock().unwrap();
        let _lock = client.lock.lock().unwrap();
        client.port.swap(0, SeqCst)
    };
    if found != 0 {
        let _use = client.use_lock.lock().unwrap();
        client.heap.free(found);
    }
}

#[derive(Default)]
struct Packets {
    heap: Heap,
    lock: Mutex<()>,
    rollover: AtomicUsize,
}

fn add_fanout(packets: &Packets) {
    packets.rollover.store(packets.heap.allocate(), SeqCst);
    packets.heap.follow(packets.rollover.load(SeqCst));
    drop(packets.lock.lock().unwrap());
    packets.heap.free(packets.rollover.load(SeqCst));
    packets.rollover.store(0, SeqCst);
}
