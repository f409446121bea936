//! The opening comment of a game's file: title, prose, parameters and the other fields of [`CatalogueEntry`].

/// A game of the catalogue.
#[derive(Clone, Debug)]
pub struct CatalogueEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Description in prose, one string for each paragraph.
    pub about: Vec<String>,
    /// Origin of the game, and what was chosen where the origin leaves points open.
    pub source: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Conditions on the parameters.
    pub requirements: Vec<Requirement>,
    /// Percepts of the roles, in prose.
    pub sees: String,
    /// Hidden information, in prose.
    pub hidden: String,
    /// Best reachable payoff, where it is known.
    pub optimum: String,
    /// Keywords.
    pub tags: Vec<String>,
    pub(crate) template: &'static str,
}

/// A numeric parameter of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// Value if none is given.
    pub default: i64,
    /// Meaning.
    pub description: &'static str,
}

/// A condition on the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Condition, an expression of the template language.
    pub expression: &'static str,
    /// Reason, for people.
    pub reason: &'static str,
}

impl CatalogueEntry {
    /// Reads the opening comment of a template.
    ///
    /// # Panics
    /// If the comment is malformed. Templates are part of the program, and a test reads all of them.
    pub(crate) fn from_template(name: &'static str, template: &'static str) -> CatalogueEntry {
        let mut game = CatalogueEntry {
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
