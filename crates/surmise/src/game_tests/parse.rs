//! The text of game tests: one expectation a line, read with places so that every mistake has one.

use std::fmt::Write as _;

/// Tests of games: the lines of one file.
#[derive(Clone, Debug, Default)]
pub struct GameTests {
    /// The file, as messages name it.
    pub name: String,
    /// The lines that say something, in order.
    pub lines: Vec<TestLine>,
    /// The text, for messages.
    pub(crate) text: Vec<String>,
}

/// A line of a test file.
#[derive(Clone, Debug)]
pub struct TestLine {
    /// Number of the line, counted from 1.
    pub number: usize,
    /// The line without its remark.
    pub text: String,
    /// What the line says.
    pub statement: Statement,
}

/// A word of a test file as the engine spells it, and its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Canonical text: lower case, one blank between words.
    pub text: String,
    /// Column of its first letter, counted from 1.
    pub column: usize,
}

/// A number that was written, and how exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// The number.
    pub value: f64,
    /// How far another number may be away and still agree.
    pub tolerance: f64,
}

/// What a line says.
#[derive(Clone, Debug)]
pub enum Statement {
    /// The rules that the following lines are about, at their initial state.
    Game(String),
    /// A new play of the same game, with a title.
    Case(String),
    /// The roles in order.
    Roles(Vec<Word>),
    /// The number of legal moves of a role.
    Legal(Word, u64),
    /// All legal moves of a role.
    Moves(Word, Vec<Word>),
    /// Some legal moves of a role.
    Can(Word, Vec<Word>),
    /// Moves that are not legal for a role.
    Cannot(Word, Vec<Word>),
    /// A round: moves by role. Roles with a single legal move may be left out.
    Play(Vec<(Word, Word)>),
    /// All percepts of a role in the last round.
    Sees(Word, Vec<Word>),
    /// Fluents that hold.
    Holds(Vec<Word>),
    /// Fluents that do not hold.
    Absent(Vec<Word>),
    /// All fluents that hold.
    State(Vec<Word>),
    /// The number of histories that fit everything a role did and saw.
    Infoset(Word, u64),
    /// The number of states that a role holds possible.
    Possible(Word, u64),
    /// The probability that a role gives to a fluent, if the others choose uniformly.
    Believes(Word, Word, Written),
    /// The game is not over.
    Open,
    /// The game is over.
    Terminal,
    /// The payoff of a role.
    Goal(Word, i32),
    /// The shortest and the longest play.
    Length(u64, u64),
    /// The number of complete plays.
    Plays(u64),
    /// The number of sequences of so many joint moves.
    Perft(u64, u64),
    /// The value of the game for a role.
    Value(Word, Written),
    /// A recorded match that the rules must reproduce.
    Record(String),
}

/// A word that begins a line, the shape of the line, and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct TestWord {
    /// The word.
    pub word: &'static str,
    /// The whole line, with arguments in upper case.
    pub shape: &'static str,
    /// What the line says.
    pub meaning: &'static str,
}

macro_rules! words {
    ($($shape:literal => $meaning:literal),* $(,)?) => {
        &[$(TestWord { word: first_word($shape), shape: $shape, meaning: $meaning }),*]
    };
}

/// Every word that may begin a line.
pub const TEST_WORDS: &[TestWord] = words! {
    "game FILE" => "the rules that the next lines are about, from their initial state",
    "case TITLE" => "start again from the initial state; the title is printed when a line below fails",
    "roles ROLE …" => "the roles in order",
    "legal ROLE N" => "the role has N legal moves",
    "moves ROLE MOVE …" => "exactly these are the legal moves of the role",
    "can ROLE MOVE …" => "these moves are legal, others may be too",
    "cannot ROLE MOVE …" => "these moves are not legal",
    "play ROLE:MOVE …" => "one round; a role with a single legal move may be left out",
    "sees ROLE PERCEPT …" => "exactly these percepts of the role came with the last round; none if the list is empty",
    "holds FLUENT …" => "these fluents hold",
    "absent FLUENT …" => "these fluents do not hold",
    "state FLUENT …" => "exactly these fluents hold",
    "infoset ROLE N" => "N histories of this length fit everything the role did and saw",
    "possible ROLE N" => "the role holds N different states possible",
    "believes ROLE FLUENT P" => "the probability of the fluent for the role, if the others choose uniformly",
    "open" => "the game is not over",
    "terminal" => "the game is over",
    "goal ROLE POINTS" => "what the role is paid; the game is over",
    "length MIN..MAX" => "rounds of the shortest and of the longest play",
    "plays N" => "the number of complete plays, as sequences of joint moves",
    "perft DEPTH N" => "the number of sequences of DEPTH joint moves, those that end earlier left out",
    "value ROLE POINTS" => "the best expected payoff: against nature for one player, in equilibrium for two",
    "record FILE" => "the recorded match is what the rules say: moves, percepts, states and goals",
};

