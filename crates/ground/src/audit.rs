//! The audit: random games on the reference simulator, checked against the promises of the language.
//!
//! The promises are that every role has a legal move until the game ends, that a terminal state has exactly one goal
//! between 0 and 100 for every role, that games end, and that a role can work out its legal moves from its percepts.
//! Roles and hints (`base`, `input`) are checked too.
//!
//! The audit also counts how often each rule applied and each goal was reached ([`Audit::rules`]), by `probe` clauses
//! that are added to the rules.
//!
//! Sampling proves nothing: a game without findings may still have a flaw in a state that no sample reached.

mod lifetimes;
mod probe;

use crate::Reference;
use game::{Fault, MoveId, PerceptId, Rng, RoleId, Seed, Simulator, State, StopFlag};
use gdl::{Atom, Code, Diagnostic, Mode, Rules, Severity, Span, Symbol, Term, kw};
use lifetimes::Lifetimes;
use probe::{Counts, Probe};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Options of [`audit`].
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// Seed of the random games.
    pub seed: Seed,
    /// Number of games.
    pub games: u32,
    /// Rounds after which a game counts as one that does not end.
    pub max_rounds: u32,
    /// Strictness of the language checks.
    pub mode: Mode,
    /// Flag that ends the audit early.
    pub stop: StopFlag,
}

impl Default for AuditOptions {
    fn default() -> Self {
        AuditOptions {
            seed: Seed(1),
            games: 100,
            max_rounds: 500,
            mode: Mode::Lenient,
            stop: StopFlag::default(),
        }
    }
}

/// The games played, and the findings.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Games begun.
    pub games: u32,
    /// Rounds played in all of them.
    pub rounds: u64,
    /// Games that ended.
    pub ended: u32,
    /// How often each rule applied; empty if counting needs too much work.
    pub rules: Vec<RuleCount>,
    /// Findings, at the clauses that concern them.
    pub diagnostics: Vec<Diagnostic>,
}

/// How often a rule applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCount {
    /// Place of the head of the rule in the source.
    pub place: Span,
    /// Rounds, and ends of games, in which each of its alternatives applied: one number for a rule without `or`.
    pub rounds: Vec<u64>,
    /// Ends of games in which it applied.
    pub ends: u64,
    /// Whether the rule defines `goal`.
    pub is_goal: bool,
}

/// Plays random games and reports what is wrong.
pub fn audit(rules: &Rules, options: &AuditOptions) -> Audit {
    let probed = Probe::new(rules);
    let (report, fault) = run(rules, &probed.rules, Some(&probed), options);
    match fault {
        // To evaluate every rule by itself can take more than the game does.
        Some(Fault::Stopped) | None => report,
        Some(_) => run(rules, rules, None, options).0,
    }
}

fn run(rules: &Rules, played: &Rules, probe: Option<&Probe>, options: &AuditOptions) -> (Audit, Option<Fault>) {
    let mut auditor = Auditor {
        rules,
        options,
        probe,
        counts: probe.map(Probe::counts).unwrap_or_default(),
        report: Audit::default(),
        said: HashSet::new(),
        legal_by_view: HashMap::new(),
        goals_given: BTreeMap::new(),
        lifetimes: Lifetimes::default(),
        base: None,
        input: None,
    };
    let outcome = match Reference::with(played, crate::EvaluationLimits::default(), options.stop.clone()) {
        Ok(mut sim) => auditor.run(&mut sim),
        Err(fault) => Err(fault),
    };
    if let Err(fault) = &outcome {
        auditor.fault(fault);
    }
    (auditor.finish(), outcome.err())
}

