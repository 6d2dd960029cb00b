//! From the list to instructions with ranges: what each operand touches, what a call becomes on the core, and what a loop need not repeat.

use ns_base::FxHashMap;
use ns_base::convert::usize_to_u32;
use ns_machine::cost::CostTable;
use ns_machine::isa::{DmaDirection, Engine, KernelOpcode};

use crate::Decisions;
use crate::instructions::{Kind, engine, kind};
use crate::kernel::{Access, Action, Choice, Item, Kernel, Memory, Tile};
use crate::list::{Form, List, Raw};

/// Columns of one product: a bank of PSUM in fp32.
const BANK_ELEMENTS: u32 = 512;
/// Bytes of a bank in a partition.
const BANK_BYTES: u64 = 2_048;

pub(crate) fn lower(list: &List, costs: &CostTable, decisions: &Decisions) -> Kernel {
    let mut lowering = Lowering::new(list, costs);
    let hoists = decisions.hoist && list.dialect == 1;
    for raw in list.raws() {
        let form = &list.forms[raw.form];
        if hoists && lowering.is_repeat(form, raw) {
            continue;
        }
        lowering.instruction(form, raw);
    }
    lowering.kernel
}

/// What an operand of an instruction is.
#[derive(Clone, Copy, Debug)]
struct Operand {
    access: Access,
    memory: Memory,
    /// Partitions, from the first.
    partitions: [u32; 2],
    /// Elements of a partition; of device memory, all.
    elements: u64,
    /// Pieces in which they lie in one piece each.
    pieces: u64,
    bytes: u32,
}

struct Lowering<'a> {
    list: &'a List,
    costs: &'a CostTable,
    /// What each form is.
    kinds: Vec<Kind>,
    kernel: Kernel,
    /// The tile that stands for a tensor of the list: another one where a repetition was left out.
    stands_for: Vec<u32>,
    /// How often each tensor was written so far, and how many instructions write it in all.
    versions: Vec<u32>,
    writers: Vec<u32>,
    /// The last instruction of each call: what it read, and the tensor that it made.
    last: FxHashMap<usize, (usize, Vec<[i64; 4]>, usize)>,
    /// The calls of each form in the iteration that was last.
    calls: FxHashMap<usize, (usize, Vec<usize>)>,
    functions: FxHashMap<String, u16>,
}

impl<'a> Lowering<'a> {
    fn new(list: &'a List, costs: &'a CostTable) -> Self {
        let mut kernel = Kernel::default();
        let kinds: Vec<Kind> = list.forms.iter().map(|form| kind(&form.op)).collect();
        let of_array = results_of_array(list, &kinds);
        for (at, letter) in list.tensors.memory.bytes().enumerate() {
            let bytes = list.tensors.elements[at] * list.element_bytes(at);
            let memory = match letter {
                b'i' => Memory::Input,
                b'o' | b'h' => Memory::Hbm,
                b'p' => Memory::Psum,
                b'a' if of_array[at] && bytes <= BANK_BYTES => Memory::Psum,
                _ => Memory::Sbuf,
            };
            let row_elements = list.shapes.get(&at.to_string()).and_then(|s| s.last()).copied().unwrap_or(1).max(1);
            kernel.tile(Tile {
                memory,
                bytes,
                partitions: list.tensors.partitions[at],
                row_elements,
                site: u32::try_from(list.tensors.site[at]).unwrap_or(0),
                tensor: usize_to_u32(at),
            });
        }
        let n = kernel.tiles.len();
        let mut writers = vec![0; n];
        for raw in list.raws() {
            for (tensor, _, _) in raw.operands().take(list.forms[raw.form].writes) {
                writers[base_of(list, tensor).0] += 1;
            }
        }
        Self {
            list,
            costs,
            kinds,
            kernel,
            stands_for: (0..usize_to_u32(n)).collect(),
            versions: vec![0; n],
            writers,
            last: FxHashMap::default(),
            calls: FxHashMap::default(),
            functions: FxHashMap::default(),
        }
    }

