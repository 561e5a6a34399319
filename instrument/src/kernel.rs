//! Waits for input and output under control, for programs that `cargo interloper` builds.
//!
//! Event loops (mio, polling), sockets and pipes wait in the kernel, where no scheduler sees them. This module has functions
//! with the names of those of the C library (`epoll_wait`, `read`, `connect`, …). The linker takes them for the whole program,
//! std and all crates, so nothing has to be edited. Outside of a controlled run, and for what a controlled run did not open
//! (files, the terminal, what was opened before), they are the system calls.
//!
//! In a controlled run each of them is a visible step, and none waits in the kernel: it tries, and where there is nothing, the
//! task waits in the runtime until another task has changed something, or the virtual clock has come to its time-out. A
//! `timerfd` follows the virtual clock.
//!
//! Pipes, `eventfd` and Unix sockets are the kernel's: with one thread they behave the same in each execution. Sockets of
//! TCP and UDP do not (the kernel delivers when it likes, and keeps ports occupied for a while), so under control they are Unix
//! sockets with names of their own in each execution, and tell the program the addresses of TCP and UDP: see [`network`].
//! There is no network beyond the process: a connection to another host ends the execution with a reason.
//!
//! Files are the real ones, and a call that changes one is no step. The kernel tells of a change (`inotify`) when it is made, so after each
//! such call of the program, those who wait look again if there is something to read about it.
//!
//! Two steps depend on each other when they are about the same connection, port, pipe or event loop; a wait for events depends
//! on all.
//!
//! # Limits
//!
//! - Linux with glibc on x86-64, and only what calls the C library: rustix does when `rustix_use_libc` is set, which
//!   `cargo interloper` does.
//! - `recvmmsg`, `sendmmsg`, `select`, io_uring, signals and child processes are not under control. A pipe whose other end
//!   only a child process has is read and written as it is. What a child process does to a file wakes nobody.
//! - The numbers of descriptors are the kernel's: they may differ when several threads search at once.

mod calls;
mod descriptors;
mod network;
mod system;
mod waiting;