const fn first_word(shape: &'static str) -> &'static str {
    let bytes = shape.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b' ' {
        end += 1;
    }
    shape.split_at(end).0
}

/// A mistake in a test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestMistake {
    /// Number of the line, counted from 1.
    pub line: usize,
    /// Column, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// Lines that begin a block of tests in a Markdown file.
const FENCES: [&str; 2] = ["```test", "```facts"];

/// Mistakes that are kept of one file.
const MOST_MISTAKES: usize = 100;

impl GameTests {
    /// Reads tests. Of a Markdown file (`.md`), the blocks that begin with ```` ```test ```` or ```` ```facts ```` are
    /// read.
    ///
    /// # Errors
    /// With every mistake, by place.
    pub fn parse(name: &str, text: &str) -> Result<GameTests, Vec<TestMistake>> {
        let mut tests = GameTests {
            name: name.to_owned(),
            lines: Vec::new(),
            text: text.lines().map(str::to_owned).collect(),
        };
        let mut mistakes = Vec::new();
        let markdown = name.to_ascii_lowercase().ends_with(".md");
        let mut inside = !markdown;
        for (at, line) in text.lines().enumerate() {
            if markdown && line.trim_start().starts_with("```") {
                inside = !inside && FENCES.contains(&line.trim());
                continue;
            }
            if !inside || mistakes.len() >= MOST_MISTAKES {
                continue;
            }
            match test_line(at + 1, line) {
                Ok(Some(line)) => tests.lines.push(line),
                Ok(None) => {}
                Err(mistake) => mistakes.push(mistake),
            }
        }
        match mistakes.is_empty() {
            true => Ok(tests),
            false => Err(mistakes),
        }
    }

    /// The line of this number as it was written.
    pub fn line_text(&self, number: usize) -> &str {
        number
            .checked_sub(1)
            .and_then(|at| self.text.get(at))
            .map_or("", String::as_str)
    }
}

/// Mistakes as the checker of rules prints its own: place, line, mark and advice.
pub fn render_mistakes(name: &str, text: &str, mistakes: &[TestMistake]) -> String {
    let mut out = String::new();
    for mistake in mistakes {
        let _ = writeln!(
            out,
            "{name}:{}:{}: error: {}",
            mistake.line, mistake.column, mistake.message
        );
        let line = text.lines().nth(mistake.line - 1).unwrap_or_default();
        let number = mistake.line.to_string();
        let shown: String = line.chars().take(160).collect();
        let _ = writeln!(out, "  {number} | {shown}");
        if mistake.column <= 160 {
            let (margin, indent) = (" ".repeat(number.len()), " ".repeat(mistake.column - 1));
            let _ = writeln!(out, "  {margin} | {indent}^");
        }
        let _ = writeln!(out, "  help: {}", mistake.help);
    }
    out
}

/// A line in words, with its place for mistakes.
struct Words {
    line: usize,
    /// Column after the last word.
    end: usize,
    words: Vec<Word>,
}

fn test_line(number: usize, line: &str) -> Result<Option<TestLine>, TestMistake> {
    let plain = without_remark(line).trim();
    if plain == "case" || plain.starts_with("case ") {
        // A title is not taken apart: it may hold anything.
        return Ok(Some(TestLine {
            number,
            text: plain.to_owned(),
            statement: Statement::Case(raw_argument(line)),
        }));
    }
    let words = split(number, line)?;
    let Some((verb, args)) = words.words.split_first() else {
        return Ok(None);
    };
    let shape = TEST_WORDS.iter().find(|w| w.word == verb.text);
    let Some(shape) = shape else {
        let known = game::closest(&verb.text, TEST_WORDS.iter().map(|w| w.word));
        let help = match known {
            Some(word) => format!("did you mean `{word}`?"),
            None => {
                let all: Vec<&str> = TEST_WORDS.iter().map(|w| w.word).collect();
                format!("a line begins with one of: {}", all.join(", "))
            }
        };
        return Err(words.mistake(verb.column, format!("`{}` begins no line of a test", verb.text), help));
    };
    let arguments = Arguments {
        words: &words,
        args,
        shape: shape.shape,
        raw: raw_argument(line),
    };
    let statement = arguments.statement(&verb.text)?;
    Ok(Some(TestLine {
        number,
        text: line.chars().take(words.end - 1).collect::<String>().trim().to_owned(),
        statement,
    }))
}

/// What follows the first word, as written: names of files keep their case.
fn raw_argument(line: &str) -> String {
    let line = without_remark(line).trim();
    let rest = line.split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
    rest.trim().to_owned()
}

/// The line up to a `;` or `#` that begins a word.
fn without_remark(line: &str) -> &str {
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if matches!(c, ';' | '#') && (before.is_whitespace() || before == ')') {
            return &line[..at];
        }
        before = c;
    }
    line
}

