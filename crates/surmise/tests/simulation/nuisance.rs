//! Connections that only take up room: silent, slow, endless, or full of noise.

use super::managers::{Scene, ask, post};
use super::net::{End, SimNetwork, Weather};
use std::time::Duration;
use surmise::game::Rng;
use surmise::ggp::net::Connection;
use surmise::referee::Runtime;

/// Somebody who only takes up room.
pub fn nuisance(scene: &Scene, port: u16, mut rng: Rng) {
    let net = SimNetwork::new(&scene.sim, Weather::default());
    let sim = &scene.sim;
    match rng.below(6) {
        0 => {
            // Connections on which nothing is said.
            let ends: Vec<End> = (0..1 + rng.below(60)).filter_map(|_| net.dial(port)).collect();
            sim.sleep(Duration::from_secs(11));
            if ends
                .iter()
                .any(|end| matches!(end.peek(), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock))
            {
                scene.fault("an idle connection is kept for more than 11 s".to_owned());
            }
        }
        1 => {
            // A request that comes a byte at a time.
            let Some(end) = net.dial(port) else { return };
            let begun = sim.time();
            for byte in post("(INFO)").bytes().cycle() {
                if end.peek().is_ok() || !end.send(&[byte]) {
                    break;
                }
                sim.sleep(Duration::from_millis(100 + rng.below(9_000) as u64));
            }
            if sim.time() - begun > Duration::from_secs(75) {
                scene.fault("a slow sender is listened to for more than 75 s".to_owned());
            }
        }
        2 => {
            for _ in 0..20 {
                let asked = ask(&net, port, "(INFO)", Duration::from_secs(5));
                let quick = asked.took.is_some_and(|took| took <= Duration::from_millis(5));
                let fine = asked.reply.as_deref().is_some_and(|reply| reply.contains("status")) && quick;
                if !fine {
                    scene.fault(format!("INFO is answered {:?} after {:?}", asked.reply, asked.took));
                }
                sim.sleep(Duration::from_millis(rng.below(1_000) as u64));
            }
        }
        3 => {
            let Some(end) = net.dial(port) else { return };
            let bytes: Vec<u8> = (0..rng.below(40_000)).map(|_| rng.below(256) as u8).collect();
            end.send(&bytes);
            end.read_all(Duration::from_secs(70), 1 << 16);
        }
        4 => {
            let Some(end) = net.dial(port) else { return };
            end.send(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
            for _ in 0..rng.below(300) {
                if !end.send(b"1;extension=\"x\"\r\n(\r\n") {
                    return;
                }
                sim.sleep(Duration::from_millis(rng.below(200) as u64));
            }
        }
        _ => {
            let Some(end) = net.dial(port) else { return };
            end.send(b"POST / HTTP/1.0\r\nContent-Length: 16000000\r\n\r\n(START x");
            sim.sleep(Duration::from_secs(rng.below(80) as u64));
        }
    }
}
