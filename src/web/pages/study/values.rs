//! The comparison: the verdict, where NaN and infinity first occurred, the values of both sides.

use yew::prelude::*;

use crate::components::LocalTable;
use ns_base::units::format_count;
use ns_page::Shared;
use ns_session::{NumericsReport, Origin, OutputComparison, Sample, model_label, value_text};
use ns_view::table::{Cell, Column, ColumnKind, Table};

#[derive(Properties, PartialEq)]
pub struct ValuesProps {
    pub report: Shared<Box<NumericsReport>>,
}

#[component]
pub fn Values(props: &ValuesProps) -> Html {
    let report: &NumericsReport = &props.report;
    let spec = &report.spec;
    let passed = report.passed();
    let table = use_memo(props.report.clone(), |report| Shared::new(table_of(report)));
    html! {
        <section class="results numerics-result" aria-labelledby="numerics-title">
            <h2 id="numerics-title">{ format!("{} on {} of {}", model_label(&spec.model), report.core, spec.instance) }</h2>
            <p class={classes!("panel", "numerics-verdict", if passed { "is-good" } else { "is-bad" })} role="status">
                <strong>{ &report.status }</strong>
                { format!(" {}", summary(report)) }
            </p>
            <p class="help">{ format!("{}, rounding {}, seed {}; {} operations of the products", spec.options, spec.rounding, spec.seed, format_count(report.flops)) }</p>
            { origins(report) }
            if !report.notes.is_empty() {
                <ul class="panel notes" aria-label="What it means">{ for report.notes.iter().map(|note| html! { <li>{ note }</li> }) }</ul>
            }
            <div class="panel"><LocalTable name="Outputs compared" file="numerics" table={(*table).clone()} searchable={report.outputs.len() > 8} /></div>
            { for report.outputs.iter().map(sides) }
        </section>
    }
}

fn summary(report: &NumericsReport) -> String {
    let outputs = report.outputs.len();
    let all = if outputs == 1 { "The output".to_owned() } else { format!("All {outputs} outputs") };
    let errors = report.outputs.iter().filter_map(|o| o.mean_relative_error);
    let worst = errors.fold(None, |w: Option<f64>, e| Some(w.map_or(e, |w| w.max(e))));
    let tolerance = report.spec.tolerance;
    match (report.passed(), worst) {
        (true, Some(worst)) => {
            let verb = if outputs == 1 { "keeps" } else { "keep" };
            format!("{all} {verb} within the tolerance: mean relative error {worst:.3e}, tolerance {tolerance}.")
        }
        (true, None) => format!("{all} agree."),
        (false, _) => {
            let failed = report.outputs.iter().filter(|o| !o.passed);
            let reasons: Vec<String> =
                failed.filter_map(|o| Some(format!("output {}: {}", o.index, o.reason.as_ref()?))).collect();
            format!("{}.", reasons.join("; "))
        }
    }
}

/// The places where values first became NaN or infinite.
fn origins(report: &NumericsReport) -> Html {
    let row = |what: &'static str, device: &Option<Origin>, reference: &Option<Origin>| {
        device.as_ref().map(|o| {
            let both = if reference.is_some() { "the reference has it too" } else { "only on the device" };
            html! {
                <div class="tile bad">
                    <dt>{ what }</dt>
                    <dd><code>{ &o.path }</code><span class="sub">{ format!("{} ({}), {} of {} elements; {both}", o.hlo, o.opcode, o.elements, o.of) }</span></dd>
                </div>
            }
        })
    };
    if report.first_nan.is_none() && report.first_inf.is_none() && report.first_underflow.is_none() {
        return html! { <p class="panel numerics-clean">{ "No operation on the device made a NaN, an infinity or only zeros." }</p> };
    }
    html! {
        <dl class="tiles origins" aria-label="Where it began">
            { for row("First with only zeros", &report.first_underflow, &report.reference_underflow) }
            { for row("First infinity", &report.first_inf, &report.reference_inf) }
            { for row("First NaN", &report.first_nan, &report.reference_nan) }
        </dl>
    }
}

fn table_of(report: &NumericsReport) -> Table {
    let columns = [
        ("output", "Output", ColumnKind::Count),
        ("path", "Operation", ColumnKind::Text),
        ("shape", "Shape", ColumnKind::Text),
        ("mean_relative_error", "Mean relative error", ColumnKind::Text),
        ("max_abs_error", "Max abs error", ColumnKind::Text),
        ("tolerance", "Tolerance", ColumnKind::Text),
        ("nan", "NaN", ColumnKind::Count),
        ("inf", "Inf", ColumnKind::Count),
        ("result", "Result", ColumnKind::Text),
    ];
    let error = |e: Option<f64>| e.map_or(Cell::Missing, |e| Cell::Text(format!("{e:.3e}")));
    let row = |o: &OutputComparison| {
        vec![
            Cell::Count(u64::from(o.index)),
            Cell::Text(o.path.clone()),
            Cell::Text(o.shape.clone()),
            error(o.mean_relative_error),
            error(o.max_abs_error),
            Cell::Text(o.tolerance.to_string()),
            Cell::Count(o.nan),
            Cell::Count(o.inf),
            Cell::Text(if o.passed { "PASS" } else { "FAIL" }.to_owned()),
        ]
    };
    Table {
        columns: columns.map(|(id, title, kind)| Column::new(id, title, kind)).into(),
        rows: report.outputs.iter().map(row).collect(),
    }
}

/// One output with the values of both sides.
fn sides(output: &OutputComparison) -> Html {
    let s = &output.sample;
    let (rows, columns) = (u64::from(s.rows), u64::from(s.columns));
    let is_part = rows < s.all_rows || columns < s.all_columns;
    let matrix = |title: &'static str, values: &[f32]| {
        html! {
            <div class="side" tabindex="0" role="region" aria-label={format!("{title}, output {}", output.index)}>
                <table class="matrix"><caption>{ title }</caption>
                    <tbody>{ for values.chunks(s.columns.max(1) as usize).enumerate().map(|(i, row)| html! {
                        <tr>{ for row.iter().enumerate().map(|(j, v)| cell(s, i * s.columns.max(1) as usize + j, *v, output.tolerance)) }</tr>
                    }) }</tbody>
                </table>
            </div>
        }
    };
    html! {
        <section class="panel sides" aria-label={format!("Output {}", output.index)}>
            <h3>{ format!("Output {}: {}", output.index, output.shape) }<span class="sub">{ &output.path }</span></h3>
            <div class="both">{ matrix("CPU", &s.reference) }{ matrix("Device", &s.device) }</div>
            <p class="help">
                if is_part { { format!("The first {rows} of {} rows, {columns} of {} values each. ", s.all_rows, s.all_columns) } }
                { "Marked values are NaN or infinite, or differ by more than the tolerance." }
            </p>
        </section>
    }
}

/// A value, marked when it is NaN or infinite, or when the two sides differ by more than the tolerance.
fn cell(sample: &Sample, at: usize, value: f32, tolerance: f64) -> Html {
    let (reference, device) = (sample.reference.get(at), sample.device.get(at));
    let is_off = match (reference, device) {
        (Some(r), Some(d)) => f64::from((d - r).abs()) > tolerance * f64::from(r.abs()),
        _ => false,
    };
    let class = (!value.is_finite() || is_off).then_some("is-off");
    html! { <td {class}>{ value_text(value) }</td> }
}
