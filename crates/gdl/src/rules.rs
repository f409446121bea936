//! Checked, normalised rules: what the engines read.
//!
//! Everything that has several spellings in a rules file has one here: there is no `or`, no `and`, no nested `not` and
//! no repeated clause; names are in lower case; variables are numbered for each clause. The steps are listed in
//! docs/gdl2.md, Normal form.

use crate::source::Span;
use crate::symbol::{Symbol, Symbols, kw};
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// A normalised description.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// All names of the description.
    pub symbols: Symbols,
    /// Facts and rules, in the order of the source. Facts are clauses with an empty body.
    pub clauses: Vec<Clause>,
    /// Whether the description uses GDL-II: a `sees` clause or the role `random`. This says which language the
    /// description is written in, not whether it hides anything: that is [`Rules::information`].
    pub gdl2: bool,
    /// Text that the rules were read from, for records and for other players.
    pub source: Arc<str>,
    pub(crate) information: Information,
}

/// Whether the roles of a game can follow its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Information {
    /// Every role is told every move, those of `random` included, so every role knows the state at the start of each
    /// round. Rules without `sees` are open, and so are rules that announce every move themselves:
    /// `(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))`.
    #[default]
    Open,
    /// The rules have `sees` rules that do not announce every move. A role is told only its own move and what these
    /// rules derive for it.
    Hidden,
}

impl Information {
    /// The answer for the clauses of a description.
    pub(crate) fn of(clauses: &[Clause], symbols: &Symbols) -> Information {
        let mut sees = clauses.iter().filter(|c| c.head.relation == kw::SEES).peekable();
        match sees.peek().is_none() || sees.any(|c| c.announces_moves(symbols)) {
            true => Information::Open,
            false => Information::Hidden,
        }
    }
}

impl Rules {
    /// Whether the roles can follow the state. [`Rules::announce_moves`] does not change the answer;
    /// [`Rules::announce_all_moves`] makes a game with hidden information open.
    ///
    /// ```
    /// use surmise_gdl::{Information, Options, read};
    /// let mut coin = read(
    ///     "(role me) (role random) (legal me noop) (legal random heads) (legal random tails)
    ///      (goal me 0) (goal random 0) terminal",
    ///     &Options::default(),
    /// ).rules;
    /// coin.announce_moves();
    /// assert_eq!(coin.information(), Information::Open);
    /// ```
    pub fn information(&self) -> Information {
        self.information
    }

    /// The place of the head of a clause in [`Rules::source`]; the place where the clause begins if the clause was not
    /// read from there.
    pub fn head_place(&self, clause: &Clause) -> Span {
        let start = clause.offset as usize;
        let Some(text) = self.source.get(start..) else {
            return Span::new(0, 0);
        };
        let inner = text.strip_prefix('(').map(|t| t.trim_start());
        let after_arrow = inner.and_then(|t| t.strip_prefix("<=")).map(str::trim_start);
        let head = after_arrow.unwrap_or(text);
        let at = start + text.len() - head.len();
        Span::new(at, at + first_expression(head))
    }

    /// Lets every role see every move, `(did ROLE MOVE)`, if the rules have no `sees`: a GDL-I game is the GDL-II game
    /// in which every role sees every move. A second call changes nothing.
    pub fn announce_moves(&mut self) {
        if !self.has_sees() {
            self.announce_all_moves();
        }
    }

    /// Whether there are `sees` clauses at the moment; [`Rules::announce_moves`] adds one.
    pub fn has_sees(&self) -> bool {
        self.clauses.iter().any(|c| c.head.relation == kw::SEES)
    }

    /// Lets every role see every move, `(did ROLE MOVE)`, besides what the rules let it see. For matches whose manager
    /// tells every move to every role, as the GDL-I protocol does.
    pub fn announce_all_moves(&mut self) {
        let did = self.symbols.intern("did");
        let var = Term::Var;
        let atom = |relation, args| Atom { relation, args };
        self.clauses.push(Clause {
            head: atom(kw::SEES, vec![var(0), Term::Fun(did, vec![var(1), var(2)])]),
            body: vec![
                Literal::Pos(atom(kw::ROLE, vec![var(0)])),
                Literal::Pos(atom(kw::DOES, vec![var(1), var(2)])),
            ],
            variables: ["?r", "?q", "?m"].map(str::to_owned).to_vec(),
            offset: 0,
        });
        self.information = Information::Open;
    }
}

/// `head ⇐ body`, all literals conjoined. Safe: each variable occurs in a positive literal of the body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clause {
    /// The atom that is derived.
    pub head: Atom,
    /// Conditions; none for a fact. `not` and `distinct` come after the literals that bind their variables.
    pub body: Vec<Literal>,
    /// Names of the variables, indexed by [`Term::Var`].
    pub variables: Vec<String>,
    /// Byte offset of the clause in its source, for messages.
    pub offset: u32,
}

