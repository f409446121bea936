//! Connections of the simulated network: two pipes each, whose bytes arrive later, in pieces, or not at all.

use super::sim::{Sim, World};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use surmise::game::StopFlag;
use surmise::ggp::http::{NoReply, Peer};
use surmise::ggp::net::{Connection, Listener, Network};
use surmise::referee::{Bell, Runtime, Work};

/// Bytes that may be under way or unread.
const WINDOW: usize = 64 << 10;

/// A port whose machine is silent: connections are neither made nor refused.
pub const NOWHERE: u16 = 9;

/// One direction of a connection.
#[derive(Default)]
pub struct Pipe {
    arrived: VecDeque<u8>,
    /// Bytes that were sent and have not been read.
    outstanding: usize,
    sent: usize,
    /// The time at which the last byte under way arrives.
    last: Duration,
    ending: bool,
    ended: bool,
    broken: bool,
    reader_gone: bool,
    writer_gone: bool,
    /// Bytes after which the whole connection breaks.
    cut: Option<usize>,
    first_arrival: Option<Duration>,
    last_arrival: Duration,
    first_sent: Option<Duration>,
}

/// A port that somebody listens on.
#[derive(Default)]
pub struct Door {
    waiting: VecDeque<(u64, u64, Weather)>,
    bell: u64,
    woken: bool,
}

/// How the network treats the connections of somebody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// Longest time under way, in milliseconds.
    pub latency: usize,
    /// Connections of a hundred that break at a random byte, of either direction.
    pub cuts: usize,
    /// Connections of a hundred that are not made at all.
    pub refusals: usize,
}

/// The network as one of its users sees it.
#[derive(Clone)]
pub struct SimNetwork {
    pub sim: Sim,
    pub weather: Weather,
    /// Whether a connection was cut or refused by the weather.
    pub spoiled: Arc<AtomicBool>,
}

/// One end of a connection.
pub struct End {
    sim: Sim,
    weather: Weather,
    read: u64,
    write: u64,
}

impl SimNetwork {
    pub fn new(sim: &Sim, weather: Weather) -> SimNetwork {
        SimNetwork {
            sim: sim.clone(),
            weather,
            spoiled: Arc::default(),
        }
    }

    pub fn is_spoiled(&self) -> bool {
        self.spoiled.load(Ordering::SeqCst)
    }

    /// Connects to a port. None if nobody listens.
    pub fn dial(&self, port: u16) -> Option<End> {
        let latency = self.sim.world().latency(&self.weather);
        self.sim.sleep(latency);
        let mut world = self.sim.world();
        if world.rng.below(100) < self.weather.refusals {
            self.spoiled.store(true, Ordering::SeqCst);
            return None;
        }
        if !world.listeners.contains_key(&port) {
            return None;
        }
        let (to, from) = (world.new_id(), world.new_id());
        for id in [to, from] {
            world.pipes.insert(id, Pipe::default());
        }
        if world.rng.below(100) < self.weather.cuts {
            self.spoiled.store(true, Ordering::SeqCst);
            let (which, after) = (*world.rng.pick(&[to, from]), world.rng.below(600));
            world.pipe(which).cut = Some(after);
        }
        let door = world.listeners.get_mut(&port).expect("was there");
        door.waiting.push_back((to, from, self.weather));
        let bell = door.bell;
        world.ring(bell);
        Some(End {
            sim: self.sim.clone(),
            weather: self.weather,
            read: from,
            write: to,
        })
    }
}

impl World {
    fn pipe(&mut self, id: u64) -> &mut Pipe {
        self.pipes
            .get_mut(&id)
            .expect("a pipe stays while one of its ends does")
    }

    fn latency(&mut self, weather: &Weather) -> Duration {
        Duration::from_micros(50 + self.rng.below(weather.latency * 1_000 + 1) as u64)
    }

    /// Something that happens to a pipe, if it is still there, and wakes whoever waits for it.
    fn happens(&mut self, id: u64, at: Duration, what: impl FnOnce(&mut Pipe, Duration) + Send + 'static) {
        self.at(at, move |world| {
            let now = world.now;
            if let Some(pipe) = world.pipes.get_mut(&id) {
                what(pipe, now);
            }
            world.ring(id);
        });
    }

    fn forget_unused(&mut self, id: u64) {
        if self
            .pipes
            .get(&id)
            .is_some_and(|pipe| pipe.reader_gone && pipe.writer_gone)
        {
            self.pipes.remove(&id);
        }
    }
}

