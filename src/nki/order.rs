//! Which instruction depends on which: by the parts of tiles that they write and read.

use ns_base::convert::usize_to_u32;

use crate::kernel::{Access, Item, Kernel, Memory};

/// For each instruction, the later ones that depend on it.
pub(crate) struct Edges {
    starts: Vec<u32>,
    to: Vec<u32>,
    /// How many each instruction depends on.
    pub before: Vec<u32>,
}

impl Edges {
    /// Those that depend on an instruction.
    pub fn after(&self, item: usize) -> &[u32] {
        &self.to[self.starts[item] as usize..self.starts[item + 1] as usize]
    }

    /// The dependencies of a kernel: reads after writes, writes after reads and writes, where they share an element.
    pub fn of(kernel: &Kernel) -> Self {
        let mut tiles = vec![History::default(); kernel.tiles.len()];
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (at, item) in kernel.items.iter().enumerate() {
            let at = usize_to_u32(at);
            let from = pairs.len();
            for access in item.read() {
                if kernel.memory(access) != Memory::Input {
                    tiles[access.tile as usize].read(access, at, &mut pairs);
                }
            }
            for access in item.written() {
                tiles[access.tile as usize].write(access, at, item, kernel, &mut pairs);
            }
            // Each once, and none on itself.
            pairs[from..].sort_unstable();
            let mut kept = from;
            for next in from..pairs.len() {
                let pair = pairs[next];
                if pair.0 != at && (kept == from || pairs[kept - 1] != pair) {
                    pairs[kept] = pair;
                    kept += 1;
                }
            }
            pairs.truncate(kept);
        }
        Self::of_pairs(&pairs, kernel.items.len())
    }

    fn of_pairs(pairs: &[(u32, u32)], items: usize) -> Self {
        let (mut starts, mut before) = (vec![0u32; items + 1], vec![0u32; items]);
        for (first, then) in pairs {
            starts[*first as usize + 1] += 1;
            before[*then as usize] += 1;
        }
        for at in 0..items {
            starts[at + 1] += starts[at];
        }
        let (mut next, mut to) = (starts.clone(), vec![0u32; pairs.len()]);
        for (first, then) in pairs {
            let place = &mut next[*first as usize];
            to[*place as usize] = *then;
            *place += 1;
        }
        Self { starts, to, before }
    }
}

/// What was done to a tile so far, without what was overwritten.
#[derive(Clone, Debug, Default)]
struct History {
    writes: Vec<(Access, u32)>,
    reads: Vec<(Access, u32)>,
}

impl History {
    fn read(&mut self, access: &Access, at: u32, pairs: &mut Vec<(u32, u32)>) {
        pairs.extend(self.writes.iter().filter(|(done, _)| done.overlaps(access)).map(|(_, by)| (*by, at)));
        self.reads.push((*access, at));
    }

    fn write(&mut self, access: &Access, at: u32, item: &Item, kernel: &Kernel, pairs: &mut Vec<(u32, u32)>) {
        // Products that add to one another come in the order of the tensor engine, whichever that is; only the first one has to be first.
        let adds = item.accumulates && kernel.memory(access) == Memory::Psum;
        let first_only = |(done, by): &&(Access, u32)| {
            done.overlaps(access)
                && !(adds && kernel.items[*by as usize].accumulates && kernel.items[*by as usize].is_tensor())
        };
        pairs.extend(self.writes.iter().filter(first_only).map(|(_, by)| (*by, at)));
        pairs.extend(self.reads.iter().filter(|(done, _)| done.overlaps(access)).map(|(_, by)| (*by, at)));
        if !adds {
            self.writes.retain(|(done, _)| !access.covers(done));
            self.reads.retain(|(done, _)| !access.covers(done));
        }
        self.writes.push((*access, at));
    }
}
