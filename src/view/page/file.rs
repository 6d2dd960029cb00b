//! The file around the document.

use super::block::blocks;
use crate::document::{Document, Figure};
use crate::palette::{GREY, Paint, SHADES, Theme, fill_var, hue, shade};
use crate::svg::escape;

/// A policy that forbids all loading, whatever names the data contains.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// Writes a plot with its title and its note.
pub type FigureWriter = fn(&mut String, &Figure);

/// A document to write as a file.
#[derive(Clone, Debug)]
pub struct PageFile {
    pub document: Document,
    /// A sentence below the title: its subject, and the program that made it.
    pub lead: String,
    /// The address that shows it live; `None` if there is no such address.
    pub live: Option<String>,
    /// Writes its plots: [`figure`](super::figure), or a program that shows none leaves their code out.
    pub figure: FigureWriter,
    /// Its data as JSON, which scripts find in the element `data`; `None` if the tables hold all of it.
    pub data: Option<String>,
}

impl PageFile {
    pub fn to_html(&self) -> String {
        let mut out = String::with_capacity(64 * 1024);
        let title = escape(&self.document.title);
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"));
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        out.push_str(&format!(
            "<title>{title} \u{2013} neuronscope</title>\n<style>\n{}{STYLE}</style>\n</head>\n",
            hues()
        ));
        out.push_str(&format!("<body>\n<main>\n<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n", escape(&self.lead)));
        if let Some(live) = self.live.as_deref().filter(|address| is_web_address(address)) {
            out.push_str(&format!("<p><a href=\"{}\">Open it live in neuronscope</a></p>\n", escape(live)));
        }
        blocks(&mut out, &self.document.blocks, 2, self.figure);
        out.push_str("</main>\n");
        if let Some(data) = &self.data {
            out.push_str(&format!("<script type=\"application/json\" id=\"data\">{}</script>\n", in_script(data)));
        }
        out.push_str(&format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
        out
    }
}

/// An address that a browser opens but does not execute.
fn is_web_address(address: &str) -> bool {
    address.starts_with("http://") || address.starts_with("https://")
}

/// JSON that cannot end its script element early.
fn in_script(json: &str) -> String {
    json.trim_end().replace('<', "\\u003c")
}

/// The hues as tokens, for both themes.
fn hues() -> String {
    let tokens = |theme: Theme| {
        let fills = (0..GREY).flat_map(|hue| (0..SHADES).map(move |n| shade(hue, n))).chain([GREY]);
        let token = |fill: u8| {
            let name = fill_var(fill).trim_start_matches("var(").trim_end_matches(')');
            format!("{name}: {};", Paint::Fill(fill).css(theme))
        };
        let on = (0..=GREY).map(|fill| format!("--on-{}: {};", hue(fill).name, Paint::OnFill(fill).css(theme)));
        fills.map(token).chain(on).collect::<Vec<_>>().join(" ")
    };
    let (light, dark) = (tokens(Theme::Light), tokens(Theme::Dark));
    format!(":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Block;

    fn page(live: &str, data: &str) -> String {
        let blocks = vec![Block::Text("a <b> & c".to_owned())];
        let document = Document { title: "</title><script>alert(1)</script>".to_owned(), blocks };
        PageFile {
            document,
            lead: String::new(),
            live: Some(live.to_owned()),
            figure: crate::page::figure,
            data: Some(data.to_owned()),
        }
        .to_html()
    }

    #[test]
    fn names_and_data_cannot_become_markup() {
        let html = page("https://example.org/#/profile?v=1", "{\"a\": \"</script><img src=x>\"}");
        assert!(!html.contains("<script>alert") && !html.contains("<img"), "{html}");
        assert!(html.contains("a &lt;b&gt; &amp; c"));
        assert!(html.contains("\\u003c/script>\\u003cimg src=x>"));
        assert!(html.contains("href=\"https://example.org/#/profile?v=1\""));
    }

    #[test]
    fn only_addresses_of_the_web_become_links_and_nothing_is_loaded() {
        assert!(!page("javascript:alert(1)", "{}").contains("<a "));
        let html = page("http://127.0.0.1:8080/", "{}");
        for loads in ["src=", "<link", "@import", "url("] {
            assert!(!html.contains(loads), "{loads}");
        }
        assert!(html.contains("default-src 'none'"));
    }
}