    /// Whether an instruction repeats the last one of its call, or of another call in the same iteration, as in a loop that its author wrote
    /// out: the same inputs, unchanged, into a tile of its own. Then its tile is that of the last one.
    fn is_repeat(&mut self, form: &Form, raw: Raw<'_>) -> bool {
        let mut operands = raw.operands();
        let Some((made, first, pattern)) = operands.next() else { return false };
        let is_result = |tensor: usize| {
            let t = &self.list.tensors;
            !matches!(t.memory.as_bytes()[tensor], b'i' | b'o' | b'h') && t.of[tensor] < 0 && self.writers[tensor] == 1
        };
        if form.writes != 1 || !is_result(made) || form.is("accumulate") || !form.dynamic.is_empty() {
            self.note_writes(form, raw);
            return false;
        }
        let t = &self.list.tensors;
        let [dtype, pattern] = [t.dtype[made], pattern].map(|place| i64::from(usize_to_u32(place)));
        // A result of another size or type is another one, and so is one in another memory.
        let memory = i64::from(t.memory.as_bytes()[made]) << 32 | i64::from(t.partitions[made]);
        let mut read = vec![[memory, dtype, i64::try_from(t.elements[made]).unwrap_or(-1), first], [pattern, 0, 0, 0]];
        read.extend(operands.map(|(tensor, start, pattern)| {
            let (base, _) = base_of(self.list, tensor);
            let tile = self.stands_for[base];
            [i64::from(tile), start, i64::from(usize_to_u32(pattern)), i64::from(self.versions[tile as usize])]
        }));
        // A constant has no inputs; its tile may be changed later by no instruction, as is_result says.
        let (scope, calls) = self.calls.entry(raw.form).or_default();
        if *scope != raw.scope {
            *scope = raw.scope;
            calls.clear();
        }
        if !calls.contains(&raw.site) {
            calls.push(raw.site);
        }
        let mut last = calls.iter().filter_map(|site| self.last.get(site));
        if let Some((_, _, before)) = last.find(|(form, last, _)| *form == raw.form && *last == read) {
            self.stands_for[made] = self.stands_for[*before];
            return true;
        }
        self.last.insert(raw.site, (raw.form, read, made));
        self.note_writes(form, raw);
        false
    }

    fn note_writes(&mut self, form: &Form, raw: Raw<'_>) {
        for (tensor, ..) in raw.operands().take(form.writes) {
            let tile = self.stands_for[base_of(self.list, tensor).0];
            self.versions[tile as usize] += 1;
        }
    }

    fn operand(&self, (tensor, start, pattern): (usize, i64, usize), is_dynamic: bool) -> Operand {
        let (base, offset) = base_of(self.list, tensor);
        let tile = self.stands_for[base];
        let bytes = u32::try_from(self.list.element_bytes(tensor)).unwrap_or(4);
        let whole = self.kernel.tiles[tile as usize];
        let pattern = &self.list.patterns[pattern];
        let on_chip = matches!(whole.memory, Memory::Sbuf | Memory::Psum);
        let (partitions, pairs) = match pattern.split_at_checked(2) {
            Some((p, pairs)) if on_chip => ([number(p[0]), number(p[1])], pairs),
            _ => ([0, 0], &pattern[..]),
        };
        let range = Range::of(start + offset, pairs);
        let access = if on_chip {
            let at = |element: i64| u32::try_from(element.max(0).saturating_mul(i64::from(bytes))).unwrap_or(u32::MAX);
            let within = [at(range.first), at(range.last + 1)];
            let bytes = if is_dynamic { [0, u32::MAX] } else { within };
            Access { tile, rows: [partitions[0], partitions[0] + partitions[1]], bytes }
        } else {
            let row = i64::try_from(whole.row_elements).unwrap_or(1).max(1);
            let column = range.first.rem_euclid(row);
            // What reaches over the end of a row touches whole rows.
            let width = range.columns(row);
            let columns = if is_dynamic || column + width > row { [0, row] } else { [column, column + width] };
            let rows =
                if is_dynamic { [0, u32::MAX] } else { [number(range.first / row), number(range.last / row + 1)] };
            Access { tile, rows, bytes: columns.map(number) }
        };
        Operand { access, memory: whole.memory, partitions, elements: range.elements, pieces: range.pieces, bytes }
    }

