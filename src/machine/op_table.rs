//! The operations of an executable, each once: many tiles do the same, so what depends on the operation alone is found once.

use ns_base::{FxHashMap, IndexVec, define_idx};

use super::isa::{Engine, Op};

define_idx! {
    /// An entry of an [`OpTable`].
    pub struct OpId;
}

/// An operation on an engine: all that the cost of an instruction depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EngineOp {
    /// Which engine runs it.
    pub engine: Engine,
    /// What it does.
    pub op: Op,
}

/// The operations that instructions refer to.
#[derive(Clone, Debug, Default)]
pub struct OpTable {
    entries: IndexVec<OpId, EngineOp>,
    /// The ids of the entries.
    ids: FxHashMap<EngineOp, OpId>,
    /// The last two operations of each engine, newest first: a tile's load and its product alternate.
    last: [[Option<(Op, OpId)>; 2]; Engine::ALL.len()],
}

impl OpTable {
    /// The id of an operation, which is added if it is new.
    pub fn id_of(&mut self, engine: Engine, op: Op) -> OpId {
        let last = &mut self.last[engine.index()];
        if let Some((_, id)) = last.iter().flatten().find(|(last, _)| *last == op) {
            return *id;
        }
        let entry = EngineOp { engine, op };
        let id = *self.ids.entry(entry).or_insert_with(|| self.entries.push(entry));
        *last = [Some((op, id)), last[0]];
        id
    }

    /// The operation of an id of this table.
    #[inline]
    pub fn op(&self, id: OpId) -> Op {
        self.entries[id].op
    }

    /// The operations in the order of their ids.
    pub fn iter(&self) -> std::slice::Iter<'_, EngineOp> {
        self.entries.iter()
    }
}

/// Tables of the same operations are equal, whichever was asked for last.
impl PartialEq for OpTable {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_one_id_on_each_engine() {
        let mut table = OpTable::default();
        let (copy, memset) = (Op::TensorCopy { free: 64 }, Op::Memset { free: 64 });
        let ids = [(Engine::Vector, copy), (Engine::Vector, memset), (Engine::GpSimd, memset), (Engine::Vector, copy)]
            .map(|(engine, op)| table.id_of(engine, op));
        assert_eq!(ids, [OpId(0), OpId(1), OpId(2), OpId(0)]);
        assert_eq!((table.op(ids[2]), table.iter().len()), (memset, 3));
        let before = table.clone();
        assert_eq!((table.id_of(Engine::Vector, memset), table == before), (OpId(1), true));
        assert_eq!((table.id_of(Engine::Scalar, copy), table == before), (OpId(3), false));
    }
}