impl Clause {
    /// Whether this is `(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))`, with or without `(role ?q)`. The name `did`
    /// is part of it: players of open games look for the moves under this name.
    fn announces_moves(&self, symbols: &Symbols) -> bool {
        let [Term::Var(who), Term::Fun(did, args)] = &self.head.args[..] else {
            return false;
        };
        let [Term::Var(mover), Term::Var(mv)] = &args[..] else {
            return false;
        };
        let (who_is_role, mover_is_role) = ([Term::Var(*who)], [Term::Var(*mover)]);
        let does = [Term::Var(*mover), Term::Var(*mv)];
        let is_harmless = |literal: &Literal| match literal {
            Literal::Pos(atom) if atom.relation == kw::ROLE => atom.args == who_is_role || atom.args == mover_is_role,
            Literal::Pos(atom) => atom.relation == kw::DOES && atom.args == does,
            _ => false,
        };
        let all_different = who != mover && mover != mv && who != mv;
        self.head.relation == kw::SEES
            && symbols.text(*did) == "did"
            && all_different
            && self.body.iter().all(is_harmless)
    }
}

/// One condition of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// The atom holds.
    Pos(Atom),
    /// The atom does not hold.
    Neg(Atom),
    /// The two terms are different.
    Distinct(Term, Term),
}

/// A relation applied to terms. Two relations are the same if name and number of arguments are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom {
    /// Name of the relation; keywords are in [`crate::kw`].
    pub relation: Symbol,
    /// Arguments.
    pub args: Vec<Term>,
}

/// A term: variable, constant (a function without arguments) or function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// Variable of the clause, by number.
    Var(u32),
    /// Constant or function term.
    Fun(Symbol, Vec<Term>),
}

impl Term {
    /// A constant.
    pub fn constant(symbol: Symbol) -> Term {
        Term::Fun(symbol, Vec::new())
    }

    /// Whether the term has no variables.
    pub fn is_ground(&self) -> bool {
        match self {
            Term::Var(_) => false,
            Term::Fun(_, args) => args.iter().all(Term::is_ground),
        }
    }

    /// Calls `visit` with each occurrence of a variable, left to right.
    pub fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Term::Var(v) => visit(*v),
            Term::Fun(_, args) => args.iter().for_each(|t| t.for_each_var(visit)),
        }
    }

    /// Canonical text: lower case, one space between elements, constants without parentheses.
    pub fn canonical(&self, symbols: &Symbols) -> String {
        let mut out = String::new();
        write_term(&mut out, self, &|s| symbols.text(s)).expect("writing to a string");
        out
    }

    /// As [`Term::canonical`], but in the spelling for the wire ([`Symbols::wire_text`]).
    pub fn wire(&self, symbols: &Symbols) -> String {
        let mut out = String::new();
        write_term(&mut out, self, &|s| symbols.wire_text(s)).expect("writing to a string");
        out
    }
}

impl Atom {
    /// Whether the atom has no variables.
    pub fn is_ground(&self) -> bool {
        self.args.iter().all(Term::is_ground)
    }

    /// Calls `visit` with each occurrence of a variable, left to right.
    pub fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        self.args.iter().for_each(|t| t.for_each_var(visit));
    }

    /// Canonical text.
    pub fn canonical(&self, symbols: &Symbols) -> String {
        Term::Fun(self.relation, self.args.clone()).canonical(symbols)
    }
}

impl Literal {
    /// Calls `visit` with each occurrence of a variable, left to right.
    pub fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Literal::Pos(atom) | Literal::Neg(atom) => atom.for_each_var(visit),
            Literal::Distinct(a, b) => {
                a.for_each_var(visit);
                b.for_each_var(visit);
            }
        }
    }
}

/// The length of the name, list or application that a text begins with; comments inside are not understood.
fn first_expression(text: &str) -> usize {
    let mut depth = 0_usize;
    for (i, c) in text.char_indices().take(2_000) {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return if depth == 1 { i + 1 } else { i },
            ')' => depth -= 1,
            _ if depth == 0 && (c.is_whitespace() || c == '<') => return i,
            _ => {}
        }
    }
    text.chars().next().map_or(0, char::len_utf8)
}

fn write_term<'a>(out: &mut String, term: &Term, text: &impl Fn(Symbol) -> &'a str) -> fmt::Result {
    match term {
        Term::Var(v) => write!(out, "?v{v}"),
        Term::Fun(name, args) if args.is_empty() => out.write_str(text(*name)),
        Term::Fun(name, args) => {
            write!(out, "({}", text(*name))?;
            for arg in args {
                out.push(' ');
                write_term(out, arg, text)?;
            }
            out.write_char(')')
        }
    }
}
