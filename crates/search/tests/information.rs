//! Players that value information, held against the exact optimum of games that one role plays against chance.

mod common;

use belief::{Options, SamplerKind};
use common::{TestGame, budget, mean};
use game::{Decision, MoveId, PerceptId, Player, RoleId, State, StopFlag, Told};
use std::collections::BTreeMap;
use surmise_search::{
    Backup, Either, Hp2Options, HyperPlayII, InnerOptions, IsMcts, IsMctsOptions, McOpponents, Observers, Opponents,
    Pruning, Rollout, Selection, Spread, Tools,
};

/// What a role holds possible: states with their probabilities, which need not sum to one.
type Held = BTreeMap<State, f64>;

/// The move at a view.
type Policy<'a> = dyn Fn(&[Told]) -> String + 'a;

/// What the only role besides nature can get from here on, or gets by a policy: dynamic programming over views.
struct Program<'a> {
    tools: Tools,
    /// Chooses at a view; without it the best move is taken.
    policy: Option<&'a Policy<'a>>,
    known: BTreeMap<Vec<(State, u64)>, f64>,
}

impl Program<'_> {
    fn value(table: &TestGame, policy: Option<&Policy<'_>>) -> f64 {
        let tools = table.tools(0, 1);
        let mut program = Program {
            tools,
            policy,
            known: BTreeMap::new(),
        };
        let start = program.tools.sim.initial().unwrap();
        program.worth(&Held::from([(start, 1.0)]), &mut Vec::new())
    }

    /// Expected points, times the probability of being here.
    fn worth(&mut self, held: &Held, told: &mut Vec<Told>) -> f64 {
        let key: Vec<(State, u64)> = held.iter().map(|(s, p)| (s.clone(), p.to_bits())).collect();
        if let (None, Some(&known)) = (self.policy, self.known.get(&key)) {
            return known;
        }
        let any = held.keys().next().unwrap().clone();
        let legal = self.tools.legal(&any, RoleId(0)).unwrap();
        let worth = match self.policy {
            Some(policy) => {
                let text = policy(told);
                let chosen = legal.iter().find(|&&mv| self.tools.text(mv) == text);
                let chosen = *chosen.unwrap_or_else(|| panic!("`{text}` is not legal"));
                self.after(held, chosen, told)
            }
            None => {
                let mut best = 0.0_f64;
                for mv in legal {
                    best = best.max(self.after(held, mv, told));
                }
                best
            }
        };
        self.known.insert(key, worth);
        worth
    }

    fn after(&mut self, held: &Held, mv: MoveId, told: &mut Vec<Told>) -> f64 {
        let mut views: BTreeMap<Vec<PerceptId>, Held> = BTreeMap::new();
        let mut worth = 0.0;
        let mut sees = Vec::new();
        for (state, p) in held {
            let chances = match self.tools.sim.nature() {
                Some(nature) => self.tools.legal(state, nature).unwrap(),
                None => vec![MoveId(u32::MAX)],
            };
            for &chance in &chances {
                let joint = if self.tools.sim.nature().is_some() {
                    vec![mv, chance]
                } else {
                    vec![mv]
                };
                let sim = self.tools.sim.as_mut();
                sim.percepts(state, &joint, RoleId(0), &mut sees).unwrap();
                let next = sim.next(state, &joint).unwrap();
                let p = p / chances.len() as f64;
                if sim.terminal(&next).unwrap() {
                    worth += p * f64::from(sim.goal(&next, RoleId(0)).unwrap().points());
                } else {
                    *views.entry(sees.clone()).or_default().entry(next).or_default() += p;
                }
            }
        }
        let own = self.tools.text(mv).to_owned();
        for (sees, held) in views {
            let text = |&p| self.tools.sim.percept_text(RoleId(0), p).to_owned();
            told.push(Told {
                own: own.clone(),
                sees: sees.iter().map(text).collect(),
            });
            worth += self.worth(&held, told);
            told.pop();
        }
        worth
    }
}

