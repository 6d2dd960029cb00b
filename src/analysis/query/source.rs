//! Where the values of a column come from.

use super::syntax::Column;
use super::value::QueryValue;
use crate::Grouping;
use crate::lookup::parse_args;
use ns_profile::fused::{FusedMember, Part};
use ns_profile::{Profile, SliceId, TrackId};

/// The source of a column's values.
#[derive(Debug)]
pub(super) enum Source {
    Label(Box<Grouping>),
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
    /// The member of a fused operation as which the slice is looked at.
    pub member: Option<FusedMember>,
    /// The parts of the slice's time that count.
    pub parts: &'a [Part],
}

impl<'a> Row<'a> {
    /// A whole slice.
    pub(super) fn of(profile: &'a Profile, own: &'a [i64], track: TrackId, id: SliceId) -> Self {
        Self { profile, own, track, id, member: None, parts: &[Part::WHOLE] }
    }

    /// Its group.
    pub(super) fn group(&self, grouping: &Grouping) -> u32 {
        let of_member = |m: &FusedMember| grouping.group_of_member(self.profile.names_of(self.track), m);
        let of_member = self.member.as_ref().and_then(of_member);
        of_member.unwrap_or_else(|| grouping.group_of(self.profile, self.track, self.id))
    }
}

impl Source {
    pub(super) fn of(profile: &Profile, column: &Column) -> Self {
        match column {
            Column::Label(by) => Self::Label(Box::new(Grouping::new(profile, *by))),
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
            Self::Label(grouping) => QueryValue::Text(grouping.label(row.profile, row.group(grouping)).to_owned()),
            Self::Start => QueryValue::Int(slices.start(row.id).0),
            Self::End => QueryValue::Int(slices.end(row.id).0),
            Self::Dur => QueryValue::Int(Part::sum_ns(row.parts, slices.dur_ns(row.id))),
            Self::SelfTime => {
                let own = row.own.get(row.id.0 as usize).copied().unwrap_or(0);
                QueryValue::Int(Part::sum_ns(row.parts, own))
            }
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
