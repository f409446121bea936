//! Every game, at every corner of its parameters, passes the strict check without a warning.

use gdl::{Mode, Options, Severity};

/// Settings worth trying: defaults, each parameter at its ends with the others at their defaults, all at their ends.
fn settings(game: &surmise_catalogue::CatalogueEntry) -> Vec<String> {
    let mut all = vec![String::new()];
    for p in &game.parameters {
        for value in [p.min, p.min + 1, p.default + 1, p.max] {
            all.push(format!("{}={}", p.name, value.clamp(p.min, p.max)));
        }
    }
    let ends = |pick: fn(&surmise_catalogue::Parameter) -> i64| {
        let list: Vec<String> = game
            .parameters
            .iter()
            .map(|p| format!("{}={}", p.name, pick(p)))
            .collect();
        list.join(",")
    };
    all.push(ends(|p| p.min));
    all.push(ends(|p| p.max));
    all
}

#[test]
fn all_games_are_strictly_clean() {
    let options = Options {
        mode: Mode::Strict,
        ..Options::default()
    };
    let mut checked = 0;
    for game in surmise_catalogue::games() {
        for setting in settings(game) {
            // Some corners break a requirement of the game; that is for `rules` to refuse.
            let spec = format!("{}:{setting}", game.name);
            let Ok(rules) = surmise_catalogue::rules(&spec) else {
                continue;
            };
            let reading = gdl::read(&rules, &options);
            let clean = reading.diagnostics.iter().all(|d| d.severity == Severity::Note);
            assert!(clean, "{}", reading.render(&spec));
            let found = gdl::lint(&reading);
            assert!(found.is_empty(), "{}", gdl::render(&found, &spec, &reading.text));
            checked += 1;
        }
    }
    assert!(
        checked > 2 * surmise_catalogue::games().len(),
        "only {checked} settings were allowed"
    );
}

#[test]
fn headers_say_everything() {
    for game in surmise_catalogue::games() {
        let fields = [
            ("source", &game.source),
            ("sees", &game.sees),
            ("hidden", &game.hidden),
            ("optimum", &game.optimum),
        ];
        for (name, text) in fields {
            assert!(!text.is_empty(), "{} does not say its {name}", game.name);
        }
        assert!(
            !game.about.is_empty() && !game.title.is_empty() && !game.tags.is_empty(),
            "{}",
            game.name
        );
        for p in &game.parameters {
            assert!((p.min..=p.max).contains(&p.default), "{}: {}", game.name, p.name);
        }
    }
}
