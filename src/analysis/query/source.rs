//! Where the values of a column come from.

use super::syntax::Column;
use super::value::QueryValue;
use crate::Grouping;
use crate::lookup::parse_args;
use ns_profile::{Profile, SliceId, TrackId};

/// The source of a column's values.
#[derive(Debug)]
pub(super) enum Source {
    Label(Grouping),
    Start,
    End,
    Dur,
    SelfTime,
    Depth,
    Arg(String),
}

/// A slice with the data needed to read its columns.
pub(super) struct Row<'a> {
    pub profile: &'a Profile,
    pub own: &'a [i64],
    pub track: TrackId,
    pub id: SliceId,
}

impl Source {
    pub(super) fn of(profile: &Profile, column: &Column) -> Self {
        match column {
            Column::Label(by) => Self::Label(Grouping::new(profile, *by)),
            Column::Start => Self::Start,
            Column::End => Self::End,
            Column::Dur => Self::Dur,
            Column::SelfTime => Self::SelfTime,
            Column::Depth => Self::Depth,
            Column::Arg(key) => Self::Arg(key.clone()),
        }
    }

    pub(super) fn value(&self, row: &Row<'_>) -> QueryValue {
        let slices = row.profile.slices();
        match self {
            Self::Label(grouping) => {
                let group = grouping.group_of(row.profile, row.track, row.id);
                QueryValue::Text(grouping.label(row.profile, group).to_owned())
            }
            Self::Start => QueryValue::Int(slices.start(row.id).0),
            Self::End => QueryValue::Int(slices.end(row.id).0),
            Self::Dur => QueryValue::Int(slices.dur_ns(row.id)),
            Self::SelfTime => QueryValue::Int(row.own.get(row.id.0 as usize).copied().unwrap_or(0)),
            Self::Depth => QueryValue::Int(i64::from(slices.depth(row.id))),
            Self::Arg(key) => {
                let json = row.profile.args().get(slices.args(row.id));
                if !json.contains(key.as_str()) {
                    return QueryValue::Missing;
                }
                let found = parse_args(json).into_iter().find(|(k, _)| k == key);
                found.map_or(QueryValue::Missing, |(_, text)| number_or_text(text))
            }
        }
    }
}

fn number_or_text(text: String) -> QueryValue {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(n), _) => QueryValue::Int(n),
        (_, Ok(x)) if x.is_finite() => QueryValue::Real(x),
        _ => QueryValue::Text(text),
    }
}
