//! The object of `neuronscope profile --summary --json`; docs/formats/summary-json.md describes it.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use ns_device::EstimateMark;
use ns_insight::{Effect, Finding, Insights, Metric, MetricValue, Rule, SliceRange};

/// Metrics as keys of the object itself, in the order of the summary, then the other parts.
pub(super) struct SummaryJson<'a> {
    pub insights: &'a Insights,
    /// Operators whose cost is a guess.
    pub estimate: Option<EstimateMark>,
}

impl Serialize for SummaryJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let insights = self.insights;
        let mut object = serializer.serialize_map(None)?;
        for metric in insights.summary.metrics() {
            object.serialize_entry(&metric.name, &Number(metric.value))?;
        }
        if let Some(estimate) = self.estimate {
            object.serialize_entry("estimate", &estimate)?;
        }
        object.serialize_entry("limiter", &insights.limiter)?;
        object.serialize_entry("limits", &insights.limits)?;
        object.serialize_entry("bounds", &insights.bounds)?;
        let findings: Vec<FindingJson<'_>> = insights.findings.iter().map(FindingJson::of).collect();
        object.serialize_entry("findings", &findings)?;
        object.serialize_entry("roofline", &insights.roofline)?;
        object.serialize_entry("utilisation", &insights.utilisation)?;
        object.end()
    }
}

/// A value as a plain number.
struct Number(MetricValue);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            MetricValue::Count(n) => serializer.serialize_u64(n),
            MetricValue::Real(x) => serializer.serialize_f64(x),
        }
    }
}

#[derive(Serialize)]
struct FindingJson<'a> {
    rule: Rule,
    effect: Effect,
    time_ns: u64,
    saves_ns: Option<u64>,
    title: &'a str,
    detail: &'a str,
    evidence: Vec<EvidenceJson<'a>>,
    slices: &'a [SliceRange],
}

#[derive(Serialize)]
struct EvidenceJson<'a> {
    name: &'a str,
    value: Number,
    unit: &'static str,
}

impl<'a> FindingJson<'a> {
    fn of(finding: &'a Finding) -> Self {
        let evidence = |m: &'a Metric| EvidenceJson { name: &m.name, value: Number(m.value), unit: m.unit.symbol() };
        Self {
            rule: finding.rule,
            effect: finding.effect,
            time_ns: finding.time_ns,
            saves_ns: finding.saves_ns,
            title: &finding.title,
            detail: &finding.detail,
            evidence: finding.evidence.iter().map(evidence).collect(),
            slices: &finding.slices,
        }
    }
}
