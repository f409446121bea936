//! Players of the simulated server, which think in simulated time: in time, too long, or never. And players elsewhere
//! that answer anything but a move.

use super::net::{End, SimListener};
use super::sim::Sim;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use surmise::WirePlayers;
use surmise::game::{Budget, Decision, Fault, Rng, RoleId, Seed, Simulator, StopFlag, Told};
use surmise::gdl::Rules;
use surmise::ggp::http::{self, RequestLimits};
use surmise::ggp::net::Listener;
use surmise::ggp::{BoxError, MatchPlayer, PlayerFactory};
use surmise::referee::Runtime;

/// Makes players whose manners depend on the match's name. Matches called `slow` have rules that take long to read.
pub struct ScriptedFactory {
    pub sim: Sim,
    pub inner: WirePlayers,
    pub seed: Seed,
    /// Players that have not been dropped.
    pub alive: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, Debug)]
enum Manner {
    Quick,
    UsesItsTime,
    /// Milliseconds beyond its time.
    Overruns(u64),
    Fails,
    Panics,
}

struct ScriptedPlayer {
    sim: Sim,
    inner: Box<dyn MatchPlayer>,
    rng: Rng,
    alive: Arc<AtomicUsize>,
}

impl Drop for ScriptedPlayer {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl PlayerFactory for ScriptedFactory {
    fn player(&self, id: &str, rules: &Rules, role: RoleId, stop: &StopFlag) -> Result<Box<dyn MatchPlayer>, BoxError> {
        let mut rng = self.seed.child(id).rng();
        match rng.below(12) {
            0 => return Err("scripted: this game is not played".into()),
            1 => self.sim.sleep(Duration::from_millis(rng.below(1_500) as u64)),
            _ => {}
        }
        let inner = self.inner.fallback(id, rules, role, stop)?;
        self.alive.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(ScriptedPlayer {
            sim: self.sim.clone(),
            inner,
            rng,
            alive: self.alive.clone(),
        }))
    }

    fn fallback(
        &self,
        id: &str,
        rules: &Rules,
        role: RoleId,
        stop: &StopFlag,
    ) -> Result<Box<dyn MatchPlayer>, BoxError> {
        self.inner.fallback(id, rules, role, stop)
    }

    fn simulator(&self, rules: &Rules, stop: &StopFlag) -> Result<Box<dyn Simulator>, BoxError> {
        self.inner.simulator(rules, stop)
    }
}

impl ScriptedPlayer {
    fn manner(&mut self) -> Manner {
        match self.rng.below(10) {
            0..=3 => Manner::Quick,
            4..=5 => Manner::UsesItsTime,
            6..=7 => Manner::Overruns(self.rng.below(1_500) as u64),
            8 => Manner::Fails,
            _ => Manner::Panics,
        }
    }

    fn until_stopped(&self, budget: &Budget) {
        while !budget.stop.is_raised() {
            self.sim.sleep(Duration::from_millis(5));
        }
    }
}

impl MatchPlayer for ScriptedPlayer {
    fn prepare(&mut self, budget: &Budget) -> Option<String> {
        match self.manner() {
            Manner::Quick | Manner::Fails => {}
            Manner::UsesItsTime => self.until_stopped(budget),
            Manner::Overruns(ms) => {
                self.until_stopped(budget);
                self.sim.sleep(Duration::from_millis(ms));
            }
            Manner::Panics => panic!("scripted"),
        }
        self.inner.prepare(budget)
    }

    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        match self.manner() {
            Manner::Quick => self.sim.sleep(Duration::from_millis(self.rng.below(50) as u64)),
            Manner::UsesItsTime => self.until_stopped(budget),
            Manner::Overruns(ms) => {
                self.until_stopped(budget);
                self.sim.sleep(Duration::from_millis(ms));
            }
            Manner::Fails => return Err(Fault::player("scripted")),
            Manner::Panics => panic!("scripted"),
        }
        self.inner.choose(told, &Budget::until(StopFlag::default()))
    }
}

