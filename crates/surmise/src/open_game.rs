//! An open game: its rules, its engine, and what can be asked of it.

use crate::engine::{Engine, EngineOptions};
use crate::players::PlayerSpec;
use crate::starting::{self, Upcoming};
use crate::{Error, GameText, Unsuitable};
use game::{RoleId, Seed, Simulator, Told, View};
use gdl::Information;
use ggp::spelling::prefix_text;
use ground::Progress;
use referee::{Record, Seat, Seating, Title};
use std::sync::Arc;

/// A game that can be played, believed about, solved and learned.
///
/// Rules without `sees` announce every move to every role, as GDL-I means them.
pub struct Game {
    name: String,
    information: Information,
    seating: Seating,
    pub(crate) engine: Engine,
    /// A faster engine that is being made, if the game has started without.
    pub(crate) upcoming: Option<Arc<Upcoming>>,
}

impl Game {
    /// Opens a rules file, or a game of the catalogue such as `krieg-tictactoe:size=4`.
    ///
    /// # Errors
    /// If there is no such game, its rules have errors, or it cannot be run.
    pub fn open(name: &str) -> Result<Game, Error> {
        Game::new(&GameText::find(name)?, &EngineOptions::default())
    }

    /// Opens rules that the caller brings.
    ///
    /// # Errors
    /// If the rules have errors, or cannot be run.
    pub fn from_rules(name: &str, text: &str) -> Result<Game, Error> {
        Game::new(&GameText::new(name, text), &EngineOptions::default())
    }

    /// Opens a game with an engine of choice.
    ///
    /// # Errors
    /// If the rules have errors, or cannot be run on this engine.
    pub fn new(text: &GameText, options: &EngineOptions) -> Result<Game, Error> {
        Game::with_progress(text, options, &mut |_| {})
    }

    /// As [`Game::new`], with reports of how far grounding is.
    ///
    /// # Errors
    /// As [`Game::new`].
    pub fn with_progress(
        text: &GameText,
        options: &EngineOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Game, Error> {
        let mut rules = text.playable()?.rules;
        rules.announce_moves();
        let engine = Engine::with_progress(&rules, options, progress)?;
        if let Some(compiled) = engine.compiled() {
            // Machine code is made on first use, which would be within the time of a player's first move.
            let prepared = compiled.prepare_players(&options.limits.stop);
            prepared.map_err(|_| Error::Stopped {
                progress: format!("{} was not compiled", text.name),
            })?;
        }
        Ok(Game {
            name: text.name.clone(),
            information: engine.rules.information(),
            seating: Seating::new(engine.state_simulator().as_ref()),
            engine,
            upcoming: None,
        })
    }

    /// The name under which the game was opened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether every role can follow the state.
    pub fn information(&self) -> Information {
        self.information
    }

    /// Names of the roles, in joint-move order, nature's (`random`) included.
    pub fn roles(&self) -> &[String] {
        self.seating.roles()
    }

    /// The roles and which of them is nature.
    pub fn seating(&self) -> &Seating {
        &self.seating
    }

    /// The engine that runs the game.
    pub fn engine(&self) -> &Engine {
        let ready = self.upcoming.as_ref().and_then(|upcoming| upcoming.engine());
        ready.unwrap_or(&self.engine)
    }

    /// A simulator for one state at a time.
    pub fn simulator(&self) -> Box<dyn Simulator> {
        self.engine().state_simulator()
    }

    /// The role of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn role(&self, name: &str) -> Result<RoleId, Error> {
        match self.roles().iter().position(|role| role == name) {
            Some(at) => Ok(RoleId(at as u16)),
            None => Err(Error::NoRole {
                name: name.to_owned(),
                roles: self.roles().to_vec(),
            }),
        }
    }

    /// Name and rules, as records have them.
    pub fn title(&self) -> Title {
        Title {
            game: self.name.clone(),
            rules: self.engine.rules.source.to_string(),
        }
    }

    /// Whether a player can play this game.
    ///
    /// # Errors
    /// If the player needs to know the state, and the game hides it.
    pub fn admit(&self, player: &PlayerSpec) -> Result<(), Error> {
        match self.information == Information::Hidden && player.needs_open_game() {
            true => Err(player.unsuitable(Unsuitable::Hidden)),
            false => Ok(()),
        }
    }

    /// A player of a role for one match.
    ///
    /// # Errors
    /// If the player cannot play this game.
    pub fn seat(&self, player: &PlayerSpec, role: RoleId, seed: Seed) -> Result<Seat, Error> {
        self.admit(player)?;
        match &self.upcoming {
            Some(upcoming) if upcoming.engine().is_none() => starting::seat(player, &self.engine, upcoming, role, seed),
            _ => player.seat(self.engine(), role, seed),
        }
    }

    /// The view of a role as numbers of this simulator, from what the role was told.
    ///
    /// # Errors
    /// With the round, if the rules know no such move or percept of the role.
    pub fn view(&self, sim: &mut dyn Simulator, role: RoleId, told: &[Told]) -> Result<View, Error> {
        view_of(sim, role, told)
    }

    /// Whether a record is of this game: the same roles and the same rules, comments and layout apart.
    ///
    /// # Errors
    /// If it is not: what differs.
    pub fn check_record(&self, record: &Record) -> Result<(), Error> {
        check_record(record, &self.engine.rules, self.roles(), &self.name)
    }
}

/// The view of a role as numbers of a simulator.
pub(crate) fn view_of(sim: &mut dyn Simulator, role: RoleId, told: &[Told]) -> Result<View, Error> {
    let name = sim.roles()[usize::from(role.0)].clone();
    let mut view = View::default();
    for (number, told) in told.iter().enumerate() {
        let wrong = |wrong: String| Error::View {
            round: number + 1,
            wrong,
        };
        let own = sim.find_move(role, &told.own);
        let own = own.ok_or_else(|| wrong(format!("`{}` is never a move of {name}", told.own)))?;
        let mut sees = Vec::with_capacity(told.sees.len());
        for text in &told.sees {
            let percept = sim.find_percept(role, text);
            sees.push(percept.ok_or_else(|| wrong(format!("{name} never perceives `{text}`")))?);
        }
        sees.sort();
        sees.dedup();
        view.rounds.push(game::Round { own, sees });
    }
    Ok(view)
}

/// Whether a record is of a game with these rules and roles.
pub(crate) fn check_record(record: &Record, rules: &gdl::Rules, roles: &[String], name: &str) -> Result<(), Error> {
    if record.roles == roles {
        let theirs = gdl::read(&record.rules, &gdl::Options::default()).rules;
        if prefix_text(&theirs).eq_ignore_ascii_case(&prefix_text(rules)) {
            return Ok(());
        }
        return Err(Error::OtherMatch(format!(
            "the record was played by other rules than those of {name}; `surmise replay` checks it by its own"
        )));
    }
    Err(Error::OtherMatch(format!(
        "the record is a match of other roles ({}) than {name} has ({})",
        record.roles.join(", "),
        roles.join(", ")
    )))
}
