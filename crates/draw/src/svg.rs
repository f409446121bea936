//! A picture as SVG.

use crate::picture::Picture;

/// Options of an SVG.
#[derive(Clone, Debug)]
pub struct SvgOptions {
    /// Title of the image, for screen readers.
    pub title: String,
    /// Whether legal moves are marked on the boards and listed below.
    pub moves: bool,
}

impl Default for SvgOptions {
    fn default() -> Self {
        SvgOptions {
            title: "Position".to_owned(),
            moves: true,
        }
    }
}

/// A picture as a stand-alone SVG document.
pub fn svg(_picture: &Picture, options: &SvgOptions) -> String {
    let title = options.title.replace('&', "&amp;").replace('<', "&lt;");
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"><title>{title}</title></svg>\n")
}
