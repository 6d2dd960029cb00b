//! Run directories: the files of one directory, which the plugin showed as one run with a tool for each file.

use super::table::view_of_name;
use crate::interface::not_a_profile;
use ns_base::Diagnostics;
use ns_base::Order;
use ns_base::Refusal;
use ns_profile::Profile;
use ns_profile::neuron::{OPERATOR_RUN_FORMAT, OperatorView, PluginRun, PluginTimeline, TRACE_RUN_FORMAT};

/// The profiles of one file of an archive.
type FileResult = (String, Result<Vec<Profile>, Refusal>);

/// A file of a run directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunFile {
    /// An operator table.
    Table(OperatorView),
    /// A timeline.
    Timeline(PluginTimeline),
    /// The timeline of operators again, cut differently; the plugin does not show it.
    SplitTimeline,
}

impl RunFile {
    const ALL: [Self; 5] = [
        Self::Table(OperatorView::Framework),
        Self::Table(OperatorView::Hlo),
        Self::Timeline(PluginTimeline::Operators),
        Self::Timeline(PluginTimeline::Trace),
        Self::SplitTimeline,
    ];

    /// The name of the file in a run directory.
    fn file_name(self) -> &'static str {
        match self {
            Self::Table(OperatorView::Framework) => "neuron_framework_op.json",
            Self::Table(OperatorView::Hlo) => "neuron_hlo_op.json",
            Self::Timeline(PluginTimeline::Operators) => "neuron_op_timeline.json",
            Self::Timeline(PluginTimeline::Trace) => "neuron_trace.json",
            Self::SplitTimeline => "neuron_op_timeline_split.json",
        }
    }

    /// The kind of file that a path names, packed or not.
    fn of_path(path: &str) -> Option<Self> {
        let path = path.strip_suffix(".gz").unwrap_or(path);
        let name = path.rsplit('/').next().unwrap_or(path);
        Self::ALL.into_iter().find(|file| file.file_name() == name)
    }
}

/// Whether a path is of a file that the plugin shows: `RUN/neuron_hlo_op.json`, packed or not.
pub fn is_plugin_file(path: &str) -> bool {
    RunFile::of_path(path).is_some_and(|file| file != RunFile::SplitTimeline)
}

/// The run of a path: its directory, below `plugins/neuron` if the path has that. Empty for a file without a
/// directory.
fn run_of_path(path: &str) -> &str {
    let directory = directory_of(path);
    below(directory, "plugins/neuron").unwrap_or(directory)
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The part of a path after a directory.
fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let begins = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
    begins.or_else(|| path.rsplit_once(&format!("/{directory}/")).map(|(_, rest)| rest))
}

/// The files of one run directory, in their order.
struct Run {
    directory: String,
    name: String,
    files: Vec<(RunFile, FileResult)>,
}

/// Makes one profile of the files of each run directory; every other file stays as it was. A run takes the position of
/// its first file.
pub(crate) fn join_runs(files: Vec<FileResult>, diagnostics: &mut Diagnostics) -> Vec<FileResult> {
    enum Place {
        Other(FileResult),
        Run(usize),
    }
    let (mut places, mut runs): (Vec<Place>, Vec<Run>) = (Vec::new(), Vec::new());
    for file in files {
        let Some(kind) = RunFile::of_path(&file.0) else {
            places.push(Place::Other(file));
            continue;
        };
        let (name, directory) = (run_of_path(&file.0).to_owned(), directory_of(&file.0).to_owned());
        match runs.iter().position(|run| run.directory == directory) {
            Some(at) => runs[at].files.push((kind, file)),
            None => {
                places.push(Place::Run(runs.len()));
                runs.push(Run { directory, name, files: vec![(kind, file)] });
            }
        }
    }
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let mut runs: Vec<Option<Run>> = runs.into_iter().map(Some).collect();
    let mut joined = Vec::new();
    for place in places {
        match place {
            Place::Other((path, result)) => match tells_again(&path, &names) {
                Some(run) => diagnostics.add("same_run", None, || {
                    format!("{path} holds the run {run} again in the format of XProf: it is not opened a second time")
                }),
                None => joined.push((path, result)),
            },
            Place::Run(at) => joined.extend(runs[at].take().into_iter().flat_map(Run::join)),
        }
    }
    joined
}

