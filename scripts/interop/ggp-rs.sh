#!/bin/bash
# Our manager against a player that somebody else wrote: the random player of ggp-rs 0.1.2 (MIT, Gulshan Singh, 2016, from crates.io), the one GGP
# player we found in a package registry. Builds it in a folder of its own and plays GDL-I matches with it; ends with 1 if it made a mistake.
#
#     scripts/interop/ggp-rs.sh [SURMISE] [GAME…]
#
# The crate asks for any version of its dependencies and no longer builds with today's. Changed here: versions of 2016 to 2018, the call that starts
# hyper's server (hyper 0.5 needs an OpenSSL that is gone), and two derives of its parser that it does not use. Rules, moves and messages are as they were.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
surmise=${1:-$root/target/release/surmise}
shift || true
games=("${@:-tictactoe}")
work=${TMPDIR:-/tmp}/surmise-ggp-rs
mkdir -p "$work/src" && cd "$work"

for crate in ggp-rs@0.1.2 gdl-parser@0.0.8; do
    cargo info --quiet "$crate" >/dev/null
    tar xzf "$(ls "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"${crate/@/-}".crate | head -1)"
done
sed -i '/^\[dependencies\]/,/^\[features\]/c\
[dependencies]\
gdl-parser = "=0.0.8"\
env_logger = "0.3"\
hyper = "0.10"\
log = "0.3"\
regex = "0.1"\
rand = "0.3"\
unicase = "1"\
lazy_static = "0.2"\
time = "0.1.38"\
\
[features]' ggp-rs-0.1.2/Cargo.toml
sed -i '/match Server::http(handler).listen(host) {/,/^    }/c\    Server::http(host).unwrap().handle(handler).unwrap();' ggp-rs-0.1.2/src/lib.rs
sed -i 's/, *RustcEncodable//g; s/, *RustcDecodable//g' gdl-parser-0.0.8/src/*.rs
cat >Cargo.toml <<'TOML'
[package]
name = "third-party"
version = "0.0.0"
edition = "2018"
[dependencies]
ggp-rs = { path = "ggp-rs-0.1.2" }
rand = "0.3"
[patch.crates-io]
gdl-parser = { path = "gdl-parser-0.0.8" }
[workspace]
TOML
cat >src/main.rs <<'RUST'
struct Random;

impl ggp_rs::Player for Random {
    fn name(&self) -> String {
        "Random".to_string()
    }

    fn select_move(&mut self, game: &ggp_rs::Game) -> ggp_rs::Move {
        let mut moves = game.legal_moves(game.current_state(), game.role());
        let chosen = rand::random::<usize>() % moves.len();
        moves.swap_remove(chosen)
    }
}

fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    ggp_rs::run((std::net::Ipv4Addr::new(127, 0, 0, 1), port), Random);
}
RUST
CARGO_TARGET_DIR=$work/target cargo build --quiet 2>"$work/build.log" || { tail -20 "$work/build.log"; exit 2; }

port=$((20000 + RANDOM % 20000))
"$work/target/debug/third-party" $port 2>"$work/player.log" &
player=$!
trap 'kill $player 2>/dev/null || true' EXIT
sleep 1
failed=0
for game in "${games[@]}"; do
    seats=$("$surmise" match "$game" random --games 1 --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["players"]))')
    others=""
    for ((n = 1; n < seats; n++)); do others+=";random"; done
    said=$("$surmise" manage "$game" --protocol gdl1 --players "127.0.0.1:$port$others" --games 5 --start-clock 20 --play-clock 5 --log off --json)
    echo "$said" | python3 -c '
import json, sys
said = json.load(sys.stdin)
them = said["players"][0]
print("%s: %d matches, %d moves, longest %d ms, errors %s" % (said["game"], said["complete"], them["moves"], them["longest_ms"], them["errors"] or "none"))
sys.exit(bool(them["errors"]) or said["complete"] != 5)' || failed=1
done
exit $failed