fn models(n: usize) -> Options {
    Options {
        models: n,
        ..Options::default()
    }
}

fn hp2_options(playouts: u64, inner: u64, levels: u32) -> Hp2Options {
    Hp2Options {
        playouts,
        inner: InnerOptions {
            models: 16,
            playouts: inner,
            levels,
            pruning: Pruning::default(),
        },
        spread: Spread::Even,
        cache: true,
    }
}

fn hp2(tools: Tools, options: Hp2Options) -> HyperPlayII {
    HyperPlayII::new(tools, SamplerKind::Trellis, &models(32), options).unwrap()
}

fn ismcts(tools: Tools, simulations: u64, options: IsMctsOptions) -> IsMcts {
    let options = IsMctsOptions {
        simulations: Some(simulations),
        ..options
    };
    IsMcts::new(tools, SamplerKind::Trellis, &models(200), options).unwrap()
}

/// What a player gets on average, exactly, with one seed; it is made anew at every view.
fn worth_of(table: &TestGame, make: &dyn Fn(Tools) -> Box<dyn Player>) -> f64 {
    let policy = |told: &[Told]| make(table.tools(0, 5)).choose(told, &budget()).unwrap().mv;
    Program::value(table, Some(&policy))
}

#[track_caller]
fn is_near_optimal(game: &str, optimum: f64, make: &dyn Fn(Tools) -> Box<dyn Player>) {
    let table = TestGame::of(game);
    let best = Program::value(&table, None);
    assert!((best - optimum).abs() < 1e-3, "{game}: the optimum is {best}");
    let worth = worth_of(&table, make);
    assert!(worth >= 0.98 * best, "{game}: {worth} of {best}");
}

#[test]
fn hyperplay_ii_is_near_optimal_against_chance() {
    is_near_optimal("number-guessing:numbers=4", 80.0, &|t| {
        Box::new(hp2(t, hp2_options(1, 128, 1)))
    });
    is_near_optimal("mastermind", 83.25, &|t| Box::new(hp2(t, hp2_options(1, 64, 1))));
    is_near_optimal("monty-hall", 200.0 / 3.0, &|t| Box::new(hp2(t, hp2_options(4, 16, 1))));
    is_near_optimal("monty-hall:doors=5", 80.0, &|t| Box::new(hp2(t, hp2_options(4, 16, 1))));
}

#[test]
fn one_level_more_listens_for_the_tiger() {
    // Two levels never listen twice in mind, and so open the door too early.
    is_near_optimal("tiger:turns=3", 92.99, &|t| Box::new(hp2(t, hp2_options(32, 32, 2))));
}

#[test]
fn information_set_search_is_near_optimal_against_chance() {
    let explore = IsMctsOptions {
        exploration: 2.0,
        ..IsMctsOptions::default()
    };
    is_near_optimal("number-guessing:numbers=4", 80.0, &|t| {
        Box::new(ismcts(t, 20_000, explore))
    });
    is_near_optimal("mastermind", 83.25, &|t| Box::new(ismcts(t, 20_000, explore)));
    is_near_optimal("tiger:turns=3", 92.99, &|t| Box::new(ismcts(t, 10_000, explore)));
    is_near_optimal("monty-hall", 200.0 / 3.0, &|t| Box::new(ismcts(t, 1_000, explore)));
}

#[test]
fn hyperplay_guesses_at_once_and_auto_does_not() {
    let table = TestGame::of("number-guessing:numbers=4");
    let auto = |t| Box::new(Either::new(hp2(t, hp2_options(1, 64, 1)), 64)) as Box<dyn Player>;
    // With this seed one number takes a question more than needed, also with more inner playouts; why is not known. 200
    // matches average 79.5.
    let worth = worth_of(&table, &auto);
    assert!(worth >= 77.5, "{worth}");
    let hyperplay = |t: Tools| {
        let by = surmise_search::By::Playouts(Some(256));
        Box::new(surmise_search::HyperPlay::new(t, SamplerKind::Trellis, &models(16), by).unwrap()) as Box<dyn Player>
    };
    assert!((worth_of(&table, &hyperplay) - 25.0).abs() < 1e-9);
}

