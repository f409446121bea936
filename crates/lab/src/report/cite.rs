//! Entries of bibliographies: the paper that an experiment repeats, and this program.

use crate::Spec;
use crate::folder::Manifest;
use crate::presets;

/// Papers by the year with which the names of their presets begin.
const PAPERS: &[(&str, &str)] = &[
    (
        "2012-",
        "@inproceedings{schofield2012hyperplay,\n  author = {Schofield, Michael and Cerexhe, Timothy and Thielscher, \
         Michael},\n  title = {{HyperPlay}: A Solution to General Game Playing with Imperfect Information},\n  \
         booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},\n  year = {2012}\n}\n",
    ),
    (
        "2016-",
        "@inproceedings{schofield2016scalability,\n  author = {Schofield, Michael and Thielscher, Michael},\n  title = \
         {The Scalability of the {HyperPlay} Technique for Imperfect-Information Games},\n  year = {2016}\n}\n",
    ),
    (
        "2017-",
        "@inproceedings{schofield2017efficiency,\n  author = {Schofield, Michael and Thielscher, Michael},\n  title = \
         {The Efficiency of the {HyperPlay} Technique over Random Sampling},\n  booktitle = {Proceedings of the AAAI \
         Conference on Artificial Intelligence},\n  year = {2017}\n}\n",
    ),
    (
        "2022-",
        "@inproceedings{partridge2022hidden,\n  author = {Partridge, Zachary and Thielscher, Michael},\n  title = \
         {Hidden Information General Game Playing with Deep Learning and Search},\n  year = {2022}\n}\n",
    ),
];

/// The file `cite.bib`.
pub(super) fn bibtex(spec: &Spec, manifest: &Manifest) -> String {
    let mut out = String::new();
    if let Some(given) = &spec.bibtex {
        out += given.trim_end();
        out += "\n\n";
    } else if presets::find(&spec.name).is_some_and(|preset| preset.text == spec.text) {
        let paper = PAPERS.iter().find(|(year, _)| spec.name.starts_with(year));
        out += paper.map_or("", |(_, entry)| entry);
        out += "\n";
    }
    let version = &manifest.version;
    let commit = match manifest.provenance.commit.as_str() {
        "" => String::new(),
        commit => format!(", commit {commit}"),
    };
    let year = crate::provenance::date(manifest.provenance.finished);
    let year = match manifest.provenance.finished {
        0 => String::new(),
        _ => format!("  year = {{{}}},\n", &year[..4]),
    };
    out + &format!(
        "@misc{{surmise,\n  author = {{{{The Surmise developers}}}},\n  title = {{Surmise: a general game player for \
         games with hidden information}},\n{year}  note = {{version {version}{commit}}}\n}}\n"
    )
}
