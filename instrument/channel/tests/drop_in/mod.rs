//! Programs that use all of what is mirrored. They are compiled and run with the real `crossbeam_channel`, with the mirror,
//! and with the mirror under control. Whatever the schedule, they come to their end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{
    IntoIter, Iter, ReadyTimeoutError, Receiver, RecvError, RecvTimeoutError, Select, SelectTimeoutError, SendError,
    SendTimeoutError, Sender, TryIter, TryReadyError, TryRecvError, TrySelectError, TrySendError, after, at, bounded,
    never, select, select_biased, tick, unbounded,
};

/// Makes functions, with the includer's `program!`, and a list of them.
macro_rules! programs {
    ($(fn $name:ident() $body:block)*) => {
        $(program! { $name $body })*

        /// All programs by name.
        pub const PROGRAMS: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
    };
}

const SHORT: Duration = Duration::from_millis(3);
const LONG: Duration = Duration::from_secs(60);

fn is_send_and_sync<T: Send + Sync>(_: &T) {}

programs! {
    fn messages_keep_their_order() {
        let (sender, receiver): (Sender<u32>, Receiver<u32>) = unbounded();
        is_send_and_sync(&sender);
        is_send_and_sync(&receiver);
        let thread = thread::spawn(move || (0..4).try_for_each(|number| sender.send(number)));
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(0), Ok(1)));
        let rest: IntoIter<u32> = receiver.into_iter();
        assert_eq!(rest.collect::<Vec<_>>(), [2, 3]);
        assert_eq!(thread.join().unwrap(), Ok(()));
    }

    fn many_send_and_many_receive() {
        let (sender, receiver) = bounded(1);
        let senders = [1, 2].map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap())
        });
        let receivers = [(); 2].map(|()| {
            let receiver = receiver.clone();
            thread::spawn(move || receiver.iter().sum::<u32>())
        });
        drop((sender, receiver));
        senders.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(receivers.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>(), 3);
    }

    fn what_there_is() {
        let (sender, receiver) = bounded(2);
        assert!(sender.is_empty() && receiver.is_empty() && !sender.is_full());
        sender.send(1).unwrap();
        sender.try_send(2).unwrap();
        assert!(sender.is_full() && receiver.is_full() && !receiver.is_empty());
        assert_eq!((sender.len(), receiver.len(), sender.capacity(), receiver.capacity()), (2, 2, Some(2), Some(2)));
        assert!(sender.same_channel(&sender.clone()) && receiver.same_channel(&receiver.clone()));
        let other = unbounded::<i32>();
        assert!(!sender.same_channel(&other.0) && !receiver.same_channel(&other.1));
        assert_eq!((other.0.capacity(), bounded::<()>(0).0.capacity()), (None, Some(0)));
        assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
        let all: TryIter<'_, i32> = receiver.try_iter();
        assert_eq!(all.collect::<Vec<_>>(), [1, 2]);
        drop(sender);
        let mut none: Iter<'_, i32> = receiver.iter();
        assert_eq!((none.next(), IntoIterator::into_iter(&receiver).next()), (None, None));
    }

    fn nothing_to_receive_and_nobody_who_receives() {
        let (sender, receiver) = bounded(1);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_deadline(Instant::now() + SHORT), Err(RecvTimeoutError::Timeout));
        sender.send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(sender.send_timeout(2, SHORT), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(sender.send_deadline(2, Instant::now() + SHORT), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(receiver.recv_timeout(LONG), Ok(1));
        let other = sender.clone();
        drop((sender, receiver));
        assert_eq!(other.send(1), Err(SendError(1)));
        assert_eq!(other.try_send(1), Err(TrySendError::Disconnected(1)));
        assert_eq!(other.send_timeout(1, LONG), Err(SendTimeoutError::Disconnected(1)));
        let (sender, receiver) = bounded::<u8>(0);
        drop(sender);
        assert_eq!((receiver.recv(), receiver.try_recv()), (Err(RecvError), Err(TryRecvError::Disconnected)));
        assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    }

    fn a_meeting() {
        let (sender, receiver) = bounded(0);
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        assert_eq!(sender.send_timeout(0, SHORT), Err(SendTimeoutError::Timeout(0)));
        let threads = [1, 2].map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number))
        });
        assert_eq!(receiver.recv().unwrap() + receiver.recv_timeout(LONG).unwrap(), 3);
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Ok(())));
        let thread = thread::spawn(move || receiver.iter().collect::<Vec<_>>());
        sender.send(3).unwrap();
        sender.send(4).unwrap();
        drop(sender);
        assert_eq!(thread.join().unwrap(), [3, 4]);
    }

    fn clocks() {
        let start = Instant::now();
        let (once, ticks) = (after(SHORT), tick(SHORT));
        assert!(once.is_empty() && once.try_recv().is_err());
        let first: Instant = once.recv().unwrap();
        assert!(first.duration_since(start) >= SHORT);
        assert_eq!((once.capacity(), once.recv_timeout(SHORT)), (Some(1), Err(RecvTimeoutError::Timeout)));
        let (one, two) = (ticks.recv().unwrap(), ticks.recv_timeout(LONG).unwrap());
        assert!(one.duration_since(start) >= SHORT && two.duration_since(one) >= SHORT);
        assert!(at(start + SHORT).recv().is_ok());
        let never: Receiver<u8> = never();
        assert_eq!((never.recv_timeout(SHORT), never.try_recv()), (Err(RecvTimeoutError::Timeout), Err(TryRecvError::Empty)));
        assert!(ticks.same_channel(&ticks.clone()) && !ticks.same_channel(&once));
    }

    fn one_of_several() {
        let ((one, first), (two, second)) = (unbounded::<u32>(), unbounded::<&str>());
        let threads = (thread::spawn(move || one.send(1)), thread::spawn(move || two.send("two")));
        let mut seen = 0;
        for _ in 0..2 {
            seen += select! {
                recv(first) -> number => match number {
                    Ok(number) => number,
                    Err(RecvError) => { assert_eq!(second.recv(), Ok("two")); 3 }
                },
                recv(second) -> text => {
                    match text {
                        Ok(text) => text.len() as u32,
                        Err(RecvError) => { assert_eq!(first.recv(), Ok(1)); 1 }
                    }
                }
            };
        }
        assert_eq!(seen, 4);
        threads.0.join().unwrap().unwrap();
        threads.1.join().unwrap().unwrap();
    }

    fn select_sends_and_gives_up() {
        let ((sender, receiver), nothing) = (bounded(1), never::<u8>());
        let choose = |number: u32| select! {
            send(sender, number) -> sent => { sent.unwrap(); "sent" }
            recv(nothing) -> _ => unreachable!(),
            default => "default",
        };
        assert_eq!((choose(1), choose(2)), ("sent", "default"));
        let timed = select! {
            recv(nothing) -> _ => false,
            send(sender, 3) -> _ => false,
            default(SHORT) => true,
        };
        assert!(timed);
        let by_clock = select! {
            recv(after(SHORT)) -> instant => instant.is_ok(),
            recv(nothing) -> _ => false
        };
        assert!(by_clock);
        let first = select_biased! {
            recv(receiver) -> message => message,
            recv(after(Duration::ZERO)) -> _ => unreachable!(),
        };
        assert_eq!(first, Ok(1));
        for number in 0..3 {
            select! {
                send(sender, number) -> _ => continue,
                default() => break,
            }
        }
        assert_eq!(receiver.recv(), Ok(0));
        drop(receiver);
        assert_eq!(select! { send(sender, 7) -> sent => sent }, Err(SendError(7)));
    }

    fn selections_meet() {
        let ((sender, receiver), (back, answer)) = (bounded::<u32>(0), bounded::<u32>(0));
        let nothing = never::<u32>();
        let thread = thread::spawn(move || {
            let nothing = never::<u32>();
            let number = select! {
                recv(receiver) -> number => number.unwrap(),
                recv(nothing) -> _ => unreachable!(),
            };
            select! {
                send(back, number + 1) -> sent => sent.unwrap(),
                recv(nothing) -> _ => unreachable!(),
            }
        });
        select! {
            send(sender, 1) -> sent => sent.unwrap(),
            recv(nothing) -> _ => unreachable!(),
        }
        select! {
            recv(answer) -> number => assert_eq!(number, Ok(2)),
            recv(nothing) -> _ => unreachable!(),
        }
        thread.join().unwrap();
    }

    fn a_list_of_operations() {
        let ((sender, receiver), (other, _kept)) = (bounded(1), bounded::<u8>(0));
        let mut select = Select::new();
        let (sends, receives, meets) = (select.send(&sender), select.recv(&receiver), select.send(&other));
        assert_eq!(select.try_ready(), Ok(sends));
        let operation = select.select();
        assert_eq!(operation.index(), sends);
        operation.send(&sender, 5).unwrap();
        assert_eq!((select.ready(), select.ready_timeout(LONG)), (receives, Ok(receives)));
        let operation = select.try_select().unwrap();
        assert_eq!((operation.index(), operation.recv(&receiver)), (receives, Ok(5)));
        select.remove(sends);
        assert_eq!(select.try_select().err(), Some(TrySelectError));
        assert_eq!(select.select_timeout(SHORT).err(), Some(SelectTimeoutError));
        assert_eq!(select.select_deadline(Instant::now() + SHORT).err(), Some(SelectTimeoutError));
        assert_eq!(select.ready_timeout(SHORT), Err(ReadyTimeoutError));
        assert_eq!(select.ready_deadline(Instant::now() + SHORT), Err(ReadyTimeoutError));
        assert_eq!(select.try_ready(), Err(TryReadyError));
        assert!(meets > receives);
        let mut biased = Select::new_biased();
        biased.recv(&receiver);
        assert_eq!(format!("{biased:?}"), "Select { .. }");
        let none = catch_unwind(AssertUnwindSafe(|| Select::default().ready()));
        assert!(none.is_err());
    }

    fn an_operation_must_be_completed() {
        let (sender, receiver) = unbounded();
        sender.send(1).unwrap();
        let mut select = Select::new();
        select.recv(&receiver);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(select.select()))).is_err());
    }
}
