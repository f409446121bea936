//! All players, with all their options: the one table from which parsing, suggestions, `surmise players`, `match
//! --help` and docs/players.md are made.

use super::options::{MOST, OptionDef, OptionKind, Options, Preset, SWITCH};
use super::{Kind, PlayerSpecError, make};

/// A player that can be asked for by name.
#[derive(Debug)]
pub struct PlayerDef {
    /// The name, before the colon.
    pub name: &'static str,
    /// The player in a few words.
    pub summary: &'static str,
    /// When to use the player.
    pub when: &'static str,
    /// Options that need no name, in their order.
    pub by_position: &'static [&'static str],
    /// The text after the colon is the first of these as a whole, whatever characters it holds.
    pub(super) whole_text: bool,
    groups: &'static [&'static [OptionDef]],
    pub(super) make: fn(&Options) -> Result<Kind, PlayerSpecError>,
}

impl PlayerDef {
    /// All options.
    pub fn options(&self) -> impl Iterator<Item = &'static OptionDef> {
        self.groups.iter().copied().flatten()
    }

    /// The option of a name.
    pub fn option(&self, name: &str) -> Option<&'static OptionDef> {
        self.options().find(|option| option.name == name)
    }

    /// The name with the options that need no name, as in `hp:MODELS,PLAYOUTS`.
    pub fn usage(&self) -> String {
        let places: Vec<String> = self.by_position.iter().map(|p| place(self, p)).collect();
        match places.is_empty() {
            true => self.name.to_owned(),
            false => format!("{}:{}", self.name, places.join(",")),
        }
    }
}

fn place(def: &PlayerDef, name: &str) -> String {
    match def.option(name).map(|o| o.kind) {
        Some(OptionKind::Text(what)) => what.to_owned(),
        _ => name.to_uppercase().replace('-', "_"),
    }
}

/// All players, the simplest first.
pub fn players() -> &'static [PlayerDef] {
    PLAYERS
}

/// The player of a name.
pub fn find(name: &str) -> Option<&'static PlayerDef> {
    PLAYERS.iter().find(|player| player.name == name)
}

/// Names of all players.
pub fn names() -> impl Iterator<Item = &'static str> {
    PLAYERS.iter().map(|player| player.name)
}

/// A count of things that are only counted.
const COUNT: OptionKind = OptionKind::Count { min: 1, max: MOST };
/// A count of things that are kept in memory: a million of them fit.
const KEPT: OptionKind = OptionKind::Count { min: 1, max: 1_000_000 };

const fn option(name: &'static str, kind: OptionKind, default: &'static str, help: &'static str) -> OptionDef {
    OptionDef {
        name,
        kind,
        default: Preset::Value(default),
        help,
    }
}

const fn unset(name: &'static str, kind: OptionKind, otherwise: &'static str, help: &'static str) -> OptionDef {
    OptionDef {
        name,
        kind,
        default: Preset::Unset(otherwise),
        help,
    }
}

const fn required(name: &'static str, kind: OptionKind, help: &'static str) -> OptionDef {
    OptionDef {
        name,
        kind,
        default: Preset::Required,
        help,
    }
}

/// How a player keeps its belief.
const SAMPLING: &[OptionDef] = &[
    option(
        "sampler",
        OptionKind::Choice(&["trellis", "hyperplay", "cached", "naive"]),
        "trellis",
        "Sampler of histories that explain what the role was told",
    ),
    option(
        "weights",
        OptionKind::Choice(&["proposal", "choice-factor", "equal"]),
        "proposal",
        "Weights of the models of sampler=hyperplay",
    ),
    option(
        "remedy",
        OptionKind::Choice(&["none", "weight", "balance"]),
        "none",
        "What sampler=hyperplay does about histories that several models share",
    ),
    option("layer", KEPT, "20000", "States per round that sampler=trellis keeps"),
];

const WITH: OptionDef = unset(
    "with",
    OptionKind::OpenPlayer,
    "playouts",
    "Player of open games that values the moves in place of playouts; its options follow as with.KEY=VALUE",
);

