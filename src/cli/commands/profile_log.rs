//! The lines that the compiler and the profiler print while they work, with their words, so that whoever compares a terminal with the
//! tutorial's finds them.

use std::path::{Path, PathBuf};

use anyhow::Result;

use ns_session::{Archive, ByteSource, WriteFormat};

/// The compiler's progress bars: what each is about. The first has no name.
const BARS: [&str; 4] =
    ["", "Analyzing dependencies of Block1", "Analyzing dependencies of Block1", "Dependency reduction of sg0000"];

/// Where the run folder of the plugin is written, for a format that has one: in an archive the place is in the archive.
pub(super) fn folder(path: &Path, format: WriteFormat) -> Option<PathBuf> {
    match format {
        WriteFormat::NeuronPlugin => Some(path.to_owned()),
        WriteFormat::TensorBoard => Some(path.join("plugins").join("neuron")),
        _ => None,
    }
}

/// The lines about a run, from its folder in a zip archive, and the place that the folder is written to. Fails when the archive
/// cannot be read, which would be a fault of the writer.
pub(super) fn lines(run: &dyn ByteSource, written: Option<&Path>) -> Result<Vec<String>> {
    let mut lines = compiler();
    lines.push("torch_neuron: Waiting for XLA profile completion ...".to_owned());
    lines.push("torch_neuron: translate_xplane: Processing plane: '/host:CPU'".to_owned());
    let archive = Archive::open(run)?;
    let folder = archive.entries.first().and_then(|e| e.name.split_once('/')).map_or("", |(folder, _)| folder);
    lines.extend(decoded(folder));
    let id = folder.splitn(8, '_').nth(7).unwrap_or(folder);
    for entry in &archive.entries {
        let file = entry.name.rsplit('/').next().unwrap_or(&entry.name);
        let plane = format!("/host:Neuron-runtime:profile//{id}/plugins/neuron/{file}");
        lines.push(format!("torch_neuron: translate_xplane: Processing plane: '{plane}'"));
        let to = written.map(|path| path.display().to_string());
        lines.extend(
            to.map(|to| format!("torch_neuron: translate_xplane: Writing plane: '{plane}' to '{to}/{}'", entry.name)),
        );
    }
    Ok(lines)
}

/// The bars at their end: compiling a model in memory takes no time to watch.
fn compiler() -> Vec<String> {
    let bar = |what: &str| {
        let what = Some(what.to_owned()).filter(|what| !what.is_empty());
        let scale = "0%   10   20   30   40   50   60   70   80   90   100%".to_owned();
        let ticks = "|----|----|----|----|----|----|----|----|----|----|".to_owned();
        let stars = "*".repeat(ticks.len());
        what.into_iter().chain([scale, ticks, stars])
    };
    BARS.into_iter().flat_map(bar).collect()
}

/// The date in the name of a run folder: year, month, day, hour, the minute twice, second.
fn decoded(folder: &str) -> Vec<String> {
    let parts: Vec<&str> = folder.split('_').take(7).collect();
    let [year, month, day, hour, minute, _, second] = parts[..] else { return Vec::new() };
    let date = [year, month, day, hour, minute, second];
    let quoted = date.map(|part| format!("'{part}'")).join(", ");
    vec![
        format!("torch_neuron: XLA decode - Read filename {}", date.join("_")),
        format!("torch_neuron: XLA decode - Read date parts [{quoted}]"),
        format!(
            "torch_neuron: XLA decode - Read start date {year}-{month}-{day} {hour}:{minute}:{second} from directory stamp"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_words_of_the_tutorial() {
        let files = ["neuron_op_timeline.json", "neuron_hlo_op.json"];
        let named = files.map(|f| (format!("2023_04_28_00_54_54_04_c1a992f0ea378f7a_1/{f}"), Vec::new()));
        let said = lines(&ns_container::zip::write(&named), Some(Path::new("logs/plugins/neuron"))).unwrap().join("\n");
        for line in [
            "|----|----|----|----|----|----|----|----|----|----|\n***************************************************\n",
            "Dependency reduction of sg0000\n0%   10   20   30",
            "torch_neuron: XLA decode - Read filename 2023_04_28_00_54_04\n",
            "Read date parts ['2023', '04', '28', '00', '54', '04']\n",
            "Read start date 2023-04-28 00:54:04 from directory stamp\n",
            "Processing plane: '/host:Neuron-runtime:profile//c1a992f0ea378f7a_1/plugins/neuron/neuron_hlo_op.json'\n",
            "to 'logs/plugins/neuron/2023_04_28_00_54_54_04_c1a992f0ea378f7a_1/neuron_hlo_op.json'",
        ] {
            assert!(said.contains(line), "{line} is not in {said}");
        }
    }
}
