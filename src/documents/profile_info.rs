//! Description of a profile.

use serde::{Deserialize, Serialize};

use super::OperatorKind;
use ns_base::Diagnostic;
use ns_forms::ProfileOrigin;
use ns_profile::levels::{ALL_LEVELS, Level, level_of};
use ns_view::colours::Colours;
use ns_view::timeline::{Annotation, Outline};

/// Identifies one profile that a session holds. Keys are never used twice within a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProfileKey(pub u32);

/// The information that a shell has about a profile without further questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// Its key in further requests.
    pub profile: ProfileKey,
    /// Short name of the run, for the Run selector: `nn mark_step`, `trace.json.gz`.
    pub name: String,
    pub origin: ProfileOrigin,
    /// Number of events it holds.
    pub events: u64,
    /// Sections, tracks and the span of time.
    pub outline: Outline,
    /// The operator tables that it has, the most useful first.
    pub operators: Vec<OperatorKind>,
    /// The levels that have slices; levels that only wrap others come last.
    pub levels: Vec<Level>,
    /// The level of answers when a question names none; `all` if that is every level.
    pub default_level: String,
    /// Whether it holds sampled stacks, which a flame graph shows best.
    pub is_stacks: bool,
    /// The colour of each kind of operation, in every view.
    pub colours: Colours,
    /// Figures for the summary line, name and value, as text: `Device window`, `7.20 us`.
    pub facts: Vec<(String, String)>,
    /// Above each table of its times, if the cost of an operator is a guess: `Times are at least these: 1 operator without a known
    /// cost.`
    pub note_of_times: Option<String>,
    /// Problems met while reading.
    pub diagnostics: Vec<Diagnostic>,
    /// Marks and ranges saved in the file.
    pub marks: Vec<Annotation>,
    /// The other profiles of the same file, if it is an archive of several. Each profile has its own key.
    pub also: Vec<Self>,
}

impl ProfileInfo {
    /// The message about an unknown name of a level, with the known names; `None` if the profile has the level.
    pub fn level_problem(&self, name: &str) -> Option<String> {
        if self.own_level(name).is_some() {
            return None;
        }
        let mut known: Vec<&str> = self.levels.iter().map(|l| l.name.as_str()).collect();
        known.push(ALL_LEVELS);
        let (run, known, default) = (&self.name, known.join(", "), &self.default_level);
        Some(format!("level: {run} has no level '{name}'; its levels are {known}. {default} is used."))
    }

    /// A level as this profile spells it; see [`level_of`].
    pub fn own_level(&self, name: &str) -> Option<&str> {
        level_of(name, self.levels.iter().map(|l| l.name.as_str()).chain([ALL_LEVELS]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_forms::ProfileSpec;

    #[test]
    fn an_unknown_level_error_lists_the_levels() {
        let level = |name: &str| Level { name: name.to_owned(), slices: 1, wraps: false };
        let info = ProfileInfo {
            note_of_times: None,
            profile: ProfileKey(0),
            name: "run.json".to_owned(),
            origin: ProfileOrigin::Simulated(ProfileSpec::default()),
            events: 2,
            outline: Outline::default(),
            operators: Vec::new(),
            levels: vec![level("CPU ops"), level("runtime calls")],
            default_level: "CPU ops".to_owned(),
            is_stacks: false,
            colours: Colours::default(),
            facts: Vec::new(),
            diagnostics: Vec::new(),
            marks: Vec::new(),
            also: Vec::new(),
        };
        assert_eq!(info.own_level("runtime-calls"), Some("runtime calls"));
        assert_eq!((info.level_problem("cpu"), info.level_problem("ALL")), (None, None));
        assert_eq!(
            info.level_problem("gpu").unwrap(),
            "level: run.json has no level 'gpu'; its levels are CPU ops, runtime calls, all. CPU ops is used."
        );
    }
}
