//! Channels.

use std::sync::mpsc::{
    IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter, TryRecvError,
    TrySendError, channel, sync_channel,
};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(3);

fn is_send<T: Send>(_: &T) {}
fn is_sync<T: Sync>(_: &T) {}

programs! {
    fn messages_keep_their_order() {
        let (sender, receiver): (Sender<u32>, Receiver<u32>) = channel();
        let thread = thread::spawn(move || (0..4).try_for_each(|number| sender.send(number)));
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(0), Ok(1)));
        let rest: IntoIter<u32> = receiver.into_iter();
        assert_eq!(rest.collect::<Vec<_>>(), [2, 3]);
        assert_eq!(thread.join().unwrap(), Ok(()));
    }

    fn many_senders() {
        let (sender, receiver) = channel();
        is_send(&sender);
        is_sync(&sender);
        is_send(&receiver);
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(number).unwrap())
            })
            .collect();
        drop(sender);
        let iter: Iter<'_, i32> = receiver.iter();
        let mut received: Vec<_> = iter.collect();
        received.sort_unstable();
        assert_eq!(received, [0, 1, 2]);
        assert_eq!(receiver.recv(), Err(RecvError));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    fn nothing_to_receive() {
        let (sender, receiver) = channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        let iter: TryIter<'_, i32> = receiver.try_iter();
        assert_eq!(iter.collect::<Vec<_>>(), [1, 2]);
        sender.send(3).unwrap();
        drop(sender);
        assert_eq!(receiver.recv_timeout(SHORT), Ok(3));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
        assert_eq!(IntoIterator::into_iter(&receiver).next(), None);
        assert_eq!(format!("{receiver:?} {:?}", RecvError), "Receiver { .. } RecvError");
    }

    fn nobody_receives() {
        let (sender, receiver) = channel();
        drop(receiver);
        assert_eq!(sender.send("message"), Err(SendError("message")));
        let (sender, receiver) = sync_channel(0);
        drop(receiver);
        assert_eq!(sender.send("message"), Err(SendError("message")));
        assert_eq!(sender.try_send("message"), Err(TrySendError::Disconnected("message")));
        assert_eq!(format!("{sender:?} {:?}", channel::<u8>().0), "SyncSender { .. } Sender { .. }");
    }

    fn a_full_channel() {
        let (sender, receiver): (SyncSender<u8>, _) = sync_channel(1);
        is_send(&sender);
        is_sync(&sender);
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        let other = sender.clone();
        let thread = thread::spawn(move || (2..5).try_for_each(|number| other.send(number)));
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(thread.join().unwrap(), Ok(()));
    }

    fn a_sender_that_waits_learns_that_nobody_receives() {
        for bound in 0..2 {
            let (sender, receiver) = sync_channel(bound);
            let thread = thread::spawn(move || (0..3).map(|number| sender.send(number)).find(Result::is_err));
            assert_eq!(receiver.recv(), Ok(0));
            drop(receiver);
            let sent = thread.join().unwrap();
            assert!(sent == Some(Err(SendError(1))) || sent == Some(Err(SendError(2))), "{sent:?}");
        }
    }

    fn a_meeting() {
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        let threads = [1, 2].map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number))
        });
        assert_eq!(receiver.recv().unwrap() + receiver.recv_timeout(Duration::from_secs(60)).unwrap(), 3);
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Ok(())));
        drop(sender);
        assert_eq!(receiver.recv(), Err(RecvError));
    }

    fn a_receiver_is_met() {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || receiver.recv());
        let mut sent = sender.try_send(5);
        while let Err(TrySendError::Full(message)) = sent {
            thread::yield_now();
            sent = sender.try_send(message);
        }
        assert_eq!(sent, Ok(()));
        assert_eq!(thread.join().unwrap(), Ok(5));
    }

    fn messages_are_dropped_with_the_receiver() {
        let (sender, receiver) = channel();
        let (inner, answer) = channel::<()>();
        sender.send(inner).unwrap();
        drop(receiver);
        assert_eq!(answer.recv(), Err(RecvError));
    }
}
