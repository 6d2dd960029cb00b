//! The order of the instructions on each engine, the space of their tiles, and the executable.
//!
//! As a compiler does it: of the instructions among some hundred after the oldest that has not begun, the one that can begin first is next.
//! A tile gets its space in the order of the program, free bytes first, then those that were released first; all instructions that touch it
//! wait for that. Times are those of the published clocks; the simulator then finds what really happens.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ns_base::convert::usize_to_u32;
use ns_base::{Interval, SimTime};
use ns_machine::cost::decisions::PSUM_PIECE_BYTES;
use ns_machine::cost::{CostTable, KernelWork, instruction_cost, kernel_cycles};
use ns_machine::isa::{Activity, Dma, DmaDirection, DmaQueue, Engine, Instruction, KernelOpcode, Op, Unit, Wait};
use ns_machine::{Executable, SeenWaits, SourceId};
use ns_neuron::sim::{DmaEngines, TensorClock};

use crate::Decisions;
use crate::kernel::{Action, Choice, Item, Kernel, Memory};
use crate::order::Edges;
use crate::room::usable_bytes;

/// The number of a unit, and when something is due.
type Due = Reverse<(SimTime, u32)>;

/// A unit's instructions that have all they need but the unit.
#[derive(Default)]
struct Ready {
    /// Those that can begin later than the unit is free, by time.
    later: BinaryHeap<Due>,
    /// Those that could have begun, by the order of the program.
    now: BinaryHeap<Reverse<u32>>,
    free_at: SimTime,
}

impl Ready {
    /// When the unit could begin which instruction.
    fn first(&mut self) -> Option<(SimTime, u32)> {
        while let Some(Reverse((time, item))) = self.later.peek().copied() {
            if time > self.free_at {
                break;
            }
            self.later.pop();
            self.now.push(Reverse(item));
        }
        match self.now.peek() {
            Some(Reverse(item)) => Some((self.free_at, *item)),
            None => self.later.peek().map(|Reverse((time, item))| (*time, *item)),
        }
    }

    fn take(&mut self) {
        if self.now.pop().is_none() {
            self.later.pop();
        }
    }
}

/// Space of SBUF or PSUM in a partition.
struct Space {
    /// Bytes that nobody had yet; below zero after an overflow.
    free: i64,
    /// Bytes that were released, the earliest first: time, order of release, bytes.
    released: BinaryHeap<Reverse<(SimTime, u32, u64)>>,
    /// Sum of them.
    released_bytes: u64,
    /// The last items of each unit that touched what was released, by the order of release.
    waits: Vec<Vec<Wait>>,
    /// Tiles in the order of their first use, and the next one.
    order: Vec<u32>,
    next: usize,
    piece: u64,
}

/// Space that a tile got: from when, and what its instructions wait for.
struct Grant {
    at: SimTime,
    waits: Vec<Wait>,
}

impl Space {
    fn new(bytes: u64, piece: u64) -> Self {
        Self {
            free: i64::try_from(bytes).unwrap_or(i64::MAX),
            released: BinaryHeap::new(),
            released_bytes: 0,
            waits: Vec::new(),
            order: Vec::new(),
            next: 0,
            piece,
        }
    }