/// After choosing door 1 and being shown that door 3 stays closed.
fn at_the_door(make: impl Fn(Tools) -> Box<dyn Player>) -> Decision {
    let told = |own: &str, sees: &[&str]| Told {
        own: own.to_owned(),
        sees: sees.iter().map(|&s| s.to_owned()).collect(),
    };
    let told = [told("(choose 1)", &[]), told("noop", &["(closed 3)"])];
    let table = TestGame::of("monty-hall");
    make(table.tools(0, 3)).choose(&told, &budget()).unwrap()
}

#[test]
fn roots_are_weighted() {
    for observers in [Observers::Single, Observers::Multiple] {
        for selection in [Selection::Ucb, Selection::Rm, Selection::Exp3] {
            let options = IsMctsOptions {
                observers,
                selection,
                ..IsMctsOptions::default()
            };
            let decision = at_the_door(|t| Box::new(ismcts(t, 3_000, options)));
            assert!(
                (mean(&decision, "switch") - 66.7).abs() < 5.0,
                "{observers:?} {selection:?} {decision:?}"
            );
            assert!(
                (mean(&decision, "stay") - 33.3).abs() < 15.0,
                "{observers:?} {selection:?} {decision:?}"
            );
        }
    }
}

#[test]
fn mixes_where_everyone_moves_at_once() {
    let table = TestGame::of("matching-pennies");
    for selection in [Selection::Auto, Selection::Exp3] {
        let options = IsMctsOptions {
            selection,
            ..IsMctsOptions::default()
        };
        let mut first = BTreeMap::new();
        for seed in 0..60 {
            let decision = ismcts(table.tools(0, seed), 500, options)
                .choose(&[], &budget())
                .unwrap();
            *first.entry(decision.mv).or_insert(0) += 1;
        }
        assert!(
            first.values().all(|&n| (12..=48).contains(&n)) && first.len() == 2,
            "{selection:?} {first:?}"
        );
    }
}

#[test]
fn every_option_plays_a_legal_move_in_hidden_games_of_two() {
    for game in [
        "battleships-in-fog",
        "krieg-tictactoe:size=3,line=3",
        "banker-and-thief",
        "meier",
    ] {
        let table = TestGame::of(game);
        let role = table
            .tools(0, 1)
            .sim
            .roles()
            .iter()
            .position(|r| r != "random")
            .unwrap() as u16;
        let legal = {
            let mut tools = table.tools(role, 1);
            let start = tools.sim.initial().unwrap();
            let legal = tools.legal(&start, RoleId(role)).unwrap();
            legal.iter().map(|&mv| tools.text(mv).to_owned()).collect::<Vec<_>>()
        };
        let plain = IsMctsOptions::default();
        let options = [
            IsMctsOptions {
                opponents: Opponents::HyperPlay,
                ..plain
            },
            IsMctsOptions {
                opponents: Opponents::Random,
                ..plain
            },
            IsMctsOptions {
                rollout: Rollout::HyperPlay,
                backup: Backup::Mean,
                ..plain
            },
            IsMctsOptions {
                observers: Observers::Single,
                opponents: Opponents::HyperPlay,
                ..plain
            },
        ];
        for options in options {
            let decision = ismcts(table.tools(role, 1), 60, options)
                .choose(&[], &budget())
                .unwrap();
            assert!(legal.contains(&decision.mv), "{game} {options:?} {decision:?}");
        }
        for pruning in [
            Pruning {
                cut_on_win: true,
                ..Pruning::default()
            },
            Pruning {
                discount: 0.99,
                on_depth: true,
                ..Pruning::default()
            },
        ] {
            for cache in [true, false] {
                let mut options = hp2_options(1, 2, 1);
                options.inner.models = 2;
                options.inner.pruning = pruning;
                options.cache = cache;
                let mut player =
                    HyperPlayII::new(table.tools(role, 1), SamplerKind::Trellis, &models(2), options).unwrap();
                let decision = player.choose(&[], &budget()).unwrap();
                assert!(legal.contains(&decision.mv), "{game} {options:?} {decision:?}");
            }
        }
    }
}

