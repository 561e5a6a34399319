//! Changes of files, and who is told of them.
//!
//! Files are the real ones, and the kernel tells of their changes (`inotify`) as soon as they are made. What changes a file is the system
//! call; afterwards, who waits to be told looks again.

use super::{answer_int, at, at_once, made};
use crate::kernel::descriptors::{self, Kind};
use crate::kernel::system::{EINVAL, Outcome, Time, answer, call, number};
use crate::kernel::waiting::about;
use crate::runtime::Verb;
use std::ffi::{c_char, c_int, c_uint, c_void};

const HERE: c_int = -100;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn inotify_init1(flags: c_int) -> c_int {
    // SAFETY: it makes a descriptor.
    answer_int(made(unsafe { call(number::INOTIFY_INIT1, [flags as usize]) }, Kind::Files, None))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn inotify_init() -> c_int {
    // SAFETY: it makes a descriptor.
    unsafe { inotify_init1(0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn inotify_add_watch(watch: c_int, path: *const c_char, mask: u32) -> c_int {
    // SAFETY: as the caller says.
    let attempt = || unsafe { call(number::INOTIFY_ADD_WATCH, [watch as usize, at(path), mask as usize]) };
    answer_int(about(at_once(watch, Verb::Open), attempt))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn inotify_rm_watch(watch: c_int, number: c_int) -> c_int {
    // SAFETY: it takes numbers.
    let attempt = || unsafe { call(number::INOTIFY_RM_WATCH, [watch as usize, number as usize]) };
    answer_int(about(at_once(watch, Verb::Close), attempt))
}

/// Makes a system call that may change a file.
///
/// # Safety
/// As of [`call`].
unsafe fn changing<const N: usize>(number: i64, arguments: [usize; N]) -> Outcome {
    // SAFETY: as the caller says.
    let outcome = unsafe { call(number, arguments) };
    descriptors::files_changed();
    outcome
}

/// Functions that are a system call which may change a file, each with its number and what it is told.
macro_rules! changing {
    ($($name:ident($($argument:ident: $type:ty),*) = $number:ident[$($told:expr),*];)*) => {$(
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: as the caller says.
            answer_int(unsafe { changing(number::$number, [$($told),*]) })
        }
    )*};
}

type Path = *const c_char;

changing! {
    // A mode that the caller does not give is not looked at.
    open(path: Path, flags: c_int, mode: c_uint) = OPENAT[HERE as usize, at(path), flags as usize, mode as usize];
    open64(path: Path, flags: c_int, mode: c_uint) = OPENAT[HERE as usize, at(path), flags as usize, mode as usize];
    openat(folder: c_int, path: Path, flags: c_int, mode: c_uint)
        = OPENAT[folder as usize, at(path), flags as usize, mode as usize];
    openat64(folder: c_int, path: Path, flags: c_int, mode: c_uint)
        = OPENAT[folder as usize, at(path), flags as usize, mode as usize];
    truncate(path: Path, length: i64) = TRUNCATE[at(path), length as usize];
    truncate64(path: Path, length: i64) = TRUNCATE[at(path), length as usize];
    ftruncate(file: c_int, length: i64) = FTRUNCATE[file as usize, length as usize];
    ftruncate64(file: c_int, length: i64) = FTRUNCATE[file as usize, length as usize];
    mkdir(path: Path, mode: c_uint) = MKDIR[at(path), mode as usize];
    mkdirat(folder: c_int, path: Path, mode: c_uint) = MKDIRAT[folder as usize, at(path), mode as usize];
    rmdir(path: Path) = RMDIR[at(path)];
    unlink(path: Path) = UNLINK[at(path)];
    unlinkat(folder: c_int, path: Path, flags: c_int) = UNLINKAT[folder as usize, at(path), flags as usize];
    rename(from: Path, to: Path) = RENAME[at(from), at(to)];
    renameat(folder: c_int, from: Path, other: c_int, to: Path) = RENAMEAT[folder as usize, at(from), other as usize, at(to)];
    renameat2(folder: c_int, from: Path, other: c_int, to: Path, flags: c_uint)
        = RENAMEAT2[folder as usize, at(from), other as usize, at(to), flags as usize];
    link(from: Path, to: Path) = LINK[at(from), at(to)];
    linkat(folder: c_int, from: Path, other: c_int, to: Path, flags: c_int)
        = LINKAT[folder as usize, at(from), other as usize, at(to), flags as usize];
    symlink(from: Path, to: Path) = SYMLINK[at(from), at(to)];
    symlinkat(from: Path, folder: c_int, to: Path) = SYMLINKAT[at(from), folder as usize, at(to)];
    chmod(path: Path, mode: c_uint) = CHMOD[at(path), mode as usize];
    fchmod(file: c_int, mode: c_uint) = FCHMOD[file as usize, mode as usize];
    utimensat(folder: c_int, path: Path, times: *const Time, flags: c_int)
        = UTIMENSAT[folder as usize, at(path), at(times), flags as usize];
    futimens(file: c_int, times: *const Time) = UTIMENSAT[file as usize, 0, at(times), 0];
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pwrite64(file: c_int, buffer: *const c_void, count: usize, offset: i64) -> isize {
    // SAFETY: as the caller says.
    answer(unsafe { changing(number::PWRITE64, [file as usize, at(buffer), count, offset as usize]) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pwrite(file: c_int, buffer: *const c_void, count: usize, offset: i64) -> isize {
    // SAFETY: as the caller says.
    unsafe { pwrite64(file, buffer, count, offset) }
}

/// std copies with `read` and `write` where the kernel says that it cannot do it itself.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut i64,
    to: c_int,
    to_offset: *mut i64,
    count: usize,
    flags: c_uint,
) -> isize {
    let arguments = [from as usize, at(from_offset), to as usize, at(to_offset), count, flags as usize];
    // SAFETY: as the caller says.
    unsafe { between(from, to, number::COPY_FILE_RANGE, arguments) }
}

/// std copies with `read` and `write` where the kernel says that it cannot do it itself.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sendfile64(to: c_int, from: c_int, offset: *mut i64, count: usize) -> isize {
    // SAFETY: as the caller says.
    unsafe { between(from, to, number::SENDFILE, [to as usize, from as usize, at(offset), count]) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sendfile(to: c_int, from: c_int, offset: *mut i64, count: usize) -> isize {
    // SAFETY: as the caller says.
    unsafe { sendfile64(to, from, offset, count) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut i64,
    to: c_int,
    to_offset: *mut i64,
    count: usize,
    flags: c_uint,
) -> isize {
    let arguments = [from as usize, at(from_offset), to as usize, at(to_offset), count, flags as usize];
    // SAFETY: as the caller says.
    unsafe { between(from, to, number::SPLICE, arguments) }
}

/// Moves bytes between two descriptors, neither of which the execution has opened.
///
/// # Safety
/// As of [`call`].
unsafe fn between<const N: usize>(from: c_int, to: c_int, number: i64, arguments: [usize; N]) -> isize {
    if descriptors::is_known(to) || descriptors::is_known(from) {
        return answer(Err(EINVAL));
    }
    // SAFETY: as the caller says.
    answer(unsafe { changing(number, arguments) })
}
