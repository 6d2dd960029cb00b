//! The files of the Neuron plugin of TensorBoard: two operator tables, the timeline of operators, and the trace. The
//! keys of the operators are not documented; they are those of our own tables, with the plugin's prefix `op_`.

use super::xplane;
use crate::profile::Profile;
use crate::profile::formats::chrome::write_plugin_trace;
use crate::profile::formats::json::ObjectText;
use crate::profile::neuron::{OperatorView, operator_table};

/// The four files, each with a folder in front of its name.
pub(super) fn files(profile: &Profile, folder: &str) -> Vec<(String, Vec<u8>)> {
    let timeline = write_plugin_trace(profile).into_bytes();
    [
        ("neuron_framework_op.json", operators(profile, OperatorView::Framework).into_bytes()),
        ("neuron_hlo_op.json", operators(profile, OperatorView::Hlo).into_bytes()),
        ("neuron_op_timeline.json", timeline.clone()),
        ("neuron_trace.json", timeline),
    ]
    .into_iter()
    .map(|(name, content)| (format!("{folder}{name}"), content))
    .collect()
}

/// A log directory: the four files where the Neuron plugin looks, and an `XSpace` where XProf does.
pub(super) fn log_directory(profile: &Profile) -> Vec<(String, Vec<u8>)> {
    let run: String = profile
        .meta()
        .title
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .collect();
    let run = if run.is_empty() { "run".to_owned() } else { run };
    let mut files = files(profile, &format!("plugins/neuron/{run}/"));
    files.push((format!("plugins/profile/{run}/neuronscope.xplane.pb"), xplane::write(profile)));
    files
}

fn operators(profile: &Profile, view: OperatorView) -> String {
    let rows = operator_table(profile, view);
    let total: i64 = rows.iter().map(|row| row.time_ns).sum();
    let ops: Vec<String> = rows
        .iter()
        .map(|row| {
            let mut op = ObjectText::default();
            op.text("op_name", &row.name);
            op.number("op_occurrences", row.occurrences);
            op.number("op_device", row.device);
            op.number("op_core", row.core);
            op.number("op_time", row.time_ns);
            op.number("op_time_percent", row.time_percent);
            op.take()
        })
        .collect();
    format!("{{\"ops\":[{}],\"total_time\":{total}}}\n", ops.join(","))
}
