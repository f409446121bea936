//! The checks.

use super::{Checked, Complaint, DOORS, HIDDEN, OPEN, SAYS, TestedPlayer, short, wrong};
use std::time::{Duration, Instant};

pub(super) fn answers_info(player: &TestedPlayer) -> Checked {
    match player.ask("(INFO)")?.is_empty() {
        true => wrong("an empty reply"),
        false => Ok(()),
    }
}

pub(super) fn post_without_host(player: &TestedPlayer) -> Checked {
    let raw = player.post("HTTP/1.0\r\nContent-Length: 6", "(INFO)")?;
    player.is_info(&raw)
}

pub(super) fn post_chunked(player: &TestedPlayer) -> Checked {
    let raw = player.post(
        "HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked",
        "3\r\n(IN\r\n3\r\nFO)\r\n0\r\n\r\n",
    )?;
    player.is_info(&raw)
}

pub(super) fn post_expecting(player: &TestedPlayer) -> Checked {
    let head = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n";
    let raw = player.raw(&[head, b"(INFO)"], Duration::from_millis(200), false)?;
    player.is_info(&raw)
}

pub(super) fn get_message(player: &TestedPlayer) -> Checked {
    let raw = player.raw(&[b"GET /%28INFO%29 HTTP/1.0\r\n\r\n"], Duration::ZERO, false)?;
    player.is_info(&raw)?;
    match raw.body.contains('<') {
        true => wrong("replied with a page instead of an answer to (INFO)"),
        false => Ok(()),
    }
}

pub(super) fn options(player: &TestedPlayer) -> Checked {
    let raw = player.raw(&[b"OPTIONS / HTTP/1.0\r\n\r\n"], Duration::ZERO, false)?;
    match raw.status {
        200..=299 => Ok(()),
        status => wrong(format!("status {status}")),
    }
}

pub(super) fn many_segments(player: &TestedPlayer) -> Checked {
    let request = b"POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(INFO)";
    let pieces: Vec<&[u8]> = request.chunks(3).collect();
    let raw = player.raw(&pieces, Duration::from_millis(15), false)?;
    player.is_info(&raw)
}

pub(super) fn no_length(player: &TestedPlayer) -> Checked {
    let raw = player.raw(&[b"POST / HTTP/1.0\r\n\r\n(INFO)"], Duration::ZERO, true)?;
    player.is_info(&raw)
}

pub(super) fn length_too_large(player: &TestedPlayer) -> Checked {
    let raw = player.raw(
        &[b"POST / HTTP/1.0\r\nContent-Length: 60\r\n\r\n(INFO)"],
        Duration::ZERO,
        true,
    )?;
    player.is_info(&raw)
}

pub(super) fn garbage(player: &TestedPlayer) -> Checked {
    for body in [
        "",
        "\u{1}\u{2}\u{fffd}\u{7f}",
        "(PLAY (((",
        "(FROBNICATE 1)",
        ")",
        "(PLAY)",
    ] {
        let headers = format!("HTTP/1.0\r\nContent-Length: {}", body.len());
        let raw = player
            .post(&headers, body)
            .map_err(|why| Complaint(format!("{body:?}: {}", why.0)))?;
        if raw.status == 0 {
            return wrong(format!("no status for {body:?}"));
        }
    }
    answers_info(player).map_err(|why| Complaint(format!("not usable afterwards: {}", why.0)))
}

pub(super) fn exact_reply(player: &TestedPlayer) -> Checked {
    let raw = player.post("HTTP/1.0\r\nContent-Length: 6", "(INFO)")?;
    if !raw.closed {
        return wrong("the connection stays open");
    }
    match raw.length {
        Some(length) if length == raw.body.len() => Ok(()),
        Some(length) => wrong(format!(
            "Content-Length is {length}, but the body has {} bytes",
            raw.body.len()
        )),
        None => wrong("there is no Content-Length"),
    }
}

pub(super) fn odd_spacing(player: &TestedPlayer) -> Checked {
    for message in ["\r\n( \tINFO\x0c )\r\n", "(info) (and more", " ( INFO ) \n\n"] {
        let reply = player.ask(message)?;
        if reply.is_empty() || reply.eq_ignore_ascii_case("what") {
            return wrong(format!("replied `{reply}` to {message:?}"));
        }
    }
    Ok(())
}

