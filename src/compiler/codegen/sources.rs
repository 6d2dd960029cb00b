//! The source map: one entry per operation of the model that some instruction serves.

use crate::base::FxHashMap;
use crate::compiler::hlo::{HloInstruction, HloModule, InstrId, Opcode, ParameterRole};
use crate::machine::{SourceEntry, SourceId, SourceMap};

/// Builds a [`SourceMap`] on demand.
pub(super) struct Sources<'a> {
    module: &'a HloModule,
    /// Instructions by id, members of fusions included.
    by_id: FxHashMap<InstrId, &'a HloInstruction>,
    /// The first instruction in program order that reads each value, members of fusions included.
    readers: FxHashMap<InstrId, InstrId>,
    entries: SourceMap,
    ids: FxHashMap<InstrId, SourceId>,
}

impl<'a> Sources<'a> {
    pub fn new(module: &'a HloModule) -> Self {
        let mut by_id = FxHashMap::default();
        let mut readers = FxHashMap::default();
        let mut reads = |id: InstrId, instruction: &HloInstruction| {
            for operand in &instruction.operands {
                readers.entry(*operand).or_insert(id);
            }
        };
        for (id, instruction) in module.instructions.iter_enumerated() {
            if let Opcode::Fusion(body) = &instruction.opcode {
                by_id.extend(body.ids.iter().copied().zip(&body.members));
                body.ids.iter().zip(&body.members).for_each(|(id, member)| reads(*id, member));
            } else {
                reads(id, instruction);
            }
            by_id.insert(id, instruction);
        }
        Self { module, by_id, readers, entries: SourceMap::new(), ids: FxHashMap::default() }
    }

    /// The entry of the operation that computes with a value first: views of it and its broadcasts only say how it is
    /// read. What moves the value into SBUF belongs to that operation.
    pub fn of_reader(&mut self, id: InstrId) -> SourceId {
        let mut reader = id;
        while let Some(next) = self.readers.get(&reader) {
            reader = *next;
            let only_looks = self.by_id.get(&reader).is_some_and(|i| {
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

    /// An instruction or a member of a fusion.
    pub fn instruction(&self, id: InstrId) -> Option<&'a HloInstruction> {
        self.by_id.get(&id).copied()
    }

    /// The entry of an instruction or a member of a fusion.
    pub fn of(&mut self, id: InstrId) -> SourceId {
        if let Some(source) = self.ids.get(&id) {
            return *source;
        }
        let entry = self.by_id.get(&id).map_or_else(|| self.unknown(), |i| self.entry(i));
        let source = self.entries.push(entry);
        self.ids.insert(id, source);
        source
    }

    /// Full framework path of an instruction, for messages.
    pub fn path(&self, id: InstrId) -> String {
        self.by_id.get(&id).map_or_else(String::new, |i| self.full_path(i))
    }

    pub fn finish(self) -> SourceMap {
        self.entries
    }

    fn entry(&self, instruction: &HloInstruction) -> SourceEntry {
        let (members, root) = match &instruction.opcode {
            Opcode::Fusion(body) => (body.members.as_slice(), body.members.last().unwrap_or(instruction)),
            _ => (&[][..], instruction),
        };
        let path = self.full_path(root);
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
            members: members.iter().map(|m| self.full_path(m)).collect(),
            member_hlo: members.iter().map(|m| self.text(m)).collect(),
        }
    }

    /// An input is shown by the graph that needs it, as lazily executed graphs do: `SyncTensorsGraph.53`.
    fn text(&self, instruction: &HloInstruction) -> String {
        match &instruction.opcode {
            Opcode::Fusion(_) => instruction.name.clone(),
            Opcode::Parameter { role: ParameterRole::Input(_), .. } => self.module.name.clone(),
            opcode => {
                let operands: Vec<String> = instruction
                    .operands
                    .iter()
                    .filter_map(|id| self.by_id.get(id))
                    .map(|operand| format!("%{}", operand.name))
                    .collect();
                format!("%{} = {}({})", instruction.name, opcode.name(), operands.join(", "))
            }
        }
    }

    fn full_path(&self, instruction: &HloInstruction) -> String {
        let named = &instruction.metadata.op_name;
        match &instruction.opcode {
            Opcode::Parameter { role: ParameterRole::Input(_), .. } => {
                let root =
                    named.split('/').next().filter(|r| !r.is_empty()).map_or_else(|| self.root_scope(), str::to_owned);
                format!("{root}/input")
            }
            _ if named.is_empty() => format!("{}/{}", self.root_scope(), instruction.name),
            _ => named.clone(),
        }
    }

    /// The outermost scope: `NN[model]`.
    pub fn root_scope(&self) -> String {
        let root = &self.module.instructions[self.module.root];
        let named = match &root.opcode {
            Opcode::Fusion(body) => body.members.last().map_or("", |m| m.metadata.op_name.as_str()),
            _ => root.metadata.op_name.as_str(),
        };
        named.split('/').next().filter(|s| !s.is_empty()).unwrap_or(&self.module.name).to_owned()
    }

    fn unknown(&self) -> SourceEntry {
        SourceEntry {
            hlo_text: self.module.name.clone(),
            hlo_opcode: String::new(),
            framework_op: String::new(),
            scope: vec![self.root_scope()],
            path: self.root_scope(),
            members: Vec::new(),
            member_hlo: Vec::new(),
        }
    }
}
