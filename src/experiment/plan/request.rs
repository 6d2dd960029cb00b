//! What to run: models of a suite, with every combination of some lists of settings.

use serde::{Deserialize, Serialize};

use super::config::ExperimentConfig;
use super::expand::{ExpandOptions, PlanRules, expand_experiments, left_out};
use super::filter::{ModelFilter, partition};
use crate::run::Suite;
use ns_base::{Refusal, nearest_text, refuse};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRequest {
    pub suite: Suite,
    /// Names of models to take instead of the suite's list; empty for the list.
    pub models: Vec<String>,
    /// Regular expressions of models to keep; empty to keep all.
    pub filter: Vec<String>,
    /// Regular expressions of models to leave out.
    pub exclude: Vec<String>,
    /// Tiers to keep.
    pub filter_tiers: Vec<i64>,
    /// Tiers to leave out.
    pub exclude_tiers: Vec<i64>,
    /// In how many parts the list of models is split.
    pub total_partitions: usize,
    /// The part to take, from 0.
    pub partition_id: usize,
    /// Names for which model files stand, beside the suite's.
    pub model_files: Vec<String>,
    /// The lists of settings.
    pub expand: ExpandOptions,
    pub rules: PlanRules,
}

impl Default for PlanRequest {
    /// The one model of the dummy suite with every configuration, as on the command line.
    fn default() -> Self {
        Self {
            suite: Suite::Dummy,
            models: Vec::new(),
            filter: Vec::new(),
            exclude: Vec::new(),
            filter_tiers: Vec::new(),
            exclude_tiers: Vec::new(),
            total_partitions: 1,
            partition_id: 0,
            model_files: Vec::new(),
            expand: ExpandOptions { xla_devices: vec!["CPU".to_owned()], ..ExpandOptions::default() },
            rules: PlanRules::Neuron,
        }
    }
}

/// Models and configurations: each model runs with each configuration.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The configurations, or the reason why there are none.
    pub configs: Result<Vec<ExperimentConfig>, Refusal>,
    /// Names of the models.
    pub models: Vec<String>,
}

impl PlanRequest {
    /// The plan of this request. Fails when a pattern is not a regular expression.
    pub fn plan(&self) -> Result<Plan, Refusal> {
        Ok(Plan { configs: expand_experiments(&self.expand, self.rules), models: self.kept_models()? })
    }

    /// A sentence for each backend that is asked for by name and that no accelerator can run, and for filters without effect. Fails when the
    /// rules themselves fail.
    pub fn left_out(&self) -> Result<Vec<String>, Refusal> {
        let mut all = left_out(&self.expand, self.rules)?;
        let patterns = [&self.filter[..], &self.exclude].concat().join("', '");
        if self.is_whole_dummy() && !patterns.is_empty() {
            all.push(format!(
                "'{patterns}' has no effect: the suite dummy has one model and no filter; --suite-name zoo and --suite-name torchbench have more"
            ));
        }
        Ok(all)
    }

    /// Whether the suite is the one that is neither divided nor filtered.
    fn is_whole_dummy(&self) -> bool {
        self.suite == Suite::Dummy && self.models.is_empty() && self.model_files.is_empty()
    }

    /// The suite's list or the given one, cut to this machine's part and filtered by the patterns. The dummy suite's own model
    /// is neither divided nor filtered.
    fn kept_models(&self) -> Result<Vec<String>, Refusal> {
        let filter = ModelFilter::new(&self.filter, &self.exclude, &self.filter_tiers, &self.exclude_tiers)?;
        let mut listed: Vec<String> = self.suite.models().into_iter().map(|m| m.name).collect();
        listed.extend(self.model_files.iter().filter(|name| !listed.contains(name)).cloned().collect::<Vec<_>>());
        if self.is_whole_dummy() {
            return Ok(listed);
        }
        let names = if self.models.is_empty() { listed } else { self.models.clone() };
        let part = partition(names.len(), self.total_partitions, self.partition_id);
        Ok(names.get(part).unwrap_or_default().iter().filter(|name| filter.keeps(name)).cloned().collect())
    }
}

impl Plan {
    /// Why nothing of a request would run; `None` if something does.
    pub fn nothing_to_run(&self, request: &PlanRequest) -> Option<Refusal> {
        if self.models.is_empty() {
            let known: Vec<String> = request.suite.models().into_iter().map(|m| m.name).collect();
            let pattern = request.filter.join(" or ");
            let nearest = nearest_text(&pattern, known.iter().map(String::as_str));
            let (suite, known) = (request.suite.name(), known.join(", "));
            return Some(refuse!(
                "no model of the suite {suite} is left by the filters ('{pattern}'): the nearest are {nearest}, of {known}"
            ));
        }
        if self.configs.as_ref().is_ok_and(Vec::is_empty) {
            return Some(refuse!(
                "no combination of --accelerator, --xla, --dynamo and --test can run: openxla and a NeuronCore need --xla PJRT, inductor needs --xla None"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Accelerator, Dynamo, Test};

    fn request(filter: &str, dynamo: Option<Dynamo>) -> PlanRequest {
        PlanRequest {
            suite: Suite::Torchbench,
            filter: vec![filter.to_owned()],
            expand: ExpandOptions {
                accelerator: vec![Accelerator::Trn1],
                dynamo: vec![dynamo],
                test: vec![Test::Eval],
                ..ExpandOptions::default()
            },
            ..PlanRequest::default()
        }
    }

    #[test]
    fn a_plan_without_a_row_says_why() {
        let reason = |request: PlanRequest| request.plan().unwrap().nothing_to_run(&request).map(|e| e.to_string());
        assert_eq!(reason(request("^resnet", None)), None);
        let reason_of_models = reason(request("resnett18", None)).unwrap();
        assert!(reason_of_models.contains("the nearest are resnet18"), "{reason_of_models}");
        let of_settings = reason(request("^resnet", Some(Dynamo::Inductor))).unwrap();
        assert!(of_settings.starts_with("no combination of --accelerator"), "{of_settings}");
    }

    #[test]
    fn a_filter_of_the_dummy_suite_is_named() {
        let dummy = PlanRequest { suite: Suite::Dummy, ..request("^nn$", None) };
        assert!(dummy.left_out().unwrap()[0].starts_with("'^nn$' has no effect: the suite dummy has one model"));
        assert_eq!(request("^nn$", None).left_out(), Ok(Vec::new()));
    }

    #[test]
    fn named_models_are_taken_in_their_order_and_filtered() {
        let named = |models: &[&str]| PlanRequest {
            models: models.iter().map(|m| (*m).to_owned()).collect(),
            ..request("^(resnet|alex)", None)
        };
        assert_eq!(named(&["resnet50", "vgg16", "alexnet"]).plan().unwrap().models, ["resnet50", "alexnet"]);
    }
}
