//! Connections, behind traits: TCP, or a simulated network in tests.
//!
//! A connection brings its clock with it ([`Connection::now`]), so that whoever reads from it counts time as it does.

use crate::http::{NoReply, Peer};
use game::StopFlag;
use referee::{Runtime, System};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// A connection to a peer.
pub trait Connection: Send + Sync {
    /// The time.
    fn now(&self) -> Instant;

    /// Reads what has come, and waits for something if nothing has. No bytes: the peer has ended its half.
    ///
    /// # Errors
    /// If nothing comes in time, or the connection is broken.
    fn read(&self, buffer: &mut [u8], patience: Duration) -> io::Result<usize>;

    /// Sends some of the bytes, and tells how many.
    ///
    /// # Errors
    /// If nothing can be sent in time, or the connection is broken.
    fn write(&self, bytes: &[u8], patience: Duration) -> io::Result<usize>;

    /// Number of bytes that can be read at once, 1 at most; 0 if the peer has ended its half.
    ///
    /// # Errors
    /// `WouldBlock` if nothing has come yet; others if the connection is broken.
    fn peek(&self) -> io::Result<usize>;

    /// Ends our half of the connection.
    ///
    /// # Errors
    /// If the connection is broken.
    fn end(&self) -> io::Result<()>;
}

/// Where connections come in.
pub trait Listener: Send + Sync {
    /// Waits for the next connection.
    ///
    /// # Errors
    /// If the system has none to give.
    fn accept(&self) -> io::Result<Box<dyn Connection>>;

    /// Wakes a thread that waits in [`Listener::accept`].
    fn wake(&self);
}

/// Where connections are made.
pub trait Network: Runtime {
    /// Connects to a peer.
    ///
    /// # Errors
    /// If the peer does not take the connection in time.
    fn connect(&self, peer: &Peer, patience: Duration, stop: &StopFlag) -> Result<Box<dyn Connection>, NoReply>;
}

impl Connection for TcpStream {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn read(&self, buffer: &mut [u8], patience: Duration) -> io::Result<usize> {
        self.set_read_timeout(Some(patience))?;
        (&mut &*self).read(buffer)
    }

    fn write(&self, bytes: &[u8], patience: Duration) -> io::Result<usize> {
        self.set_write_timeout(Some(patience))?;
        (&mut &*self).write(bytes)
    }

    fn peek(&self) -> io::Result<usize> {
        self.set_nonblocking(true)?;
        let peeked = TcpStream::peek(self, &mut [0]);
        let _ = self.set_nonblocking(false);
        peeked
    }

    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Listener for TcpListener {
    fn accept(&self) -> io::Result<Box<dyn Connection>> {
        let (stream, _) = TcpListener::accept(self)?;
        // Messages are small and wait for their answers.
        let _ = stream.set_nodelay(true);
        Ok(Box::new(stream))
    }

    fn wake(&self) {
        let Ok(mut address) = self.local_addr() else {
            return;
        };
        if address.ip().is_unspecified() {
            address.set_ip(match address.ip() {
                std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

impl Network for System {
    fn connect(&self, peer: &Peer, patience: Duration, stop: &StopFlag) -> Result<Box<dyn Connection>, NoReply> {
        Ok(Box::new(peer.connect(patience, stop)?))
    }
}
