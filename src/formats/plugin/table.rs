//! `neuron_framework_op.json` and `neuron_hlo_op.json`: how often each operator ran on each NeuronCore, and for how long.
//! They do not say when it ran, so they give no slices.
//!
//! The keys of an operator are not documented. A key that means a name, a number of occurrences, a time, a device or a
//! core is read as such, with or without the prefix `op_`; the file is kept and written again as it was.

use crate::decimal::TimeUnit;
use crate::document::TextContent;
use crate::json::{BYTE_ORDER_MARK, Doc, Value};
use ns_base::Refusal;
use ns_base::convert::i64_to_f64;
use ns_base::{Diagnostics, FxHashMap};
use ns_profile::ProfileBuilder;
use ns_profile::neuron::{OperatorRow, OperatorView, PluginRun, PluginTable, sort_rows};

/// Reads an operator table: a profile without slices that holds the table.
pub(crate) fn read_table(text: &[u8]) -> Result<TextContent, Refusal> {
    let doc = Doc::new(text);
    let (mut builder, mut diagnostics) = (ProfileBuilder::new("neuron-operators"), Diagnostics::new());
    let [ops, total] = doc.root().fields(["ops", "total_time"]);
    let mut rows = Vec::new();
    for op in ops.into_iter().flat_map(Value::items) {
        builder.count_event(None);
        match row_of(op) {
            Some(row) => rows.push(row),
            None => diagnostics.add("bad_operator", Some(op.offset()), || {
                "an operator has no name or no time: it is not in the table".to_owned()
            }),
        }
    }
    doc.report_damage(&mut diagnostics);
    let has_shares = rows.iter().any(|(_, has_share)| *has_share);
    let mut rows: Vec<OperatorRow> = rows.into_iter().map(|(row, _)| row).collect();
    let total_time_ns = total.and_then(|v| v.ns(TimeUnit::Ns));
    if !has_shares {
        share_out(&mut rows, total_time_ns);
    }
    sort_rows(&mut rows);
    let table = PluginTable { view: view_of_rows(&rows), rows, total_time_ns, text: whole(text) };
    let mut profile = builder.finish(diagnostics);
    profile.plugin_run = Some(Box::new(PluginRun { tables: vec![table], ..PluginRun::default() }));
    Ok(TextContent::Profile(Box::new(profile)))
}

/// The view that a file name indicates, if any.
pub(super) fn view_of_name(name: &str) -> Option<OperatorView> {
    let name = name.to_ascii_lowercase();
    if name.contains("framework_op") {
        Some(OperatorView::Framework)
    } else if name.contains("hlo_op") {
        Some(OperatorView::Hlo)
    } else {
        None
    }
}

/// The view that the names of operators indicate: a framework's names have a namespace (`aten__addmm_dot`), opcodes do not.
fn view_of_rows(rows: &[OperatorRow]) -> OperatorView {
    let is_framework = rows.iter().any(|row| row.name.contains("__") || row.name.contains("::"));
    if is_framework { OperatorView::Framework } else { OperatorView::Hlo }
}