    fn instruction(&mut self, form: &Form, raw: Raw<'_>) {
        let operands: Vec<Operand> =
            raw.operands().enumerate().map(|(at, operand)| self.operand(operand, form.dynamic.contains(&at))).collect();
        match self.kinds[raw.form] {
            Kind::Free => {}
            Kind::Transfer(is_transpose) => {
                self.transfer(form, raw, &operands, is_transpose);
                self.further_reads(form, raw, &operands);
            }
            Kind::Product => self.product(form, raw, &operands),
            Kind::Transpose => self.transpose(form, raw, &operands),
            Kind::Broadcast => self.broadcast(raw, &operands),
            Kind::Compute(opcode, choice) => {
                let choice = engine(&form.engine).map_or(choice, Choice::Only);
                self.compute(form, raw, &operands, opcode, choice);
            }
        }
    }

    fn push(&mut self, action: Action, raw: Raw<'_>, operands: &[Operand], writes: usize, accumulates: bool) {
        self.kernel.items.push(Item {
            action,
            accesses: operands.iter().map(|o| o.access).collect(),
            writes: usize_to_u32(writes),
            accumulates,
            site: usize_to_u32(raw.site),
            scope: usize_to_u32(raw.scope),
            form: usize_to_u32(raw.form),
        });
    }

    fn compute(&mut self, form: &Form, raw: Raw<'_>, operands: &[Operand], opcode: KernelOpcode, choice: Choice) {
        let has_reduction = form.operands.iter().any(|o| o == "reduce_res");
        let opcode =
            if opcode == KernelOpcode::Activate && has_reduction { KernelOpcode::ActivateReduce } else { opcode };
        let free = operands.iter().map(|o| o.elements).max().unwrap_or(1);
        let is_dynamic = form.op.starts_with("tensor_copy_dynamic");
        let free = if is_dynamic { free.max(DYNAMIC_COPY_CYCLES) } else { free };
        let extra = if form.op == "tensor_scalar_reduce" { 64 } else { 0 };
        let wide = |o: &&Operand| o.elements * 2 > free;
        let in_psum = operands.iter().any(|o| o.memory == Memory::Psum);
        let is_plain = !matches!(opcode, KernelOpcode::Reduce) || matches!(form.text("op"), "add" | "max");
        // A column that scales or shifts PSUM is what the scalar engine does.
        let scales = opcode == KernelOpcode::TensorScalar
            && operands.len() > 2
            && operands.iter().skip(1).any(|o| o.memory == Memory::Psum);
        let choice = match choice {
            Choice::VectorOrScalar if !is_of_scalar(form) => Choice::Only(Engine::Vector),
            Choice::VectorOrScalar if scales => Choice::Only(Engine::Scalar),
            _ if form.op == "tensor_tensor" && form.text("op") == "power" => Choice::Only(Engine::GpSimd),
            choice => choice,
        };
        let function = if opcode == KernelOpcode::Activate || opcode == KernelOpcode::ActivateReduce {
            self.function(form.text("op"))
        } else {
            0
        };
        let action = Action::Compute {
            choice,
            opcode,
            free: u32::try_from(free + extra).unwrap_or(u32::MAX),
            is_narrow: is_plain && !is_dynamic && operands.iter().filter(wide).all(|o| o.bytes <= 2),
            in_psum,
            has_gaps: operands.iter().any(|o| o.pieces > 1),
            array: [0, 0],
            products: 1,
            function,
        };
        self.push(action, raw, operands, form.writes, false);
    }

    /// The number of an activation function; copies need no table of their own.
    fn function(&mut self, name: &str) -> u16 {
        if matches!(name, "" | "copy" | "identity") {
            return 0;
        }
        let next = u16::try_from(self.functions.len() + 1).unwrap_or(u16::MAX);
        *self.functions.entry(name.to_owned()).or_insert(next)
    }

    fn tensor(opcode: KernelOpcode, free: u32, is_narrow: bool, array: [u32; 2]) -> Action {
        let products = if opcode == KernelOpcode::Matmul && !is_narrow { 2 } else { 1 };
        Action::Compute {
            choice: Choice::Only(Engine::Tensor),
            opcode,
            free,
            is_narrow,
            in_psum: false,
            has_gaps: false,
            array,
            products,
            function: 0,
        }
    }

