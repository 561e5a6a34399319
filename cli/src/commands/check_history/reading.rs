//! Reading a history within a time.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use interloper_linearize::types::DataType;

use crate::failure::Failure;
use crate::history_file::{Malformed, Reader, Recorded};

/// How many bytes of a file are read at once, and how many such pieces may wait to be understood.
const PIECE: usize = 1 << 16;
const PIECES: usize = 16;

/// The content of a file, and whether it is complete: the time may run out first. Another thread reads, since a read from a
/// pipe may block for any time.
pub fn read(
    path: &Path,
    data_type: &DataType,
    start: Instant,
    patience: Duration,
) -> Result<(Recorded, bool), Failure> {
    let name = path.display().to_string();
    let refuse = |error: io::Error| Failure::Request(format!("cannot read {name}: {error}"));
    let mut source: Box<dyn Read + Send> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path).map_err(refuse)?) };
    let (send, receive) = sync_channel::<io::Result<Vec<u8>>>(PIECES);
    thread::spawn(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let read = source.read(&mut piece);
            if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {
                continue;
            }
            let is_last = !matches!(read, Ok(1..));
            let piece = read.map(|length| {
                piece.truncate(length);
                piece
            });
            // The receiver may have gone: the time was up, or a line was not an event.
            if send.send(piece).is_err() || is_last {
                return;
            }
        }
    });
    let mut reader = Reader::new(data_type);
    let malformed =
        |malformed: Malformed| Failure::Request(format!("{name}, line {}: {}", malformed.line, malformed.reason));
    loop {
        let left = patience.saturating_sub(start.elapsed());
        match receive.recv_timeout(left) {
            Ok(Ok(piece)) if piece.is_empty() => return Ok((reader.finish().map_err(malformed)?, true)),
            Ok(Ok(_)) | Err(RecvTimeoutError::Timeout) if start.elapsed() >= patience => {
                return Ok((reader.recorded(), false));
            }
            Ok(Ok(piece)) => reader.read(&piece).map_err(malformed)?,
            Ok(Err(error)) => return Err(refuse(error)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::Internal("the thread that reads the history has gone".to_owned()));
            }
        }
    }
}