impl End {
    /// The time from the arrival of the first byte that was sent to the first byte of the answer, as the peer has it,
    /// and the time from the arrival of the first byte to that of the last.
    pub fn answered_in(&self) -> Option<(Duration, Duration)> {
        let mut world = self.sim.world();
        let pipe = world.pipe(self.write);
        let (asked, last) = (pipe.first_arrival?, pipe.last_arrival);
        let answered = world.pipe(self.read).first_sent?;
        Some((answered.saturating_sub(asked), last - asked))
    }

    /// Breaks the connection: the peer notices at once.
    pub fn tear(&self) {
        let mut world = self.sim.world();
        for id in [self.read, self.write] {
            world.pipe(id).broken = true;
            world.ring(id);
        }
    }

    /// Sends everything, however long it takes.
    pub fn send(&self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match self.write(bytes, Duration::from_secs(3_600)) {
                Ok(n) => bytes = &bytes[n..],
                Err(_) => return false,
            }
        }
        true
    }

    /// Reads to the end, at most for a time and so many bytes.
    pub fn read_all(&self, patience: Duration, most: usize) -> Vec<u8> {
        let deadline = self.sim.time() + patience;
        let (mut all, mut piece) = (Vec::new(), [0; 4096]);
        while let Some(left) = deadline.checked_sub(self.sim.time()).filter(|left| !left.is_zero()) {
            match Connection::read(self, &mut piece, left) {
                Ok(0) | Err(_) => break,
                Ok(n) => all.extend_from_slice(&piece[..n]),
            }
            if all.len() > most {
                break;
            }
        }
        all
    }
}

impl Connection for End {
    fn now(&self) -> Instant {
        Runtime::now(&self.sim)
    }

    fn read(&self, buffer: &mut [u8], patience: Duration) -> io::Result<usize> {
        let until = self.sim.time() + patience;
        loop {
            let mut world = self.sim.world();
            let now = world.now;
            let pipe = world.pipe(self.read);
            if pipe.broken {
                return Err(ErrorKind::ConnectionReset.into());
            }
            if !pipe.arrived.is_empty() {
                let n = buffer.len().min(pipe.arrived.len());
                for (slot, byte) in buffer.iter_mut().zip(pipe.arrived.drain(..n)) {
                    *slot = byte;
                }
                pipe.outstanding -= n;
                world.ring(self.read);
                return Ok(n);
            }
            if pipe.ended {
                return Ok(0);
            }
            if now >= until {
                return Err(ErrorKind::WouldBlock.into());
            }
            drop(world);
            self.sim.wait(Some(self.read), Some(until));
        }
    }

    fn write(&self, bytes: &[u8], patience: Duration) -> io::Result<usize> {
        let until = self.sim.time() + patience;
        loop {
            let mut world = self.sim.world();
            let now = world.now;
            let pipe = world.pipe(self.write);
            if pipe.broken || pipe.ending || pipe.reader_gone {
                return Err(ErrorKind::BrokenPipe.into());
            }
            pipe.first_sent.get_or_insert(now);
            let room = WINDOW - pipe.outstanding;
            if room > 0 {
                let n = room.min(bytes.len());
                let (write, read) = (self.write, self.read);
                send(&mut world, (write, read), &bytes[..n], &self.weather);
                return Ok(n);
            }
            if now >= until {
                return Err(ErrorKind::WouldBlock.into());
            }
            drop(world);
            self.sim.wait(Some(self.write), Some(until));
        }
    }

    fn peek(&self) -> io::Result<usize> {
        let mut world = self.sim.world();
        let pipe = world.pipe(self.read);
        match (pipe.broken, pipe.arrived.is_empty(), pipe.ended) {
            (true, _, _) => Err(ErrorKind::ConnectionReset.into()),
            (_, false, _) => Ok(1),
            (_, _, true) => Ok(0),
            _ => Err(ErrorKind::WouldBlock.into()),
        }
    }

    fn end(&self) -> io::Result<()> {
        let mut world = self.sim.world();
        end(&mut world, self.write, &self.weather);
        Ok(())
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut world = self.sim.world();
        end(&mut world, self.write, &self.weather);
        world.pipe(self.write).writer_gone = true;
        world.pipe(self.read).reader_gone = true;
        let (read, write) = (self.read, self.write);
        world.ring(read);
        world.forget_unused(read);
        world.forget_unused(write);
    }
}