    fn product(&mut self, form: &Form, raw: Raw<'_>, operands: &[Operand]) {
        let [result, stationary, moving, ..] = operands else { return };
        let is_narrow = [stationary, moving].iter().all(|o| o.bytes <= 2);
        let opcode = if form.is("is_transpose") { KernelOpcode::Transpose } else { KernelOpcode::Matmul };
        // With two rows of fp8 in each of the array's, the operands have twice the columns of the result.
        let array = [stationary.partitions[1], result.partitions[1]];
        let action = Self::tensor(opcode, u32::try_from(result.elements).unwrap_or(BANK_ELEMENTS), is_narrow, array);
        self.push(action, raw, operands, form.writes, form.is("accumulate"));
    }

    fn transpose(&mut self, form: &Form, raw: Raw<'_>, operands: &[Operand]) {
        let [result, data, ..] = operands else { return };
        if engine(&form.engine) == Some(Engine::Vector) {
            return self.compute(form, raw, operands, KernelOpcode::Transpose, Choice::Only(Engine::Vector));
        }
        let array = [data.partitions[1], result.partitions[1]];
        let action = Self::tensor(KernelOpcode::Transpose, data.partitions[1], data.bytes <= 2, array);
        if result.memory == Memory::Psum {
            return self.push(action, raw, operands, 1, false);
        }
        let through = self.scratch(Memory::Psum, result);
        self.push(action, raw, &[through, *data], 1, false);
        self.copy(raw, &[*result, through]);
    }

    /// A tile of the size of an operand.
    fn scratch(&mut self, memory: Memory, like: &Operand) -> Operand {
        let bytes = u64::from(like.bytes) * like.elements;
        let whole = self.kernel.tiles[like.access.tile as usize];
        let tile = self.kernel.tile(Tile { memory, bytes, partitions: like.partitions[1], ..whole });
        let end = u32::try_from(bytes).unwrap_or(u32::MAX);
        Operand { access: Access { tile, bytes: [0, end], ..like.access }, memory, pieces: 1, ..*like }
    }

    fn copy(&mut self, raw: Raw<'_>, operands: &[Operand]) {
        let action = Action::Compute {
            choice: Choice::VectorOrScalar,
            opcode: KernelOpcode::Copy,
            free: u32::try_from(operands[0].elements).unwrap_or(u32::MAX),
            is_narrow: operands.iter().all(|o| o.bytes <= 2),
            in_psum: operands.iter().any(|o| o.memory == Memory::Psum),
            has_gaps: operands.iter().any(|o| o.pieces > 1),
            array: [0, 0],
            products: 1,
            function: 0,
        };
        self.push(action, raw, operands, 1, false);
    }

    /// A column of ones times the partition, a bank at a time; what does not stay in PSUM is copied out.
    fn broadcast(&mut self, raw: Raw<'_>, operands: &[Operand]) {
        let [result, data, ..] = operands else { return };
        let (whole, width) = (result.elements, u64::from(result.bytes));
        let mut done = 0;
        while done < whole {
            let elements = (whole - done).min(u64::from(BANK_ELEMENTS));
            let part = |o: &Operand| {
                let first = o.access.bytes[0] + number(i64::try_from(done * width).unwrap_or(0));
                let bytes = [first, first + number(i64::try_from(elements * width).unwrap_or(0))];
                let bytes = if whole > u64::from(BANK_ELEMENTS) { bytes } else { o.access.bytes };
                Operand { access: Access { bytes, ..o.access }, elements, ..*o }
            };
            let (to, from) = (part(result), part(data));
            let free = u32::try_from(elements).unwrap_or(BANK_ELEMENTS);
            let action = Self::tensor(KernelOpcode::Matmul, free, data.bytes <= 2, [1, result.partitions[1]]);
            if result.memory == Memory::Psum {
                self.push(action, raw, &[to, from], 1, false);
            } else {
                let through = self.scratch(Memory::Psum, &to);
                self.push(action, raw, &[through, from], 1, false);
                self.copy(raw, &[to, through]);
            }
            done += elements;
        }
    }

