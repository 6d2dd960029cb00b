//! Names of traces that a study makes: the name is the address of the study, so that a link to the timeline needs no file.

use std::borrow::Cow;

use super::{Address, Page, PageLink as _, Query, VERSION};
use crate::studies::StudySpec;

/// The name of the trace of a study: `llm?v=1&model=llama-3-8b`.
#[must_use]
pub fn study_file_name(spec: &StudySpec) -> String {
    spec.hash().trim_start_matches("#/").to_owned()
}

/// Whether a name is that of the trace of a study.
#[must_use]
pub fn is_study_file(name: &str) -> bool {
    study_page(name).is_some()
}

fn study_page(name: &str) -> Option<(Page, &str)> {
    let (path, query) = name.split_once('?').filter(|(_, query)| query.starts_with("v="))?;
    Page::of_path(path).filter(|page| page.study().is_some()).map(|page| (page, query))
}

/// Values longer than this, such as the text of a kernel, are not in the label of a file.
const LONGEST_VALUE: usize = 40;

/// The name of a file for people: `LLMs: llama-3-8b, inf2.48xlarge, tp 24` for the trace of a study, else as it is.
#[must_use]
pub fn file_label(name: &str) -> Cow<'_, str> {
    let Some((page, query)) = study_page(name) else { return Cow::Borrowed(name) };
    let query = Query::parse(query);
    let said = |key: &str| match (key, query.get(key)?) {
        (_, value) if value.is_empty() || value.len() > LONGEST_VALUE => None,
        ("model" | "instance" | "kernel", value) => Some(value.to_owned()),
        (key, value) => Some(format!("{key} {value}")),
    };
    let values: Vec<String> = query.names().filter(|key| *key != VERSION).filter_map(said).collect();
    Cow::Owned(format!("{}: {}", page.title(), values.join(", ")))
}

/// The study that makes the trace of this name; `None` for other files, and for a name with a mistake.
#[must_use]
pub fn study_of_file(name: &str) -> Option<StudySpec> {
    let mut address = Address::read(&format!("#/{name}"));
    let kind = study_page(name)?.0.study()?;
    let spec = address.study(kind);
    address.notices.is_empty().then_some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::StudyKind;

    #[test]
    fn a_name_gives_its_study_back_and_other_names_do_not() {
        for kind in StudyKind::ALL {
            for example in kind.form().examples {
                let spec = StudySpec::of_example(kind, example);
                assert_eq!(study_of_file(&study_file_name(&spec)), Some(spec));
            }
        }
        let llm = StudySpec::of_example(StudyKind::Llm, &StudyKind::Llm.form().examples[1]);
        let label = file_label(&study_file_name(&llm)).into_owned();
        assert!(label.starts_with("LLMs: llama-2-70b, ") && !label.contains("v=1"), "{label}");
        assert_eq!(file_label("token.json"), "token.json");
        for name in
            ["token.json", "llm.json", "llm", "benchmark?v=1&model=nn", "llm?v=1&batch=none", "", "llm?model=nn"]
        {
            assert_eq!(study_of_file(name), None, "{name}");
        }
    }
}
