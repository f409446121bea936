//! Valid inputs of each target, from which the mutator makes others.

use serde_json::json;
use std::sync::LazyLock;
use surmise::gdl::Code;
use surmise::learn::{Codec, Settings, Trainer};
use surmise::{Game, MatchOptions, PlayerSpec, SolveOptions, catalogue, ggp, lab};

/// Games that targets ask about: a short one with chance, a longer one without, and one whose moves are simultaneous.
pub static MONTY: LazyLock<Game> = LazyLock::new(|| open("monty-hall"));
/// A game with chance and hidden cards.
pub static KUHN: LazyLock<Game> = LazyLock::new(|| open("kuhn-poker"));
/// A game with hidden moves.
pub static KRIEG: LazyLock<Game> = LazyLock::new(|| open("krieg-tictactoe"));

fn open(name: &str) -> Game {
    Game::open(name).expect("a game of the catalogue")
}

/// The games that fit an input of a fuzzer.
const MAX_RULES: usize = 5_000;

/// Rules of the catalogue without their opening comments.
fn short_rules() -> impl Iterator<Item = String> {
    let without_comments = |text: String| {
        let lines = text.lines().filter(|line| !line.starts_with(';') && !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    let rules = catalogue::games()
        .iter()
        .filter_map(|game| catalogue::rules(game.name).ok());
    rules.map(without_comments).filter(|text| text.len() < MAX_RULES)
}

/// Games made to be expensive: many roles, terms and counts that double, recursion, static relations that explode.
const HOSTILE: &[&str] = &[
    "(role a)(init (f z))(<= (next (f (s ?x ?x))) (true (f ?x)))(legal a m)(goal a 50)(<= terminal (true (f q)))",
    "(role a)(role b)(role c)(role d)(role e)(role f)(role g)(init s)(<= (next s) (true s))
     (<= (legal ?r m1) (role ?r))(<= (legal ?r m2) (role ?r))(<= (goal ?r 1) (role ?r))(<= terminal (not (true s)))
     (<= (sees ?r (did ?q ?m)) (role ?r) (does ?q ?m))",
    "(role random)(role p)(d 0)(d 1)(d 2)(d 3)(<= (t ?a ?b ?c ?d) (d ?a) (d ?b) (d ?c) (d ?d))
     (<= (legal random (x ?a ?b ?c ?d)) (t ?a ?b ?c ?d))(legal p n)(<= (next (y ?a)) (does random (x ?a ?b ?c ?d)))
     (init (y 0))(<= terminal (true (y 3)))(<= (goal p 100) (true (y 3)))(<= (sees p ?b) (does random (x ?a ?b ?c ?d)))",
    "(role a)(init (p 0))(<= (e ?x ?y) (true (p ?x)) (true (p ?y)))(<= (c ?x ?y) (e ?x ?y))
     (<= (c ?x ?z) (c ?x ?y) (c ?y ?z))(<= (legal a ?x) (c ?x ?x))(<= (next (p ?x)) (does a ?x))(n 0 1)(n 1 2)
     (<= (next (p ?y)) (does a ?x) (n ?x ?y))(<= terminal (true (p 2)))(<= (goal a 100) terminal)",
];

/// Texts of rules.
pub fn rules() -> Vec<Vec<u8>> {
    let pages = Code::ALL.iter().flat_map(|c| c.page().split("```gdl").skip(1));
    let blocks = pages.filter_map(|block| block.split_once('\n')?.1.split_once("```"));
    let blocks = blocks.map(|(block, _)| block.to_owned());
    let hostile = HOSTILE.iter().map(|&text| text.to_owned());
    blocks
        .chain(short_rules())
        .chain(hostile)
        .map(String::into_bytes)
        .collect()
}

/// Texts of rules that can be played.
pub fn playable_rules() -> Vec<Vec<u8>> {
    let hostile = HOSTILE.iter().map(|&text| text.to_owned());
    short_rules().chain(hostile).map(String::into_bytes).collect()
}

/// Messages of managers.
pub fn messages() -> Vec<Vec<u8>> {
    let rules = catalogue::rules("matching-pennies").unwrap_or_default();
    let told = ["(mark 1 1)".to_owned(), "noop".to_owned()];
    [
        ggp::message::start("m.1", "even", &rules, 30, 15),
        ggp::message::news_list("PLAY", "m.1", None),
        ggp::message::news_list("PLAY", "m.1", Some(&told)),
        ggp::message::news_list("STOP", "m;1", Some(&told)),
        ggp::message::news_turn("PLAY", "m.1", 0, None),
        ggp::message::news_turn("PLAY", "m.1", 3, Some(("(mark 2 2)", &told))),
        ggp::message::abort("m.1"),
        "(INFO)".to_owned(),
        "info".to_owned(),
        "(PREVIEW ((role a) (init (f ?x))) 10)".to_owned(),
        "start(m1, x, [role(x)], 30, 10)".to_owned(),
        "/%28PLAY+m%201+NIL%29".to_owned(),
    ]
    .map(String::into_bytes)
    .to_vec()
}

/// Records of matches.
pub fn records() -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    for game in [&*MONTY, &*KUHN, &*KRIEG] {
        let player: PlayerSpec = "random".parse().expect("a player");
        let played = game.play(&[&player], &MatchOptions::default()).unwrap_or_default();
        records.extend(
            played
                .iter()
                .map(|m| m.outcome.record.to_json().to_string().into_bytes()),
        );
    }
    records
}

/// Views of roles.
pub fn views() -> Vec<Vec<u8>> {
    let monty = json!([{"move": "(choose 1)", "sees": []}, {"move": "noop", "sees": ["(closed 3)"]}]);
    let mut views = vec![monty.to_string().into_bytes(), b"[]".to_vec()];
    for game in [&*MONTY, &*KUHN, &*KRIEG] {
        let player: PlayerSpec = "random".parse().expect("a player");
        let played = game.play(&[&player], &MatchOptions::default()).unwrap_or_default();
        for told in played.iter().map(|m| m.outcome.record.told(0, 9)) {
            let rounds = told.iter().map(|t| json!({"move": t.own, "sees": t.sees}));
            views.push(json!(rounds.collect::<Vec<_>>()).to_string().into_bytes());
        }
    }
    views
}

/// Specs of experiments.
pub fn specs() -> Vec<Vec<u8>> {
    let presets = lab::presets::PRESETS.iter().map(|p| p.text.as_bytes().to_vec());
    presets.chain([SPEC.as_bytes().to_vec()]).collect()
}

/// A small experiment, whose journals a target reads.
pub const SPEC: &str = r#"
name = "small"
title = "A small experiment"

[[sweep]]
game = "monty-hall:doors={doors}"
players = ["random"]
games = 6
[sweep.over]
doors = [3, 4]

[[plot]]
title = "Doors"
x = "doors"
y_label = "score"
series = "all"
"#;

/// Journals of that experiment.
pub fn journals() -> Vec<Vec<u8>> {
    let spec = lab::Spec::read("small", SPEC, lab::Size::Plain, &[]);
    let key = spec
        .ok()
        .and_then(|s| s.cells.first().map(|c| c.key.clone()))
        .unwrap_or_default();
    let line = |n: u64| {
        let belief = json!({"round": 1, "tried": 4, "fit": 2, "touches": 9, "live": 3, "models": 4, "log_choice": 1.5});
        json!({
            "cell": key, "n": n, "seed": n, "players": ["random", "random"], "goals": [100 * (n % 2), 0],
            "states": [1, 2], "touches": [3, 4], "illegal": [0, 0], "rounds": 3, "version": "0", "seconds": 0.5,
            "beliefs": if n % 2 == 1 { json!([belief]) } else { json!([]) },
        })
        .to_string()
    };
    let lines: Vec<String> = (0..6).map(line).collect();
    vec![
        lines.join("\n").into_bytes(),
        (lines[..2].join("\n") + "\n").into_bytes(),
    ]
}

/// Strategies.
pub fn strategies() -> Vec<Vec<u8>> {
    let options = SolveOptions::default();
    let tree = KUHN.tree(&options, &mut |_| {}).ok();
    let solved = tree.and_then(|tree| Some(tree.solve(&options, &mut |_| {}).ok()?.to_json()));
    let small = json!({"game": "kuhn-poker", "roles": KUHN.roles(), "strategy": [
        {"role": KUHN.roles()[0], "view": [], "policy": {"noop": 1.0}},
    ]});
    let solved = solved.and_then(|text| {
        let mut value: serde_json::Value = serde_json::from_str(&text).ok()?;
        // Times differ from run to run.
        value.as_object_mut()?.retain(|key, _| !key.contains("seconds"));
        Some(value.to_string().into_bytes())
    });
    solved.into_iter().chain([small.to_string().into_bytes()]).collect()
}

/// The codec of the game whose trainings a target reads.
pub static CODEC: LazyLock<Codec> = LazyLock::new(|| {
    let moves = &MONTY.engine().setup.moves;
    Codec::new(MONTY.simulator().as_mut(), moves).expect("a small game")
});

/// Checkpoints, networks and tables of a training.
pub fn archives() -> Vec<Vec<u8>> {
    use surmise::game::StopFlag;
    use surmise::learn::{Blueprint, Worker};
    let settings = Settings {
        width: Some(2),
        games: 2,
        batches: 1,
        batch: 2,
        buffer: 8,
        ..Settings::default()
    };
    let mut trainer = Trainer::new(CODEC.clone(), settings);
    let mut workers = [Worker::new(MONTY.simulator(), 1 << 16)];
    let _ = trainer.generation(&mut workers, &StopFlag::default(), &StopFlag::default());
    let blueprint = Blueprint::of(&trainer);
    let network = blueprint.network_archive(trainer.settings.to_json());
    let archives = [trainer.to_archive(), network, blueprint.table_archive()];
    archives.map(|archive| archive.to_bytes()).to_vec()
}

/// Names of players with options.
pub fn players() -> Vec<Vec<u8>> {
    let defs = surmise::players::registry::players().iter();
    let usages = defs.flat_map(|def| [def.name.to_owned(), def.usage()]);
    let more = [
        "hp:16,4",
        "hp2:2,2",
        "ismcts:10,models=3",
        "uct:10",
        "mc:3",
        "minimax:2",
        "nested:2",
        "cfr:2,iterations=4",
        "hp:4,2,sampler=hyperplay",
        "cheat:uct:10",
        "strategy:x.json",
        "remote:127.0.0.1:9147",
        "auto:4",
        "hp:2,with=uct:4",
        "hand:meier",
        "hp:2,2,sampler=cached",
        "hp:2,2,sampler=naive",
    ];
    let more = more.map(str::to_owned);
    usages.chain(more).map(String::into_bytes).collect()
}

/// Names of games with parameters.
pub fn catalogue_names() -> Vec<Vec<u8>> {
    let named = catalogue::games().iter().map(|game| game.name.to_owned());
    let more = ["krieg-tictactoe:size=4,line=4", "monty-hall:doors=50", "hex:size=3"].map(str::to_owned);
    named.chain(more).map(String::into_bytes).collect()
}

/// Traces in Dresden's XML.
pub fn traces() -> Vec<Vec<u8>> {
    let mut rng = surmise::game::Seed(1).rng();
    let mut sim = KRIEG.simulator();
    let trace = ggp::xmltrace::write(sim.as_mut(), "krieg-tictactoe", &mut rng, 4);
    trace.into_iter().map(String::into_bytes).collect()
}

/// Files of game tests: the facts of two games, and the tests of the starter.
pub fn game_tests() -> Vec<Vec<u8>> {
    let facts = include_str!("../../../testdata/facts.md");
    let of = |game: &str| {
        let section = facts.split("\n## ").find(|section| section.starts_with(game))?;
        Some(section.split("```facts\n").nth(1)?.split("```").next()?.to_owned())
    };
    let starter = include_str!("../../surmise/starters/game.test").to_owned();
    let all = [of("monty-hall"), of("kuhn-poker"), Some(starter)];
    all.into_iter().flatten().map(String::into_bytes).collect()
}

/// Sessions of an editor: lists of messages.
pub fn editor_messages() -> Vec<Vec<u8>> {
    let uri = "file:///game.kif";
    let document = json!({ "uri": uri });
    let ask =
        |id: u32, method: &str, params: serde_json::Value| json!({ "id": id, "method": method, "params": params });
    let note = |method: &str, params: serde_json::Value| json!({ "method": method, "params": params });
    let at = json!({ "textDocument": document, "position": { "line": 0, "character": 3 } });
    let text = "(role a)\n(<= (legal a ?x) (true (f ?x)))\n(init (f 1))";
    let item = json!({ "uri": uri, "languageId": "gdl", "version": 1, "text": text });
    let range = json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 2, "character": 0 } });
    let change =
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "range": range, "text": "(" }] });
    let why = json!({ "uri": uri, "term": "(legal a 1)", "moves": [["1"]], "round": 1 });
    let typing = json!([
        note("textDocument/didOpen", json!({ "textDocument": item })),
        note("textDocument/didChange", change),
        ask(5, "textDocument/hover", at.clone()),
        ask(6, "textDocument/completion", at.clone()),
        ask(
            7,
            "textDocument/rename",
            json!({ "textDocument": document, "position": at["position"], "newName": "b" })
        ),
        note("$/cancelRequest", json!({ "id": 7 })),
        note("textDocument/didClose", json!({ "textDocument": document })),
    ]);
    let asking = json!([
        note("textDocument/didOpen", json!({ "textDocument": item })),
        ask(
            5,
            "workspace/executeCommand",
            json!({ "command": "surmise.why", "arguments": [why] })
        ),
        ask(
            6,
            "textDocument/codeAction",
            json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } })
        ),
        note(
            "workspace/didChangeConfiguration",
            json!({ "settings": { "surmise": { "strict": true } } })
        ),
        ask(7, "textDocument/documentSymbol", json!({ "textDocument": document })),
        ask(8, "shutdown", json!(null)),
    ]);
    [typing, asking]
        .map(|session| session.to_string().into_bytes())
        .to_vec()
}
