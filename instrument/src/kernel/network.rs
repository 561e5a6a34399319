//! Sockets of TCP and UDP inside one execution.
//!
//! Each is a Unix socket of the kernel, in the abstract namespace (`unix(7)`), named after the process, the execution, the
//! protocol, the family and the port. The program is told the addresses that it would have with TCP and UDP. A connection is made
//! at once or refused at once; what is written can be read at once. A datagram for which nobody listens, or for which there is no
//! room, is lost, as UDP allows.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::system::{EAFNOSUPPORT, EINVAL};
use crate::runtime;

const AF_UNIX: u16 = 1;
pub(super) const AF_INET: u16 = 2;
pub(super) const AF_INET6: u16 = 10;

/// A socket of TCP or UDP.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) v6: bool,
    pub(super) datagram: bool,
    /// Where it is, once it is bound.
    pub(super) local: Option<SocketAddr>,
    /// Whom it is connected with.
    pub(super) peer: Option<SocketAddr>,
    /// What the program has set, by level and name, where that has no effect.
    pub(super) options: BTreeMap<(c_int, c_int), c_int>,
}

impl Socket {
    pub(super) fn new(v6: bool, datagram: bool) -> Socket {
        Socket { v6, datagram, local: None, peer: None, options: BTreeMap::new() }
    }

    /// The address that the program is told: a socket that listens everywhere has no one address.
    pub(super) fn told(&self, address: Option<SocketAddr>) -> SocketAddr {
        let any = if self.v6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
        address.unwrap_or(SocketAddr::new(any, 0))
    }
}

/// The address of this host.
pub(super) fn loopback(v6: bool) -> IpAddr {
    if v6 { IpAddr::V6(Ipv6Addr::LOCALHOST) } else { IpAddr::V4(Ipv4Addr::LOCALHOST) }
}

/// Whether an address is one of this host, or all of them.
pub(super) fn is_here(ip: IpAddr) -> bool {
    // An IPv4 address in IPv6 clothes is one.
    let ip = ip.to_canonical();
    ip.is_loopback() || ip.is_unspecified()
}

/// An address as the kernel has it: bytes of a `sockaddr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    bytes: [u8; 112],
    length: usize,
}

impl Raw {
    /// Room for an address.
    pub(super) const EMPTY: Raw = Raw { bytes: [0; 112], length: 112 };

    /// What is at this address.
    ///
    /// # Safety
    /// `length` bytes can be read there.
    pub(super) unsafe fn read(at: *const u8, length: usize) -> Raw {
        let mut raw = Raw::EMPTY;
        raw.length = length.min(raw.bytes.len());
        // SAFETY: the caller says so, and there is room for as many.
        unsafe { at.copy_to_nonoverlapping(raw.bytes.as_mut_ptr(), raw.length) };
        raw
    }

    /// Writes it as the kernel does: as much as there is room for, and its whole length.
    ///
    /// # Safety
    /// `length` is null or that of the room at `at`; both can be written.
    pub(super) unsafe fn write(&self, at: *mut u8, length: *mut u32) {
        if at.is_null() || length.is_null() {
            return;
        }
        // SAFETY: the caller says so.
        unsafe {
            let room = usize::try_from(*length).unwrap_or(0);
            self.bytes.as_ptr().copy_to_nonoverlapping(at, self.length.min(room));
            *length = self.length as u32;
        }
    }

    /// What a system call that reads an address asks for.
    pub(super) fn arguments(&self) -> [usize; 2] {
        [self.bytes.as_ptr().expose_provenance(), self.length]
    }