    /// What a transfer that computes reads beside its first source: the others, and in device memory what it adds to.
    fn further_reads(&mut self, form: &Form, raw: Raw<'_>, operands: &[Operand]) {
        let [result, ..] = operands else { return };
        let adds = !form.text("dst_op").is_empty() && in_hbm(result);
        let others = if form.op == "dma_compute" { operands.get(2..).unwrap_or_default() } else { &[] };
        for read in others.iter().chain(adds.then_some(result)) {
            let action = self.movement(result, read, false);
            self.push(action, raw, &[*read], 0, false);
        }
    }

    fn transfer(&mut self, form: &Form, raw: Raw<'_>, operands: &[Operand], is_transpose: bool) {
        let [result, data, ..] = operands else { return };
        // DMA engines do not reach PSUM.
        if data.memory == Memory::Psum {
            let through = self.scratch(Memory::Sbuf, data);
            self.copy(raw, &[through, *data]);
            return self.transfer(form, raw, &[*result, through], is_transpose);
        }
        if result.memory == Memory::Psum {
            let through = self.scratch(Memory::Sbuf, result);
            self.transfer(form, raw, &[through, *data], is_transpose);
            return self.copy(raw, &[*result, through]);
        }
        // There is no DMA that transposes elements of 32 bits: the array does it, block by block.
        let by_array = is_transpose && data.bytes > 2 && !in_hbm(result) && in_hbm(data);
        if by_array {
            return self.load_and_transpose(raw, result, data);
        }
        let action = self.movement(result, data, is_transpose);
        self.push(action, raw, operands, form.writes.max(1), false);
    }

    /// A DMA from one operand to another.
    fn movement(&self, result: &Operand, data: &Operand, is_transpose: bool) -> Action {
        let direction = match (in_hbm(result), in_hbm(data)) {
            (true, true) => DmaDirection::HbmToHbm,
            (true, false) => DmaDirection::SbufToHbm,
            (false, _) => DmaDirection::HbmToSbuf,
        };
        let chip = if in_hbm(result) { data } else { result };
        let (memory, elements) = match (in_hbm(result), in_hbm(data)) {
            (true, _) => (result, result.elements),
            (false, true) => (data, data.elements),
            (false, false) => (result, result.elements * u64::from(result.partitions[1])),
        };
        let partitions =
            if direction == DmaDirection::HbmToHbm { [0, self.costs.core.partitions] } else { chip.partitions };
        // A partition is a descriptor at least, and so is every piece of either side.
        let on_chip = if direction == DmaDirection::HbmToHbm { 0 } else { chip.pieces * u64::from(chip.partitions[1]) };
        let descriptors = if in_hbm(memory) { memory.pieces.max(on_chip) } else { on_chip };
        let bytes = elements * u64::from(memory.bytes);
        Action::Move {
            bytes,
            // A transpose reaches 90 % of the rate of a copy, and half of it within SBUF.
            engine_bytes: match is_transpose {
                true if !in_hbm(memory) => bytes * 2,
                true => bytes * 10 / 9,
                false => bytes,
            },
            partitions,
            descriptors,
            direction,
            tensor: self.kernel.tiles[memory.access.tile as usize].tensor,
            is_spill: false,
        }
    }

