//! Values that share memory. An in-place operation changes all values of the same storage. Each value is therefore a chain
//! of views down to a storage, and a view is computed again after its storage has changed.

use ns_base::{Refusal, refuse};
use ns_program::{Builder, Built, ElementType, InstructionId};

/// A value of the graph.
pub type ViewId = usize;

/// How a view reads its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// The same elements with other sizes.
    Reshape(Vec<u64>),
    /// Dimensions in another order.
    Transpose(Vec<usize>),
    /// A range of a dimension: dimension, start, limit, step.
    Slice(usize, u64, u64, u64),
    /// Broadcast.
    Expand(Vec<u64>),
}

#[derive(Debug)]
struct View {
    storage: usize,
    parent: Option<ViewId>,
    look: Option<Look>,
    /// Its value at a version of its storage.
    current: (u32, InstructionId),
}

/// All values with their storages.
#[derive(Debug, Default)]
pub struct Views {
    /// Versions of storages: raised by each write.
    versions: Vec<u32>,
    views: Vec<View>,
}

impl Views {
    /// A value with its own storage.
    pub fn fresh(&mut self, value: InstructionId) -> ViewId {
        self.versions.push(0);
        self.views.push(View { storage: self.versions.len() - 1, parent: None, look: None, current: (0, value) });
        self.views.len() - 1
    }

    /// A value that is a view of another. Fails when the view does not fit.
    pub fn look(&mut self, b: &mut Builder, parent: ViewId, look: Look) -> Result<ViewId, Refusal> {
        let from = self.get(b, parent)?;
        let value = read_view(b, from, &look)?;
        let storage = self.views[parent].storage;
        let current = (self.versions[storage], value);
        self.views.push(View { storage, parent: Some(parent), look: Some(look), current });
        Ok(self.views.len() - 1)
    }

    /// The current value. Fails when the program becomes too large.
    pub fn get(&mut self, b: &mut Builder, id: ViewId) -> Built {
        let version = self.versions[self.views[id].storage];
        let mut chain = Vec::new();
        let mut at = id;
        while self.views[at].current.0 != version {
            chain.push(at);
            match self.views[at].parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let mut value = self.views[at].current.1;
        for &view in chain.iter().rev() {
            if let Some(look) = &self.views[view].look {
                value = read_view(b, value, look)?;
            }
            self.views[view].current = (version, value);
        }
        Ok(value)
    }

    /// Writes a value: from now on, all views of the same storage read it. Fails when the view repeats elements, which torch does
    /// not write to either.
    pub fn set(&mut self, b: &mut Builder, id: ViewId, value: InstructionId) -> Result<(), Refusal> {
        let mut written = vec![(id, value)];
        let (mut at, mut value) = (id, value);
        while let (Some(parent), Some(look)) = (self.views[at].parent, self.views[at].look.clone()) {
            let below = self.get(b, parent)?;
            value = put(b, below, value, &look)?;
            written.push((parent, value));
            at = parent;
        }
        let storage = self.views[id].storage;
        self.versions[storage] = self.versions[storage].wrapping_add(1);
        for (view, value) in written {
            self.views[view].current = (self.versions[storage], value);
        }
        Ok(())
    }

    /// Whether the storage of a value was written to.
    pub fn is_changed(&self, id: ViewId) -> bool {
        self.versions[self.views[id].storage] != 0
    }
}

/// Reads a value through a view.
fn read_view(b: &mut Builder, x: InstructionId, look: &Look) -> Built {
    match look {
        Look::Reshape(dims) => b.reshape(x, dims),
        Look::Transpose(order) => b.transpose(x, order),
        Look::Slice(dimension, start, limit, step) => b.slice_dim(x, *dimension, *start, *limit, *step),
        Look::Expand(dims) => b.broadcast_to(x, dims),
    }
}

/// `below` with `value` written through a view.
fn put(b: &mut Builder, below: InstructionId, value: InstructionId, look: &Look) -> Built {
    match look {
        Look::Reshape(_) => b.reshape(value, &b.dims(below)),
        Look::Transpose(order) => {
            let mut back = vec![0; order.len()];
            order.iter().enumerate().for_each(|(i, &d)| back[d] = i);
            b.transpose(value, &back)
        }
        Look::Slice(dimension, start, limit, 1) => {
            let size = b.size(below, *dimension)?;
            let front = b.slice_dim(below, *dimension, 0, *start, 1)?;
            let back = b.slice_dim(below, *dimension, *limit, size, 1)?;
            let mut parts = vec![front, value, back];
            parts.retain(|&p| b.size(p, *dimension) != Ok(0));
            if parts.is_empty() { Ok(below) } else { b.concatenate(&parts, *dimension) }
        }
        Look::Slice(dimension, start, _, step) => {
            let mut places = Vec::new();
            for i in 0..b.size(value, *dimension)? {
                let place =
                    i.checked_mul(*step).and_then(|n| n.checked_add(*start)).and_then(|n| i64::try_from(n).ok());
                places.push(place.ok_or_else(|| refuse!("sizes add up beyond 64 bits"))?);
            }
            if places.len() > 1 << 20 {
                return Err(refuse!("more than a million elements that lie apart cannot be written in place"));
            }
            let row = b.whole_row(ElementType::S64, &places)?;
            let mut indices = vec![None; *dimension];
            indices.push(Some(row));
            let how = ns_program::compose::IndexPut { combine: None };
            ns_program::compose::advanced_put(b, below, &indices, value, how)
        }
        Look::Expand(dims) if *dims == b.dims(below) => Ok(value),
        Look::Expand(_) => Err(refuse!("a value that repeats elements cannot be written in place")),
    }
}
