//! A part at the wrong place: two threads write a length and then what they have compressed, each with a worker of its own.
//!
//! ```toml
//! brotli = "8"
//! [package.metadata.interloper]
//! instrument = ["brotli"]
//! ```

use std::sync::Mutex;
use std::thread;

use brotli::enc::threading::{Owned, SendAlloc};
use brotli::enc::{BrotliEncoderParams, StandardAlloc, UnionHasher, compress_multi};

#[derive(Default)]
struct Text(Vec<u8>);

impl brotli::SliceWrapper<u8> for Text {
    fn slice(&self) -> &[u8] {
        &self.0
    }
}

const TEXT: &[u8] = b"the first half of a text, the second half of a text";

fn compressed() -> Vec<u8> {
    let parameters = BrotliEncoderParams { quality: 1, lgwin: 10, size_hint: TEXT.len(), ..Default::default() };
    let mut workers = [(); 2].map(|()| SendAlloc::new(StandardAlloc::default(), UnionHasher::Uninit));
    let mut output = vec![0; 512];
    let text = &mut Owned::new(Text(TEXT.to_vec()));
    let length = compress_multi(&parameters, text, &mut output, &mut workers).unwrap();
    output.truncate(length);
    output
}

fn two(at_once: bool) {
    let output = Mutex::new(Vec::new());
    let work = || {
        let part = compressed();
        let length = part.len() as u8;
        if at_once {
            let mut output = output.lock().unwrap();
            output.push(length);
            output.extend(part);
        } else {
            output.lock().unwrap().push(length);
            output.lock().unwrap().extend(part);
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let output = output.into_inner().unwrap();
    let (mut rest, mut texts) = (&output[..], 0);
    while let [length, parts @ ..] = rest {
        let (part, others) = parts.split_at_checked(usize::from(*length)).expect("a whole part");
        let mut text = Vec::new();
        brotli::BrotliDecompress(&mut &part[..], &mut text).expect("a compressed text");
        assert_eq!(text, TEXT);
        (rest, texts) = (others, texts + 1);
    }
    assert_eq!(texts, 2);
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