pub(super) fn info_says_status(player: &TestedPlayer) -> Checked {
    let says = |word: &str, other: &str| {
        let reply = player.ask("(INFO)")?.to_ascii_lowercase();
        match reply.contains(word) || (word == "available" && reply == "ready") {
            true => Ok(()),
            false => wrong(format!("replied `{}` {other}", short(&reply))),
        }
    };
    says("available", "while it is free")?;
    player.in_match("status", "first", OPEN, |_| says("busy", "during a match"))?;
    says("available", "after the match")
}

pub(super) fn ping(player: &TestedPlayer) -> Checked {
    player.expect("(PING)", &["ready", "available"])
}

pub(super) fn preview(player: &TestedPlayer) -> Checked {
    player.expect(&format!("(PREVIEW ({OPEN}) 1)"), &["ready", "busy", "done"])?;
    player.ask("(INFO)").map(drop)
}

pub(super) fn start_in_time(player: &TestedPlayer) -> Checked {
    let id = player.id("start");
    let started = Instant::now();
    let reply = player.expect(&format!("(START {id} first ({OPEN}) 2 1)"), &["ready"]);
    let took = started.elapsed();
    let _ = player.ask(&format!("(ABORT {id})"));
    let _ = player.ask(&format!("(STOP {id} NIL)"));
    reply?;
    match took < Duration::from_secs(2) {
        true => Ok(()),
        false => wrong(format!("took {:.2} s of 2 s", took.as_secs_f64())),
    }
}

pub(super) fn start_with_more(player: &TestedPlayer) -> Checked {
    let id = player.id("more");
    let reply = player.expect(&format!("(START {id} first ({OPEN}) 1 1 (extra stuff) 17)"), &["ready"]);
    let _ = player.ask(&format!("(STOP {id} NIL)"));
    reply
}

pub(super) fn start_unknown_role(player: &TestedPlayer) -> Checked {
    let id = player.id("role");
    let reply = player.expect(&format!("(START {id} nobody ({OPEN}) 1 1)"), &["busy"]);
    let _ = player.ask(&format!("(STOP {id} NIL)"));
    reply
}

pub(super) fn play_gdl1(player: &TestedPlayer) -> Checked {
    player.in_match("open", "second", OPEN, |id| {
        let first = player.moves(&format!("( PLAY {id} NIL )"), SAYS)?;
        let second = player.moves(&format!("( PLAY {id} (( say a ) {first} ) )"), SAYS)?;
        player.expect(&format!("( STOP {id} (( say b ) {second} ) )"), &["done"])
    })
}

pub(super) fn stop_at_once(player: &TestedPlayer) -> Checked {
    player.in_match("over", "first", OPEN, |id| {
        player.expect(&format!("(STOP {id} NIL)"), &["done"])
    })
}

pub(super) fn play_gdl2b(player: &TestedPlayer) -> Checked {
    player.in_match("turns", "guesser", HIDDEN, |id| {
        player.moves(&format!("(PLAY {id} 0 NIL NIL)"), &["noop"])?;
        let mv = player.moves(&format!("(PLAY {id} 1 NOOP (3 ))"), DOORS)?;
        player.expect(&format!("(STOP {id} 2 {mv} (1 ))"), &["done"])
    })
}

pub(super) fn play_gdl2a(player: &TestedPlayer) -> Checked {
    player.in_match("percepts", "guesser", HIDDEN, |id| {
        player.moves(&format!("(PLAY {id} NIL)"), &["noop"])?;
        player.moves(&format!("(PLAY {id} (3 ))"), DOORS)?;
        player.expect(&format!("(STOP {id} (1 ))"), &["done"])
    })
}

pub(super) fn replaced_move(player: &TestedPlayer) -> Checked {
    let echo = format!("{OPEN} (<= (sees ?r ?m) (does ?r ?m))");
    player.in_match("replaced", "first", &echo, |id| {
        let sent = player.moves(&format!("(PLAY {id} 0 NIL NIL)"), SAYS)?;
        let other = if sent == SAYS[0] { "(SAY B)" } else { "(SAY A)" };
        player.moves(&format!("(PLAY {id} 1 {other} ({other} {other} ))"), SAYS)?;
        Ok(())
    })
}

pub(super) fn abort(player: &TestedPlayer) -> Checked {
    let id = player.id("abort");
    player.start(&id, "first", OPEN)?;
    player.expect(&format!("(ABORT {id}.other)"), &["busy"])?;
    player.expect(&format!("(ABORT {id})"), &["aborted", "done"])?;
    let reply = player.ask("(INFO)")?.to_ascii_lowercase();
    match reply.contains("busy") {
        true => wrong("still busy after ABORT"),
        false => Ok(()),
    }
}