/// The run of the Neuron plugin with the same name as a file of XProf's plugin.
fn tells_again<'a>(path: &str, runs: &'a [String]) -> Option<&'a str> {
    let directory = below(directory_of(path), "plugins/profile")?;
    runs.iter().find(|run| *run == directory).map(String::as_str)
}

impl Run {
    /// The profiles of the run: one, and a second one for `neuron_trace.json` if there is another timeline. If no file
    /// can be read, the errors of all files.
    fn join(self) -> Vec<FileResult> {
        let Self { name, files, .. } = self;
        let (mut kept, mut broken): (Vec<(RunFile, String, Profile)>, Vec<FileResult>) = (Vec::new(), Vec::new());
        for (kind, (path, result)) in files {
            match result.map(|profiles| profiles.into_iter().next()) {
                _ if kept.iter().any(|(known, ..)| *known == kind) => {}
                Ok(Some(profile)) if fits(kind, &profile) => kept.push((kind, path, profile)),
                Ok(Some(_)) => broken.push((path, Err(not_a_profile(OTHER_CONTENT)))),
                Ok(None) => {}
                Err(error) => broken.push((path, Err(error))),
            }
        }
        if kept.is_empty() {
            return broken;
        }
        let has = |file| kept.iter().any(|(kind, ..)| *kind == file);
        let missing = missing(&name, has);
        let has_split_alone = !has(RunFile::Timeline(PluginTimeline::Operators));
        let mut joined = RunParts { name: &name, operators: None, trace: None };
        for (kind, path, profile) in kept {
            if kind != RunFile::SplitTimeline || has_split_alone {
                joined.add(kind, &path, profile);
            }
        }
        let mut profiles = joined.profiles();
        if let Some(first) = profiles.first_mut() {
            let unread: Vec<String> = broken.iter().map(|(path, result)| reason(path, result)).collect();
            if !unread.is_empty() {
                let (n, text) = (unread.len() as u64, unread.join("; "));
                first.diagnostics.add_many("unread_file", n, None, || format!("the run opens without {text}"));
            }
            if let Some((n, text)) = missing {
                first.diagnostics.add_many("missing_file", n, None, || text);
            }
        }
        vec![(name, Ok(profiles))]
    }
}

/// The message for a file of the plugin whose content does not fit its name.
const OTHER_CONTENT: &str = "of another format than its name says";

/// Whether a profile fits the name of its file.
fn fits(kind: RunFile, profile: &Profile) -> bool {
    profile.plugin_run().is_some() == matches!(kind, RunFile::Table(_))
}

fn reason(path: &str, result: &Result<Vec<Profile>, Refusal>) -> String {
    match result {
        Err(error) => format!("{path}: {error}"),
        Ok(_) => path.to_owned(),
    }
}

/// The number of files that an operator run lacks, and the consequence. A trace run has one file, so it lacks none.
fn missing(run: &str, has: impl Fn(RunFile) -> bool) -> Option<(u64, String)> {
    let is_trace_run = RunFile::ALL.iter().filter(|file| has(**file)).all(|file| is_trace(*file));
    let parts = [RunFile::ALL[0], RunFile::ALL[1], RunFile::ALL[2]];
    let missing: Vec<&str> = parts.into_iter().filter(|file| !has(*file)).map(RunFile::file_name).collect();
    if is_trace_run || missing.is_empty() {
        return None;
    }
    let has_timeline = has(RunFile::Timeline(PluginTimeline::Operators)) || has(RunFile::SplitTimeline);
    let instead = if has_timeline {
        "operators are counted from the timeline instead"
    } else {
        "it is not known when operators ran"
    };
    let run = if run.is_empty() { "the run" } else { run };
    Some((missing.len() as u64, format!("{run} has no {}: {instead}", missing.join(" and no "))))
}

fn is_trace(file: RunFile) -> bool {
    file == RunFile::Timeline(PluginTimeline::Trace)
}

/// A run while its files are being joined.
struct RunParts<'a> {
    name: &'a str,
    operators: Option<Profile>,
    trace: Option<Profile>,
}

