//! The opening comment of a game: everything there is to know about it besides the rules.

/// A game of the catalogue.
#[derive(Clone, Debug)]
pub struct Game {
    /// The name to call it by.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What it is about, in prose; one string a paragraph.
    pub about: Vec<String>,
    /// Where it comes from and what had to be chosen.
    pub source: String,
    /// What can be set.
    pub parameters: Vec<Parameter>,
    /// What must hold between parameters.
    pub requirements: Vec<Requirement>,
    /// Who sees what.
    pub sees: String,
    /// What is hidden from whom.
    pub hidden: String,
    /// The best that can be reached, where it is known.
    pub optimum: String,
    /// Keywords.
    pub tags: Vec<String>,
    pub(crate) template: &'static str,
}

/// A number that a game depends on.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
    /// The value if none is given.
    pub default: i64,
    /// What it means.
    pub description: &'static str,
}

/// A condition on the parameters.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// An expression of the template language.
    pub expression: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Game {
    /// Reads the opening comment of a template.
    ///
    /// # Panics
    /// If the comment is not in shape: templates are part of the program, and a test reads them all.
    pub(crate) fn from_template(name: &'static str, template: &'static str) -> Game {
        let mut game = Game {
            name,
            title: "",
            about: Vec::new(),
            source: String::new(),
            parameters: Vec::new(),
            requirements: Vec::new(),
            sees: String::new(),
            hidden: String::new(),
            optimum: String::new(),
            tags: Vec::new(),
            template,
        };
        let mut lines = template.lines().map_while(|l| l.strip_prefix(';'));
        game.title = lines.next().unwrap_or_default().trim();
        let mut field = Field::Prose;
        for line in lines {
            field = game.line(line, field);
        }
        game.about.retain(|p| !p.is_empty());
        game
    }

    fn line(&mut self, line: &'static str, field: Field) -> Field {
        if line.starts_with("   ") {
            self.append(field, line.trim());
            return field;
        }
        let line = line.trim();
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        let field = match key {
            "Source:" => Field::Source,
            "Sees:" => Field::Sees,
            "Hidden:" => Field::Hidden,
            "Optimum:" => Field::Optimum,
            "Parameter" => {
                self.parameters.push(parameter(rest));
                return Field::Prose;
            }
            "Require" => {
                let (expression, reason) = rest.split_once(": ").expect("`Require EXPRESSION: REASON`");
                self.requirements.push(Requirement { expression, reason });
                return Field::Prose;
            }
            "Tags:" => {
                self.tags = rest.split(',').map(|t| t.trim().to_owned()).collect();
                return Field::Prose;
            }
            "" => {
                self.about.push(String::new());
                return Field::Prose;
            }
            _ => {
                self.append(Field::Prose, line);
                return Field::Prose;
            }
        };
        self.append(field, rest);
        field
    }

    fn append(&mut self, field: Field, text: &str) {
        let target = match field {
            Field::Prose => {
                if self.about.is_empty() {
                    self.about.push(String::new());
                }
                self.about.last_mut().expect("just pushed")
            }
            Field::Source => &mut self.source,
            Field::Sees => &mut self.sees,
            Field::Hidden => &mut self.hidden,
            Field::Optimum => &mut self.optimum,
        };
        if !target.is_empty() {
            target.push(' ');
        }
        target.push_str(text);
    }
}

/// The field that a continuation line belongs to.
#[derive(Clone, Copy)]
enum Field {
    Prose,
    Source,
    Sees,
    Hidden,
    Optimum,
}

/// `size: 3..12 = 5; cells on each side`
fn parameter(text: &'static str) -> Parameter {
    let shape = "`Parameter NAME: MIN..MAX = DEFAULT; DESCRIPTION`";
    let (name, rest) = text.split_once(": ").expect(shape);
    let (range, rest) = rest.split_once(" = ").expect(shape);
    let (default, description) = rest.split_once("; ").expect(shape);
    let (min, max) = range.split_once("..").expect(shape);
    let number = |text: &str| text.trim().parse().expect(shape);
    Parameter {
        name,
        min: number(min),
        max: number(max),
        default: number(default),
        description,
    }
}
