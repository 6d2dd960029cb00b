//! A kernel between its list and its executable: tiles, and instructions with the ranges that they touch.

use ns_machine::isa::{DmaDirection, Engine, KernelOpcode};

/// Where a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// An input of the kernel in device memory. Nothing writes it.
    Input,
    /// Another tensor in device memory.
    Hbm,
    Sbuf,
    Psum,
}

/// A tile on the chip, or a tensor in device memory.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    pub memory: Memory,
    /// Bytes of a partition; of a tensor in device memory, all.
    pub bytes: u64,
    /// Partitions that it has; 0 in device memory.
    pub partitions: u32,
    /// Elements of the last dimension, of a tensor in device memory.
    pub row_elements: u64,
    pub site: u32,
    /// The tensor of the list, for the name of its queue.
    pub tensor: u32,
}

/// A part of a tile: rows (partitions, or rows of a tensor in device memory) and bytes of each, from the first to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub tile: u32,
    pub rows: [u32; 2],
    pub bytes: [u32; 2],
}

impl Access {
    /// Whether they share an element.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.rows[0] < other.rows[1]
            && other.rows[0] < self.rows[1]
            && self.bytes[0] < other.bytes[1]
            && other.bytes[0] < self.bytes[1]
    }

    /// Whether it has every element of another.
    pub const fn covers(&self, other: &Self) -> bool {
        self.rows[0] <= other.rows[0]
            && self.rows[1] >= other.rows[1]
            && self.bytes[0] <= other.bytes[0]
            && self.bytes[1] >= other.bytes[1]
    }

    /// The smallest part that has both.
    pub fn join(&mut self, other: &Self) {
        self.rows = [self.rows[0].min(other.rows[0]), self.rows[1].max(other.rows[1])];
        self.bytes = [self.bytes[0].min(other.bytes[0]), self.bytes[1].max(other.bytes[1])];
    }
}

/// Which engine runs an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one: no other can, or the author said so.
    Only(Engine),
    /// The vector or the scalar engine, as the compiler likes.
    VectorOrScalar,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An instruction of an engine.
    Compute {
        choice: Choice,
        opcode: KernelOpcode,
        /// Elements per partition.
        free: u32,
        /// Whether all operands have at most 16 bits.
        is_narrow: bool,
        in_psum: bool,
        has_gaps: bool,
        /// Rows and columns of the array, of the tensor engine.
        array: [u32; 2],
        /// How many instructions of the tensor engine it is: a product in fp32 is two.
        products: u32,
        /// The activation function, for its table; 0 for none.
        function: u16,
    },
    /// A DMA.
    Move {
        bytes: u64,
        /// Bytes that keep the engines as busy: more where they are slower.
        engine_bytes: u64,
        /// First partition and their number.
        partitions: [u32; 2],
        descriptors: u64,
        direction: DmaDirection,
        /// The tensor in device memory, whose DMAs share a queue.
        tensor: u32,
        /// Whether it saves or restores what SBUF has no room for.
        is_spill: bool,
    },
}

impl Default for Action {
    /// Nothing that takes time.
    fn default() -> Self {
        Self::Move {
            bytes: 0,
            engine_bytes: 0,
            partitions: [0, 0],
            descriptors: 0,
            direction: DmaDirection::HbmToSbuf,
            tensor: 0,
            is_spill: false,
        }
    }
}

/// An instruction.
#[derive(Clone, Debug, Default)]
pub struct Item {
    pub action: Action,
    /// What it writes and reads: the first `writes` are written.
    pub accesses: Vec<Access>,
    pub writes: u32,
    /// Whether it adds to what is in PSUM.
    pub accumulates: bool,
    pub site: u32,
    pub scope: u32,
    /// Its form in the list.
    pub form: u32,
}

impl Item {
    /// What it writes.
    pub fn written(&self) -> &[Access] {
        &self.accesses[..self.writes as usize]
    }

    pub fn read(&self) -> &[Access] {
        &self.accesses[self.writes as usize..]
    }

    /// Whether the tensor engine runs it.
    pub const fn is_tensor(&self) -> bool {
        matches!(self.action, Action::Compute { choice: Choice::Only(Engine::Tensor), .. })
    }
}

#[derive(Clone, Debug, Default)]
pub struct Kernel {
    pub tiles: Vec<Tile>,
    pub items: Vec<Item>,
}

impl Kernel {
    /// Adds a tile.
    pub fn tile(&mut self, tile: Tile) -> u32 {
        self.tiles.push(tile);
        u32::try_from(self.tiles.len() - 1).unwrap_or(u32::MAX)
    }

    /// The bytes that an instruction reads from device memory, and writes to it; spills are not counted.
    pub fn hbm_bytes(&self, item: &Item) -> [u64; 2] {
        let Action::Move { bytes, is_spill: false, .. } = item.action else { return [0; 2] };
        let is_there = |access: &Access| matches!(self.memory(access), Memory::Input | Memory::Hbm);
        // What an indirect transfer reads beside its data are offsets.
        let read = item.read().first();
        [read, item.written().first()].map(|access| if access.is_some_and(is_there) { bytes } else { 0 })
    }

    pub fn memory(&self, access: &Access) -> Memory {
        self.tiles[access.tile as usize].memory
    }
}
