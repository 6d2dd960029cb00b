//! Counts operators as PyTorch has them after loading the file: calls are inlined, equal constants of a method count once.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

/// Counts of a model.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// How often each operator occurs, under TorchScript's names: `aten::linear`, `prim::GetAttr`.
    pub ops: BTreeMap<String, u64>,
    /// Constants of the model's own method.
    own: FxHashSet<String>,
    /// Constants of each called method, including those of the methods that it calls.
    called: Option<FxHashSet<String>>,
    /// Constants that have been counted.
    constants: u64,
    /// Operations of products, two for each multiply-add.
    pub flops: u64,
    /// Modules that operations ran in, in order of first appearance.
    pub modules: IndexSet<String>,
    /// Number of operations so far that change a tensor or an object: a statement with one cannot be left out.
    pub changes: u64,
}

impl Counts {
    /// Counts an operator.
    pub fn op(&mut self, name: &str) {
        match self.ops.get_mut(name) {
            Some(n) => *n += 1,
            None => {
                self.ops.insert(name.to_owned(), 1);
            }
        }
    }

    /// Counts a constant by its text, once in a method.
    pub fn constant(&mut self, written: &str) {
        let known = self.called.as_mut().unwrap_or(&mut self.own);
        if !known.contains(written) {
            known.insert(written.to_owned());
        }
    }

    /// Begins a method that the model's own method calls.
    pub fn begin_method(&mut self) {
        self.called = Some(FxHashSet::default());
    }

    pub fn end_method(&mut self) {
        self.constants += self.called.take().map_or(0, |known| known.len() as u64);
    }

    /// All operators, including constants.
    pub fn all(&self) -> BTreeMap<String, u64> {
        let mut ops = self.ops.clone();
        let constants = self.constants + self.own.len() as u64;
        if constants > 0 {
            ops.insert("prim::Constant".to_owned(), constants);
        }
        ops
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn equal_constants_of_a_method_are_one() {
        let mut counts = Counts::default();
        counts.constant("i1");
        counts.constant("i1");
        for _ in 0..2 {
            counts.begin_method();
            counts.constant("i1");
            counts.constant("i2");
            counts.end_method();
        }
        counts.op("aten::add");
        let all: Vec<(String, u64)> = counts.all().into_iter().collect();
        assert_eq!(all, [("aten::add".to_owned(), 1), ("prim::Constant".to_owned(), 5)]);
    }
}
