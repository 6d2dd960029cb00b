//! Short iterations of affine loops, which the compiler of the first dialect joins.

use ns_base::FxHashMap;
use ns_base::convert::usize_to_u32;
use ns_machine::cost::decisions::WIDE_ELEMENTS;
use ns_machine::isa::{Engine, KernelOpcode};

use crate::kernel::{Access, Action, Choice, Item, Kernel, Memory, Tile};
use crate::list::List;

/// Joins iterations of the innermost affine loops until their instructions have [`WIDE_ELEMENTS`] elements, where each iteration does the
/// same to the next columns.
pub(crate) fn widen(kernel: &mut Kernel, list: &List) {
    let uses = uses(kernel);
    let mut items = std::mem::take(&mut kernel.items);
    let mut new = Vec::with_capacity(items.len());
    let mut at = 0;
    while at < items.len() {
        let length = iteration(&items, at);
        let times = times(list, &items, at, length);
        match (times > 1).then(|| joined(kernel, &uses, &items[at..], length, times)).flatten() {
            Some(wide) => {
                new.extend(wide);
                at += length * times;
            }
            None => {
                new.extend(items[at..at + length].iter_mut().map(std::mem::take));
                at += length;
            }
        }
    }
    kernel.items = new;
}

/// The first and the last instruction that touch each tile.
fn uses(kernel: &Kernel) -> Vec<[u32; 2]> {
    let mut uses = vec![[u32::MAX, 0]; kernel.tiles.len()];
    for (at, item) in kernel.items.iter().enumerate() {
        for access in &item.accesses {
            let own = &mut uses[access.tile as usize];
            *own = [own[0].min(usize_to_u32(at)), usize_to_u32(at)];
        }
    }
    uses
}

/// How many instructions the iteration has that begins here.
fn iteration(items: &[Item], at: usize) -> usize {
    items[at..].iter().take_while(|item| item.scope == items[at].scope).count()
}

/// How many iterations are joined: those that follow with the same calls, as many as the elements allow.
fn times(list: &List, items: &[Item], at: usize, length: usize) -> usize {
    let [parent, which, _] = list.scope(items[at].scope as usize);
    let is_affine =
        usize::try_from(which).ok().and_then(|which| list.loops.get(which)).is_some_and(|l| l.0 == "affine");
    let widest = items[at..at + length].iter().map(|item| match item.action {
        // A transpose has its own shape, and sums are of one iteration.
        Action::Compute {
            opcode: KernelOpcode::Transpose | KernelOpcode::Reduce | KernelOpcode::ActivateReduce,
            ..
        } => u32::MAX,
        _ if item.accumulates => u32::MAX,
        // Each address that the device alone knows is an instruction of its own.
        _ if !list.forms[item.form as usize].dynamic.is_empty() => u32::MAX,
        Action::Compute { free, .. } => free,
        Action::Move { .. } => 1,
    });
    let most = (WIDE_ELEMENTS / widest.max().unwrap_or(u32::MAX).max(1)) as usize;
    if !is_affine || most < 2 {
        return 1;
    }
    let same = |turn: usize| {
        let next = items.get(at + turn * length..at + (turn + 1) * length)?;
        let scope = list.scope(next[0].scope as usize);
        let is_next = scope[0] == parent && scope[1] == which && next.iter().all(|item| item.scope == next[0].scope);
        let same =
            |(a, b): (&Item, &Item)| a.form == b.form && a.site == b.site && a.accesses.len() == b.accesses.len();
        (is_next && next.iter().zip(&items[at..]).all(same)).then_some(())
    };
    1 + (1..most).take_while(|turn| same(*turn).is_some()).count()
}

/// The instructions of several iterations as one.
fn joined(kernel: &mut Kernel, uses: &[[u32; 2]], items: &[Item], length: usize, times: usize) -> Option<Vec<Item>> {
    let mut wide = Vec::with_capacity(length);
    let mut tiles: FxHashMap<u32, u32> = FxHashMap::default();
    let times_32 = usize_to_u32(times);
    for (place, first) in items[..length].iter().enumerate() {
        let mut item = first.clone();
        for (operand, access) in item.accesses.iter_mut().enumerate() {
            let turns = (1..times).map(|turn| items[turn * length + place].accesses[operand]);
            *access = joined_access(kernel, uses, &mut tiles, *access, turns, times_32)?;
        }
        match &mut item.action {
            Action::Compute { choice: Choice::Only(Engine::GpSimd), .. } => return None,
            Action::Compute { free, .. } => *free *= times_32,
            Action::Move { bytes, engine_bytes, .. } => {
                *bytes *= u64::from(times_32);
                *engine_bytes *= u64::from(times_32);
            }
        }
        wide.push(item);
    }
    Some(wide)
}

/// What all iterations touch: the same, the next columns of the same tile, or a tile of each one's own.
fn joined_access(
    kernel: &mut Kernel,
    uses: &[[u32; 2]],
    tiles: &mut FxHashMap<u32, u32>,
    first: Access,
    turns: impl Iterator<Item = Access> + Clone,
    times: u32,
) -> Option<Access> {
    if turns.clone().all(|turn| turn == first) {
        return Some(first);
    }
    if turns.clone().all(|turn| turn.tile == first.tile && turn.rows == first.rows) {
        let mut all = first;
        for turn in turns {
            if turn.bytes[0] != all.bytes[1] {
                return None;
            }
            all.bytes[1] = turn.bytes[1];
        }
        return Some(all);
    }
    let whole = kernel.tiles[first.tile as usize];
    let same_part = |turn: Access| turn.rows == first.rows && turn.bytes == first.bytes && turn.tile != first.tile;
    // Nothing outside of the iterations touches it.
    let [begin, end] = uses.get(first.tile as usize)?;
    let is_own = matches!(whole.memory, Memory::Sbuf | Memory::Psum) && *begin < u32::MAX && end - begin < 64;
    if !is_own || !turns.clone().all(same_part) {
        return None;
    }
    let tile = match tiles.get(&first.tile) {
        Some(tile) => *tile,
        None => {
            let tile = kernel.tile(Tile { bytes: whole.bytes * u64::from(times), ..whole });
            tiles.insert(first.tile, tile);
            tile
        }
    };
    let bytes = first.bytes.map(|at| at.saturating_mul(times));
    Some(Access { tile, rows: first.rows, bytes })
}
