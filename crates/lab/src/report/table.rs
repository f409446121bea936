//! A table of the report: on the page, as CSV and as LaTeX.

use super::html::small;
use super::svg::escape;
use std::fmt::Write as _;

/// A table.
pub(super) struct Table {
    /// Name of its files.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// Headings of the columns, and whether they hold numbers.
    pub columns: Vec<(String, bool)>,
    /// Rows of fields, one for each column.
    pub rows: Vec<Vec<Field>>,
    /// A remark below the table.
    pub remark: &'static str,
    /// Whether the table is shown without a click.
    pub open: bool,
}

/// A field of a table.
#[derive(Clone, Default)]
pub(super) struct Field {
    /// What it says.
    pub text: String,
    /// What it adds in small print, such as an interval.
    pub more: String,
    /// What it is sorted by, if not by its text.
    pub sort: Option<f64>,
    /// Whether the text is a name of a game or player.
    pub code: bool,
}

impl Field {
    /// A text.
    pub fn text(text: impl Into<String>) -> Field {
        Field {
            text: text.into(),
            ..Field::default()
        }
    }

    /// The name of a game or player.
    pub fn code(text: impl Into<String>) -> Field {
        Field {
            code: true,
            ..Field::text(text)
        }
    }

    /// A number as text.
    pub fn number(text: impl Into<String>, value: f64) -> Field {
        Field {
            sort: Some(value),
            ..Field::text(text)
        }
    }

    /// The same with small print.
    pub fn with(self, more: impl Into<String>) -> Field {
        Field {
            more: more.into(),
            ..self
        }
    }

    fn html(&self, out: &mut String, class: &str) {
        *out += "<td";
        if !class.is_empty() {
            let _ = write!(out, " class=\"{class}\"");
        }
        if let Some(sort) = self.sort {
            let _ = write!(out, " data-v=\"{sort}\"");
        }
        let text = escape(&self.text);
        match self.code {
            true => {
                let breakable = text.replace(',', ",<wbr>").replace(':', ":<wbr>");
                let _ = write!(out, "><code>{breakable}</code>");
            }
            false => {
                let _ = write!(out, ">{text}");
            }
        }
        if !self.more.is_empty() {
            let _ = write!(out, "<div class=\"soft\">{}</div>", small(&self.more));
        }
    }

    fn plain(&self) -> String {
        match self.more.is_empty() {
            true => self.text.clone(),
            false => format!("{} ({})", self.text, self.more),
        }
    }
}

/// Letters beyond which a text is broken into lines in LaTeX.
const LONG: usize = 60;

/// Columns beyond which a table is set more closely.
const MANY: usize = 9;

/// Rows beyond which a table is folded away, also in print.
const MANY_ROWS: usize = 100;

impl Table {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as a section of the page that can be folded away; a click on a heading sorts it.
    pub fn html(&self) -> String {
        let long = if self.rows.len() > MANY_ROWS { " long" } else { "" };
        let open = if self.open && long.is_empty() { " open" } else { "" };
        let mut out = format!(
            "<details class=\"table {}{long}\"{open}><summary>{}</summary><div class=\"wide\">\
             <table class=\"sortable{}\"><thead><tr>",
            self.name,
            escape(&self.title),
            if self.columns.len() > MANY { " many" } else { "" }
        );
        for (head, number) in &self.columns {
            let class = if *number { " class=\"n\"" } else { "" };
            let _ = write!(out, "<th{class} scope=\"col\">{}", escape(head));
        }
        out += "</tr></thead><tbody>";
        for row in &self.rows {
            out += "<tr>";
            for (field, (head, number)) in row.iter().zip(&self.columns) {
                let class = match (head.starts_with("paper"), *number) {
                    (true, _) => "n paper-value",
                    (false, true) => "n",
                    (false, false) => "",
                };
                field.html(&mut out, class);
            }
            out += "</tr>";
        }
        out += "</tbody></table></div>";
        if !self.remark.is_empty() {
            let _ = write!(out, "<p class=\"soft\">{}</p>", escape(self.remark));
        }
        let _ = write!(
            out,
            "<p class=\"files\"><a href=\"{0}.tex\">LaTeX</a> <a href=\"{0}.csv\">CSV</a></p></details>",
            self.name
        );
        out
    }

    /// The table as CSV (RFC 4180).
    pub fn csv(&self) -> String {
        let head: Vec<String> = self.columns.iter().map(|(head, _)| head.clone()).collect();
        let rows = self
            .rows
            .iter()
            .map(|row| super::row(&row.iter().map(Field::plain).collect::<Vec<_>>()));
        super::row(&head) + &rows.collect::<String>()
    }

    /// The table in LaTeX, for the package booktabs.
    pub fn latex(&self) -> String {
        let is_long = |column: usize| self.rows.iter().any(|row| row[column].text.chars().count() > LONG);
        let place = |(at, (_, number)): (usize, &(String, bool))| match (*number, is_long(at)) {
            (true, _) => "r",
            (false, false) => "l",
            (false, true) => "p{8cm}",
        };
        let places: String = self.columns.iter().enumerate().map(place).collect();
        let line = |fields: Vec<String>| format!("{} \\\\\n", fields.join(" & "));
        let head = self.columns.iter().map(|(head, _)| latex(head)).collect();
        let mut out = format!("% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{places}}}\n\\toprule\n");
        out += &line(head);
        out += "\\midrule\n";
        for row in &self.rows {
            out += &line(row.iter().map(field_in_latex).collect());
        }
        out + "\\bottomrule\n\\end{tabular}\n"
    }
}

fn field_in_latex(field: &Field) -> String {
    let text = match field.code {
        true => format!("\\texttt{{{}}}", latex(&field.text)),
        false => latex(&field.text),
    };
    match field.more.is_empty() {
        true => text,
        false => format!("{text} {{\\small ({})}}", latex(&field.more)),
    }
}

/// Text as LaTeX writes it.
pub(super) fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '−' => out += "$-$",
            '±' => out += "$\\pm$",
            '×' => out += "$\\times$",
            'χ' => out += "$\\chi$",
            '²' => out += "\\textsuperscript{2}",
            '–' => out += "--",
            '…' => out += "\\dots{}",
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            name: "t",
            title: "A < B".to_owned(),
            columns: vec![("player".to_owned(), false), ("score, %".to_owned(), true)],
            rows: vec![vec![
                Field::code("hp:1,sampler=x_y"),
                Field::number("−1.5", -1.5).with("−2 to −1"),
            ]],
            remark: "",
            open: true,
        }
    }

    #[test]
    fn one_table_has_three_forms() {
        let html = table().html();
        assert!(
            html.contains("A &lt; B") && html.contains("<td class=\"n\" data-v=\"-1.5\">−1.5"),
            "{html}"
        );
        assert_eq!(
            table().csv(),
            "player,\"score, %\"\n\"hp:1,sampler=x_y\",−1.5 (−2 to −1)\n"
        );
        assert!(html.contains("<details class=\"table t\" open>"), "{html}");
        let mut many = table();
        many.rows = vec![many.rows[0].clone(); MANY_ROWS + 1];
        assert!(many.html().contains("<details class=\"table t long\"><summary>"));
        let mut long = table();
        long.rows[0][0].text = "x".repeat(LONG + 1);
        assert!(long.latex().contains("{p{8cm}r}"));
        let latex = table().latex();
        assert!(latex.contains("player & score, \\% \\\\\n"), "{latex}");
        assert!(
            latex.contains("\\texttt{hp:1,sampler=x\\_y} & $-$1.5 {\\small ($-$2 to $-$1)} \\\\\n"),
            "{latex}"
        );
    }
}