const HP: &[OptionDef] = &[
    option("models", KEPT, "64", "Models of the true history"),
    unset(
        "playouts",
        COUNT,
        "as many as there is time for, or 16",
        "Playouts per model and candidate move",
    ),
    WITH,
    option(
        "opponents",
        OptionKind::Opponents,
        "uniform",
        "How the other roles are assumed to have moved",
    ),
    option(
        "playout-opponents",
        OptionKind::Opponents,
        "uniform",
        "How the other roles move in playouts",
    ),
];

const HP2: &[OptionDef] = &[
    option("models", KEPT, "16", "Models of the true history"),
    option("playouts", COUNT, "2", "Simulations per model and candidate move"),
    option("inner-models", KEPT, "8", "Models of each simulated role"),
    option(
        "inner-playouts",
        COUNT,
        "4",
        "Playouts per model and move of each simulated role",
    ),
    option(
        "spread",
        OptionKind::Choice(&["even", "halving"]),
        "even",
        "How simulations are spread over candidate moves",
    ),
    option(
        "prune",
        OptionKind::Choice(&["none", "win", "discount", "depth"]),
        "none",
        "Pruning of simulations: at a sure win, by discounting, by discounting and depth",
    ),
    option(
        "maximum",
        OptionKind::Count { min: 1, max: 100 },
        "100",
        "Payoff that counts as a sure win",
    ),
    option("cache", SWITCH, "on", "Inner decisions are computed once per view"),
    option(
        "levels",
        OptionKind::Count { min: 2, max: 20 },
        "2",
        "Levels of players that simulate players; above 2 only with one role besides nature",
    ),
];

const AUTO: &[OptionDef] = &[
    option(
        "histories",
        OptionKind::Count {
            min: 0,
            max: 20_000_000,
        },
        "20000",
        "Games of no more histories are solved before play",
    ),
    unset(
        "net",
        OptionKind::Text("DIR"),
        "none",
        "Network that `surmise train` wrote; then cfr plays with it",
    ),
];

const EITHER: &[OptionDef] = &[option(
    "hp-playouts",
    COUNT,
    "16",
    "Playouts per model and move of its hp part",
)];

const ISMCTS: &[OptionDef] = &[
    unset(
        "simulations",
        COUNT,
        "as many as there is time for, or 10000",
        "Simulations per move",
    ),
    option(
        "models",
        KEPT,
        "1000",
        "Models of the true history, the roots of simulations",
    ),
    option(
        "observers",
        OptionKind::Choice(&["multiple", "single"]),
        "multiple",
        "Statistics in each role's own tree, or all in ours",
    ),
    option(
        "select",
        OptionKind::Choice(&["auto", "ucb", "rm", "exp3"]),
        "auto",
        "Selection rule; auto mixes by regret matching where several roles choose at once",
    ),
    option(
        "c",
        OptionKind::Number { min: 0.0, max: 1e6 },
        "1.4",
        "Exploration constant of UCB",
    ),
    option(
        "backup",
        OptionKind::Choice(&["best", "mean"]),
        "best",
        "Value of a node: of its best move, or the mean of its simulations",
    ),
    option(
        "rollout",
        OptionKind::Choice(&["random", "hp"]),
        "random",
        "Moves below the tree",
    ),
    option(
        "opponents",
        OptionKind::Choice(&["tree", "random", "hp"]),
        "tree",
        "How other roles move in simulations",
    ),
    option("inner-models", KEPT, "8", "Models of roles that move as hp"),
    option(
        "inner-playouts",
        COUNT,
        "16",
        "Playouts per model and move of roles that move as hp",
    ),
    unset(
        "batch",
        KEPT,
        "a sixteenth of those before, at most 256",
        "Simulations that are made together",
    ),
];