struct Auditor<'a> {
    rules: &'a Rules,
    options: &'a AuditOptions,
    probe: Option<&'a Probe>,
    counts: Counts,
    report: Audit,
    /// Findings reported so far, by code and subject.
    said: HashSet<(Code, String)>,
    legal_by_view: HashMap<(RoleId, RoleView), Vec<MoveId>>,
    /// Per role: the number of ends with and without a goal.
    goals_given: BTreeMap<String, (u32, u32)>,
    lifetimes: Lifetimes,
    base: Option<HashSet<String>>,
    input: Option<HashSet<(String, String)>>,
}

/// Games after which it is worth a note that something never happened.
const MIN_GAMES: u32 = 20;

/// The moves and percepts of a role.
type RoleView = Vec<(MoveId, Vec<PerceptId>)>;

impl Auditor<'_> {
    fn run(&mut self, sim: &mut Reference) -> Result<(), Fault> {
        self.read_hints(sim)?;
        for game in 0..self.options.games {
            if self.options.stop.is_raised() {
                return Err(Fault::Stopped);
            }
            self.report.games += 1;
            let mut rng = self.options.seed.nth(u64::from(game)).rng();
            self.lifetimes.begin_game();
            self.play(sim, &mut rng)?;
        }
        Ok(())
    }

    fn read_hints(&mut self, sim: &mut Reference) -> Result<(), Fault> {
        let base: HashSet<String> = sim.base_hints()?.into_iter().collect();
        let input: HashSet<(String, String)> = sim.input_hints()?.into_iter().collect();
        self.base = (!base.is_empty()).then_some(base);
        self.input = (!input.is_empty()).then_some(input);
        Ok(())
    }

    fn play(&mut self, sim: &mut Reference, rng: &mut Rng) -> Result<(), Fault> {
        let mut state = sim.initial()?;
        let mut views: Vec<RoleView> = vec![Vec::new(); sim.roles().len()];
        for round in 0..self.options.max_rounds {
            self.check_fluents(sim, &state);
            self.lifetimes.add(sim, &state);
            if sim.terminal(&state)? {
                return self.check_goals(sim, &state);
            }
            let Some(joint) = self.choose(sim, &state, round, &views, rng)? else {
                return Ok(());
            };
            self.observe(sim, &state, &joint, &mut views)?;
            state = sim.next(&state, &joint)?;
            self.report.rounds += 1;
        }
        let place = self.clause_for(kw::TERMINAL, "", None);
        self.say(
            Code::Long,
            "",
            place,
            format!("a random game did not end within {} rounds", self.options.max_rounds),
            "limit the number of rounds in the rules, so that every game ends",
        );
        Ok(())
    }

    /// A random joint move, or `None` if some role has no legal move.
    fn choose(
        &mut self,
        sim: &mut Reference,
        state: &State,
        round: u32,
        views: &[RoleView],
        rng: &mut Rng,
    ) -> Result<Option<Vec<MoveId>>, Fault> {
        let mut joint = Vec::with_capacity(views.len());
        let mut legal = Vec::new();
        self.check_legal_roles(sim, state)?;
        for (number, view) in views.iter().enumerate() {
            let role = RoleId(number as u16);
            sim.legal(state, role, &mut legal)?;
            if legal.is_empty() {
                self.no_move(sim, state, role, round);
                return Ok(None);
            }
            self.check_inputs(sim, role, &legal);
            self.check_knowable(sim, role, view, &legal);
            joint.push(*rng.pick(&legal));
        }
        Ok(Some(joint))
    }

    fn observe(
        &mut self,
        sim: &mut Reference,
        state: &State,
        joint: &[MoveId],
        views: &mut [RoleView],
    ) -> Result<(), Fault> {
        if self.probe.is_some() {
            self.counts.add_round(sim, state, joint)?;
        }
        for (name, percept) in sim.raw_sees(state, joint)? {
            self.check_role(sim, &name, kw::SEES, &percept);
        }
        for (number, view) in views.iter_mut().enumerate() {
            let mut sees = Vec::new();
            sim.percepts(state, joint, RoleId(number as u16), &mut sees)?;
            view.push((joint[number], sees));
        }
        Ok(())
    }

    fn no_move(&mut self, sim: &Reference, state: &State, role: RoleId, round: u32) {
        let name = &sim.roles()[role.0 as usize];
        let suspects = self.prolog_style_names();
        let help = if suspects.is_empty() {
            "every role needs a move in every state that is not terminal; give it a move such as `noop`".to_owned()
        } else {
            format!(
                "single upper-case names {}: Prolog-style variables? Write `?x`",
                suspects.join(", ")
            )
        };
        let fluents = sim.fluents(state).join(" ");
        let place = self.role_fact(name);
        self.say(
            Code::NoMove,
            name,
            place,
            format!(
                "{name} has no legal move in round {} (state: {})",
                round + 1,
                gdl::source::short(&fluents)
            ),
            &help,
        );
    }

    /// Names such as `C`, which the author may have meant as variables.
    fn prolog_style_names(&self) -> Vec<&str> {
        let symbols = &self.rules.symbols;
        let all = (0..symbols.len()).map(|i| symbols.wire_text(Symbol(i as u32)));
        all.filter(|t| t.len() == 1 && t.bytes().all(|b| b.is_ascii_uppercase()))
            .take(5)
            .collect()
    }

    fn check_fluents(&mut self, sim: &Reference, state: &State) {
        let Some(base) = self.base.take() else {
            return;
        };
        if let Some(missing) = sim.fluents(state).iter().find(|f| !base.contains(*f)) {
            let place = self.clause_for(kw::BASE, "", None);
            self.say(
                Code::HintWrong,
                "base",
                place,
                format!("`{missing}` holds in play, but `base` does not list it; the hints are ignored"),
                "add it to the hints, or remove the hints: they are never needed",
            );
        }
        self.base = Some(base);
    }

    fn check_inputs(&mut self, sim: &Reference, role: RoleId, legal: &[MoveId]) {
        let Some(input) = self.input.take() else {
            return;
        };
        let name = &sim.roles()[role.0 as usize];
        let listed = |mv: MoveId| input.contains(&(name.clone(), sim.move_text(role, mv).to_owned()));
        if let Some(&missing) = legal.iter().find(|&&mv| !listed(mv)) {
            let text = sim.move_text(role, missing);
            let place = self.clause_for(kw::INPUT, "", None);
            self.say(
                Code::HintWrong,
                "input",
                place,
                format!("`{text}` of {name} is legal in play, but `input` does not list it; the hints are ignored"),
                "add it to the hints, or remove the hints: they are never needed",
            );
        }
        self.input = Some(input);
    }

    fn check_legal_roles(&mut self, sim: &mut Reference, state: &State) -> Result<(), Fault> {
        for (name, action) in sim.raw_legal(state)? {
            self.check_role(sim, &name, kw::LEGAL, &action);
        }
        Ok(())
    }

    fn check_role(&mut self, sim: &Reference, name: &str, relation: Symbol, second: &str) {
        if sim.roles().iter().any(|r| r == name) || self.said.contains(&(Code::NotRole, name.to_owned())) {
            return;
        }
        let relation_name = self.rules.symbols.text(relation).to_owned();
        let place = self.clause_for(relation, name, Some(second));
        self.say(
            Code::NotRole,
            name,
            place,
            format!("`{relation_name}` is derived for `{name}`, which is not a role; it is ignored"),
            "add a `(role …)` condition to the rule, or declare the role",
        );
    }

    /// A role should be able to work out its legal moves: equal views must have equal legal moves.
    fn check_knowable(&mut self, sim: &Reference, role: RoleId, view: &RoleView, legal: &[MoveId]) {
        if self.rules.information() == gdl::Information::Open || sim.nature() == Some(role) {
            return;
        }
        let known = self
            .legal_by_view
            .entry((role, view.clone()))
            .or_insert_with(|| legal.to_vec());
        if known != legal {
            let name = sim.roles()[role.0 as usize].clone();
            let differs = known
                .iter()
                .find(|m| !legal.contains(m))
                .or_else(|| legal.iter().find(|m| !known.contains(m)));
            let differs = differs.map(|&m| sim.move_text(role, m).to_owned()).unwrap_or_default();
            let place = self.clause_for(kw::LEGAL, &name, Some(&differs));
            self.say(
                Code::UnknownLegal,
                &name,
                place,
                format!(
                    "{name} cannot always know its legal moves: in round {} `{differs}` is legal in one of two games \
                     that look the same to it",
                    view.len() + 1
                ),
                "if the game is not one of try and fail on purpose, let the role see what its moves depend on",
            );
        }
    }

    fn check_goals(&mut self, sim: &mut Reference, state: &State) -> Result<(), Fault> {
        self.report.ended += 1;
        if self.probe.is_some() {
            self.counts.add_end(sim, state)?;
        }
        let goals = sim.raw_goals(state)?;
        for (name, value) in &goals {
            self.check_role(sim, name, kw::GOAL, value);
            if crate::goal_value(value).is_none_or(|v| !(0..=100).contains(&v)) {
                let place = self.clause_for(kw::GOAL, name, Some(value));
                self.say(
                    Code::GoalValue,
                    value,
                    place,
                    format!("a game ended with the goal `{value}` for {name}, which is not an integer from 0 to 100"),
                    "scale the payoffs into 0..100",
                );
            }
        }
        let nature = sim.nature().map(|r| sim.roles()[r.0 as usize].clone());
        for role in sim.roles().to_vec() {
            let values: BTreeSet<&str> = goals
                .iter()
                .filter(|(name, _)| *name == role)
                .map(|(_, value)| value.as_str())
                .collect();
            if Some(&role) == nature.as_ref() {
                continue;
            }
            let (with, without) = self.goals_given.entry(role.clone()).or_default();
            *(if values.is_empty() { without } else { with }) += 1;
            if values.len() > 1 {
                let list: Vec<&str> = values.into_iter().collect();
                let place = self.clause_for(kw::GOAL, &role, list.first().copied());
                self.say(
                    Code::GoalMany,
                    &role,
                    place,
                    format!(
                        "a game ended with several goals for {role}: {}; the largest counts",
                        list.join(", ")
                    ),
                    "make the conditions of the goals exclude each other",
                );
            }
        }
        Ok(())
    }

    fn fault(&mut self, fault: &Fault) {
        match fault {
            Fault::Stopped => {}
            Fault::Blowup { relation, limit } => self.say(
                Code::RunBlowup,
                relation,
                self.definition(relation),
                format!("evaluating `{relation}` exceeded {limit}"),
                "terms must not grow for ever: bound them by a relation with finitely many facts",
            ),
            other => self.say(
                Code::RunBlowup,
                "",
                Span::new(0, 0),
                other.to_string(),
                "report this: it is a bug of Surmise",
            ),
        }
    }

    /// The head of the clause that derives a keyword for this role and this move, goal or percept: one that names both
    /// before one that has variables.
    fn clause_for(&self, relation: Symbol, role: &str, second: Option<&str>) -> Span {
        let symbols = &self.rules.symbols;
        let name = |term: &Term| match term {
            Term::Var(_) => None,
            Term::Fun(name, args) if args.is_empty() => Some(symbols.text(*name).to_owned()),
            Term::Fun(name, _) => Some(format!("({}", symbols.text(*name))),
        };
        let fit = |term: Option<&Term>, text: &str| match term.and_then(name) {
            None => Some(1),
            Some(name) => {
                let begins = text.split(' ').next() == Some(&name);
                begins.then_some(2)
            }
        };
        let score = |head: &Atom| -> Option<u32> {
            if head.relation != relation {
                return None;
            }
            let first = if role.is_empty() {
                Some(0)
            } else {
                fit(head.args.first(), role)
            };
            let then = second.map_or(Some(0), |text| fit(head.args.get(1), text));
            Some(first? + then?)
        };
        let clauses = &self.rules.clauses;
        let scored = clauses.iter().filter_map(|c| Some((score(&c.head)?, c)));
        // The first of the best.
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let fallback = || clauses.iter().find(|c| c.head.relation == relation);
        let clause = best.map(|(_, c)| c).or_else(fallback);
        clause.map_or(Span::new(0, 0), |c| self.rules.head_place(c))
    }

    /// The fact that declares a role.
    fn role_fact(&self, role: &str) -> Span {
        self.clause_for(kw::ROLE, role, None)
    }

    /// The first clause of a relation, given as `name/arity`.
    fn definition(&self, label: &str) -> Span {
        let name = label.rsplit_once('/').map_or(label, |(name, _)| name);
        let symbol = self.rules.symbols.get(name);
        let clause = self.rules.clauses.iter().find(|c| Some(c.head.relation) == symbol);
        clause.map_or(Span::new(0, 0), |c| self.rules.head_place(c))
    }

    /// Reports something once.
    fn say(&mut self, code: Code, about: &str, place: Span, message: String, help: &str) {
        if !self.said.insert((code, about.to_owned())) {
            return;
        }
        self.report.diagnostics.push(Diagnostic {
            code,
            severity: code.severity(self.options.mode),
            span: place,
            message,
            help: help.to_owned(),
            related: Vec::new(),
            fixes: Vec::new(),
        });
    }

    fn finish(mut self) -> Audit {
        for (role, (with, without)) in std::mem::take(&mut self.goals_given) {
            if without > 0 {
                self.no_goal(&role, with, without);
            }
        }
        if let Some(probe) = self.probe {
            self.report.rules = self.counts.by_rule(probe, self.rules);
            self.never();
        }
        self.report
            .diagnostics
            .sort_by(|a, b| (a.span, a.code, &a.message).cmp(&(b.span, b.code, &b.message)));
        self.report
    }

    /// Rules that never applied.
    fn never(&mut self) {
        let games = self.report.games;
        if games < MIN_GAMES {
            return;
        }
        for rule in std::mem::take(&mut self.report.rules) {
            let about = format!("{}", rule.place.start);
            let dead = rule.rounds.iter().filter(|&&n| n == 0).count();
            if dead == rule.rounds.len()
                && let Some(fluent) = self.lifetimes.lost(self.rules, rule.place)
            {
                let message = format!("this rule never applied in {games} random games: every `{fluent}` was lost");
                let help = format!("no `{fluent}` lasted for more than one round; is a rule missing that keeps it?");
                self.say(Code::Lost, &about, rule.place, message, &help);
            } else if dead == rule.rounds.len() {
                let message = format!("this rule never applied in {games} random games");
                let help = "if it should apply more often, look for a wrong name or condition in it";
                self.say(Code::NeverFired, &about, rule.place, message, help);
            } else if dead > 0 {
                let n = rule.rounds.len();
                let message =
                    format!("{dead} of the {n} alternatives of this rule never applied in {games} random games");
                let help = "look for a wrong name or condition in the members of its `or`";
                self.say(Code::NeverFired, &about, rule.place, message, help);
            }
            self.report.rules.push(rule);
        }
    }

    fn no_goal(&mut self, role: &str, with: u32, without: u32) {
        let place = if with == 0 {
            self.role_fact(role)
        } else {
            self.clause_for(kw::GOAL, role, None)
        };
        self.say(
            Code::GoalNone,
            role,
            place,
            format!(
                "{without} of {} games ended without a goal for {role}; it counts as 0",
                with + without
            ),
            "give every role a goal in every terminal state",
        );
        // A role that never gets a goal has no reason to play.
        if with == 0
            && let Some(last) = self.report.diagnostics.last_mut()
        {
            last.severity = Severity::Error;
        }
    }
}
