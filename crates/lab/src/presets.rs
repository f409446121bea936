//! The specs that come with the crate: the figures and tables of four papers.

/// A spec that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name of the preset, and of its spec.
    pub name: &'static str,
    /// The spec, as TOML.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// All presets, paper by paper.
        pub const PRESETS: &[Preset] = &[$(Preset {
            name: $name,
            text: include_str!(concat!("../presets/", $name, ".toml")),
        }),*];
    };
}

presets![
    "2012-figure-4",
    "2012-figure-5",
    "2012-figure-6",
    "2012-figure-7",
    "2012-table-2",
    "2016-figure-3",
    "2016-figure-4",
    "2016-figure-5",
    "2016-figure-6",
    "2016-figure-7",
    "2016-figure-8",
    "2017-figure-3",
    "2017-figure-4-5",
    "2017-figure-6",
    "2017-figure-7",
    "2022-easy-games",
    "2022-table-1",
    "2022-table-2",
    "2022-table-3",
    "ladder",
];

/// The presets that repeat papers.
pub fn of_papers() -> impl Iterator<Item = &'static Preset> {
    PRESETS.iter().filter(|p| p.name != "ladder")
}

/// The preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::CellSummary;
    use crate::{Size, Spec};

    #[test]
    fn every_preset_reads_and_names_what_exists() {
        for preset in PRESETS {
            for size in [Size::Quick, Size::Paper] {
                let net = [("net".to_owned(), "somewhere".to_owned())];
                let set = if preset.text.contains("\nnet = ") {
                    &net[..]
                } else {
                    &[]
                };
                let spec = Spec::read(preset.name, preset.text, size, set).unwrap();
                assert_eq!(spec.name, preset.name);
                assert!(
                    spec.paper.is_some() || spec.ladder.is_some(),
                    "{}: no paper",
                    preset.name
                );
                assert!(
                    !spec.claims.is_empty() || spec.ladder.is_some() || preset.name == "2012-figure-4",
                    "{}: no claims",
                    preset.name
                );
                let has =
                    |only: &std::collections::BTreeMap<String, toml::Value>| spec.cells.iter().any(|c| c.matches(only));
                for claim in &spec.claims {
                    assert!(CellSummary::knows(&claim.measure), "{}: {}", preset.name, claim.measure);
                    let cells = [Some(&claim.of), claim.minus.as_ref(), claim.over.as_ref()];
                    assert!(
                        cells.into_iter().flatten().all(has),
                        "{} {}: nothing for `{}`",
                        preset.name,
                        size.name(),
                        claim.says
                    );
                }
                for plot in &spec.plots {
                    let is_var = spec.cells.iter().any(|c| c.var(&plot.x).is_some());
                    let known = is_var || CellSummary::knows(&plot.x) || plot.x == "completion" || plot.x == "round";
                    assert!(known && CellSummary::knows(&plot.y), "{}: {}", preset.name, plot.title);
                    assert!(has(&plot.only), "{}: nothing in `{}`", preset.name, plot.title);
                }
                for reference in &spec.references {
                    assert!(CellSummary::knows(&reference.measure));
                    if size == Size::Paper {
                        assert!(has(&reference.only), "{}: {:?}", preset.name, reference.only);
                    }
                }
            }
        }
    }
}
