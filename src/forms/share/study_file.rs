//! Names of the timelines of tokens: the name is the address of the study of a language model, so that a link to the timeline needs no file.
//!
//! The other studies make traces too, which stay files: a worker that could read the addresses of all of them would be larger by as much.

use std::borrow::Cow;

use super::{Page, PageLink as _, Query, VERSION};
use crate::options::Options as _;
use crate::studies::{LlmStudy, StudySpec};

/// The name of the trace of a study, `llm?v=1&model=llama-3-8b`; `None` for a study of another kind.
pub fn study_file_name(spec: &StudySpec) -> Option<String> {
    matches!(spec, StudySpec::Llm(_)).then(|| spec.hash().trim_start_matches("#/").to_owned())
}

/// Whether a name is that of the trace of a study.
pub fn is_study_file(name: &str) -> bool {
    study_page(name).is_some()
}

fn study_page(name: &str) -> Option<(Page, &str)> {
    let (path, query) = name.split_once('?').filter(|(_, query)| query.starts_with("v="))?;
    Page::of_path(path).filter(|page| *page == Page::Llm).map(|page| (page, query))
}

/// Values longer than this, such as the text of a kernel, are not in the label of a file.
const LONGEST_VALUE: usize = 40;

/// The name of a file for people: `LLMs: llama-3-8b, inf2.48xlarge, tp 24` for the trace of a study, else as it is.
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
pub fn study_of_file(name: &str) -> Option<LlmStudy> {
    let query = Query::parse(study_page(name)?.1);
    let mut spec = LlmStudy::default();
    let fields = query.names().filter(|key| *key != VERSION);
    let is_right = fields.into_iter().all(|key| query.get(key).is_some_and(|text| spec.set_text(key, text).is_ok()));
    is_right.then_some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::StudyKind;

    #[test]
    fn a_name_gives_its_study_back_and_other_names_do_not() {
        for example in StudyKind::Llm.form().examples {
            let spec = StudySpec::of_example(StudyKind::Llm, example);
            let name = study_file_name(&spec).unwrap();
            assert_eq!(study_of_file(&name).map(StudySpec::Llm), Some(spec));
        }
        assert_eq!(study_file_name(&StudySpec::new(StudyKind::Customop)), None);
        let llm = StudySpec::of_example(StudyKind::Llm, &StudyKind::Llm.form().examples[1]);
        let name = study_file_name(&llm).unwrap();
        let label = file_label(&name);
        assert!(label.starts_with("LLMs: llama-2-70b, ") && !label.contains("v=1"), "{label}");
        assert_eq!(file_label("token.json"), "token.json");
        for name in
            ["token.json", "llm.json", "llm", "benchmark?v=1&model=nn", "llm?v=1&batch=none", "", "llm?model=nn"]
        {
            assert_eq!(study_of_file(name), None, "{name}");
        }
    }
}
