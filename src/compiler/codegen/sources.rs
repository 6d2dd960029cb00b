//! The source map: one entry for each operation of the model that some instruction serves.

use super::charges::Charges;
use super::plan::Plan;
use crate::hlo::{HloInstruction, InstrId, Opcode, ParameterRole};
use ns_base::FxHashMap;
use ns_machine::{SourceEntry, SourceId, SourceMap, SourceMember};

/// Builds a [`SourceMap`] on demand.
pub(super) struct Sources<'p> {
    plan: &'p Plan<'p>,
    /// The first instruction in program order that reads each value, members of fusions included.
    readers: FxHashMap<InstrId, InstrId>,
    entries: SourceMap,
    ids: FxHashMap<InstrId, SourceId>,
    /// What was charged to the members of each fusion.
    charges: FxHashMap<SourceId, Charges>,
}

impl<'p> Sources<'p> {
    pub fn new(plan: &'p Plan<'p>) -> Self {
        let mut readers = FxHashMap::default();
        let mut reads = |id: InstrId, instruction: &HloInstruction| {
            for operand in &instruction.operands {
                readers.entry(*operand).or_insert(id);
            }
        };
        for (id, instruction) in plan.module.instructions.iter_enumerated() {
            if let Opcode::Fusion(body) = &instruction.opcode {
                body.ids.iter().zip(&body.members).for_each(|(id, member)| reads(*id, member));
            } else {
                reads(id, instruction);
            }
        }
        Self { plan, readers, entries: SourceMap::new(), ids: FxHashMap::default(), charges: FxHashMap::default() }
    }

    /// The entry of the first operation that computes with a value. Views and broadcasts of the value only say how it
    /// is read. Moving the value into SBUF belongs to that operation.
    pub fn of_reader(&mut self, id: InstrId) -> SourceId {
        let mut reader = id;
        while let Some(next) = self.readers.get(&reader) {
            reader = *next;
            let only_looks = self.plan.find(reader).is_some_and(|i| {
                matches!(
                    i.opcode,
                    Opcode::Broadcast { .. }
                        | Opcode::Transpose { .. }
                        | Opcode::Reshape
                        | Opcode::Convert
                        | Opcode::Slice { .. }
                )
            });
            if !only_looks {
                return self.of(reader);
            }
        }
        self.of(id)
    }

    /// The entry of an instruction or a member of a fusion.
    pub fn of(&mut self, id: InstrId) -> SourceId {
        if let Some(source) = self.ids.get(&id) {
            return *source;
        }
        let entry = self.plan.find(id).map_or_else(|| self.unknown(), |i| self.entry(i));
        let source = self.entries.push(entry);
        self.ids.insert(id, source);
        source
    }

    /// Whether an entry is a fusion.
    pub fn is_fusion(&self, source: SourceId) -> bool {
        self.entries.get(source).is_some_and(|entry| !entry.members.is_empty())
    }

    /// What was charged to the members of a fusion.
    pub fn charges(&mut self, source: SourceId) -> &mut Charges {
        self.charges.entry(source).or_default()
    }

    pub fn finish(mut self) -> SourceMap {
        for (id, source) in &self.ids {
            let Some(Opcode::Fusion(body)) = self.plan.find(*id).map(|i| &i.opcode) else { continue };
            let (Some(entry), charges) = (self.entries.get_mut(*source), self.charges.entry(*source).or_default())
            else {
                continue;
            };
            for (member, share) in entry.members.iter_mut().zip(charges.shares(body)) {
                member.share_ppm = share;
            }
        }
        self.entries
    }

    fn entry(&self, instruction: &HloInstruction) -> SourceEntry {
        let (members, root) = match &instruction.opcode {
            Opcode::Fusion(body) => (body.members.as_slice(), body.members.last().unwrap_or(instruction)),
            _ => (&[][..], instruction),
        };
        let path = self.plan.full_path(root);
        let mut scope: Vec<String> = path.split('/').map(str::to_owned).collect();
        let last = scope.pop().unwrap_or_default();
        let is_input = matches!(&root.opcode, Opcode::Parameter { role: ParameterRole::Input(_), .. });
        let named = !is_input && !root.metadata.op_type.is_empty();
        let framework_op = if named { root.metadata.op_type.clone() } else { last };
        SourceEntry {
            hlo_text: self.text(instruction),
            hlo_opcode: root.opcode.name().to_owned(),
            framework_op,
            scope,
            path,
            members: members
                .iter()
                .map(|m| SourceMember { path: self.plan.full_path(m), hlo_text: self.text(m), share_ppm: 0 })
                .collect(),
        }
    }

    /// An input is shown as the graph that needs it, as in lazily executed graphs: `SyncTensorsGraph.53`.
    fn text(&self, instruction: &HloInstruction) -> String {
        match &instruction.opcode {
            Opcode::Fusion(_) => instruction.name.clone(),
            Opcode::Parameter { role: ParameterRole::Input(_), .. } => self.plan.module.name.clone(),
            opcode => {
                let operands: Vec<String> = instruction
                    .operands
                    .iter()
                    .filter_map(|id| self.plan.find(*id))
                    .map(|operand| format!("%{}", operand.name))
                    .collect();
                format!("%{} = {}({})", instruction.name, opcode.name(), operands.join(", "))
            }
        }
    }

    fn unknown(&self) -> SourceEntry {
        SourceEntry {
            hlo_text: self.plan.module.name.clone(),
            hlo_opcode: String::new(),
            framework_op: String::new(),
            scope: vec![self.plan.root_scope()],
            path: self.plan.root_scope(),
            members: Vec::new(),
        }
    }
}