    /// A load of rows as they lie, then a transpose and a copy for each block of the array.
    fn load_and_transpose(&mut self, raw: Raw<'_>, result: &Operand, data: &Operand) {
        let side = self.costs.core.partitions;
        // The rows of the result are the columns of the data.
        let (columns, rows) = (u64::from(result.partitions[1]), result.elements);
        let loaded = self.scratch(
            Memory::Sbuf,
            &Operand {
                partitions: [0, u32::try_from(rows.min(u64::from(side))).unwrap_or(side)],
                elements: columns * rows.div_ceil(u64::from(side)),
                access: Access { rows: [0, side], ..result.access },
                ..*result
            },
        );
        let bytes = data.elements * u64::from(data.bytes);
        let action = Action::Move {
            bytes,
            engine_bytes: bytes,
            partitions: loaded.partitions,
            descriptors: rows,
            direction: DmaDirection::HbmToSbuf,
            tensor: self.kernel.tiles[data.access.tile as usize].tensor,
            is_spill: false,
        };
        self.push(action, raw, &[loaded, *data], 1, false);
        let mut done = 0;
        while done < rows {
            let block = (rows - done).min(u64::from(side));
            let width = u64::from(result.bytes);
            let first = result.access.bytes[0] + u32::try_from(done * width).unwrap_or(0);
            let to = Operand {
                access: Access { bytes: [first, first + u32::try_from(block * width).unwrap_or(0)], ..result.access },
                elements: block,
                ..*result
            };
            let through = self.scratch(Memory::Psum, &to);
            let free = u32::try_from(block).unwrap_or(side);
            let array = [free, result.partitions[1]];
            self.push(Self::tensor(KernelOpcode::Transpose, free, false, array), raw, &[through, loaded], 1, false);
            self.copy(raw, &[to, through]);
            done += block;
        }
    }
}

/// The tensor whose bytes a view shows. A view begins where its tensor does.
fn base_of(list: &List, tensor: usize) -> (usize, i64) {
    let mut base = tensor;
    // A view of a view; a list of a damaged file may have a circle.
    for _ in 0..8 {
        match usize::try_from(list.tensors.of[base]) {
            Ok(of) => base = of,
            Err(_) => break,
        }
    }
    (base, 0)
}

/// The tensors that the tensor engine makes.
fn results_of_array(list: &List, kinds: &[Kind]) -> Vec<bool> {
    let mut of_array = vec![false; list.tensors.memory.len()];
    for raw in list.raws() {
        let makes = matches!(kinds[raw.form], Kind::Broadcast | Kind::Product | Kind::Transpose);
        if let Some((tensor, ..)) = raw.operands().next().filter(|_| makes) {
            of_array[tensor] = true;
        }
    }
    of_array
}

fn in_hbm(operand: &Operand) -> bool {
    matches!(operand.memory, Memory::Input | Memory::Hbm)
}

/// Elements for which a copy whose address the device alone knows takes as long as for fewer (cost table of SDK 2.26).
const DYNAMIC_COPY_CYCLES: u64 = 600;

/// Whether the scalar engine can do it: of operations with numbers and columns, it multiplies, adds, or multiplies and then adds.
fn is_of_scalar(form: &Form) -> bool {
    let operators = (form.text("op0"), form.text("op1"));
    form.op != "tensor_scalar" || matches!(operators, ("multiply", "add" | "") | ("add", ""))
}

fn number(n: i64) -> u32 {
    u32::try_from(n.max(0)).unwrap_or(u32::MAX)
}

/// The elements of an operand: from the first to the last, how many, and in how many pieces.
#[derive(Clone, Copy, Debug)]
struct Range<'a> {
    first: i64,
    last: i64,
    elements: u64,
    pieces: u64,
    pairs: &'a [i64],
}

impl<'a> Range<'a> {
    fn of(start: i64, pairs: &'a [i64]) -> Self {
        let (mut first, mut last, mut elements, mut pieces) = (start, start, 1u64, 1u64);
        let count = pairs.len() / 2;
        for (at, pair) in pairs.chunks_exact(2).enumerate() {
            let reach = pair[0].saturating_mul((pair[1] - 1).max(0));
            first = first.saturating_add(reach.min(0));
            last = last.saturating_add(reach.max(0));
            let n = u64::try_from(pair[1]).unwrap_or(0);
            elements = elements.saturating_mul(n);
            // Only the innermost dimension may lie in one piece; one that is repeated is read once.
            if !(at + 1 == count && pair[0] == 1) && pair[0] != 0 {
                pieces = pieces.saturating_mul(n);
            }
        }
        Self { first, last, elements, pieces, pairs }
    }

    /// The columns that it spans in rows of this length.
    fn columns(&self, row: i64) -> i64 {
        let within = self.pairs.chunks_exact(2).filter(|pair| pair[0].abs() % row != 0);
        within.map(|pair| (pair[0].abs() * (pair[1] - 1).max(0)).min(row)).sum::<i64>() + 1
    }
}