#[test]
fn remembering_saves_work() {
    let table = TestGame::of("hidden-connect");
    let cost = |cache| {
        let options = Hp2Options {
            cache,
            ..hp2_options(2, 2, 1)
        };
        let mut player = hp2(table.tools(0, 1), options);
        player.choose(&[], &budget()).unwrap();
        player.meter().touches
    };
    assert!(2 * cost(true) < cost(false), "{} against {}", cost(true), cost(false));
}

#[test]
fn a_raised_flag_ends_thinking() {
    let table = TestGame::of("battleships-in-fog");
    let stop = StopFlag::default();
    stop.raise();
    let budget = game::Budget::timed(stop);
    let long = IsMctsOptions {
        simulations: None,
        ..IsMctsOptions::default()
    };
    let mut players: Vec<Box<dyn Player>> = vec![
        Box::new(hp2(table.tools(0, 1), hp2_options(1_000_000, 1_000, 1))),
        Box::new(IsMcts::new(table.tools(0, 1), SamplerKind::Trellis, &models(10), long).unwrap()),
        Box::new(Either::new(
            hp2(table.tools(0, 1), hp2_options(1_000_000, 1_000, 1)),
            1_000_000,
        )),
    ];
    for player in &mut players {
        assert!(!player.choose(&[], &budget).unwrap().mv.is_empty());
    }
}

#[test]
fn opponents_may_be_taken_for_monte_carlo_players() {
    // A winning move gets the highest probability.
    let table = TestGame::opened("tictactoe");
    let mut tools = table.tools(0, 1);
    let mut state = tools.sim.initial().unwrap();
    for (x, o) in [
        ("(mark 1 1)", "noop"),
        ("noop", "(mark 3 3)"),
        ("(mark 1 2)", "noop"),
        ("noop", "(mark 3 1)"),
    ] {
        let joint = [(0, x), (1, o)].map(|(role, text)| tools.sim.find_move(RoleId(role), text).unwrap());
        state = tools.sim.next(&state, &joint).unwrap();
    }
    let legal = tools.legal(&state, RoleId(0)).unwrap();
    let win = legal.iter().position(|&mv| tools.text(mv) == "(mark 1 3)").unwrap();
    let opponents = McOpponents::new(table.tools(1, 2), 64);
    let mut chances = Vec::new();
    belief::OpponentModel::probabilities(&opponents, &state, RoleId(0), &legal, &mut chances);
    assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(
        chances
            .iter()
            .enumerate()
            .all(|(at, &p)| at == win || p < chances[win] / 2.0),
        "{chances:?}"
    );
    // The same opponent in playouts: x wins nearly always from here.
    let mut me = table.tools(1, 3);
    me.others = Some(Box::new(opponents));
    let totals = me.play_out(&[state], 50, game::Seed(1), &StopFlag::default()).unwrap();
    assert!(totals[0].points[0] > 80 * totals[0].playouts, "{totals:?}");
}

#[test]
fn same_seed_same_decisions() {
    let table = TestGame::of("krieg-tictactoe:size=3,line=3");
    let decide = || {
        let a = hp2(table.tools(0, 9), hp2_options(2, 4, 1))
            .choose(&[], &budget())
            .unwrap();
        let b = ismcts(table.tools(0, 9), 500, IsMctsOptions::default())
            .choose(&[], &budget())
            .unwrap();
        (a, b)
    };
    assert_eq!(decide(), decide());
}
