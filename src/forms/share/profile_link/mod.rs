//! The fields of a link to the profile page.

mod field;
mod fields;
mod link;
mod texts;
mod tool;

pub(super) use fields::{names, read, write};
pub use link::{CompareLink, FlameLink, FlameView, ProfileLink};
pub use tool::Tool;

#[cfg(test)]
mod tests {
    use super::super::Link;
    use std::collections::BTreeSet;

    use super::*;
    use crate::ProfileSpec;
    use ns_analysis::GroupBy;
    use ns_analysis::compare::Measure;
    use ns_base::{Interval, TraceNs};
    use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel};
    use ns_view::table::Sort;
    use ns_view::timeline::{Annotation, Area, Arrangement, GroupKind, TrackId};

    #[test]
    fn all_state_survives_a_link() {
        let options = CompileOptions {
            auto_cast: AutoCast::All,
            auto_cast_type: CastType::Fp8E4m3,
            opt_level: OptLevel::O1,
            lnc: Some(2),
        };
        let link = ProfileLink {
            spec: ProfileSpec { options, batch_size: Some(8), ..ProfileSpec::default() },
            file: Some("a trace & more.json.gz".into()),
            tool: Tool::OperatorHlo,
            span: Some(Interval::new(TraceNs(-5), TraceNs(1_712_195_495_406_752_797))),
            selected: Some(16),
            area: Some(Area {
                span: Interval::new(TraceNs(-5), TraceNs(90)),
                tracks: [3, 4, 5, 9, 8].map(TrackId).to_vec(),
            }),
            ask: "where dur > 1ms & more".into(),
            level: Some("CPU ops".into()),
            group_by: GroupBy::Module,
            engines_by: Some(GroupBy::Category),
            instances: ns_analysis::Instances::Each,
            in_view: true,
            sort: Some(Sort { column: "time_ns".into(), descending: true }),
            find: "gemm | 5".into(),
            search: " fused_1 ".into(),
            arrangement: Arrangement {
                collapsed: BTreeSet::from([0, 3]),
                pinned: vec![TrackId(7), TrackId(2)],
                hidden: BTreeSet::from([TrackId(1)]),
                folded: BTreeSet::from([TrackId(4), TrackId(5)]),
                order: vec![TrackId(9), TrackId(8)],
            },
            annotations: vec![
                Annotation { start_ns: -7, end_ns: -7, label: "A & b".into() },
                Annotation { start_ns: 0, end_ns: 1_712_195_495_406_752_797, label: String::new() },
            ],
            search_by: Some(GroupKind { by: GroupBy::Category, level: Some("all".into()) }),
            group: Some("gpu & memcpy".into()),
            flame: FlameLink {
                view: FlameView::ByThread,
                stack: vec!["main; x".into(), "void at::native<float, 2>".into()],
                name: "aten::mm".into(),
                thread: Some(TrackId(4)),
            },
            counter: Some("python / memory bytes".into()),
            compare: CompareLink {
                base: Some("before.json".into()),
                base_run: Some(ProfileSpec {
                    options,
                    model: "mlp:width=8&9".into(),
                    seed: 3,
                    ..ProfileSpec::default()
                }),
                measure: Measure::Total,
                per_step: true,
            },
            core: Some((0, 1)),
        };
        // A file has no model, and a model no file.
        let of_file = ProfileLink { spec: ProfileSpec::default(), ..link.clone() };
        let of_model = ProfileLink { file: None, ..link };
        let mut written = std::collections::BTreeSet::new();
        for link in [of_file, of_model] {
            let mut query = crate::share::Query::default();
            write(&link, &mut query);
            written.extend(query.names().map(str::to_owned));
            let link = Link::Profile(Box::new(link));
            assert!(link.print().contains("area=-5..90:3-5.9.8"), "{}", link.print());
            assert_eq!(Link::parse(&link.print()), (link, vec![]));
        }
        assert_eq!(written, names().map(str::to_owned).collect());
    }

    #[test]
    fn wrong_values_are_named() {
        let (link, notices) = Link::parse(
            "/profile?workflow=eager&tool=x&from=9&to=3&sel=-1&by=x&range=some&hide=a&pin=x&marks=9..3~A&area=1..2:0-4294967295&core=7&of=x&flame=x&thread=x&time=x&per=x",
        );
        assert_eq!(link, Link::Profile(Box::default()));
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "workflow", "tool", "sel", "area", "by", "range", "hide", "pin", "marks", "of", "flame", "thread",
                "time", "per", "core", "from"
            ]
        );
        assert_eq!(notices[0].message, "workflow: 'eager' is not mark_step or trace. mark_step is used.");
    }
}
