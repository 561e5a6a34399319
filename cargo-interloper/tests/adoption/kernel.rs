//! Sockets, pipes and the system's clock under control: calls of the C library are steps, and wait in the runtime.

use super::*;

const TESTED: &str = r#"
    use std::collections::BTreeSet;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::os::unix::process::CommandExt;
    use std::sync::Mutex;
    use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
    use std::thread;

    use interloper_scheduler::strategies::*;
    use interloper_scheduler::{Config, End, Engine, Freedom, Freedoms, Strategy};

    /// What the executions of a program end with, and what it gives, under a strategy and these freedoms.
    fn ends<T: Ord>(freedoms: Freedoms, mut strategy: impl Strategy, most: u32, program: impl Fn() -> T) -> (u32, BTreeSet<T>, Vec<End>) {
        let mut engine = Engine::new(Config { freedoms, ..Config::default() });
        let (all, mut ends, mut executions) = (Mutex::new(BTreeSet::new()), Vec::new(), 0);
        while executions < most && strategy.begin() {
            executions += 1;
            let execution = engine.run(&mut strategy, || {
                let gives = program();
                all.lock().unwrap().insert(gives);
            });
            strategy.end(&execution, &engine.trace());
            if !ends.contains(&execution.end) {
                ends.push(execution.end);
            }
        }
        (executions, all.into_inner().unwrap(), ends)
    }

    /// What a program gives in all schedules, and how many traces it has.
    fn all<T: Ord>(program: impl Fn() -> T) -> (u32, BTreeSet<T>) {
        let (traces, all, ends) = ends(Freedoms::NONE, Exhaustive::new(), 10_000, program);
        assert!(traces < 10_000 && ends == [End::Finished], "{traces}: {ends:?}");
        (traces, all)
    }

    fn sampled<T: Ord>(freedoms: Freedoms, program: impl Fn() -> T) -> BTreeSet<T> {
        let (_, all, ends) = ends(freedoms, RandomWalk::new(1), 200, program);
        assert_eq!(ends, [End::Finished]);
        all
    }

    /// Two writes to one pipe come in either order: two traces.
    #[test]
    fn writes_to_one_pipe_depend_on_each_other() {
        let (traces, seen) = all(|| {
            let (mut reader, writer) = std::io::pipe().unwrap();
            let other = writer.try_clone().unwrap();
            thread::scope(|scope| {
                scope.spawn(|| (&other).write_all(b"a").unwrap());
                (&writer).write_all(b"b").unwrap();
            });
            let mut bytes = [0; 2];
            reader.read_exact(&mut bytes).unwrap();
            bytes
        });
        assert_eq!((traces, seen), (2, BTreeSet::from([*b"ab", *b"ba"])));
    }

    /// With a pipe for each writer there is one trace.
    #[test]
    fn writes_to_two_pipes_do_not() {
        let (traces, seen) = all(|| {
            let ((mut one, first), (mut two, second)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
            thread::scope(|scope| {
                scope.spawn(|| (&first).write_all(b"a").unwrap());
                (&second).write_all(b"b").unwrap();
            });
            let mut bytes = [0; 2];
            one.read_exact(&mut bytes[..1]).unwrap();
            two.read_exact(&mut bytes[1..]).unwrap();
            bytes
        });
        assert_eq!((traces, seen), (1, BTreeSet::from([*b"ab"])));
    }

    #[test]
    fn a_reader_waits_and_comes_to_the_end() {
        let seen = sampled(Freedoms::NONE, || {
            let (mut a, mut b) = UnixStream::pair().unwrap();
            let other = thread::spawn(move || for number in 0..3 { b.write_all(&[number]).unwrap() });
            let mut bytes = Vec::new();
            a.read_to_end(&mut bytes).unwrap();
            other.join().unwrap();
            bytes
        });
        assert_eq!(seen, BTreeSet::from([vec![0, 1, 2]]));
    }

    #[test]
    fn a_full_pipe_waits_for_its_reader() {
        const BYTES: usize = 200_000;
        let seen = sampled(Freedoms::NONE, || {
            let (mut reader, mut writer) = std::io::pipe().unwrap();
            let other = thread::spawn(move || writer.write_all(&vec![1; BYTES]).unwrap());
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).unwrap();
            other.join().unwrap();
            bytes.len()
        });
        assert_eq!(seen, BTreeSet::from([BYTES]));
    }

    fn echo(listener: TcpListener) -> (String, bool) {
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, client) = listener.accept().unwrap();
            assert_eq!(stream.peer_addr().unwrap(), client);
            assert_eq!(stream.local_addr().unwrap(), listener.local_addr().unwrap());
            let mut bytes = [0; 3];
            stream.read_exact(&mut bytes).unwrap();
            stream.write_all(&bytes).unwrap();
            client
        });
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        assert!(stream.nodelay().unwrap());
        stream.write_all(b"abc").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer, server.join().unwrap() == stream.local_addr().unwrap())
    }

    #[test]
    fn tcp_has_addresses_and_answers() {
        let expected = BTreeSet::from([("abc".to_owned(), true)]);
        for address in ["127.0.0.1:0", "[::1]:0", "127.0.0.1:4000"] {
            assert_eq!(sampled(Freedoms::NONE, || echo(TcpListener::bind(address).unwrap())), expected);
            // Outside of an execution it is the real network.
            if address.ends_with(":0") && !address.starts_with('[') {
                assert_eq!(BTreeSet::from([echo(TcpListener::bind(address).unwrap())]), expected);
            }
        }
    }

    #[test]
    fn who_connects_first_is_a_choice_of_the_schedule() {
        let seen = sampled(Freedoms::NONE, || {
            let listener = TcpListener::bind("127.0.0.1:4000").unwrap();
            let clients = [1, 2].map(|number| {
                thread::spawn(move || TcpStream::connect("127.0.0.1:4000").unwrap().write_all(&[number]).unwrap())
            });
            let mut order = [0; 2];
            for number in &mut order {
                listener.accept().unwrap().0.read_exact(std::slice::from_mut(number)).unwrap();
            }
            let [first, second] = clients;
            (first.join().unwrap(), second.join().unwrap());
            order
        });
        assert_eq!(seen, BTreeSet::from([[1, 2], [2, 1]]));
    }

    #[test]
    fn nobody_listens() {
        let refused = || TcpStream::connect("127.0.0.1:9").unwrap_err().kind() == ErrorKind::ConnectionRefused;
        assert_eq!(sampled(Freedoms::NONE, refused), BTreeSet::from([true]));
        let taken = || {
            let _first = TcpListener::bind("127.0.0.1:4000").unwrap();
            TcpListener::bind("127.0.0.1:4000").unwrap_err().kind() == ErrorKind::AddrInUse
        };
        assert_eq!(sampled(Freedoms::NONE, taken), BTreeSet::from([true]));
    }

    #[test]
    fn another_host_ends_the_execution_with_a_reason() {
        let (_, _, ends) = ends(Freedoms::NONE, RandomWalk::new(1), 1, || TcpStream::connect("192.0.2.1:80").is_ok());
        let reason = "it connects to 192.0.2.1:80, and only connections inside the program are under control";
        assert!(format!("{ends:?}").contains(reason), "{ends:?}");
    }

    #[test]
    fn both_sides_read_first() {
        let (_, _, ends) = ends(Freedoms::NONE, RandomWalk::new(1), 1, || {
            let (a, b) = UnixStream::pair().unwrap();
            let reads = |mut stream: UnixStream| stream.read_exact(&mut [0]).unwrap();
            let other = thread::spawn(move || reads(b));
            reads(a);
            other.join().unwrap();
        });
        assert!(matches!(ends[..], [End::Deadlock(_)]), "{ends:?}");
    }

    #[test]
    fn datagrams_say_who_sent_them() {
        let seen = sampled(Freedoms::NONE, || {
            let [a, b] = [4000, 4001].map(|port| UdpSocket::bind(("127.0.0.1", port)).unwrap());
            let other = thread::spawn(move || a.send_to(b"ping", "127.0.0.1:4001").unwrap());
            let mut bytes = [0; 9];
            let (count, from) = b.recv_from(&mut bytes).unwrap();
            // Nobody has this port: the datagram is lost.
            b.send_to(b"pong", "127.0.0.1:4002").unwrap();
            (bytes[..count].to_vec(), from.port(), other.join().unwrap())
        });
        assert_eq!(seen, BTreeSet::from([(b"ping".to_vec(), 4000, 4)]));
    }

    #[test]
    fn unix_sockets_with_names() {
        let folder = std::env::temp_dir().join(format!("interloper-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("socket");
        let seen = sampled(Freedoms::NONE, || {
            let _ = std::fs::remove_file(&path);
            let listener = UnixListener::bind(&path).unwrap();
            let other = thread::spawn({ let path = path.clone(); move || UnixStream::connect(path).unwrap().write_all(b"x").unwrap() });
            let mut byte = [0];
            listener.accept().unwrap().0.read_exact(&mut byte).unwrap();
            other.join().unwrap();
            byte
        });
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(seen, BTreeSet::from([*b"x"]));
    }

    /// A time-out follows the virtual clock: an hour takes no time, and is an hour.
    #[test]
    fn a_read_times_out() {
        let began = std::time::SystemTime::now();
        let seen = sampled(Freedoms::NONE, || {
            let (mut a, _b) = UnixStream::pair().unwrap();
            a.set_read_timeout(Some(Duration::from_secs(3600))).unwrap();
            let start = Instant::now();
            let error = a.read(&mut [0]).unwrap_err().kind();
            (format!("{error:?}"), start.elapsed() == Duration::from_secs(3600))
        });
        assert_eq!(seen, BTreeSet::from([("WouldBlock".to_owned(), true)]));
        assert!(began.elapsed().unwrap() < Duration::from_secs(3000));
    }

    #[test]
    fn a_read_or_a_write_may_be_short() {
        let program = || {
            let (mut a, mut b) = UnixStream::pair().unwrap();
            let other = thread::spawn(move || b.write(b"abcd").unwrap());
            let written = other.join().unwrap();
            (written, a.read(&mut [0; 4]).unwrap())
        };
        assert_eq!(sampled(Freedoms::NONE, program), BTreeSet::from([(4, 4)]));
        let io = Freedoms::NONE.with(Freedom::Io, 1);
        assert_eq!(ends(io, Exhaustive::new(), 100, program).1, BTreeSet::from([(4, 4), (4, 1), (1, 1)]));
        let peeks = || {
            let (a, b) = (UdpSocket::bind("127.0.0.1:4000").unwrap(), UdpSocket::bind("127.0.0.1:4001").unwrap());
            b.connect("127.0.0.1:4000").unwrap();
            b.send(b"whole").unwrap();
            (a.peek(&mut [0; 9]).unwrap(), a.recv(&mut [0; 9]).unwrap())
        };
        assert_eq!(ends(io, Exhaustive::new(), 100, peeks).1, BTreeSet::from([(5, 5)]), "a datagram is one piece");
    }

    /// A message of one byte, which the server takes for there as soon as it knows that it was sent.
    fn told_of_a_message(waits: bool) -> std::io::Result<usize> {
        let listener = TcpListener::bind("127.0.0.1:4000").unwrap();
        let client = thread::spawn(|| {
            let mut client = TcpStream::connect("127.0.0.1:4000").unwrap();
            client.write_all(b"a").unwrap();
            client
        });
        let (mut server, _) = listener.accept().unwrap();
        let _client = client.join().unwrap();
        server.set_nonblocking(!waits).unwrap();
        server.read(&mut [0; 4])
    }

    #[test]
    fn what_was_sent_may_be_late() {
        let delays = Freedoms::NONE.with(Freedom::Delays, 1);
        let kinds = |waits| move || told_of_a_message(waits).map_err(|error| error.kind());
        let late = [Ok(1), Err(ErrorKind::WouldBlock)].map(|seen| format!("{seen:?}"));
        let shown = |waits| move || format!("{:?}", kinds(waits)());
        assert_eq!(sampled(Freedoms::NONE, shown(false)), BTreeSet::from([late[0].clone()]));
        let seen = |waits| ends(delays, Exhaustive::new(), 2_000, shown(waits)).1;
        assert_eq!(seen(false), BTreeSet::from(late.clone()));
        // A read that waits finds it in any case, and no pipe or Unix socket is late.
        assert_eq!(seen(true), BTreeSet::from([late[0].clone()]));
        let unix = || {
            let (mut a, mut b) = UnixStream::pair().unwrap();
            a.set_nonblocking(true).unwrap();
            b.write_all(b"a").unwrap();
            a.read(&mut [0; 4]).unwrap()
        };
        assert_eq!(ends(delays, Exhaustive::new(), 2_000, unix).1, BTreeSet::from([1]));
    }

    /// A client asks, and a server answers; what each of them has in the end.
    fn asks() -> [String; 2] {
        let listener = TcpListener::bind("127.0.0.1:4000").unwrap();
        let client = thread::spawn(|| {
            let mut client = TcpStream::connect("127.0.0.1:4000").unwrap();
            let mut answer = [0];
            let asked = client.write_all(b"a").and_then(|()| client.read_exact(&mut answer));
            format!("{:?}", asked.map_err(|error| error.kind()))
        });
        let (mut server, _) = listener.accept().unwrap();
        let mut question = [0];
        let answered = server.read_exact(&mut question).and_then(|()| server.write_all(b"b"));
        let answered = format!("{:?}", answered.map_err(|error| error.kind()));
        [client.join().unwrap(), answered]
    }

    #[test]
    fn a_connection_may_be_reset() {
        let (well, reset) = ("Ok(())".to_owned(), "Err(ConnectionReset)".to_owned());
        let all_well = [well.clone(), well.clone()];
        assert_eq!(sampled(Freedoms::NONE, asks), BTreeSet::from([all_well.clone()]));
        let resets = Freedoms::NONE.with(Freedom::Resets, 1);
        let (_, seen, ended) = ends(resets, Exhaustive::new(), 2_000, asks);
        // At the first two moves both ends are told, and at the last one, too; the server may have answered before.
        assert_eq!(seen, BTreeSet::from([all_well, [reset.clone(), reset.clone()], [reset, well]]));
        assert_eq!(ended, [End::Finished]);
    }

    const EDGE: u32 = 1 << 31;

    #[repr(C, packed)]
    struct Event {
        flags: u32,
        data: u64,
    }

    unsafe extern "C" {
        fn epoll_create1(flags: i32) -> i32;
        fn epoll_ctl(queue: i32, operation: i32, descriptor: i32, event: *mut Event) -> i32;
        fn epoll_wait(queue: i32, events: *mut Event, count: i32, timeout: i32) -> i32;
    }

    /// How four bytes arrive at a reader who waits for an event, and reads into a buffer until it is not full, as tokio does.
    fn read_by_edges(buffer: usize, until_short: bool) -> Vec<usize> {
        let (mut a, mut b) = UnixStream::pair().unwrap();
        a.set_nonblocking(true).unwrap();
        let queue = unsafe { OwnedFd::from_raw_fd(epoll_create1(0)) };
        let mut event = Event { flags: 1 | EDGE, data: 7 };
        assert_eq!(unsafe { epoll_ctl(queue.as_raw_fd(), 1, a.as_raw_fd(), &mut event) }, 0);
        b.write_all(b"abcd").unwrap();
        let mut pieces = Vec::new();
        while pieces.iter().sum::<usize>() < 4 {
            assert_eq!(unsafe { epoll_wait(queue.as_raw_fd(), &mut event, 1, -1) }, 1);
            loop {
                match a.read(&mut vec![0; buffer]) {
                    Ok(count) => {
                        pieces.push(count);
                        if count < buffer || !until_short {
                            break;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        pieces
    }

    /// epoll(7): after a read that did not fill the buffer, what arrives is told of again. So what a short read leaves behind
    /// arrives again.
    #[test]
    fn a_short_read_of_a_stream_that_is_watched_for_edges() {
        let io = Freedoms::NONE.with(Freedom::Io, 1);
        let (_, seen, ended) = ends(io, Exhaustive::new(), 1_000, || read_by_edges(8, true));
        assert_eq!((seen, ended), (BTreeSet::from([vec![4], vec![1, 3]]), vec![End::Finished]));
        let (_, seen, ended) = ends(io, Exhaustive::new(), 1_000, || read_by_edges(2, true));
        assert_eq!((seen, ended), (BTreeSet::from([vec![2, 2], vec![1, 2, 1], vec![2, 1, 1]]), vec![End::Finished]));
    }

    /// A full buffer promises nothing: whoever waits for an event then waits for ever.
    #[test]
    fn a_reader_that_leaves_bytes_behind_an_edge_waits_for_ever() {
        let (_, _, ended) = ends(Freedoms::NONE, Exhaustive::new(), 1_000, || read_by_edges(2, false));
        assert!(matches!(ended[..], [End::Deadlock { .. }]), "{ended:?}");
    }

    /// What an execution leaves open is closed at its end.
    #[test]
    fn descriptors_do_not_leak() {
        let seen = sampled(Freedoms::NONE, || {
            let pairs: Vec<_> = (0..4).map(|_| UnixStream::pair().unwrap()).collect();
            let last = pairs.last().unwrap().0.as_raw_fd();
            std::mem::forget(pairs);
            last
        });
        assert_eq!(seen.len(), 1, "each execution begins with the same descriptors: {seen:?}");
    }

    #[test]
    fn files_and_the_clock_of_the_system_have_one_type() {
        let seen = sampled(Freedoms::NONE, || {
            let now = SystemTime::now();
            thread::sleep(Duration::from_secs(60));
            let file = std::env::current_exe().unwrap().metadata().unwrap().modified().unwrap();
            (now.duration_since(UNIX_EPOCH).unwrap().as_secs(), now.elapsed().unwrap().as_secs(), file > now)
        });
        assert_eq!(seen, BTreeSet::from([(1_577_836_800, 60, true)]));
    }

    unsafe extern "C" {
        fn inotify_init1(flags: i32) -> i32;
        fn inotify_add_watch(watch: i32, path: *const std::ffi::c_char, mask: u32) -> i32;
        fn poll(polled: *mut [i16; 4], count: u64, timeout: i32) -> i32;
    }

    const CLOSED_AFTER_WRITING: u32 = 8;
    const REMOVED: u32 = 0x200;

    /// A new folder of this process, and who is told of changes in it.
    fn watched(name: &str) -> (std::path::PathBuf, std::fs::File) {
        let folder = std::env::temp_dir().join(format!("interloper-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = std::ffi::CString::new(folder.to_str().unwrap()).unwrap();
        // SAFETY: the path ends with a zero, and the descriptor is new.
        let watch = unsafe {
            let watch = inotify_init1(0);
            assert!(watch >= 0, "{}", std::io::Error::last_os_error());
            assert!(inotify_add_watch(watch, path.as_ptr(), CLOSED_AFTER_WRITING | REMOVED) >= 0);
            OwnedFd::from_raw_fd(watch)
        };
        (folder, watch.into())
    }

    /// What happened next to a file whose name has four letters.
    fn told(mut watch: &std::fs::File) -> u32 {
        let mut event = [0; 32];
        watch.read_exact(&mut event).unwrap();
        u32::from_ne_bytes(event[4..8].try_into().unwrap())
    }

    /// Whoever waits for a change of a file reads it, however the two threads step.
    #[test]
    fn a_change_of_a_file_wakes_who_waits_for_it() {
        let seen = sampled(Freedoms::NONE, || {
            let (folder, watch) = watched("change");
            let file = folder.join("file");
            let other = thread::spawn(move || [told(&watch), told(&watch)]);
            std::fs::write(&file, "text").unwrap();
            thread::yield_now();
            std::fs::remove_file(&file).unwrap();
            other.join().unwrap()
        });
        assert_eq!(seen, BTreeSet::from([[CLOSED_AFTER_WRITING, REMOVED]]));
    }

    /// Where nothing changes, a wait ends on the virtual clock, and one without end is a deadlock. What an execution leaves open is
    /// closed: the system has room for fewer.
    #[test]
    fn who_waits_for_a_change_that_does_not_come_waits() {
        let seen = sampled(Freedoms::NONE, || {
            let (folder, watch) = watched("no-change");
            thread::spawn(move || std::fs::metadata(folder)).join().unwrap().unwrap();
            let began = Instant::now();
            let mut polled = [watch.as_raw_fd() as i16, 0, 1, 0];
            // SAFETY: the descriptor stands here.
            let ready = unsafe { poll(&raw mut polled, 1, 60_000) };
            (ready, began.elapsed().as_secs())
        });
        assert_eq!(seen, BTreeSet::from([(0, 60)]));
        let (_, _, ends) = ends(Freedoms::NONE, RandomWalk::new(1), 200, || {
            let (_, watch) = watched("no-change");
            thread::spawn(move || told(&watch)).join().unwrap();
        });
        assert!(matches!(&ends[..], [End::Deadlock(_)]), "{ends:?}");
    }

    #[test]
    fn a_child_process_is_read_as_it_is() {
        let seen = sampled(Freedoms::NONE, || {
            let other = thread::spawn(|| ());
            let mut command = std::process::Command::new("echo");
            let output = command.arg("hello").output().unwrap();
            // With a function to call in the child std forks: the child has this program's code until it has another's.
            let forked = unsafe { command.pre_exec(|| Ok(())) }.output().unwrap();
            other.join().unwrap();
            [output, forked].map(|output| String::from_utf8(output.stdout).unwrap())
        });
        assert_eq!(seen, BTreeSet::from([["hello\n".to_owned(), "hello\n".to_owned()]]));
    }
"#;

#[test]
fn what_waits_for_input_and_output_waits_in_the_runtime() {
    let project = Project::of_tests("", TESTED);
    let ran = project.run(&["test", "--offline"]).expect(0);
    let tests = TESTED.split("#[test]\n    fn ").skip(1);
    let names: Vec<&str> = tests.map(|test| test.split_once('(').expect("a function").0).collect();
    assert_eq!(names.len(), 22);
    ran.assert_passed(&names);
}