/// Words of a line; what stands in parentheses is one word, and belongs to a name and `:` before it.
fn split(number: usize, line: &str) -> Result<Words, TestMistake> {
    let line = without_remark(line);
    let mut words = Words {
        line: number,
        end: line.trim_end().chars().count() + 1,
        words: Vec::new(),
    };
    let mut current: Option<Word> = None;
    let mut open: Vec<usize> = Vec::new();
    for (at, c) in line.chars().enumerate() {
        let column = at + 1;
        if c.is_whitespace() && open.is_empty() {
            words.words.extend(current.take());
            continue;
        }
        let word = current.get_or_insert_with(|| Word {
            text: String::new(),
            column,
        });
        match c {
            '(' => open.push(column),
            ')' if open.pop().is_none() => {
                let help = "remove it, or write the `(` that it closes".to_owned();
                return Err(words.mistake(column, "this `)` closes nothing".to_owned(), help));
            }
            _ => {}
        }
        match c.is_whitespace() {
            true => word.text.push(' '),
            false => word.text.extend(c.to_lowercase()),
        }
        // A list that nothing follows directly is a word: `(a 1)(b 2)` are two.
        if c == ')' && open.is_empty() {
            words.words.extend(current.take());
        }
    }
    if let Some(&column) = open.last() {
        let help = "a line ends with its term: write `)` on the same line".to_owned();
        return Err(words.mistake(column, "this `(` is never closed".to_owned(), help));
    }
    words.words.extend(current);
    for word in &mut words.words {
        let canonical = ggp::kif::canonical(&word.text);
        word.text = canonical.unwrap_or_else(|| tidy(&word.text));
    }
    Ok(words)
}

/// One blank between the names of a term, none beside parentheses.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        let glued = out.is_empty() || out.ends_with('(') || word == ")" || (word == "(" && out.ends_with(':'));
        if !glued {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

impl Words {
    fn mistake(&self, column: usize, message: String, help: String) -> TestMistake {
        TestMistake {
            line: self.line,
            column,
            message,
            help,
        }
    }
}

/// The arguments of a line and its shape.
struct Arguments<'a> {
    words: &'a Words,
    args: &'a [Word],
    shape: &'static str,
    raw: String,
}