impl RunParts<'_> {
    fn add(&mut self, kind: RunFile, path: &str, mut profile: Profile) {
        let diagnostics = std::mem::take(&mut profile.diagnostics);
        for item in diagnostics.items() {
            profile
                .diagnostics
                .add_many(&item.code, item.count, item.byte_offset, || format!("{path}: {}", item.first_example));
        }
        if is_trace(kind) {
            profile.plugin_run = Some(Box::new(self.run_of(PluginTimeline::Trace)));
            self.trace = Some(profile);
            return;
        }
        if let RunFile::Table(_) = kind {
            settle_view(&mut profile, path);
        } else {
            profile.plugin_run = Some(Box::new(self.run_of(PluginTimeline::Operators)));
        }
        self.operators = Some(match self.operators.take() {
            None => profile,
            Some(known) => merge(known, profile),
        });
    }

    fn run_of(&self, timeline: PluginTimeline) -> PluginRun {
        PluginRun { name: self.name.to_owned(), tables: Vec::new(), timeline: Some(timeline) }
    }

    fn profiles(self) -> Vec<Profile> {
        let name = self.name;
        let has_both = self.operators.is_some() && self.trace.is_some();
        let operators = self.operators.map(|profile| titled(profile, name, name));
        let title = if has_both { format!("{name} trace") } else { name.to_owned() };
        let trace = self.trace.map(|profile| titled(profile, name, title.trim_start()));
        operators.into_iter().chain(trace).collect()
    }
}

fn titled(mut profile: Profile, run: &str, title: &str) -> Profile {
    title.clone_into(&mut profile.meta.title);
    if let Some(of) = &mut profile.plugin_run {
        let is_trace = of.timeline == Some(PluginTimeline::Trace);
        (if is_trace { TRACE_RUN_FORMAT } else { OPERATOR_RUN_FORMAT }).clone_into(&mut profile.meta.format);
        run.clone_into(&mut of.name);
    }
    profile
}

/// The view of a table that was read alone, by the name of its file.
pub fn settle_view(profile: &mut Profile, path: &str) {
    let Some(view) = view_of_name(path) else { return };
    if let Some(table) = profile.plugin_run.as_mut().and_then(|run| run.tables.first_mut()) {
        table.view = view;
    }
}

/// Joins two files of a run into one profile. At most one has a timeline; it takes the tables of the other.
fn merge(a: Profile, b: Profile) -> Profile {
    let has_timeline = |p: &Profile| p.plugin_run().is_some_and(|run| run.timeline.is_some());
    let (mut to, mut from) = if has_timeline(&b) { (b, a) } else { (a, b) };
    if !has_timeline(&to) {
        to.meta.events += from.meta.events;
    }
    to.diagnostics.append(&from.diagnostics);
    if let (Some(to), Some(from)) = (&mut to.plugin_run, &mut from.plugin_run) {
        to.tables.append(&mut from.tables);
        to.tables.order_by_key(|table| table.view == OperatorView::Hlo);
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_its_directory_below_the_plugin() {
        let run = run_of_path;
        assert_eq!(run("logs/plugins/neuron/2022_10_14/neuron_trace.json"), "2022_10_14");
        assert_eq!(run("plugins/neuron/r/c1a9_1/neuron_hlo_op.json"), "r/c1a9_1");
        assert_eq!(run("mine/neuron_hlo_op.json"), "mine");
        assert_eq!(run("neuron_hlo_op.json"), "");
    }

    #[test]
    fn files_are_known_by_their_whole_name() {
        assert_eq!(RunFile::of_path("a/neuron_trace.json.gz"), Some(RunFile::Timeline(PluginTimeline::Trace)));
        assert_eq!(RunFile::of_path("a/neuron_op_timeline_split.json"), Some(RunFile::SplitTimeline));
        assert_eq!(RunFile::of_path("a/my_neuron_trace.json"), None);
    }

    #[test]
    fn a_file_of_the_other_plugin_with_the_name_of_a_run_is_that_run() {
        let runs = ["r".to_owned()];
        assert_eq!(tells_again("logs/plugins/profile/r/host.xplane.pb", &runs), Some("r"));
        assert_eq!(tells_again("logs/plugins/profile/s/host.xplane.pb", &runs), None);
        assert_eq!(tells_again("r/host.xplane.pb", &runs), None);
    }
}
