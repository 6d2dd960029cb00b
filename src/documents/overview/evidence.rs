//! Evidence for a statement: a tool, and the part of the profile that it shows. Documents store it as the last part of a link.

use ns_base::{Interval, TraceNs};
use ns_forms::share::{Query, Tool};
use ns_view::timeline::SliceRef;

/// Evidence for a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub tool: Tool,
    /// The span on the timeline.
    pub span: Option<Interval<TraceNs>>,
    /// The slice that is selected there.
    pub slice: Option<SliceRef>,
}

impl Evidence {
    pub const fn tool(tool: Tool) -> Self {
        Self { tool, span: None, slice: None }
    }

    /// A span of the timeline.
    pub const fn span(span: Interval<TraceNs>) -> Self {
        Self { tool: Tool::OperatorTimeline, span: Some(span), slice: None }
    }

    /// The fields of a link: `tool=operator-timeline&from=10&to=20&sel=7`.
    pub fn print(&self) -> String {
        let mut query = Query::default();
        query.set("tool", self.tool.name());
        if let Some(span) = self.span {
            query.set("from", &span.start.0.to_string());
            query.set("to", &span.end.0.to_string());
        }
        if let Some(slice) = self.slice {
            query.set("sel", &slice.0.to_string());
        }
        query.print()
    }

    /// Reads the output of [`Self::print`]; `None` if it does not name a tool.
    pub fn parse(text: &str) -> Option<Self> {
        let query = Query::parse(text);
        let number = |name: &str| query.get(name)?.parse::<i64>().ok();
        let span = number("from").zip(number("to")).filter(|(from, to)| from < to);
        Some(Self {
            tool: Tool::from_name(query.get("tool")?)?,
            span: span.map(|(from, to)| Interval::new(TraceNs(from), TraceNs(to))),
            slice: query.get("sel").and_then(|t| t.parse().ok()).map(SliceRef),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_as_it_was_written() {
        let span = Interval::new(TraceNs(-5), TraceNs(20));
        for evidence in [
            Evidence::tool(Tool::IdleGaps),
            Evidence::span(span),
            Evidence { slice: Some(SliceRef(7)), ..Evidence::span(span) },
        ] {
            assert_eq!(Evidence::parse(&evidence.print()), Some(evidence));
        }
        assert_eq!(Evidence::parse("tool=x"), None);
        assert_eq!(Evidence::parse("from=1&to=2"), None);
    }
}