const CFR: &[OptionDef] = &[
    option("samples", KEPT, "80", "Histories from which the search starts"),
    option(
        "roots",
        OptionKind::Choice(&["view", "state"]),
        "view",
        "Regrets shared by the information set, or kept per sampled state as in the 2022 paper",
    ),
    unset(
        "depth",
        OptionKind::Count { min: 0, max: 1_000 },
        "deepened while there is time",
        "Rounds to look ahead; 0 plays by the network alone",
    ),
    option(
        "iterations",
        COUNT,
        "300",
        "Iterations of regret minimisation per depth",
    ),
    unset(
        "nodes",
        OptionKind::Count {
            min: 1,
            max: 100_000_000,
        },
        "20000, or as many as there is time for",
        "Nodes of the tree of one depth",
    ),
    option("chance", KEPT, "64", "Moves of nature per node; more are sampled"),
    option(
        "common",
        OptionKind::Count { min: 0, max: 1_000_000 },
        "1000",
        "Histories of the common-knowledge closure; 0 looks only at the own information set",
    ),
    option("playouts", COUNT, "32", "Playouts at each node at the depth limit"),
    unset(
        "net",
        OptionKind::Text("DIR"),
        "playouts",
        "Network and table that `surmise train` wrote",
    ),
    unset(
        "train",
        OptionKind::Count { min: 1, max: 86_400 },
        "nothing is trained",
        "Seconds of self-play on all cores before the first move; over the wire within the start clock",
    ),
    option("table", SWITCH, "on", "With net: play views of the table by the table"),
    option(
        "trust",
        OptionKind::Count {
            min: 1,
            max: u32::MAX as u64,
        },
        "100",
        "With net: visits in training from which the table is played without search",
    ),
    option(
        "purify",
        OptionKind::Number { min: 0.0, max: 1.0 },
        "0",
        "With net: moves of the table with a lower probability are not played",
    ),
    option(
        "opponents",
        OptionKind::Choice(&["uniform", "net"]),
        "uniform",
        "With net: how the other roles are assumed to have moved",
    ),
];

const LEAVES: OptionDef = unset(
    "with",
    OptionKind::OpenPlayer,
    "playouts",
    "Player of open games that values leaves in place of playouts; its options follow as with.KEY=VALUE",
);

const KLUSS: &[OptionDef] = &[
    unset(
        "nodes",
        OptionKind::Count {
            min: 1,
            max: 100_000_000,
        },
        "20000, or as many as there is time for",
        "New nodes of the tree per decision",
    ),
    option(
        "roots",
        OptionKind::Count { min: 1, max: 100_000 },
        "256",
        "Histories of the own information set from which the search starts",
    ),
    unset(
        "order",
        OptionKind::Count { min: 1, max: 1_000 },
        "as large as the roots allow, at least 2",
        "Order of knowledge beyond which nodes are dropped",
    ),
    option("playouts", COUNT, "32", "Playouts at each leaf of the tree"),
    LEAVES,
    unset(
        "net",
        OptionKind::Text("DIR"),
        "playouts",
        "Network that `surmise train` wrote, for the leaves",
    ),
    option("chance", KEPT, "64", "Moves of nature per node; more are sampled"),
    option(
        "c",
        OptionKind::Number { min: 0.0, max: 1e6 },
        "1",
        "Exploration constant of the expansion",
    ),
    option(
        "expand",
        OptionKind::Choice(&["one-sided", "two-sided"]),
        "one-sided",
        "Whether one player explores while the other plays its strategy, or both explore",
    ),
    option(
        "prior",
        OptionKind::Choice(&["blueprint", "uniform"]),
        "blueprint",
        "Prior of the Resolve gadget: half by the opponent's last strategy, or uniform",
    ),
    unset(
        "slack",
        OptionKind::Number { min: 0.0, max: 200.0 },
        "up to 100, by how likely play ends in leaves",
        "Points by which alternate values are raised, against the noise of leaves",
    ),
    option(
        "frozen",
        SWITCH,
        "off",
        "Own strategies outside of the own information set stay (1-KLSS)",
    ),
    option(
        "iterate",
        OptionKind::Choice(&["average", "last"]),
        "average",
        "Strategy that is played and carried over: the average over iterations, or the last one",
    ),
    option(
        "purify",
        SWITCH,
        "on",
        "At most a few stable moves are mixed, and only while no margin is negative",
    ),
    option(
        "support",
        OptionKind::Count { min: 1, max: 1_000 },
        "3",
        "Moves that are mixed at most, with purify",
    ),
];

const EPIMC: &[OptionDef] = &[
    option("samples", KEPT, "80", "Histories from which the search starts"),
    option(
        "depth",
        OptionKind::Count { min: 1, max: 1_000 },
        "1",
        "Rounds that are decided by what each role knows",
    ),
    option("iterations", COUNT, "300", "Iterations of regret minimisation"),
    unset(
        "nodes",
        OptionKind::Count {
            min: 1,
            max: 100_000_000,
        },
        "20000, or as many as there is time for",
        "Nodes of the tree",
    ),
    option("chance", KEPT, "64", "Moves of nature per node; more are sampled"),
    option(
        "with",
        OptionKind::OpenPlayer,
        "uct:100",
        "Player of open games that values the states after these rounds; its options follow as with.KEY=VALUE",
    ),
];

