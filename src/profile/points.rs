//! Events at one instant: marks and samples, and the link events (flows, async, objects) that are joined by an id.

use std::marker::PhantomData;

use super::packed::Column;
use super::{ArgsId, Profile, TrackId};
use ns_base::convert::u64_to_u32;
use ns_base::define_idx;
use ns_base::{Idx, StrId, TraceNs};

define_idx! {
    /// An instant event of one profile, by time.
    pub struct InstantId;
}
define_idx! {
    /// A link event of one profile, by time.
    pub struct LinkId;
}

/// Columns of events at one instant, sorted by time, equal times in file order: the common columns, and those of the kind.
#[derive(Clone, Debug)]
pub struct PointTable<I, X> {
    pub(super) ts: Column<i64>,
    pub(super) track: Column<TrackId>,
    pub(super) name: Column<StrId>,
    pub(super) category: Column<StrId>,
    pub(super) args: Column<ArgsId>,
    pub(super) phase: Column<u8>,
    pub(super) own: X,
    pub(super) of: PhantomData<I>,
}

/// Instant events.
pub type InstantTable = PointTable<InstantId, ScopeColumn>;

/// Events that an id joins: flows (`s` `t` `f`), async (`b` `n` `e`, and the old `S` `T` `p` `F`), objects (`N` `O` `D`).
pub type LinkTable = PointTable<LinkId, JoinColumns>;

/// The columns that only instants have.
#[derive(Clone, Debug, Default)]
pub struct ScopeColumn {
    pub(super) scope: Column<u8>,
}

/// The columns that only link events have.
#[derive(Clone, Debug, Default)]
pub struct JoinColumns {
    pub(super) id_tag: Column<u8>,
    pub(super) id: Column<u64>,
    pub(super) binds_enclosing: Column<bool>,
}

impl<I, X: Default> Default for PointTable<I, X> {
    fn default() -> Self {
        Self {
            ts: Column::default(),
            track: Column::default(),
            name: Column::default(),
            category: Column::default(),
            args: Column::default(),
            phase: Column::default(),
            own: X::default(),
            of: PhantomData,
        }
    }
}

impl<I: Idx, X> PointTable<I, X> {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.ts.len()
    }

    /// Whether the table has no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All events by time.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, X> {
        (0..self.ts.len()).map(I::from_usize)
    }

    /// The time of the event.
    pub fn ts(&self, id: I) -> TraceNs {
        TraceNs(self.ts.get(id.index()))
    }

    /// The track of the event.
    pub fn track(&self, id: I) -> TrackId {
        self.track.get(id.index())
    }

    /// Its name.
    pub fn name(&self, id: I) -> StrId {
        self.name.get(id.index())
    }

    /// Its category, empty when it has none. Ids are joined within a category.
    pub fn category(&self, id: I) -> StrId {
        self.category.get(id.index())
    }

    /// Its arguments.
    pub fn args(&self, id: I) -> ArgsId {
        self.args.get(id.index())
    }

    /// The phase letter of the file: `i` and `I` for instants, `R` for a mark, `P` for a sample; others are kept as they were.
    pub fn phase(&self, id: I) -> char {
        char::from(self.phase.get(id.index()))
    }

    fn shared_bytes(&self) -> usize {
        let texts = self.name.bytes() + self.category.bytes() + self.args.bytes();
        self.ts.bytes() + self.track.bytes() + texts + self.phase.bytes()
    }
}

impl InstantTable {
    /// Its scope: `t` its thread, `p` its process, `g` everything; a space if the file has none.
    pub fn scope(&self, id: InstantId) -> char {
        char::from(self.own.scope.get(id.index()))
    }

    /// Bytes held by the columns.
    pub fn bytes(&self) -> usize {
        self.shared_bytes() + self.own.scope.bytes()
    }
}

/// The id that joins link events, in the form the file had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkValue {
    /// No id.
    None,
    /// A JSON number.
    Number(u64),
    /// Text of the form `0x2a`, in lower case without leading zeros.
    Hex(u64),
    /// Any other text, or the raw JSON of another value, such as an id with `local` or `global`, or with a `scope`.
    Text(StrId),
}

impl LinkValue {
    pub(super) fn tag(self) -> (u8, u64) {
        match self {
            Self::None => (0, 0),
            Self::Number(n) => (1, n),
            Self::Hex(n) => (2, n),
            Self::Text(s) => (3, u64::from(s.0)),
        }
    }

    /// Whether it is valid only in its process, or in all processes; `None` if it does not say.
    pub(super) fn is_local(self, profile: &Profile) -> Option<bool> {
        let Self::Text(text) = self else { return None };
        let text = profile.str(text).strip_prefix('{')?;
        if text.contains("\"local\":") { Some(true) } else { text.contains("\"global\":").then_some(false) }
    }

    pub(super) fn from_tag(tag: u8, value: u64) -> Self {
        match tag {
            1 => Self::Number(value),
            2 => Self::Hex(value),
            3 => Self::Text(StrId(u64_to_u32(value))),
            _ => Self::None,
        }
    }
}

impl LinkTable {
    /// The id that it is joined by.
    pub fn id(&self, id: LinkId) -> LinkValue {
        LinkValue::from_tag(self.own.id_tag.get(id.index()), self.own.id.get(id.index()))
    }

    /// Whether a flow ends in the enclosing slice (`"bp":"e"`) and not in the next one.
    pub fn binds_enclosing(&self, id: LinkId) -> bool {
        self.own.binds_enclosing.get(id.index())
    }

    /// Bytes held by the columns.
    pub fn bytes(&self) -> usize {
        self.shared_bytes() + self.own.id_tag.bytes() + self.own.id.bytes() + self.own.binds_enclosing.bytes()
    }
}