impl Arguments<'_> {
    fn statement(&self, verb: &str) -> Result<Statement, TestMistake> {
        let statement = match verb {
            "game" => Statement::Game(self.file()?),
            "record" => Statement::Record(self.file()?),
            "roles" => Statement::Roles(self.some(0)?),
            "legal" => Statement::Legal(self.exactly(2)?[0].clone(), self.count(1)?),
            "moves" => Statement::Moves(self.at(0)?, self.some(1)?),
            "can" => Statement::Can(self.at(0)?, self.some(1)?),
            "cannot" => Statement::Cannot(self.at(0)?, self.some(1)?),
            "play" => Statement::Play(self.joint()?),
            "sees" => Statement::Sees(self.at(0)?, self.args[1..].to_vec()),
            "holds" => Statement::Holds(self.some(0)?),
            "absent" => Statement::Absent(self.some(0)?),
            "state" => Statement::State(self.args.to_vec()),
            "infoset" => Statement::Infoset(self.exactly(2)?[0].clone(), self.count(1)?),
            "possible" => Statement::Possible(self.exactly(2)?[0].clone(), self.count(1)?),
            "believes" => {
                let [role, fluent] = [0, 1].map(|n| self.exactly(3).map(|args| args[n].clone()));
                Statement::Believes(role?, fluent?, self.written(2)?)
            }
            "open" => self.exactly(0).map(|_| Statement::Open)?,
            "terminal" => self.exactly(0).map(|_| Statement::Terminal)?,
            "goal" => {
                let points = self.exactly(2)?[1].text.parse();
                let points = points.map_err(|_| self.wrong(1, "is not a whole number"))?;
                Statement::Goal(self.at(0)?, points)
            }
            "length" => self.length()?,
            "plays" => self.exactly(1).and_then(|_| Ok(Statement::Plays(self.count(0)?)))?,
            "perft" => {
                self.exactly(2)?;
                Statement::Perft(self.count(0)?, self.count(1)?)
            }
            _ => Statement::Value(self.exactly(2)?[0].clone(), self.written(1)?),
        };
        Ok(statement)
    }

    fn help(&self) -> String {
        format!("write `{}`", self.shape)
    }

    fn mistake(&self, column: usize, message: impl Into<String>) -> TestMistake {
        self.words.mistake(column, message.into(), self.help())
    }

    fn wrong(&self, at: usize, why: &str) -> TestMistake {
        let word = &self.args[at];
        self.mistake(word.column, format!("`{}` {why}", word.text))
    }

    fn at(&self, at: usize) -> Result<Word, TestMistake> {
        let word = self.args.get(at).cloned();
        word.ok_or_else(|| self.mistake(self.words.end, "something is missing here"))
    }

    /// The words from here on, of which there must be one.
    fn some(&self, from: usize) -> Result<Vec<Word>, TestMistake> {
        self.at(from)?;
        Ok(self.args[from..].to_vec())
    }

    fn exactly(&self, n: usize) -> Result<&[Word], TestMistake> {
        match self.args.get(n) {
            Some(more) => Err(self.mistake(more.column, format!("`{}` is too much", more.text))),
            None if self.args.len() < n => Err(self.mistake(self.words.end, "something is missing here")),
            None => Ok(self.args),
        }
    }

    fn file(&self) -> Result<String, TestMistake> {
        match self.raw.is_empty() {
            true => Err(self.mistake(self.words.end, "the name is missing")),
            false => Ok(self.raw.clone()),
        }
    }

    fn count(&self, at: usize) -> Result<u64, TestMistake> {
        let word = self.at(at)?.text.replace([',', '_'], "");
        word.parse().map_err(|_| self.wrong(at, "is not a whole number"))
    }

    fn written(&self, at: usize) -> Result<Written, TestMistake> {
        let word = self.at(at)?;
        Written::parse(&word.text).ok_or_else(|| self.wrong(at, "is not a number, such as 66.67 or 200/3"))
    }

    fn length(&self) -> Result<Statement, TestMistake> {
        self.exactly(1)?;
        let (low, high) = match self.args[0].text.split_once("..") {
            Some((low, high)) => (low.parse().ok(), high.parse().ok()),
            None => (self.args[0].text.parse().ok(), self.args[0].text.parse().ok()),
        };
        match (low, high) {
            (Some(low), Some(high)) if low <= high => Ok(Statement::Length(low, high)),
            _ => Err(self.wrong(0, "is not a range, such as 3..9")),
        }
    }

    fn joint(&self) -> Result<Vec<(Word, Word)>, TestMistake> {
        let mut joint: Vec<(Word, Word)> = Vec::new();
        let mut words = self.args.iter();
        while let Some(word) = words.next() {
            let pair = word.text.split_once(':').filter(|(role, _)| !role.is_empty());
            let Some((role, mv)) = pair else {
                return Err(self.mistake(word.column, format!("`{}` is not a role, `:` and its move", word.text)));
            };
            let mv = match mv.is_empty() {
                false => Word {
                    text: ggp::kif::canonical(mv).unwrap_or_else(|| mv.to_owned()),
                    column: word.column + role.chars().count() + 1,
                },
                true => words
                    .next()
                    .cloned()
                    .ok_or_else(|| self.mistake(word.column, format!("the move of {role} is missing")))?,
            };
            if joint.iter().any(|(other, _)| other.text == role) {
                return Err(self.mistake(word.column, format!("{role} has two moves")));
            }
            let role = Word {
                text: role.to_owned(),
                column: word.column,
            };
            joint.push((role, mv));
        }
        Ok(joint)
    }
}

impl Written {
    /// A number or a fraction. A decimal number stands for what rounds to it, but for no more than 0.01 to either side.
    fn parse(text: &str) -> Option<Written> {
        let finite = |text: &str| text.parse::<f64>().ok().filter(|v: &f64| v.is_finite());
        if let Some((above, below)) = text.split_once('/') {
            let (above, below) = (finite(above)?, finite(below)?);
            let value = above / below;
            return value.is_finite().then_some(Written { value, tolerance: 1e-4 });
        }
        let value = finite(text)?;
        let digits = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let rounding = 0.5 * 10_f64.powi(-(digits.min(5) as i32));
        Some(Written {
            value,
            tolerance: (rounding * 1.000_001).min(0.01),
        })
    }