/// The text, if it is valid JSON as a whole.
fn whole(text: &[u8]) -> Option<Box<str>> {
    let text = std::str::from_utf8(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok().map(|_| text.into())
}

/// The row of an operator, and whether the file gives its share; `None` without a name or a time.
fn row_of(op: Value<'_>) -> Option<(OperatorRow, bool)> {
    let field = |names: &[&str]| {
        op.members()
            .find(|(key, _)| names.iter().any(|n| key.strip_prefix(b"op_").unwrap_or(key) == n.as_bytes()))
            .map(|(_, value)| value)
    };
    let name = field(&["name", "op", "type", "operator"]).and_then(Value::scalar)?.into_owned();
    let time = field(&["time", "time_ns", "time(ns)", "duration", "total_time", "duration_ns"])?;
    let time_ns = time.ns(TimeUnit::Ns)?.max(0);
    let share = field(&["time_percent", "percent", "time%", "percentage"]).and_then(Value::f64);
    let share = share.filter(|percent| percent.is_finite());
    let occurrences = field(&["occurrences", "occurrence", "num_occurrences", "count", "calls"]).and_then(Value::i64);
    let place = |names: &[&str]| field(names).and_then(number_at_end).unwrap_or(0);
    let row = OperatorRow {
        name,
        occurrences: occurrences.and_then(|n| u64::try_from(n).ok()).unwrap_or(1),
        device: place(&["device", "neuron_device", "device_id", "nd"]),
        core: place(&["core", "neuron_core", "neuroncore", "core_id", "nc"]),
        time_ns,
        time_percent: share.unwrap_or(0.0),
        members: field(&["fused", "fused_ops", "members"]).map(members_of).unwrap_or_default(),
    };
    Some((row, share.is_some()))
}

/// A device or core: a number, or a text that ends in one (`NeuronCore 1`).
fn number_at_end(value: Value<'_>) -> Option<u32> {
    let text = value.scalar()?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text[digits..].parse().ok()
}

/// The members of a fused operator: a list, or one text with a comma and a line break between paths.
fn members_of(value: Value<'_>) -> Vec<String> {
    let listed: Vec<String> = value.items().filter_map(Value::scalar).map(std::borrow::Cow::into_owned).collect();
    if !listed.is_empty() {
        return listed;
    }
    let text = value.scalar().unwrap_or_default();
    text.split(",\n").map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

/// Gives each row its share of the time of its core; if there is only one core, its share of the file's total.
fn share_out(rows: &mut [OperatorRow], total_time_ns: Option<i64>) {
    let mut of_core: FxHashMap<(u32, u32), i64> = FxHashMap::default();
    for row in rows.iter() {
        let sum = of_core.entry((row.device, row.core)).or_insert(0);
        *sum = sum.saturating_add(row.time_ns);
    }
    if let (1, Some(total)) = (of_core.len(), total_time_ns.filter(|total| *total > 0)) {
        of_core.values_mut().for_each(|sum| *sum = total.max(*sum));
    }
    for row in rows {
        let sum = of_core.get(&(row.device, row.core)).copied().unwrap_or(0);
        row.time_percent = if sum == 0 { 0.0 } else { i64_to_f64(row.time_ns) * 100.0 / i64_to_f64(sum) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_profile::Profile;

    fn read(text: &str) -> Profile {
        read_table(text.as_bytes()).unwrap().finish(Vec::new()).unwrap()
    }

    #[test]
    fn rows_keep_occurrences_places_and_members() {
        let profile = read(
            r#"{"ops":[{"op_name":"tanh","op_occurrences":1,"op_time":159,"op_device":"NeuronDevice 1","op_core":"NeuronCore 3"},
            {"name":"fused_3","count":2,"time":279,"neuron_device":1,"neuron_core":3,"fused":"NN[model]/input,\nNN[model]/ReLU[nl1]"},
            {"x":1}],"total_time":500}"#,
        );
        assert!(profile.slices().ids().next().is_none(), "a table gives no timeline");
        let table = &profile.plugin_run().unwrap().tables[0];
        assert_eq!((table.view, table.total_time_ns), (OperatorView::Hlo, Some(500)));
        let rows: Vec<_> = table.rows.iter().map(|r| (&*r.name, r.occurrences, r.device, r.core, r.time_ns)).collect();
        assert_eq!(rows, [("fused_3", 2, 1, 3, 279), ("tanh", 1, 1, 3, 159)]);
        assert_eq!(table.rows[0].members, ["NN[model]/input", "NN[model]/ReLU[nl1]"]);
        assert!((table.rows[0].time_percent - 55.8).abs() < 1e-9, "the share is of the file's own total");
        assert_eq!(profile.diagnostics().count("bad_operator"), 1);
    }

    #[test]
    fn a_cut_table_gives_its_first_rows_and_no_text() {
        let profile = read(r#"{"ops":[{"op_name":"dot","op_time":1},{"op_name":"ta"#);
        let table = &profile.plugin_run().unwrap().tables[0];
        assert_eq!((table.rows.len(), &table.text), (1, &None));
        assert_eq!(profile.diagnostics().count("not_closed"), 1);
    }

    #[test]
    fn a_view_is_known_by_the_file_or_by_its_names() {
        assert_eq!(view_of_name("a/neuron_framework_op.json"), Some(OperatorView::Framework));
        assert_eq!(view_of_name("neuron_hlo_op.json.gz"), Some(OperatorView::Hlo));
        assert_eq!(view_of_name("ops.json"), None);
        let table = |text| read(text).plugin_run().unwrap().tables[0].view;
        assert_eq!(table(r#"{"ops":[{"name":"aten__addmm_dot","time":1}],"total_time":1}"#), OperatorView::Framework);
    }
}
