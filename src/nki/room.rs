//! Whether the tiles fit, and what leaves SBUF for a while where they do not.

use ns_base::FxHashMap;
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::units::format_bytes;
use ns_machine::cost::CostTable;
use ns_machine::isa::DmaDirection;

use crate::kernel::{Access, Action, Item, Kernel, Memory, Tile};
use crate::list::{List, Problem};

/// SBUF of a partition that a kernel can use, bytes.
pub(crate) fn usable_bytes(costs: &CostTable) -> u64 {
    let all = costs.core.sbuf_bytes / u64::from(costs.core.partitions.max(1));
    all.saturating_sub(costs.kernel.sbuf_reserved_bytes)
}

/// The instructions that touch each tile of SBUF.
fn uses(kernel: &Kernel) -> Vec<Vec<u32>> {
    let mut uses = vec![Vec::new(); kernel.tiles.len()];
    for (at, item) in kernel.items.iter().enumerate() {
        for access in item.accesses.iter().filter(|a| kernel.memory(a) == Memory::Sbuf) {
            let list: &mut Vec<u32> = &mut uses[access.tile as usize];
            if list.last() != Some(&usize_to_u32(at)) {
                list.push(usize_to_u32(at));
            }
        }
    }
    uses
}

/// The most bytes of a partition that are live at once, in the order of the program, each tile once.
pub(crate) fn peak_bytes(kernel: &Kernel) -> u64 {
    let uses = uses(kernel);
    let stays =
        kernel.tiles.iter().zip(&uses).filter_map(|(tile, list)| Some((*list.first()?, *list.last()?, tile.bytes)));
    peak(kernel, stays).1
}

/// The first instruction at which most bytes are live, and how many those are; each stay has its first and last instruction.
fn peak(kernel: &Kernel, stays: impl Iterator<Item = (u32, u32, u64)>) -> (usize, u64) {
    let mut change = vec![0i64; kernel.items.len() + 1];
    for (first, last, bytes) in stays {
        let bytes = i64::try_from(bytes).unwrap_or(0);
        change[first as usize] += bytes;
        change[last as usize + 1] -= bytes;
    }
    let (mut live, mut most) = (0, (0, 0));
    for (at, change) in change.into_iter().enumerate() {
        live += change;
        most = if live > most.1 { (at, live) } else { most };
    }
    (most.0, u64::try_from(most.1).unwrap_or(0))
}

/// Sums that have begun and wait for further products all hold their place in PSUM.
pub(crate) fn sums_that_do_not_fit(list: &List, kernel: &Kernel, costs: &CostTable) -> Option<Problem> {
    let mut sums: Vec<(u32, u32, u64)> = Vec::new();
    let mut open: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, item) in kernel.items.iter().enumerate().filter(|(_, item)| item.is_tensor()) {
        let Some(result) = item.written().first() else { continue };
        match open.get(&result.tile).filter(|_| item.accumulates) {
            Some(sum) => sums[*sum].1 = usize_to_u32(at),
            None => {
                open.insert(result.tile, sums.len());
                let tile = &kernel.tiles[result.tile as usize];
                // Tiles of few partitions may lie beside each other.
                sums.push((usize_to_u32(at), usize_to_u32(at), tile.bytes * u64::from(tile.partitions)));
            }
        }
    }
    let (at, bytes) = peak(kernel, sums.into_iter());
    let size = costs.core.psum_bytes;
    let item = kernel.items.get(at).filter(|_| bytes > size)?;
    let of = |bytes: u64| format_bytes(u64_to_f64(bytes));
    let (file, line) = list.place(item.site as usize);
    Some(Problem {
        kind: "capacity".to_owned(),
        code: String::new(),
        file,
        line,
        message: format!("sums that are open at once take {} of PSUM, which has {}", of(bytes), of(size)),
        fix: "finish and copy out some sums before the next ones begin, for example with fewer columns in a block"
            .to_owned(),
    })
}

/// What one sum in PSUM reads has to be in SBUF at once: a product cannot be interrupted by a spill.
pub(crate) fn operands_that_do_not_fit(list: &List, kernel: &Kernel, costs: &CostTable) -> Option<Problem> {
    let usable = usable_bytes(costs);
    let mut sums: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for item in kernel.items.iter().filter(|item| item.is_tensor()) {
        let Some(result) = item.written().first() else { continue };
        let operands = sums.entry(result.tile).or_default();
        if !item.accumulates {
            operands.clear();
        }
        let before = operands.len();
        for access in item.read().iter().filter(|a| kernel.memory(a) == Memory::Sbuf) {
            if !operands.contains(&access.tile) {
                operands.push(access.tile);
            }
        }
        let bytes: u64 = operands.iter().map(|tile| kernel.tiles[*tile as usize].bytes).sum();
        if operands.len() > before && bytes >= usable {
            return Some(too_large(list, kernel, operands, item, usable));
        }
    }
    None
}

fn too_large(list: &List, kernel: &Kernel, operands: &[u32], item: &Item, usable: u64) -> Problem {
    // What was declared by one line is one operand.
    let mut by_site: FxHashMap<u32, u64> = FxHashMap::default();
    for tile in operands {
        let tile = &kernel.tiles[*tile as usize];
        *by_site.entry(tile.site).or_default() += tile.bytes;
    }
    let (all, largest) = (by_site.values().sum::<u64>(), by_site.values().max().copied().unwrap_or(0));
    let (file, line) = list.place(item.site as usize);
    let is_one = largest >= usable;
    let (code, what) = match is_one {
        true => ("NCC_INLA001", "one operand of the product has"),
        false => ("NCC_IBIR229", "the operands that one sum in PSUM reads have"),
    };
    let kib = |bytes: u64| bytes.div_ceil(1024);
    Problem {
        kind: "capacity".to_owned(),
        code: code.to_owned(),
        file,
        line,
        message: format!(
            "{what} {} KiB in each partition of SBUF, and fewer than {} KiB can be used",
            kib(if is_one { largest } else { all }),
            kib(usable)
        ),
        fix: "load fewer tiles for a block, for example with a smaller block of the contracted dimension".to_owned(),
    }
}