    /// Whether a number agrees with what was written.
    pub fn agrees(&self, found: f64) -> bool {
        (found - self.value).abs() <= self.tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> TestMistake {
        let mistakes = GameTests::parse("a.test", text).unwrap_err();
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        mistakes[0].clone()
    }

    #[test]
    fn every_word_has_a_line_that_is_read() {
        let text = "game a.kif\ncase A title, with (parentheses\nroles x o\nlegal x 3\nmoves x (mark 1 1) noop\n\
                    can x noop\ncannot x noop\nplay x:(mark 1  1) o:NOOP\nsees x\nholds (cell 1 1 x)\n\
                    absent (cell 1 1 x)\nstate\ninfoset x 2\npossible x 1\nbelieves x (cell 1 1 x) 2/3\nopen\n\
                    terminal\ngoal x 100\nlength 3..9\nplays 255,168\nperft 3 11132\nvalue x 66.67\nrecord m.json\n";
        let tests = GameTests::parse("a.test", text).unwrap();
        assert_eq!(tests.lines.len(), TEST_WORDS.len());
        for (line, word) in tests.lines.iter().zip(TEST_WORDS) {
            assert!(line.text.starts_with(word.word), "{}", line.text);
        }
        let Statement::Play(joint) = &tests.lines[7].statement else {
            panic!("{:?}", tests.lines[7]);
        };
        let moves: Vec<_> = joint.iter().map(|(r, m)| (r.text.as_str(), m.text.as_str())).collect();
        assert_eq!(moves, [("x", "(mark 1 1)"), ("o", "noop")]);
    }

    #[test]
    fn remarks_and_other_text_are_left_out() {
        let tests = GameTests::parse("a.test", "; nothing\n\n  open   # a remark (\n").unwrap();
        assert_eq!((tests.lines.len(), tests.lines[0].number), (1, 3));
        assert_eq!(tests.lines[0].text, "open");
        let page = "# Facts\nopen the door\n```test\nopen\n```\n```sh\nnothing\n```\n";
        assert_eq!(GameTests::parse("facts.md", page).unwrap().lines.len(), 1);
    }

    #[test]
    fn mistakes_have_a_place_and_advice() {
        let wrong = mistake("open\nterminl\n");
        assert_eq!((wrong.line, wrong.column), (2, 1));
        assert!(wrong.help.contains("did you mean `terminal`?"), "{wrong:?}");
        let wrong = mistake("goal x");
        assert_eq!((wrong.line, wrong.column), (1, 7));
        assert!(wrong.help.contains("goal ROLE POINTS"), "{wrong:?}");
        assert_eq!(mistake("legal x many").column, 9);
        assert_eq!(mistake("holds (cell 1 (2 3)").column, 7);
        assert_eq!(mistake("holds cell 1)").column, 13);
        assert_eq!(mistake("play x (mark 1 1)").column, 6);
        assert_eq!(mistake("play x:a x:b").column, 10);
        assert_eq!(mistake("length 9..3").column, 8);
        assert_eq!(mistake("open now").column, 6);
        let shown = render_mistakes("a.test", "holds (cell", &[mistake("holds (cell")]);
        assert!(shown.starts_with("a.test:1:7: error: this `(` is never closed\n  1 | holds (cell\n"));
    }

    #[test]
    fn numbers_agree_with_what_rounds_to_them() {
        let written = |text| Written::parse(text).unwrap();
        assert!(written("66.67").agrees(200.0 / 3.0) && !written("66.67").agrees(66.6));
        assert!(written("80").agrees(80.004) && !written("80").agrees(80.02));
        assert!(written("2/3").agrees(2.0 / 3.0) && !written("2/3").agrees(0.667));
        assert!(Written::parse("1/0").is_none() && Written::parse("x").is_none() && Written::parse("inf").is_none());
    }

    #[test]
    fn any_bytes_are_answered() {
        for text in [
            "(",
            ")",
            "play :",
            "play a:",
            "play a:(",
            "length ..",
            "goal",
            "\u{0}",
            "((((",
            "believes",
            "case",
        ] {
            let _ = GameTests::parse("a.test", text);
        }
    }
}
