//! The guide of the page: its features, in chapters with examples that open with a click. Tests open every link and pass every command
//! to the parser of the command line.

mod chapters;

pub use chapters::CHAPTERS;

#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    /// Its name in the document.
    pub id: &'static str,
    pub title: &'static str,
    /// Paragraphs.
    pub text: &'static [&'static str],
    /// Examples to try.
    pub examples: &'static [Example],
}

/// An example to try.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Text of its link.
    pub title: &'static str,
    /// Description of what it shows.
    pub shows: &'static str,
    /// Address of the page that shows it; the run starts automatically.
    pub link: &'static str,
    /// The command line that gives the same result; empty if there is none.
    pub command: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_forms::share::{Address, Link, Page};

    #[test]
    fn every_link_opens_and_runs_by_itself() {
        for example in CHAPTERS.iter().flat_map(|c| c.examples) {
            let (link, notices) = Link::parse(example.link);
            assert_eq!(notices, [], "{}", example.link);
            let mut address = Address::read(example.link);
            assert_ne!(address.page(), Page::Home, "{}", example.link);
            // The page writes the link back without loss.
            assert_eq!(Link::parse(&link.print()), (link, vec![]), "{}", example.link);
        }
    }

    #[test]
    fn chapters_are_short_and_each_has_something_to_try() {
        for chapter in CHAPTERS {
            let words: usize = chapter.text.iter().map(|t| t.split_whitespace().count()).sum();
            assert!((40..220).contains(&words), "{}: {words} words", chapter.title);
            assert!((1..=2).contains(&chapter.examples.len()), "{}", chapter.title);
            let is_name = |id: &str| !id.is_empty() && id.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(is_name(chapter.id), "{}", chapter.id);
        }
    }
}