const MC: &[OptionDef] = &[unset(
    "playouts",
    COUNT,
    "as many as there is time for, or 100",
    "Playouts per candidate move",
)];

const UCT: &[OptionDef] = &[
    unset(
        "simulations",
        COUNT,
        "as many as there is time for, or 1000",
        "Simulations per move",
    ),
    unset(
        "c",
        OptionKind::Number { min: 0.0, max: 1e6 },
        "0.7, or 0.2 with learned leaves",
        "Exploration constant",
    ),
    option(
        "policy",
        OptionKind::Choice(&["uniform", "mast"]),
        "uniform",
        "Moves in playouts: uniform, or by their success elsewhere (MAST)",
    ),
    unset(
        "playouts",
        COUNT,
        "1, and more where the engine has room",
        "Playouts from each leaf; a leaf has their mean",
    ),
    unset(
        "batch",
        KEPT,
        "a sixteenth of those before, at most 256",
        "Simulations that are made together",
    ),
    option("solve", SWITCH, "on", "Proven wins and losses are handed up the tree"),
    option(
        "leaves",
        OptionKind::Choice(&["playouts", "learned"]),
        "playouts",
        "Values of leaves: by playouts, or learned before the first move from the player's own games",
    ),
];

const MINIMAX: &[OptionDef] = &[
    unset(
        "depth",
        OptionKind::Count { min: 1, max: MOST },
        "deepened while there is time",
        "Rounds to look ahead",
    ),
    unset(
        "nodes",
        COUNT,
        "20000, or as many as there is time for",
        "Nodes of one decision",
    ),
    option("playouts", COUNT, "32", "Playouts at each node at the depth limit"),
    option(
        "simultaneous",
        OptionKind::Choice(&["mixed", "pessimistic"]),
        "mixed",
        "Simultaneous moves: solved as a matrix game, or as if the others knew ours",
    ),
];

const NESTED: &[OptionDef] = &[
    option("level", OptionKind::Count { min: 1, max: 6 }, "2", "Levels of nesting"),
    unset(
        "playouts",
        COUNT,
        "as many as there is time for, or 4",
        "Playouts per candidate move",
    ),
];

const STRATEGY: &[OptionDef] = &[required(
    "file",
    OptionKind::Text("FILE"),
    "Strategy that `surmise solve --save` wrote",
)];

/// What the others are known to do.
const OPPONENT: &[OptionDef] = &[unset(
    "opponent",
    OptionKind::Text("MODEL"),
    "nothing is known",
    "Strategy of the others, by which histories are weighed: a file, or records:DIR",
)];

const EXPLOIT: &[OptionDef] = &[
    unset(
        "model",
        OptionKind::Text("MODEL"),
        "learns over the series",
        "Model of the opponent: uniform, a file, records:DIR, or a player (with ; for commas)",
    ),
    unset(
        "weight",
        OptionKind::Number { min: 0.0, max: 1.0 },
        "1 with a model",
        "How far the model is trusted: 0 is an equilibrium, 1 the best response",
    ),
    option(
        "seeds",
        OptionKind::Count { min: 1, max: 1_000_000 },
        "1",
        "Seeds over which a player's answers are averaged",
    ),
    option(
        "stake",
        OptionKind::Number { min: 0.0, max: 1e6 },
        "0",
        "Without a model: points that may be lost over a series, besides what was won",
    ),
    option(
        "histories",
        OptionKind::Count { min: 0, max: 2_000_000 },
        "2000000",
        "Histories of games that are solved, at most",
    ),
    option(
        "base",
        OptionKind::Text("PLAYER"),
        "auto",
        "Games that are not solved: the player to begin with (with ; for commas)",
    ),
    option(
        "response",
        OptionKind::Text("PLAYER"),
        "hp",
        "Games that are not solved: the player that gets the model of the others, one that takes opponent=MODEL",
    ),
    unset(
        "reference",
        OptionKind::Number { min: 0.0, max: 100.0 },
        "the base's own values, at least 50",
        "Games that are not solved: points a match that are kept; what is won beyond them may be risked",
    ),
    option(
        "doubt",
        OptionKind::Number { min: 1e-9, max: 0.5 },
        "0.05",
        "Games that are not solved: probability that luck was taken for a gift",
    ),
];

