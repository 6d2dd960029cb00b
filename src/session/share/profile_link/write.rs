//! From the state of the profile page to a query.

use super::{CompareLink, FlameLink, FlameView, ProfileLink};
use crate::share::Query;
use crate::share::results_fields::sort_text;
use crate::{CompileOptions, ProfileSpec};
use ns_analysis::compare::Measure;
use ns_analysis::{GroupBy, Instances};
use ns_view::timeline::{Annotation, Area, Arrangement, TrackId};

/// Writes the state of the profile page into a query; defaults are left out.
pub(in super::super) fn write(link: &ProfileLink, query: &mut Query) {
    if let Some(file) = &link.file {
        query.set("file", file);
    }
    write_spec(&link.spec, query);
    query.set("tool", link.tool.name());
    if let Some(span) = link.span {
        query.set("from", &span.start.0.to_string());
        query.set("to", &span.end.0.to_string());
    }
    if let Some(slice) = link.selected {
        query.set("sel", &slice.to_string());
    }
    if let Some(area) = &link.area {
        query.set("area", &write_area(area));
    }
    if !link.ask.is_empty() {
        query.set("ask", &link.ask);
    }
    write_counted(link, query);
    if let Some(sort) = &link.sort {
        query.set("sort", &sort_text(sort));
    }
    if !link.find.is_empty() {
        query.set("find", &link.find);
    }
    if !link.search.is_empty() {
        query.set("q", &link.search);
    }
    write_arrangement(&link.arrangement, query);
    if !link.annotations.is_empty() {
        let marks: Vec<String> = link.annotations.iter().map(write_annotation).collect();
        query.set("marks", &marks.join(";"));
    }
    if let Some(kind) = &link.search_by {
        query.set("of", kind.by.name());
        if let Some(level) = &kind.level {
            query.set("of_level", level);
        }
    }
    if let Some(group) = &link.group {
        query.set("group", group);
    }
    if let Some(counter) = &link.counter {
        query.set("counter", counter);
    }
    write_flame(&link.flame, query);
    write_compare(&link.compare, query);
    if let Some((device, core)) = link.core {
        query.set("core", &format!("{device}.{core}"));
    }
}

/// Writes which slices tools count, and how.
fn write_counted(link: &ProfileLink, query: &mut Query) {
    if let Some(level) = &link.level {
        query.set("level", level);
    }
    if link.group_by != GroupBy::default() {
        query.set("by", link.group_by.name());
    }
    if link.instances == Instances::Each {
        query.set("instances", "each");
    }
    if link.in_view {
        query.set("range", "view");
    }
}

/// A span and its tracks; each run of neighbours is its first and its last, because an area may have hundreds.
fn write_area(area: &Area) -> String {
    let neighbours = area.tracks.chunk_by(|a, b| a.0.checked_add(1) == Some(b.0));
    let part = |run: &[TrackId]| match run {
        [first, .., last] => format!("{}-{}", first.0, last.0),
        _ => run.iter().map(|id| id.0.to_string()).collect(),
    };
    let tracks: Vec<String> = neighbours.map(part).collect();
    format!("{}..{}:{}", area.span.start.0, area.span.end.0, tracks.join("."))
}

/// Writes which sections and tracks are shown, and in which order.
fn write_arrangement(arranged: &Arrangement, query: &mut Query) {
    if !arranged.collapsed.is_empty() {
        let sections: Vec<String> = arranged.collapsed.iter().map(usize::to_string).collect();
        query.set("hide", &sections.join(","));
    }
    let mut tracks = |field: &str, ids: &mut dyn Iterator<Item = TrackId>| {
        let ids: Vec<String> = ids.map(|id| id.0.to_string()).collect();
        if !ids.is_empty() {
            query.set(field, &ids.join("."));
        }
    };
    tracks("pin", &mut arranged.pinned.iter().copied());
    tracks("off", &mut arranged.hidden.iter().copied());
    tracks("fold", &mut arranged.folded.iter().copied());
    tracks("order", &mut arranged.order.iter().copied());
}

/// Writes the base of a comparison, and what is compared.
fn write_compare(compare: &CompareLink, query: &mut Query) {
    if let Some(base) = &compare.base {
        query.set("base", base);
    }
    if let Some(spec) = &compare.base_run {
        let mut run = Query::default();
        write_spec(spec, &mut run);
        query.set("base_run", &run.print());
    }
    if compare.measure == Measure::Total {
        query.set("time", "total");
    }
    if compare.per_step {
        query.set("per", "step");
    }
}

/// Writes the simulated run.
fn write_spec(spec: &ProfileSpec, query: &mut Query) {
    query.set("model", &spec.model);
    if let Some(batch_size) = spec.batch_size {
        query.set("batch_size", &batch_size.to_string());
    }
    query.set("workflow", spec.workflow.name());
    query.set("instance", &spec.instance);
    query.set("seed", &spec.seed.to_string());
    write_options(&spec.options, query);
}

fn write_flame(flame: &FlameLink, query: &mut Query) {
    if flame.view != FlameView::default() {
        query.set("flame", flame.view.name());
    }
    if !flame.stack.is_empty() {
        query.set("stack", &flame.stack.join("\n"));
    }
    if !flame.name.is_empty() {
        query.set("name", &flame.name);
    }
    if let Some(thread) = flame.thread {
        query.set("thread", &thread.0.to_string());
    }
}

fn write_options(options: &CompileOptions, query: &mut Query) {
    query.set("auto_cast", options.auto_cast.name());
    query.set("auto_cast_type", options.auto_cast_type.name());
    query.set("optlevel", options.opt_level.name());
    if let Some(lnc) = options.lnc {
        query.set("lnc", &lnc.to_string());
    }
}

fn write_annotation(a: &Annotation) -> String {
    let label = a.label.replace([';', '~'], " ");
    if a.is_range() { format!("{}..{}~{label}", a.start_ns, a.end_ns) } else { format!("{}~{label}", a.start_ns) }
}