    fn size(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.piece) * self.piece
    }

    fn release(&mut self, at: SimTime, bytes: u64, waits: Vec<Wait>) {
        let mut bytes = self.size(bytes);
        // An overflow is paid back first.
        if self.free < 0 {
            let debt = self.free.unsigned_abs().min(bytes);
            self.free += i64::try_from(debt).unwrap_or(0);
            bytes -= debt;
        }
        if bytes > 0 {
            self.released.push(Reverse((at, usize_to_u32(self.waits.len()), bytes)));
            self.waits.push(waits);
            self.released_bytes += bytes;
        }
    }

    /// Space for a tile, if there is enough.
    fn take(&mut self, bytes: u64) -> Option<Grant> {
        let wanted = self.size(bytes);
        let free = u64::try_from(self.free).unwrap_or(0);
        if free + self.released_bytes < wanted {
            return None;
        }
        let own = free.min(wanted);
        self.free -= i64::try_from(own).unwrap_or(0);
        let mut left = wanted - own;
        let mut grant = Grant { at: SimTime::ZERO, waits: Vec::new() };
        while left > 0 {
            let Reverse((at, by, bytes)) = self.released.pop()?;
            let part = bytes.min(left);
            left -= part;
            self.released_bytes -= part;
            grant.at = grant.at.max(at);
            for wait in &self.waits[by as usize] {
                raise(&mut grant.waits, *wait);
            }
            if part < bytes {
                self.released.push(Reverse((at, by, bytes - part)));
            }
        }
        Some(grant)
    }
}

/// Keeps the highest count of each unit.
fn raise(waits: &mut Vec<Wait>, wait: Wait) {
    match waits.iter_mut().find(|w| w.unit == wait.unit) {
        Some(own) => own.count = own.count.max(wait.count),
        None => waits.push(wait),
    }
}

/// A tile while instructions are ordered.
#[derive(Clone, Default)]
struct TileState {
    has_space: bool,
    /// Instructions that touch it and were not issued.
    left: u32,
    /// When the first of those that were issued begins.
    begin: Option<SimTime>,
    /// When the last of them ends.
    end: SimTime,
    /// What its space waits for, and the last items that touched it.
    space: Vec<Wait>,
    touched: Vec<Wait>,
}

struct Scheduler<'a> {
    kernel: &'a Kernel,
    costs: &'a CostTable,
    decisions: &'a Decisions,
    edges: &'a Edges,
    units: [Ready; Unit::COUNT],
    engines: DmaEngines,
    spaces: [Space; 2],
    tiles: Vec<TileState>,
    /// For each instruction: what it still waits for, when it can begin, its distinct tiles.
    pending: Vec<u32>,
    ready_at: Vec<SimTime>,
    waits: Vec<Vec<Wait>>,
    users: Vec<Vec<u32>>,
    is_issued: Vec<bool>,
    oldest: usize,
    /// The first instruction beyond the window.
    window_end: usize,
    /// The clock of the tensor engine, if its utilisation limits it.
    clock: Option<TensorClock>,
    /// The activation function whose table is loaded.
    function: u16,
    executable: Executable,
    seen: SeenWaits,
    /// The tiles of SBUF and of PSUM that were released.
    stays: [Vec<Stay>; 2],
}

/// Orders the instructions of a kernel; `one_descriptor_engine`: all DMAs of the core share an interval. With the executable comes when each
/// tile of SBUF and of PSUM is in use.
pub(crate) fn schedule(
    kernel: &Kernel,
    edges: &Edges,
    costs: &CostTable,
    decisions: &Decisions,
    one_descriptor_engine: bool,
) -> (Executable, [Vec<Stay>; 2]) {
    let mut scheduler = Scheduler::new(kernel, edges, costs, decisions);
    scheduler.executable.one_descriptor_engine = one_descriptor_engine;
    scheduler.run();
    (scheduler.executable, scheduler.stays)
}

/// A tile in its memory: from the start of the first instruction that touches it to the end of the last one, and its bytes of a partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    pub span: Interval<SimTime>,
    pub bytes: u64,
}

/// The position of a memory of the chip among the spaces.
const fn space_of(memory: Memory) -> Option<usize> {
    match memory {
        Memory::Sbuf => Some(0),
        Memory::Psum => Some(1),
        Memory::Input | Memory::Hbm => None,
    }
}

