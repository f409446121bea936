//! The diagnostic codes. Each has a page in `codes/`, shown by `surmise check --explain CODE`.

use crate::diagnostic::{Mode, Severity};

macro_rules! codes {
    ($($variant:ident $text:literal),* $(,)?) => {
        /// A kind of finding. The texts of codes are stable: programs may rely on them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Code { $($variant),* }

        impl Code {
            /// All codes: those of the text, those of the rules, those that only play shows.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The code as it is written in messages.
            pub fn text(self) -> &'static str {
                match self { $(Code::$variant => $text),* }
            }

            /// The page of the code: meaning, reason, example, and what to write instead.
            pub fn page(self) -> &'static str {
                match self { $(Code::$variant => include_str!(concat!("../codes/", $text, ".md"))),* }
            }
        }
    };
}

codes! {
    // Lexical and syntactic.
    Char "E-CHAR", Limit "E-LIMIT", VarEmpty "E-VAR-EMPTY", Paren "E-PAREN", EmptyList "E-EMPTY-LIST",
    HeadNotName "E-HEAD-NOT-NAME", RuleNoHead "E-RULE-NO-HEAD", Arrow "E-ARROW", NotArity "E-NOT-ARITY",
    Distinct "E-DISTINCT", KwConstant "E-KW-CONSTANT", KwArity "E-KW-ARITY", Infix "E-INFIX",
    Encoding "W-ENCODING", OddChar "W-CHAR", Quote "W-QUOTE", Case "W-CASE", Parens "W-PARENS",
    EmptyBody "W-EMPTY-BODY", EmptyOr "W-EMPTY-OR", KwTerm "W-KW-TERM", NotForm "W-NOT-FORM",
    Dialect "N-DIALECT", View "N-VIEW",
    // Static.
    FactVar "E-FACT-VAR", FactAll "W-FACT-VAR", Unsafe "E-UNSAFE", UnsafeRole "W-UNSAFE-ROLE", NegCycle "E-NEG-CYCLE",
    LocalStrat "W-LOCAL-STRAT", Recursion "E-RECURSION", Arity "W-ARITY", NoRole "E-NO-ROLE",
    RoleRule "E-ROLE-RULE", RoleRuleStatic "W-ROLE-RULE", HeadTrue "E-HEAD-TRUE", HeadDoes "E-HEAD-DOES",
    InitBody "E-INIT-BODY", InitDep "E-INIT-DEP", DoesDep "E-DOES-DEP", NextBody "E-NEXT-BODY",
    NextInSees "W-NEXT-IN-SEES", SeesBody "E-SEES-BODY", HintVar "W-HINT-VAR", HintDep "W-HINT-DEP",
    HintWrong "W-HINT-WRONG", NoLegal "E-NO-LEGAL", NoGoal "E-NO-GOAL", NoTerminal "E-NO-TERMINAL",
    NoInit "N-NO-INIT", NoNext "N-NO-NEXT", KnowsRule "E-KNOWS", Knows "W-KNOWS", Undef "W-UNDEF",
    Unused "W-UNUSED", Dup "W-DUP", RuleNever "W-RULE-NEVER",
    // About what the rules can do (`lint`).
    NotMade "W-NOT-MADE", NotLegal "W-NOT-LEGAL", NoValue "W-NO-VALUE", NotRead "W-NOT-READ",
    NoEffect "W-NO-EFFECT", Typo "W-TYPO", Lost "W-LOST",
    // Found only by playing.
    NoMove "E-NO-MOVE", GoalValue "E-GOAL-VALUE", GoalNone "W-GOAL-NONE", GoalMany "W-GOAL-MANY",
    NotRole "W-NOT-ROLE", NeverFired "N-NEVER-FIRED",
    Long "W-LONG", UnknownLegal "N-UNKNOWN-LEGAL", RunBlowup "E-RUN-BLOWUP",
}

impl Code {
    /// The code with this text, in any case.
    pub fn find(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|c| c.text().eq_ignore_ascii_case(text))
    }

    /// The severity in a mode. The first letter of the code decides, with two exceptions: strict mode raises violations
    /// of the specification to errors, and lenient mode lowers `E-RECURSION` to a warning, because engines have limits.
    pub fn severity(self, mode: Mode) -> Severity {
        use Code::*;
        let raised = matches!(
            self,
            Parens | EmptyBody | KwTerm | UnsafeRole | LocalStrat | Arity | NextInSees | HintDep
        );
        match (mode, self) {
            (Mode::Strict, _) if raised => Severity::Error,
            (Mode::Lenient, Recursion) => Severity::Warning,
            _ => match self.text().as_bytes()[0] {
                b'E' => Severity::Error,
                b'W' => Severity::Warning,
                _ => Severity::Note,
            },
        }
    }

    /// Whether the finding is about the text, not about the meaning of the rules.
    pub fn is_syntax(self) -> bool {
        self <= Code::View
    }

    /// The title of the page: the finding in a few words.
    pub fn title(self) -> &'static str {
        let first = self.page().lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}