fn end(world: &mut World, id: u64, weather: &Weather) {
    let late = world.now + world.latency(weather);
    let pipe = world.pipe(id);
    if !std::mem::replace(&mut pipe.ending, true) {
        let at = pipe.last.max(late);
        world.happens(id, at, |pipe, _| pipe.ended = true);
    }
}

/// Sends bytes in pieces. If the other end is gone, or the connection is cut, it breaks.
fn send(world: &mut World, (write, read): (u64, u64), bytes: &[u8], weather: &Weather) {
    let pieces = 1 + world.rng.below(3);
    let size = bytes.len().div_ceil(pieces).max(1);
    for piece in bytes.chunks(size) {
        let late = world.now + world.latency(weather);
        let pipe = world.pipe(write);
        let at = pipe.last.max(late);
        pipe.last = at;
        let fits = pipe
            .cut
            .map_or(piece.len(), |cut| cut.saturating_sub(pipe.sent).min(piece.len()));
        pipe.sent += piece.len();
        pipe.outstanding += fits;
        let breaks = fits < piece.len() || pipe.reader_gone;
        let piece = piece[..fits].to_vec();
        world.happens(write, at, move |pipe, now| {
            if !piece.is_empty() {
                pipe.first_arrival.get_or_insert(now);
                pipe.last_arrival = now;
            }
            pipe.arrived.extend(piece);
        });
        if breaks {
            for id in [write, read] {
                world.happens(id, at + Duration::from_micros(1), |pipe, _| pipe.broken = true);
            }
            return;
        }
    }
}

/// Where connections to a port come in.
pub struct SimListener {
    sim: Sim,
    port: u16,
}

impl SimListener {
    pub fn open(sim: &Sim, port: u16) -> SimListener {
        let mut world = sim.world();
        let bell = world.new_id();
        let door = Door {
            bell,
            ..Door::default()
        };
        assert!(world.listeners.insert(port, door).is_none(), "one listener a port");
        drop(world);
        SimListener { sim: sim.clone(), port }
    }

    /// The next connection; none if the listener was woken instead.
    pub fn next(&self) -> Option<End> {
        loop {
            let mut world = self.sim.world();
            let door = world.listeners.get_mut(&self.port).expect("is listening");
            if let Some((read, write, weather)) = door.waiting.pop_front() {
                drop(world);
                return Some(End {
                    sim: self.sim.clone(),
                    weather,
                    read,
                    write,
                });
            }
            if std::mem::take(&mut door.woken) {
                return None;
            }
            let bell = door.bell;
            drop(world);
            self.sim.wait(Some(bell), None);
        }
    }
}

impl Drop for SimListener {
    /// Connections that nobody took are broken.
    fn drop(&mut self) {
        let waiting = {
            let mut world = self.sim.world();
            world.listeners.remove(&self.port).map(|door| door.waiting)
        };
        for (read, write, weather) in waiting.into_iter().flatten() {
            let end = End {
                sim: self.sim.clone(),
                weather,
                read,
                write,
            };
            end.tear();
        }
    }
}

impl Listener for SimListener {
    fn accept(&self) -> io::Result<Box<dyn Connection>> {
        match self.next() {
            Some(end) => Ok(Box::new(end)),
            None => Err(ErrorKind::Interrupted.into()),
        }
    }

    fn wake(&self) {
        let mut world = self.sim.world();
        if let Some(door) = world.listeners.get_mut(&self.port) {
            door.woken = true;
            let bell = door.bell;
            world.ring(bell);
        }
    }
}

impl Runtime for SimNetwork {
    fn now(&self) -> Instant {
        Runtime::now(&self.sim)
    }
    fn sleep(&self, time: Duration) {
        self.sim.sleep(time);
    }
    fn spawn(&self, name: &str, work: Work<'static>) -> io::Result<()> {
        self.sim.spawn(name, work)
    }
    fn together(&self, work: Vec<Work<'_>>) {
        self.sim.together(work);
    }
    fn bell(&self) -> Option<Arc<dyn Bell>> {
        self.sim.bell()
    }
}

impl Network for SimNetwork {
    fn connect(&self, peer: &Peer, patience: Duration, _: &StopFlag) -> Result<Box<dyn Connection>, NoReply> {
        if peer.port == NOWHERE {
            self.sim.sleep(patience);
            return Err(NoReply::Unreachable("nobody took the call".to_owned()));
        }
        match self.dial(peer.port) {
            Some(end) => Ok(Box::new(end)),
            None => Err(NoReply::Unreachable("connection refused".to_owned())),
        }
    }
}