impl<'a> Scheduler<'a> {
    fn new(kernel: &'a Kernel, edges: &'a Edges, costs: &'a CostTable, decisions: &'a Decisions) -> Self {
        let n = kernel.items.len();
        let partitions = u64::from(costs.core.partitions.max(1));
        let sbuf = if decisions.sbuf { usable_bytes(costs) } else { u64::MAX / 4 };
        let psum = if decisions.psum { costs.core.psum_bytes / partitions } else { u64::MAX / 4 };
        let mut spaces = [Space::new(sbuf, 1), Space::new(psum, PSUM_PIECE_BYTES)];
        let mut tiles = vec![TileState::default(); kernel.tiles.len()];
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); kernel.tiles.len()];
        let mut pending = edges.before.clone();
        for (at, item) in kernel.items.iter().enumerate() {
            for access in &item.accesses {
                let (tile, at) = (access.tile as usize, usize_to_u32(at));
                let Some(space) = space_of(kernel.memory(access)) else { continue };
                if users[tile].last() == Some(&at) {
                    continue;
                }
                if users[tile].is_empty() {
                    spaces[space].order.push(access.tile);
                }
                users[tile].push(at);
                tiles[tile].left += 1;
                pending[at as usize] += 1;
            }
        }
        Self {
            kernel,
            costs,
            decisions,
            edges,
            units: std::array::from_fn(|_| Ready::default()),
            engines: DmaEngines::new(costs),
            spaces,
            tiles,
            pending,
            ready_at: vec![SimTime::ZERO; n],
            waits: vec![Vec::new(); n],
            users,
            is_issued: vec![false; n],
            oldest: 0,
            window_end: 0,
            clock: costs.engine.tensor_throttle.map(|throttle| TensorClock::new(throttle, costs.core.partitions)),
            function: 0,
            executable: Executable::default(),
            seen: SeenWaits::default(),
            stays: Default::default(),
        }
    }

    fn run(&mut self) {
        self.grant();
        self.move_window();
        while self.oldest < self.kernel.items.len() {
            let mut best: Option<(SimTime, u32, usize)> = None;
            for (unit, ready) in self.units.iter_mut().enumerate() {
                if let Some((time, item)) = ready.first()
                    && best.is_none_or(|(t, i, _)| (time, item) < (t, i))
                {
                    best = Some((time, item, unit));
                }
            }
            match best {
                Some((time, item, unit)) => {
                    self.units[unit].take();
                    self.issue(item as usize, unit, time);
                    self.move_window();
                }
                None => self.overflow(),
            }
        }
    }

    /// Nothing can go on: the tiles of the oldest instruction get space that is not there.
    fn overflow(&mut self) {
        let kernel = self.kernel;
        let mut any = false;
        for access in &kernel.items[self.oldest].accesses {
            let Some(space) = space_of(kernel.memory(access)) else { continue };
            if !self.tiles[access.tile as usize].has_space {
                any = true;
                let size = self.spaces[space].size(kernel.tiles[access.tile as usize].bytes);
                self.spaces[space].free -= i64::try_from(size).unwrap_or(i64::MAX / 8);
                self.give(access.tile, Grant { at: SimTime::ZERO, waits: Vec::new() });
            }
        }
        // A program in order depends on earlier instructions only, so the oldest one lacks space or nothing.
        if !any {
            self.pending[self.oldest] = 0;
            self.offer(self.oldest);
        }
    }

    /// Gives space to the next tiles, in the order of the program.
    fn grant(&mut self) {
        for space in 0..self.spaces.len() {
            while let Some(tile) = self.spaces[space].order.get(self.spaces[space].next).copied() {
                if !self.tiles[tile as usize].has_space {
                    let bytes = self.kernel.tiles[tile as usize].bytes;
                    let Some(grant) = self.spaces[space].take(bytes) else { break };
                    self.give(tile, grant);
                }
                self.spaces[space].next += 1;
            }
        }
    }

    fn give(&mut self, tile: u32, grant: Grant) {
        let state = &mut self.tiles[tile as usize];
        state.has_space = true;
        state.space = grant.waits;
        for user in std::mem::take(&mut self.users[tile as usize]) {
            let at = &mut self.ready_at[user as usize];
            *at = (*at).max(grant.at);
            self.satisfied(user as usize);
        }
    }

    fn satisfied(&mut self, item: usize) {
        self.pending[item] = self.pending[item].saturating_sub(1);
        if self.pending[item] == 0 && item < self.window_end {
            self.offer(item);
        }
    }

    fn offer(&mut self, item: usize) {
        let unit = self.unit_of(&self.kernel.items[item]).index();
        self.units[unit].later.push(Reverse((self.ready_at[item], usize_to_u32(item))));
    }

    fn move_window(&mut self) {
        let n = self.kernel.items.len();
        while self.oldest < n && self.is_issued[self.oldest] {
            self.oldest += 1;
        }
        let end = (self.oldest + self.decisions.window.max(1)).min(n);
        while self.window_end < end {
            let item = self.window_end;
            self.window_end += 1;
            if self.pending[item] == 0 && !self.is_issued[item] {
                self.offer(item);
            }
        }
    }

    fn unit_of(&self, item: &Item) -> Unit {
        match item.action {
            Action::Compute { choice: Choice::Only(engine), .. } => Unit::Engine(engine),
            Action::Compute { .. } => Unit::Engine(Engine::Vector),
            Action::Move { is_spill: true, .. } => Unit::Queue(DmaQueue::Spill),
            Action::Move { direction: DmaDirection::HbmToSbuf, tensor, .. } => {
                Unit::Queue([DmaQueue::Load0, DmaQueue::Load1, DmaQueue::Load2, DmaQueue::Load3][tensor as usize % 4])
            }
            // One descriptor engine takes stores among the loads of the first tensor; else nothing waits for them.
            Action::Move { .. } if self.executable.one_descriptor_engine => Unit::Queue(DmaQueue::Load0),
            Action::Move { .. } => Unit::Queue(DmaQueue::Io),
        }
    }

    fn issue(&mut self, item: usize, unit: usize, start: SimTime) {
        let kernel = self.kernel;
        let this = &kernel.items[item];
        self.is_issued[item] = true;
        let own = Unit::ALL[unit];
        let mut after = std::mem::take(&mut self.waits[item]);
        for access in &this.accesses {
            for wait in &self.tiles[access.tile as usize].space {
                if wait.unit != own || matches!(own, Unit::Queue(_)) {
                    raise(&mut after, *wait);
                }
            }
        }
        let end = match own {
            Unit::Engine(engine) => self.compute(this, engine, start, &after),
            Unit::Queue(queue) => self.transfer(this, queue, start, &after),
        };
        let done = Wait { unit: own, count: self.executable.item_count_of(own) };
        self.release(this, Interval::new(start, end), done);
        for place in 0..self.edges.after(item).len() {
            let next = self.edges.after(item)[place] as usize;
            // An engine runs its instructions in order.
            let in_order = matches!(own, Unit::Engine(_)) && self.unit_of(&kernel.items[next]) == own;
            if !in_order {
                let at = &mut self.ready_at[next];
                *at = (*at).max(end);
                raise(&mut self.waits[next], done);
            }
            self.satisfied(next);
        }
        self.grant();
    }

    fn release(&mut self, item: &Item, span: Interval<SimTime>, done: Wait) {
        for (place, access) in item.accesses.iter().enumerate() {
            let Some(space) = space_of(self.kernel.memory(access)) else { continue };
            if item.accesses[..place].iter().any(|a| a.tile == access.tile) {
                continue;
            }
            let tile = &mut self.tiles[access.tile as usize];
            tile.left = tile.left.saturating_sub(1);
            let begin = tile.begin.map_or(span.start, |begin| begin.min(span.start));
            (tile.begin, tile.end) = (Some(begin), tile.end.max(span.end));
            raise(&mut tile.touched, done);
            if tile.left == 0 {
                let (at, waits) = (tile.end, std::mem::take(&mut tile.touched));
                let bytes = self.kernel.tiles[access.tile as usize].bytes;
                self.stays[space].push(Stay { span: Interval::new(begin, at), bytes: self.spaces[space].size(bytes) });
                self.spaces[space].release(at, bytes, waits);
            }
        }
    }

    /// Appends an instruction of an engine; returns when others can use its result.
    fn compute(&mut self, item: &Item, engine: Engine, start: SimTime, after: &[Wait]) -> SimTime {
        let Action::Compute { opcode, free, is_narrow, in_psum, has_gaps, array, products, function, .. } = item.action
        else {
            return start;
        };
        let source = SourceId(item.site);
        let is_move = matches!(opcode, KernelOpcode::Copy | KernelOpcode::Memset | KernelOpcode::Transpose);
        let activity = if is_move { Activity::DataTransfer } else { Activity::Execution };
        let (waits_start, waits_len) = self.seen.add(&mut self.executable.waits, Unit::Engine(engine), after);
        let mut own =
            Instruction { op: ns_machine::OpId(0), activity, waits_start, waits_len, from_psum: in_psum, source };
        let mut begin = start;
        let executable = &mut self.executable;
        let mut emit = |op: Op, activity: Activity| {
            own.op = executable.ops.id_of(engine, op);
            own.activity = activity;
            executable.engines[engine.index()].push(own);
            own.waits_len = 0;
        };
        if engine == Engine::Scalar && function != 0 && function != self.function {
            self.function = function;
            emit(Op::ActTableLoad, Activity::Control);
            begin += instruction_cost(self.costs, engine, &Op::ActTableLoad).interval;
        }
        if engine == Engine::Tensor {
            emit(Op::LdWeights { rows: array[0], columns: array[1] }, activity);
        }
        let work = KernelWork { engine, opcode, free, is_narrow, in_psum, has_gaps };
        let op = Op::Kernel { opcode, free, cycles: kernel_cycles(self.costs, &work) };
        let cost = instruction_cost(self.costs, engine, &op);
        for _ in 0..products {
            emit(op, activity);
        }
        let elements = u64::from(array[0]) * u64::from(array[1]);
        let mut end = begin;
        for _ in 0..products {
            let cost = match &mut self.clock {
                Some(clock) if engine == Engine::Tensor => clock.run(begin, cost, elements),
                _ => cost,
            };
            end = begin + cost.latency;
            begin += cost.interval;
        }
        self.units[Unit::Engine(engine).index()].free_at = begin;
        end.max(begin) + SimTime::from_ns(self.costs.engine.semaphore_ns)
    }

    /// Appends a DMA; returns when others can use what it moved.
    fn transfer(&mut self, item: &Item, queue: DmaQueue, start: SimTime, after: &[Wait]) -> SimTime {
        let Action::Move { engine_bytes, partitions, descriptors, direction, .. } = item.action else { return start };
        let (waits_start, waits_len) = self.seen.add(&mut self.executable.waits, Unit::Queue(queue), after);
        let [first, count] = if self.decisions.own_partitions { partitions } else { [0, self.costs.core.partitions] };
        let dma = Dma {
            bytes: engine_bytes,
            partitions: count,
            descriptors,
            first_partition: Some(first),
            direction,
            exchange_ps: 0,
            waits_start,
            waits_len,
            source: SourceId(item.site),
        };
        self.executable.queues[queue.index()].push(dma);
        let (d, issue) = (&self.costs.dma, SimTime::from_ns(self.costs.kernel.dma_issue_ns));
        let span = self.engines.transfer(self.costs, &dma, first, start + SimTime::from_ns(d.trigger_to_data_ns));
        if self.executable.one_descriptor_engine {
            for queue in DmaQueue::ALL {
                self.units[Unit::Queue(queue).index()].free_at = start + issue;
            }
        } else {
            self.units[Unit::Queue(queue).index()].free_at = start + issue;
        }
        span.end + SimTime::from_ns(d.completion_ns + d.semaphore_to_engine_ns)
    }
}
