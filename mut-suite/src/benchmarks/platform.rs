//! What the programs are written against: std, mirrored. The same files can be compiled against another library with
//! this API.

pub(super) use interloper::{sync, thread};
