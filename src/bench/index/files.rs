//! Copying, moving and deleting an index with its artifacts, as a plan that a shell carries out.

use super::ModelIndex;
use ns_base::{Refusal, refuse};

/// One thing to do to a file. Paths use `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileStep {
    /// Copy a file, creating the folder of its target.
    Copy { from: String, to: String },
    /// Write a text, creating the folder of its target.
    Write { path: String, text: String },
    /// Remove a file; if it does not exist, only a warning is given.
    Remove { path: String },
}

/// The actions, in order: nothing is removed before everything is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePlan {
    pub steps: Vec<FileStep>,
}

impl FilePlan {
    /// Copies each artifact into `new_dir` and writes an index of the copies to `new_path`. Fails when two artifacts would get the
    /// same name, or the index cannot be written as text.
    pub fn copy(index: &ModelIndex, new_path: &str, new_dir: &str) -> Result<Self, Refusal> {
        let (mut copied, mut steps) = (index.clone(), Vec::new());
        let mut taken: Vec<(String, String)> = Vec::new();
        for entry in &mut copied.model_configs {
            let Some(from) = entry.filename.take() else { continue };
            let name = from.rsplit(['/', '\\']).next().unwrap_or(&from);
            let to = if new_dir.is_empty() { name.to_owned() } else { format!("{}/{name}", trimmed(new_dir)) };
            match taken.iter().find(|(t, _)| *t == to) {
                Some((_, other)) if *other != from => {
                    return Err(refuse!("{other} and {from} would both become {to}; rename one of them first"));
                }
                Some(_) => {}
                None => {
                    if to != from {
                        steps.push(FileStep::Copy { from: from.clone(), to: to.clone() });
                    }
                    taken.push((to.clone(), from));
                }
            }
            entry.filename = Some(to);
        }
        steps.push(FileStep::Write {
            path: new_path.to_owned(),
            text: copied.to_json().map_err(|e| Refusal::new(e.to_string()))?,
        });
        Ok(Self { steps })
    }

    /// As [`Self::copy`], and then removes the old index and its artifacts. Fails as [`Self::copy`].
    pub fn moved(index: &ModelIndex, old_path: &str, new_path: &str, new_dir: &str) -> Result<Self, Refusal> {
        let mut plan = Self::copy(index, new_path, new_dir)?;
        let written: Vec<String> = plan.steps.iter().map(|s| target(s).to_owned()).collect();
        let copied = |path: &str| plan.steps.iter().any(|s| matches!(s, FileStep::Copy { from, .. } if from == path));
        let removed: Vec<FileStep> = Self::delete(index, old_path)
            .steps
            .into_iter()
            // A file that keeps its place is not removed.
            .filter(|s| !written.iter().any(|w| w == target(s)) && (target(s) == old_path || copied(target(s))))
            .collect();
        plan.steps.extend(removed);
        Ok(plan)
    }

    /// Removes the artifacts and the index.
    pub fn delete(index: &ModelIndex, path: &str) -> Self {
        let mut paths: Vec<String> = Vec::new();
        for name in index.model_configs.iter().filter_map(|e| e.filename.clone()).chain([path.to_owned()]) {
            if !paths.contains(&name) {
                paths.push(name);
            }
        }
        Self { steps: paths.into_iter().map(|path| FileStep::Remove { path }).collect() }
    }
}

fn trimmed(dir: &str) -> &str {
    let trimmed = dir.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed }
}

fn target(step: &FileStep) -> &str {
    match step {
        FileStep::Copy { to, .. } => to,
        FileStep::Write { path, .. } | FileStep::Remove { path } => path,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ModelEntry;
    use super::*;

    fn index(names: &[Option<&str>]) -> ModelIndex {
        let entry = |n: &Option<&str>| ModelEntry { filename: n.map(str::to_owned), ..ModelEntry::default() };
        ModelIndex { model_configs: names.iter().map(entry).collect(), ..ModelIndex::new("m") }
    }

    fn plan_lines(plan: &FilePlan) -> Vec<String> {
        let text = |s: &FileStep| match s {
            FileStep::Copy { from, to } => format!("cp {from} {to}"),
            FileStep::Write { path, .. } => format!("write {path}"),
            FileStep::Remove { path } => format!("rm {path}"),
        };
        plan.steps.iter().map(text).collect()
    }

    #[test]
    fn artifacts_follow_their_index() {
        let old = index(&[Some("models/a.pt"), None, Some("models/a.pt"), Some("models/b.pt")]);
        let plan = FilePlan::copy(&old, "new.json", "there/").unwrap();
        assert_eq!(plan_lines(&plan), ["cp models/a.pt there/a.pt", "cp models/b.pt there/b.pt", "write new.json"]);
        let Some(FileStep::Write { text, .. }) = plan.steps.last() else { panic!("writes the index last") };
        let names: Vec<_> = ModelIndex::read(text).unwrap().index.model_configs;
        assert_eq!(names[2].filename.as_deref(), Some("there/a.pt"));
        let moved = FilePlan::moved(&old, "old.json", "new.json", "there").unwrap();
        assert_eq!(plan_lines(&moved)[3..], ["rm models/a.pt", "rm models/b.pt", "rm old.json"]);
        assert_eq!(
            plan_lines(&FilePlan::delete(&old, "old.json")),
            ["rm models/a.pt", "rm models/b.pt", "rm old.json"]
        );
    }

    #[test]
    fn what_stays_in_its_place_is_not_removed() {
        let old = index(&[Some("models/a.pt")]);
        let plan = FilePlan::moved(&old, "old.json", "new.json", "models").unwrap();
        assert_eq!(plan_lines(&plan), ["write new.json", "rm old.json"]);
        let same = FilePlan::moved(&old, "old.json", "old.json", "models").unwrap();
        assert_eq!(plan_lines(&same), ["write old.json"]);
    }

    #[test]
    fn one_name_for_two_artifacts_is_refused() {
        let error = FilePlan::copy(&index(&[Some("x/a.pt"), Some("y/a.pt")]), "n.json", "z").unwrap_err().to_string();
        assert!(error.contains("x/a.pt and y/a.pt would both become z/a.pt"), "{error}");
    }
}