/// A player elsewhere that never does what it should, and now and then is not there.
pub struct Misfit {
    pub port: u16,
    /// Everything it was told.
    pub heard: Arc<Mutex<Vec<String>>>,
    stopped: Arc<AtomicBool>,
    listener: Arc<Mutex<Option<Arc<SimListener>>>>,
}

impl Misfit {
    /// Begins to listen.
    pub fn open(sim: &Sim, port: u16, seed: Seed) -> Misfit {
        let misfit = Misfit {
            port,
            heard: Arc::default(),
            stopped: Arc::default(),
            listener: Arc::default(),
        };
        let (heard, stopped, kept) = (misfit.heard.clone(), misfit.stopped.clone(), misfit.listener.clone());
        let sim = sim.clone();
        let serving = {
            let sim = sim.clone();
            move || {
                let mut rng = seed.rng();
                while !stopped.load(Ordering::SeqCst) {
                    let listener = Arc::new(SimListener::open(&sim, port));
                    *kept.lock().expect("one thread runs at a time") = Some(listener.clone());
                    for _ in 0..1 + rng.below(12) {
                        let Some(end) = listener.next() else { break };
                        let (heard, seed, sim2) = (heard.clone(), Seed(rng.bits()), sim.clone());
                        let serve = move || misbehave(&sim2, &end, &heard, seed);
                        sim.spawn("misfit connection", Box::new(serve)).expect("a thread");
                    }
                    // It dies, and somebody starts it again.
                    *kept.lock().expect("one thread runs at a time") = None;
                    drop(listener);
                    sim.sleep(Duration::from_millis(rng.below(3_000) as u64));
                }
            }
        };
        sim.spawn("misfit", Box::new(serving)).expect("a thread");
        misfit
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let listener = self.listener.lock().expect("one thread runs at a time").clone();
        if let Some(listener) = listener {
            listener.wake();
        }
    }
}

fn misbehave(sim: &Sim, end: &End, heard: &Mutex<Vec<String>>, seed: Seed) {
    let mut rng = seed.rng();
    if rng.below(12) == 0 {
        end.tear();
        return;
    }
    let Ok(request) = http::read_request(end, &RequestLimits::default()) else {
        return;
    };
    let message = String::from_utf8_lossy(&request.body).into_owned();
    heard.lock().expect("one thread runs at a time").push(message);
    let proper = |text: &str| format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
    match rng.below(14) {
        0 => sim.sleep(Duration::from_secs(rng.below(40) as u64)),
        1 => end.tear(),
        2 => drop(end.send(b"HTTP/1.0 200 OK\r\nContent-Length: 20\r\n\r\nno")),
        3 => drop(end.send(proper("busy").as_bytes())),
        4 => drop(end.send(proper("nil").as_bytes())),
        5 => drop(end.send(&[0xff; 300])),
        6 => {
            // A byte now and then, for ever.
            for byte in proper("noop").bytes() {
                if !end.send(&[byte]) {
                    return;
                }
                sim.sleep(Duration::from_millis(200 + rng.below(900) as u64));
            }
        }
        7 => {
            // More than anybody wants to know.
            end.send(b"HTTP/1.0 200 OK\r\n\r\n");
            for _ in 0..40 {
                if !end.send(&[b'('; 4096]) {
                    return;
                }
            }
        }
        8 => drop(end.send(b"HTTP/1.1 500 Oh no\r\nContent-Length: 4\r\n\r\nnoop")),
        9 => drop(end.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n(")),
        10 => drop(end.send(proper("noop noop").as_bytes())),
        11 => {
            let head = proper("(explain yourself)");
            end.send(&head.as_bytes()[..rng.below(head.len())]);
            sim.sleep(Duration::from_millis(rng.below(4_000) as u64));
        }
        12 => drop(end.send(proper("?x").as_bytes())),
        _ => drop(end.send(proper(["ready", "noop", "(show heads)", "1"][rng.below(4)]).as_bytes())),
    }
}