/// Adds the transfers of tiles that have to leave SBUF and come back; returns their bytes. In the order of the program, the tile that is
/// needed last leaves first.
pub(crate) fn spill(kernel: &mut Kernel, costs: &CostTable) -> u64 {
    if peak_bytes(kernel) < usable_bytes(costs) {
        return 0;
    }
    let capacity = usable_bytes(costs).saturating_sub(costs.kernel.spill_room_bytes);
    let items = std::mem::take(&mut kernel.items);
    let uses = {
        let whole = Kernel { tiles: kernel.tiles.clone(), items };
        let uses = uses(&whole);
        kernel.items = whole.items;
        uses
    };
    let mut resident = Residents { uses, capacity, ..Residents::default() };
    resident.next = vec![0; kernel.tiles.len()];
    resident.now = (0..usize_to_u32(kernel.tiles.len())).collect();
    resident.is_saved = vec![false; kernel.tiles.len()];
    resident.was_used = vec![false; kernel.tiles.len()];
    let old = std::mem::take(&mut kernel.items);
    let mut new = Vec::with_capacity(old.len());
    for (at, mut item) in old.into_iter().enumerate() {
        resident.bring(kernel, &mut new, &mut item, usize_to_u32(at));
        new.push(item);
    }
    kernel.items = new;
    resident.moved
}

/// The tiles in SBUF at a place of the program.
#[derive(Default)]
struct Residents {
    uses: Vec<Vec<u32>>,
    /// How many uses of each tile are over.
    next: Vec<usize>,
    /// The tile that holds the values of each tile now.
    now: Vec<u32>,
    /// Whether device memory has the values of a tile.
    is_saved: Vec<bool>,
    was_used: Vec<bool>,
    list: Vec<u32>,
    bytes: u64,
    capacity: u64,
    moved: u64,
}

impl Residents {
    fn bring(&mut self, kernel: &mut Kernel, new: &mut Vec<Item>, item: &mut Item, at: u32) {
        let mut own: Vec<u32> = Vec::new();
        for access in item.accesses.iter().filter(|a| kernel.memory(a) == Memory::Sbuf) {
            if !own.contains(&access.tile) {
                own.push(access.tile);
            }
        }
        for tile in &own {
            if self.list.contains(tile) {
                continue;
            }
            let bytes = kernel.tiles[*tile as usize].bytes;
            self.make_room(kernel, new, &own, bytes, item);
            self.list.push(*tile);
            self.bytes += bytes;
            if std::mem::replace(&mut self.was_used[*tile as usize], true) {
                let whole = kernel.tiles[*tile as usize];
                self.now[*tile as usize] = kernel.tile(Tile { memory: Memory::Sbuf, ..whole });
                new.push(self.transfer(kernel, *tile, DmaDirection::HbmToSbuf, item));
            }
        }
        let writes = item.writes as usize;
        for (place, access) in item.accesses.iter_mut().enumerate() {
            if own.contains(&access.tile) {
                let tile = access.tile as usize;
                self.is_saved[tile] &= place >= writes;
                access.tile = self.now[tile];
            }
        }
        for tile in own {
            let next = &mut self.next[tile as usize];
            *next += 1;
            if self.uses[tile as usize].get(*next).is_none_or(|use_at| *use_at <= at) {
                self.leave(kernel, tile);
            }
        }
    }

    fn leave(&mut self, kernel: &Kernel, tile: u32) {
        self.list.retain(|t| *t != tile);
        self.bytes -= kernel.tiles[tile as usize].bytes;
    }

    fn make_room(&mut self, kernel: &Kernel, new: &mut Vec<Item>, own: &[u32], bytes: u64, item: &Item) {
        while self.bytes + bytes > self.capacity {
            let next_use =
                |tile: &u32| self.uses[*tile as usize].get(self.next[*tile as usize]).copied().unwrap_or(u32::MAX);
            let victim = self.list.iter().copied().filter(|tile| !own.contains(tile)).max_by_key(next_use);
            let Some(victim) = victim else { return };
            if !std::mem::replace(&mut self.is_saved[victim as usize], true) {
                new.push(self.transfer(kernel, victim, DmaDirection::SbufToHbm, item));
            }
            self.leave(kernel, victim);
        }
    }

    fn transfer(&mut self, kernel: &Kernel, tile: u32, direction: DmaDirection, item: &Item) -> Item {
        let whole = kernel.tiles[tile as usize];
        let bytes = whole.bytes * u64::from(whole.partitions);
        self.moved += bytes;
        let end = u32::try_from(whole.bytes).unwrap_or(u32::MAX);
        let access = Access { tile: self.now[tile as usize], rows: [0, whole.partitions], bytes: [0, end] };
        let action = Action::Move {
            bytes,
            engine_bytes: bytes,
            partitions: [0, whole.partitions],
            descriptors: u64::from(whole.partitions),
            direction,
            tensor: whole.tensor,
            is_spill: true,
        };
        let writes = u32::from(direction == DmaDirection::HbmToSbuf);
        Item { action, accesses: vec![access], writes, accumulates: false, ..item.clone() }
    }
}