pub(super) fn info_while_thinking(player: &TestedPlayer) -> Checked {
    // Time to think in, so that players that think are asked while they do.
    player.in_match_of(4, "busy", "first", OPEN, |id| {
        std::thread::scope(|scope| {
            let play = scope.spawn(|| player.moves_within(&format!("(PLAY {id} NIL)"), SAYS, Duration::from_secs(5)));
            std::thread::sleep(Duration::from_millis(300));
            let asked: Vec<_> = (0..10)
                .map(|_| scope.spawn(|| player.ask_within("(INFO)", Duration::from_secs(1))))
                .collect();
            for asked in asked {
                asked.join().or_else(|_| wrong("broke down"))??;
            }
            play.join().or_else(|_| wrong("broke down"))?.map(drop)
        })
    })
}

pub(super) fn second_start(player: &TestedPlayer) -> Checked {
    player.in_match("twice", "first", OPEN, |id| {
        let other = format!("(START {id}.b first ({OPEN}) 1 1)");
        let refused = player.expect(&other, &["busy"]);
        let _ = player.ask(&format!("(ABORT {id}.b)"));
        refused
    })
}

pub(super) fn same_start(player: &TestedPlayer) -> Checked {
    player.in_match("retry", "first", OPEN, |id| player.start(id, "first", OPEN))
}

pub(super) fn repeated_play(player: &TestedPlayer) -> Checked {
    player.in_match("again", "guesser", HIDDEN, |id| {
        player.moves(&format!("(PLAY {id} 0 NIL NIL)"), &["noop"])?;
        let play = format!("(PLAY {id} 1 NOOP (3 ))");
        let (first, second) = (player.moves(&play, DOORS)?, player.moves(&play, DOORS)?);
        match first == second {
            true => Ok(()),
            false => wrong(format!("answered {first}, then {second} to the same question")),
        }
    })
}

pub(super) fn exact_ids(player: &TestedPlayer) -> Checked {
    player.in_match("case", "first", OPEN, |id| {
        player.expect(&format!("(PLAY {} NIL)", id.to_uppercase()), &["busy"])
    })
}

pub(super) fn upper_case(player: &TestedPlayer) -> Checked {
    let rules = OPEN.to_uppercase();
    player.in_match("upper", "FIRST", &rules, |id| {
        let reply = player.ask_within(&format!("(PLAY {id} NIL)"), Duration::from_secs(2))?;
        match reply.contains("SAY") {
            true => Ok(()),
            false => wrong(format!("replied `{}`", short(&reply))),
        }
    })
}

pub(super) fn quick_clocks(player: &TestedPlayer) -> Checked {
    player.in_match("quick", "first", OPEN, |id| {
        let mut news = "NIL".to_owned();
        for turn in 0..2 {
            let started = Instant::now();
            let mv = player.moves(&format!("(PLAY {id} {news})"), SAYS)?;
            let took = started.elapsed();
            if took > Duration::from_secs(1) {
                return wrong(format!("turn {turn} took {:.2} s", took.as_secs_f64()));
            }
            news = format!("({mv} (say a))");
        }
        Ok(())
    })
}

pub(super) fn lookalikes(player: &TestedPlayer) -> Checked {
    let rules = OPEN
        .replace("say", "sees2")
        .replace("succ", "nextcell")
        .replace("step", "trueish");
    player.in_match("alike", "first", &rules, |id| {
        player
            .moves(&format!("(PLAY {id} NIL)"), &["(sees2 a)", "(sees2 b)"])
            .map(drop)
    })
}

pub(super) fn impossible_percepts(player: &TestedPlayer) -> Checked {
    player.in_match("strange", "guesser", HIDDEN, |id| {
        player.moves(&format!("(PLAY {id} 0 NIL NIL)"), &["noop"])?;
        player
            .moves(&format!("(PLAY {id} 1 NOOP (2 (elephant pink)))"), DOORS)
            .map(drop)
    })
}

pub(super) fn many_matches(player: &TestedPlayer) -> Checked {
    for number in 0..30 {
        let id = player.id(&format!("n{number}"));
        player.expect(&format!("(START {id} first ({OPEN}) 1 1)"), &["ready"])?;
        player.expect(&format!("(STOP {id} NIL)"), &["done"])?;
    }
    Ok(())
}
