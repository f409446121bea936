//! Random small games, for tests that compare simulators.

use std::fmt::Write as _;

/// The text of a valid game determined by `genes`, which may be any bytes. Fewer and smaller bytes give simpler games,
/// so that a property tester can shrink a failure.
///
/// The games have one to three roles, simultaneous moves, static relations, derived relations with recursion and mutual
/// recursion, negation, `distinct`, `or`, percepts (also through `next`), and several goals at once.
pub fn random_game(genes: &[u8]) -> String {
    let mut game = Game {
        genes,
        at: 0,
        text: String::new(),
    };
    game.statics();
    game.state_relations();
    game.legal_and_goals();
    game.move_relations();
    game.next_and_sees();
    game.text
}

struct Game<'g> {
    genes: &'g [u8],
    at: usize,
    text: String,
}

/// A relation that bodies may use: name and number of arguments.
type Known = (&'static str, usize);

const CONSTANTS: [&str; 3] = ["a", "b", "c"];
const STATIC: &[Known] = &[("n", 1), ("e", 2), ("path", 2), ("loopless", 1)];
const FLUENTS: &[Known] = &[("p", 0), ("q", 0), ("f", 1), ("g", 2)];
/// Relations of the state: the first two recurse into each other, the others may negate them.
const LOW: &[Known] = &[("low", 1), ("link", 2)];
const HIGH: &[Known] = &[("high", 1), ("flag", 0)];
/// Relations of state and move.
const MOVED: &[Known] = &[("hit", 1), ("swap", 2)];

/// The relations that a body may use, and the variables bound so far.
struct Scope {
    positive: Vec<Known>,
    negative: Vec<Known>,
    fluents: bool,
    does: bool,
    legal: bool,
    next: bool,
    vars: usize,
    roles: usize,
    moves: usize,
}

impl Scope {
    fn new(positive: &[&[Known]], negative: &[&[Known]]) -> Scope {
        Scope {
            positive: positive.concat(),
            negative: negative.concat(),
            fluents: true,
            does: false,
            legal: false,
            next: false,
            vars: 0,
            roles: 0,
            moves: 0,
        }
    }

    fn with_does(mut self) -> Scope {
        self.does = true;
        self
    }

    fn with_legal(mut self) -> Scope {
        self.legal = true;
        self
    }

    fn with_next(mut self) -> Scope {
        self.next = true;
        self
    }
}

impl Game<'_> {
    /// A number below `n`; 0 once the genes are used up.
    fn pick(&mut self, n: usize) -> usize {
        let gene = self.genes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(gene) % n
    }

    fn add(&mut self, clause: &str) {
        let _ = writeln!(self.text, "{clause}");
    }

    fn rule(&mut self, head: &str, body: &[String]) {
        self.add(&format!("(<= {head} {})", body.join(" ")));
    }

    fn statics(&mut self) {
        for role in ["x", "y", "random"].iter().take(1 + self.pick(3)) {
            self.add(&format!("(role {role})"));
        }
        for c in CONSTANTS {
            self.add(&format!("(n {c})"));
            for d in CONSTANTS {
                if self.pick(3) == 1 {
                    self.add(&format!("(e {c} {d})"));
                }
            }
        }
        self.add("(e a b) (<= (path ?x ?y) (e ?x ?y))");
        let recursion = [
            "(e ?x ?z) (path ?z ?y)",
            "(path ?x ?z) (e ?z ?y)",
            "(path ?x ?z) (path ?z ?y)",
        ];
        let recursion = recursion[self.pick(3)];
        self.add(&format!("(<= (path ?x ?y) {recursion})"));
        self.add("(<= (loopless ?x) (n ?x) (not (path ?x ?x)))");
        for fluent in ["p", "(f a)", "(f b)", "(g a b)", "(g b c)", "(g c c)"] {
            if self.pick(2) == 1 {
                self.add(&format!("(init {fluent})"));
            }
        }
    }

    fn state_relations(&mut self) {
        for &relation in LOW {
            for _ in 0..1 + self.pick(3) {
                self.derived(relation, Scope::new(&[STATIC, LOW], &[STATIC]));
            }
        }
        for &relation in HIGH {
            for _ in 0..1 + self.pick(2) {
                self.derived(relation, Scope::new(&[STATIC, LOW, HIGH], &[STATIC, LOW]));
            }
        }
    }

    fn legal_and_goals(&mut self) {
        let scope = || Scope::new(&[STATIC, LOW, HIGH], &[STATIC, LOW, HIGH]);
        match self.pick(4) {
            1 => self.add("(<= (legal ?r noop) (role ?r) (not (true q)))"),
            _ => self.add("(<= (legal ?r noop) (role ?r))"),
        }
        for _ in 0..1 + self.pick(3) {
            let mut scope = scope();
            let mut body = self.body(&mut scope, 2);
            let role = self.role(&mut scope, &mut body);
            let arg = self.arg(&scope);
            self.rule(&format!("(legal {role} (do {arg}))"), &body);
        }
        let body = self.body(&mut scope().with_legal(), 2);
        self.rule("terminal", &["(true q)".to_owned()]);
        self.rule("terminal", &[body, vec!["(true p) (true (g c c))".to_owned()]].concat());
        for value in ["100", "50", "00", "7"].iter().take(1 + self.pick(4)) {
            let mut scope = scope().with_legal();
            let mut body = self.body(&mut scope, 2);
            let role = self.role(&mut scope, &mut body);
            self.rule(&format!("(goal {role} {value})"), &body);
        }
        if self.pick(2) == 1 {
            self.add("(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))");
        }
    }

    fn move_relations(&mut self) {
        for &relation in MOVED {
            for _ in 0..1 + self.pick(2) {
                let state = &[STATIC, LOW, HIGH];
                let scope = Scope::new(&[&state.concat(), MOVED], state).with_does().with_legal();
                self.derived(relation, scope);
            }
        }
    }

    fn next_and_sees(&mut self) {
        let all = || {
            let pool = &[STATIC, LOW, HIGH, MOVED];
            Scope::new(pool, pool).with_does().with_legal()
        };
        self.add("(<= (next (f ?x)) (does ?r (do ?x)) (n ?x))");
        for &(fluent, arity) in FLUENTS {
            for _ in 0..1 + self.pick(2) {
                let mut scope = all();
                let mut body = self.body(&mut scope, 3);
                if fluent == "q" {
                    // Otherwise most games would end at once.
                    body.push("(true p) (true (f a))".to_owned());
                }
                let args: Vec<String> = (0..arity).map(|_| self.arg(&scope)).collect();
                self.rule(&format!("(next {})", apply(fluent, &args)), &body);
            }
        }
        for _ in 0..self.pick(4) {
            let mut scope = all().with_next();
            let mut body = self.body(&mut scope, 3);
            let role = self.role(&mut scope, &mut body);
            let seen = match scope.moves {
                0 => format!("(saw {})", self.arg(&scope)),
                _ => "?m0".to_owned(),
            };
            self.rule(&format!("(sees {role} {seen})"), &body);
        }
    }

    fn derived(&mut self, (name, arity): Known, mut scope: Scope) {
        let body = self.body(&mut scope, 3);
        let args: Vec<String> = (0..arity).map(|_| self.arg(&scope)).collect();
        self.rule(&apply(name, &args), &body);
    }

    /// Literals that bind what they use.
    fn body(&mut self, scope: &mut Scope, most: usize) -> Vec<String> {
        let mut body = vec![self.positive(scope)];
        for _ in 0..self.pick(most + 1) {
            let literal = match self.pick(6) {
                0 | 1 => self.positive(scope),
                2 => self.negative(scope),
                3 if scope.vars > 1 => {
                    let a = self.pick(scope.vars);
                    let b = (a + 1 + self.pick(scope.vars - 1)) % scope.vars;
                    format!("(distinct ?v{a} ?v{b})")
                }
                3 => format!("(distinct {} b)", self.bound(scope)),
                4 => format!("(or {} {})", self.test(scope), self.negative(scope)),
                _ => format!("(or {} {})", self.test(scope), self.test(scope)),
            };
            body.push(literal);
        }
        body
    }

    /// A literal that may bind new variables.
    fn positive(&mut self, scope: &mut Scope) -> String {
        match self.pick(10) {
            1 | 6 if scope.does => self.does(scope),
            2 if scope.legal => {
                let var = self.new_or_bound(scope);
                let role = self.role_term(scope);
                format!("(legal {role} (do {var}))")
            }
            3 if scope.next => {
                let var = self.new_or_bound(scope);
                format!("(next (f {var}))")
            }
            4 | 5 | 7 if scope.fluents => {
                let (name, arity) = FLUENTS[self.pick(FLUENTS.len())];
                let args: Vec<String> = (0..arity).map(|_| self.new_or_bound(scope)).collect();
                format!("(true {})", apply(name, &args))
            }
            _ => {
                let (name, arity) = scope.positive[self.pick(scope.positive.len())];
                let args: Vec<String> = (0..arity).map(|_| self.new_or_bound(scope)).collect();
                apply(name, &args)
            }
        }
    }

    fn does(&mut self, scope: &mut Scope) -> String {
        let role = self.role_term(scope);
        let mv = match self.pick(3) {
            0 => format!("(do {})", self.new_or_bound(scope)),
            1 => "noop".to_owned(),
            _ => {
                scope.moves = 1;
                "?m0".to_owned()
            }
        };
        format!("(does {role} {mv})")
    }

    /// A positive literal that binds nothing.
    fn test(&mut self, scope: &Scope) -> String {
        let pool = [&scope.positive[..], &[("true", 1)]].concat();
        let (name, arity) = pool[self.pick(pool.len())];
        self.apply_to_bound(name, arity, scope)
    }

    fn negative(&mut self, scope: &Scope) -> String {
        let pool = [&scope.negative[..], &[("true", 1)]].concat();
        let (name, arity) = pool[self.pick(pool.len())];
        format!("(not {})", self.apply_to_bound(name, arity, scope))
    }

    fn apply_to_bound(&mut self, name: &str, arity: usize, scope: &Scope) -> String {
        if name == "true" {
            let (name, arity) = FLUENTS[self.pick(FLUENTS.len())];
            return format!("(true {})", self.apply_to_bound(name, arity, scope));
        }
        let args: Vec<String> = (0..arity).map(|_| self.bound(scope)).collect();
        apply(name, &args)
    }

    fn new_or_bound(&mut self, scope: &mut Scope) -> String {
        let new = match scope.vars {
            0 => self.pick(8) < 7,
            1..4 => self.pick(2) == 0,
            _ => false,
        };
        if !new {
            return self.bound(scope);
        }
        scope.vars += 1;
        format!("?v{}", scope.vars - 1)
    }

    /// A bound variable, or sometimes a constant.
    fn bound(&mut self, scope: &Scope) -> String {
        if scope.vars > 0 && self.pick(6) > 0 {
            format!("?v{}", self.pick(scope.vars))
        } else {
            CONSTANTS[self.pick(CONSTANTS.len())].to_owned()
        }
    }

    /// An argument of a head: a variable if there is one.
    fn arg(&mut self, scope: &Scope) -> String {
        match scope.vars {
            0 => CONSTANTS[self.pick(CONSTANTS.len())].to_owned(),
            n => format!("?v{}", self.pick(n)),
        }
    }

    fn role_term(&mut self, scope: &mut Scope) -> String {
        match self.pick(3) {
            0 => "x".to_owned(),
            _ => {
                scope.roles = 1;
                "?r0".to_owned()
            }
        }
    }

    /// The role of a head, bound by the body.
    fn role(&mut self, scope: &mut Scope, body: &mut Vec<String>) -> String {
        let role = self.role_term(scope);
        if role == "?r0" {
            body.push("(role ?r0)".to_owned());
        }
        role
    }
}

fn apply(name: &str, args: &[String]) -> String {
    if args.is_empty() {
        name.to_owned()
    } else {
        format!("({name} {})", args.join(" "))
    }
}