const HAND: &[OptionDef] = &[required(
    "game",
    OptionKind::Choice(&["meier", "meier-bluffer", "blind-tictactoe"]),
    "The game that the player was made for",
)];

const REMOTE: &[OptionDef] = &[
    required("address", OptionKind::Text("HOST:PORT"), "Where the player listens"),
    option(
        "start",
        OptionKind::Count { min: 1, max: 86_400 },
        "10",
        "Seconds before the first move",
    ),
    option(
        "play",
        OptionKind::Count { min: 1, max: 86_400 },
        "10",
        "Seconds for each move",
    ),
    unset(
        "protocol",
        OptionKind::Choice(&["gdl2b", "gdl2a", "gdl1"]),
        "gdl2b for GDL-II rules, gdl1 for others",
        "Dialect of the protocol",
    ),
];

const SECONDS: OptionKind = OptionKind::Number {
    min: 0.001,
    max: 86_400.0,
};

const EXEC: &[OptionDef] = &[
    required(
        "command",
        OptionKind::Text("PROGRAM ARGS"),
        "Program and its arguments, after all other options; no shell reads it",
    ),
    unset(
        "start",
        SECONDS,
        "the start clock of the match, or 10",
        "Seconds until the program must be ready",
    ),
    unset(
        "play",
        SECONDS,
        "the time for a move in the match, or 10",
        "Seconds for each move; then the program is killed",
    ),
    option(
        "legal",
        SWITCH,
        "on",
        "Whether the program is sent the moves that may be legal",
    ),
];

const HUMAN: &[OptionDef] = &[option(
    "belief",
    SWITCH,
    "off",
    "Whether what can be believed is shown before each move",
)];

const CHEAT: &[OptionDef] = &[
    unset(
        "playouts",
        COUNT,
        "as many as there is time for, or 100",
        "Playouts per candidate move",
    ),
    WITH,
];

