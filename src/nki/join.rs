//! Instructions that the compiler of the first dialect joins.

use ns_base::FxHashMap;
use ns_machine::cost::decisions::{DRAINS, WIDE_ELEMENTS};
use ns_machine::isa::{Engine, KernelOpcode};

use crate::kernel::{Access, Action, Choice, Item, Kernel, Memory};

/// Joins copies from PSUM to neighbouring columns of a tile of SBUF, if nothing between them touches what was copied.
pub(crate) fn join_drains(kernel: &mut Kernel) {
    let mut items: Vec<Option<Item>> = std::mem::take(&mut kernel.items).into_iter().map(Some).collect();
    // The last copy to each tile: its place, and how many it is.
    let mut open: FxHashMap<u32, (usize, u32)> = FxHashMap::default();
    for at in 0..items.len() {
        let Some(item) = items[at].take() else { continue };
        let drained = drain_of(kernel, &item);
        let tile = drained.map_or(u32::MAX, |access| access.tile);
        let before = drained.and_then(|_| open.remove(&tile));
        // Whatever else touches a copied part ends its run.
        for access in &item.accesses {
            open.remove(&access.tile);
        }
        let mut item = item;
        let mut count = 1;
        if let (Some((place, copies)), Some(to)) = (before, drained) {
            let last = items[place].as_ref().filter(|last| copies < DRAINS && are_neighbours(last, &item, &to));
            if let Some(last) = last {
                item = joined(last, &item);
                items[place] = None;
                count = copies + 1;
            }
        }
        if drained.is_some() {
            open.insert(tile, (at, count));
        }
        items[at] = Some(item);
    }
    kernel.items = items.into_iter().flatten().collect();
}

/// What a copy from PSUM writes, if an instruction is one.
fn drain_of(kernel: &Kernel, item: &Item) -> Option<Access> {
    let Action::Compute { opcode: KernelOpcode::Copy, choice, .. } = item.action else { return None };
    let [to, from] = item.accesses[..] else { return None };
    let is_free = choice == Choice::VectorOrScalar || choice == Choice::Only(Engine::Vector);
    (is_free && kernel.memory(&to) == Memory::Sbuf && kernel.memory(&from) == Memory::Psum).then_some(to)
}

fn are_neighbours(last: &Item, item: &Item, to: &Access) -> bool {
    let free = |item: &Item| match item.action {
        Action::Compute { free, .. } => free,
        Action::Move { .. } => 0,
    };
    let before = &last.accesses[0];
    before.rows == to.rows && before.bytes[1] == to.bytes[0] && free(last) + free(item) <= WIDE_ELEMENTS
}

/// The first writes and reads what both do.
fn joined(last: &Item, item: &Item) -> Item {
    let mut both = item.clone();
    both.accesses[0].join(&last.accesses[0]);
    both.accesses.extend_from_slice(last.read());
    if let (Action::Compute { free, .. }, Action::Compute { free: more, .. }) = (&mut both.action, last.action) {
        *free += more;
    }
    both
}
