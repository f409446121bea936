//! Colours and style sheets of charts.

use super::svg::Use;
use std::fmt::Write as _;

/// Colours for light and dark backgrounds, after the palette of Okabe and Ito for colour-blind readers. Markers differ
/// too, for print.
pub(super) const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8c42"),
    ("#007a5a", "#2fd0a2"),
    ("#aa4499", "#e58ac4"),
    ("#8a6d00", "#f0d442"),
    ("#333333", "#dddddd"),
    ("#5b5bd6", "#a3a3ff"),
    ("#a31515", "#ff7b72"),
];

/// The sheet of a chart. In files every colour is written out: programs for drawings know no variables.
pub(super) fn style(shown: Use) -> String {
    if shown == Use::File {
        let mut sheet = String::from(
            "<style>.chart{font:13px sans-serif}.title{fill:#222;font-weight:600;font-size:14px}\
             .axis{fill:#444;font-size:12px}.over{paint-order:stroke;stroke:#fff;stroke-width:3px}\
             .key{fill:#222;font-size:12px}.grid{stroke:#ddd;stroke-width:1}\
             .frame{fill:none;stroke:#666}.mark{stroke:#666;stroke-dasharray:5 4}.curve{fill:none;stroke-width:1.8}\
             .bar{stroke-width:1.2}.paper .curve{stroke-dasharray:6 4;stroke-width:1.3}",
        );
        for (number, (colour, _)) in COLOURS.iter().enumerate() {
            let _ = write!(
                sheet,
                ".s{number} .curve,.s{number} .bar{{stroke:{colour}}}.s{number} .dot{{fill:{colour};stroke:{colour}}}"
            );
        }
        return sheet + ".paper .dot{fill:#fff}</style>";
    }
    let mut light = String::new();
    let mut dark = String::new();
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        let _ = write!(light, ".chart .s{number}{{--c:{on_light}}}");
        let _ = write!(dark, ".chart .s{number}{{--c:{on_dark}}}");
    }
    format!(
        "<style>.chart{{--ink:#222;--soft:#666;--line:#ddd;--paper:#fff;font:13px system-ui,sans-serif}}\
         .chart .axis,.chart .key{{fill:var(--soft);font-size:12px}}.chart .key{{fill:var(--ink)}}\
         .chart .over{{paint-order:stroke;stroke:var(--paper);stroke-width:3px}}\
         .chart .grid{{stroke:var(--line);stroke-width:1}}.chart .frame{{fill:none;stroke:var(--soft)}}\
         .chart .mark{{stroke:var(--soft);stroke-dasharray:5 4}}\
         .chart .curve{{fill:none;stroke:var(--c);stroke-width:1.8}}.chart .bar{{stroke:var(--c);stroke-width:1.2}}\
         .chart .dot{{fill:var(--c);stroke:var(--c)}}.chart .paper .dot{{fill:var(--paper)}}\
         .chart .paper .curve{{stroke-dasharray:6 4;stroke-width:1.3}}{light}\
         @media screen and (prefers-color-scheme:dark){{\
         .chart{{--ink:#e8e8e8;--soft:#a8a8a8;--line:#3a3a3a;--paper:#17181a}}{dark}}}</style>"
    )
}