    /// Where a system call may write an address of 112 bytes at most.
    pub(super) fn room(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    /// The kernel has written so many bytes.
    pub(super) fn filled(mut self, length: u32) -> Raw {
        self.length = usize::try_from(length).unwrap_or(0).min(self.bytes.len());
        self
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// The address of a socket of TCP or UDP.
    pub(super) fn of(address: SocketAddr) -> Raw {
        let mut raw = Raw { length: 0, ..Raw::EMPTY };
        match address {
            SocketAddr::V4(address) => {
                raw.put(&AF_INET.to_ne_bytes());
                raw.put(&address.port().to_be_bytes());
                raw.put(&address.ip().octets());
                raw.put(&[0; 8]);
            }
            SocketAddr::V6(address) => {
                raw.put(&AF_INET6.to_ne_bytes());
                raw.put(&address.port().to_be_bytes());
                raw.put(&address.flowinfo().to_be_bytes());
                raw.put(&address.ip().octets());
                raw.put(&address.scope_id().to_ne_bytes());
            }
        }
        raw
    }

    /// The address of TCP or UDP that this is.
    ///
    /// # Errors
    /// The error number of the kernel, when the bytes are not such an address.
    pub(super) fn address(&self) -> Result<SocketAddr, c_int> {
        let part = |from: usize, to: usize| self.bytes[..self.length].get(from..to).ok_or(EINVAL);
        let family = u16::from_ne_bytes(part(0, 2)?.try_into().expect("two bytes"));
        let port = || part(2, 4).map(|port| u16::from_be_bytes(port.try_into().expect("two bytes")));
        match family {
            AF_INET => {
                let ip: [u8; 4] = part(4, 8)?.try_into().expect("four bytes");
                Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(ip)), port()?))
            }
            AF_INET6 => {
                let ip: [u8; 16] = part(8, 24)?.try_into().expect("sixteen bytes");
                Ok(SocketAddr::new(IpAddr::V6(Ipv6Addr::from(ip)), port()?))
            }
            _ => Err(EAFNOSUPPORT),
        }
    }

    /// The name of the Unix socket that stands for a port in the running execution.
    pub(super) fn name(datagram: bool, v6: bool, port: u16) -> Raw {
        let execution = runtime::with(|current| current.execution().get()).unwrap_or(0);
        let protocol = if datagram { "udp" } else { "tcp" };
        let family = if v6 { 6 } else { 4 };
        let process = std::process::id();
        let name = format!("\0interloper/{process}/{execution}/{protocol}/{family}/{port}");
        let mut raw = Raw { length: 0, ..Raw::EMPTY };
        raw.put(&AF_UNIX.to_ne_bytes());
        raw.put(name.as_bytes());
        raw
    }

    /// The address for which the name of a Unix socket stands; `None` if the socket has no such name.
    pub(super) fn named(&self) -> Option<SocketAddr> {
        let name = std::str::from_utf8(self.bytes[..self.length].get(2..)?).ok()?;
        let mut parts = name.strip_prefix("\0interloper/")?.rsplit('/');
        let port = parts.next()?.parse().ok()?;
        Some(SocketAddr::new(loopback(parts.next()? == "6"), port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_way_there_and_back() {
        for text in ["127.0.0.1:80", "0.0.0.0:0", "[::1]:65535", "[fe80::1]:1"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(Raw::of(address).address(), Ok(address));
        }
        assert_eq!(Raw::of("1.2.3.4:5".parse().unwrap()).length, 16);
        assert_eq!(Raw::of("[::]:5".parse().unwrap()).length, 28);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        assert_eq!(Raw::name(false, false, 1).address(), Err(EAFNOSUPPORT));
        let mut short = Raw::of("1.2.3.4:5".parse().unwrap());
        short.length = 6;
        assert_eq!(short.address(), Err(EINVAL));
        short.length = 1;
        assert_eq!(short.address(), Err(EINVAL));
    }

    #[test]
    fn a_name_says_the_address() {
        for (datagram, v6, port, address) in
            [(false, false, 80, "127.0.0.1:80"), (true, true, 65535, "[::1]:65535"), (false, true, 0, "[::1]:0")]
        {
            assert_eq!(Raw::name(datagram, v6, port).named(), Some(address.parse().unwrap()));
        }
        assert_eq!(Raw::of("1.2.3.4:5".parse().unwrap()).named(), None);
        assert_eq!(Raw { length: 2, ..Raw::EMPTY }.named(), None);
    }

    #[test]
    fn the_network_ends_at_this_host() {
        for (ip, here) in [("127.0.0.1", true), ("127.9.9.9", true), ("0.0.0.0", true), ("::1", true), ("::", true)] {
            assert_eq!(is_here(ip.parse().unwrap()), here);
        }
        for ip in ["10.0.0.1", "8.8.8.8", "2001:db8::1", "::ffff:8.8.8.8"] {
            assert!(!is_here(ip.parse().unwrap()), "{ip}");
        }
        assert!(is_here("::ffff:127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn an_address_is_cut_where_there_is_no_room() {
        let raw = Raw::of("1.2.3.4:5".parse().unwrap());
        let (mut bytes, mut length) = ([9u8; 8], 6u32);
        // SAFETY: six bytes can be written, and more.
        unsafe { raw.write(bytes.as_mut_ptr(), &raw mut length) };
        assert_eq!((bytes[6..].to_vec(), length), (vec![9, 9], 16));
        assert_eq!(bytes[..6], raw.bytes[..6]);
        // SAFETY: nothing is written.
        unsafe { raw.write(std::ptr::null_mut(), &raw mut length) };
    }
}
