//! The fields of a link to the page of experiments: every choice, and the files if they are small.

use super::fields::{self, Fields as _};
use super::{Notice, Query};
use crate::options::{PLAN_OPTIONS, PlanOption, default_experiments};
use crate::{ExperimentField, ExperimentSpec};
use ns_experiment::sweep::ExperimentsRequest;

/// State of the page of experiments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperimentLink {
    pub spec: ExperimentSpec,
    /// The files, compressed; absent if they are too large for a link.
    pub data: Option<String>,
    /// Names of files that the link does not hold.
    pub files: Vec<String>,
    /// The plan of a run; its experiments are run again if the link holds no records.
    pub plan: Option<Box<ExperimentsRequest>>,
}

/// Name of the field that holds files.
const DATA: &str = "data";
/// Name of the field that names files; it may come several times.
const FILES: &str = "files";
/// Name of the field with the names of models.
const MODELS: &str = "run_models";
/// Separator of file names.
const BETWEEN: char = '|';

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ExperimentField::ALL
        .into_iter()
        .map(ExperimentField::key)
        .chain([DATA, FILES])
        .chain(PLAN_OPTIONS.iter().map(PlanOption::key))
}

/// Reads a link. Choices that cannot be used are reported when the records are shown.
pub(super) fn read(query: &Query, notices: &mut Vec<Notice>) -> ExperimentLink {
    let mut link = ExperimentLink::default();
    for field in ExperimentField::ALL {
        if let Some(text) = query.get(field.key()) {
            link.spec.set(field, text);
        }
    }
    link.data = query.get(DATA).filter(|d| !d.is_empty()).map(str::to_owned);
    let names = query.get(FILES).unwrap_or_default().split(BETWEEN);
    link.files = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let default = default_experiments();
    if default.keys().any(|key| query.get(key).is_some()) {
        link.plan = Some(Box::new(fields::read(default, query, notices)));
    }
    link
}

/// Writes a link. Choices that were left open are not written, so that the link fits other records too.
pub(super) fn write(link: &ExperimentLink, query: &mut Query) {
    for field in ExperimentField::ALL {
        let text = link.spec.get(field);
        if !text.is_empty() {
            query.set(field.key(), text);
        }
    }
    if let Some(plan) = &link.plan {
        fields::write(&**plan, query);
        // Without its field, the list of models is that of the form.
        if plan.plan.models.is_empty() {
            query.set(MODELS, "");
        }
    }
    if !link.files.is_empty() {
        query.set(FILES, &link.files.join(&BETWEEN.to_string()));
    }
    if let Some(data) = &link.data {
        query.set(DATA, data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::Link;

    #[test]
    fn a_plan_survives_a_link_and_wrong_fields_are_named() {
        let mut plan = default_experiments();
        plan.plan.models.clear();
        plan.plan.filter = vec!["^nn$".to_owned()];
        let link = ExperimentLink { plan: Some(Box::new(plan)), ..ExperimentLink::default() };
        let link = Link::Experiments(Box::new(link));
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
        let (link, notices) = Link::parse("#/experiments?view=latest&run_repeat=0&run_acelerator=inf2");
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["run_repeat", "run_acelerator"], "{notices:?}");
        let Link::Experiments(link) = link else { panic!("is of experiments") };
        assert_eq!(link.plan.map(|plan| plan.settings.repeat), Some(10));
        let (Link::Experiments(link), _) = Link::parse("#/experiments?view=latest") else {
            panic!("is of experiments")
        };
        assert_eq!(link.plan, None);
    }
}