const PLAYERS: &[PlayerDef] = &[
    PlayerDef {
        name: "random",
        summary: "plays a random legal move",
        when: "you need a baseline",
        by_position: &[],
        whole_text: false,
        groups: &[],
        make: make::random,
    },
    PlayerDef {
        name: "legal",
        summary: "plays the first legal move",
        when: "you need a baseline that never varies",
        by_position: &[],
        whole_text: false,
        groups: &[],
        make: make::legal,
    },
    PlayerDef {
        name: "mc",
        summary: "flat Monte Carlo: playouts from each successor of the known state",
        when: "nothing is hidden",
        by_position: &["playouts"],
        whole_text: false,
        groups: &[MC],
        make: make::open_player,
    },
    PlayerDef {
        name: "uct",
        summary: "Monte Carlo tree search in the known state",
        when: "nothing is hidden and the game is large",
        by_position: &["simulations"],
        whole_text: false,
        groups: &[UCT],
        make: make::open_player,
    },
    PlayerDef {
        name: "minimax",
        summary: "alpha-beta or max^n with iterative deepening in the known state",
        when: "nothing is hidden and exact lines count",
        by_position: &["depth"],
        whole_text: false,
        groups: &[MINIMAX],
        make: make::open_player,
    },
    PlayerDef {
        name: "nested",
        summary: "nested Monte Carlo search in the known state",
        when: "one role plays against nothing but time",
        by_position: &["level", "playouts"],
        whole_text: false,
        groups: &[NESTED],
        make: make::open_player,
    },
    PlayerDef {
        name: "hp",
        summary: "HyperPlay: playouts from models that explain what the role was told",
        when: "something is hidden, and knowing more costs nothing",
        by_position: &["models", "playouts"],
        whole_text: false,
        groups: &[HP, SAMPLING, OPPONENT],
        make: make::hyperplay,
    },
    PlayerDef {
        name: "hp2",
        summary: "HyperPlay-II: simulations in which every role is an hp player that knows only its own view",
        when: "information has a price, and the game is small",
        by_position: &["models", "playouts", "inner-models", "inner-playouts"],
        whole_text: false,
        groups: &[HP2, SAMPLING, OPPONENT],
        make: make::hyperplay_ii,
    },
    PlayerDef {
        name: "auto",
        summary: "the player that fits the game: a computed strategy, or one of the others",
        when: "you do not know which",
        by_position: &[],
        whole_text: false,
        groups: &[AUTO],
        make: make::auto,
    },
    PlayerDef {
        name: "either",
        summary: "hp, or hp2 where some moves tell more than others and a trial prefers its move",
        when: "you repeat earlier results",
        by_position: &["models", "playouts", "inner-models", "inner-playouts"],
        whole_text: false,
        groups: &[HP2, SAMPLING, OPPONENT, EITHER],
        make: make::either,
    },
    PlayerDef {
        name: "ismcts",
        summary: "tree search over what each role knows (information-set Monte Carlo tree search)",
        when: "information has a price, or opponents think",
        by_position: &["simulations"],
        whole_text: false,
        groups: &[ISMCTS, SAMPLING, OPPONENT],
        make: make::ismcts,
    },
    PlayerDef {
        name: "cfr",
        summary: "regret minimisation some rounds ahead for all roles, from a belief or with a trained network",
        when: "opponents think and being predictable is costly, or there was time to train",
        by_position: &["samples"],
        whole_text: false,
        groups: &[CFR, SAMPLING],
        make: make::cfr,
    },
    PlayerDef {
        name: "kluss",
        summary: "regret minimisation on a growing tree, from what both players may hold possible (KLUSS)",
        when: "two roles are opponents and much is hidden",
        by_position: &["nodes"],
        whole_text: false,
        groups: &[KLUSS, SAMPLING, OPPONENT],
        make: make::kluss,
    },
    PlayerDef {
        name: "epimc",
        summary: "some rounds decided by what each role knows, then a search that knows the state (EPIMC)",
        when: "you compare with determinised search",
        by_position: &["depth"],
        whole_text: false,
        groups: &[EPIMC, SAMPLING],
        make: make::epimc,
    },
    PlayerDef {
        name: "strategy",
        summary: "plays a saved strategy",
        when: "the game was solved",
        by_position: &["file"],
        whole_text: true,
        groups: &[STRATEGY],
        make: make::strategy,
    },
    PlayerDef {
        name: "exploit",
        summary: "plays the opponent: a response to a model, or learns over a series and risks only what it has won",
        when: "the opponent is weak, and you play a series of matches with it",
        by_position: &["model", "weight"],
        whole_text: false,
        groups: &[EXPLOIT],
        make: make::exploit,
    },
    PlayerDef {
        name: "hand",
        summary: "rules made by hand for one game, after the 2022 paper's opponents",
        when: "you repeat the 2022 paper's tables",
        by_position: &["game"],
        whole_text: false,
        groups: &[HAND],
        make: make::hand,
    },
    PlayerDef {
        name: "remote",
        summary: "a player elsewhere that speaks the GGP protocol",
        when: "you compare with other people's programs",
        by_position: &["address"],
        whole_text: false,
        groups: &[REMOTE],
        make: make::remote,
    },
    PlayerDef {
        name: "exec",
        summary: "a program here that reads and writes JSON lines, in any language",
        when: "you write a player of your own",
        by_position: &["command"],
        whole_text: true,
        groups: &[EXEC],
        make: make::exec,
    },
    PlayerDef {
        name: "human",
        summary: "a person at the terminal",
        when: "you want to play",
        by_position: &[],
        whole_text: false,
        groups: &[HUMAN],
        make: make::human,
    },
    PlayerDef {
        name: "cheat",
        summary: "playouts or search from the true state; the record says so",
        when: "you measure what hiding costs",
        by_position: &["playouts"],
        whole_text: false,
        groups: &[CHEAT],
        make: make::cheat,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        for player in players() {
            let mut names: Vec<&str> = player.options().map(|o| o.name).collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{} has an option twice", player.name);
            for place in player.by_position {
                assert!(player.option(place).is_some(), "{}: {place}", player.name);
            }
            for option in player.options() {
                assert!(
                    !option.help.ends_with('.') && option.help.len() < 110,
                    "{}",
                    option.help
                );
            }
        }
    }
}
