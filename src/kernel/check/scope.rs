//! Names and the blocks in which they are declared.

use crate::problem::{Diagnostic, Pos, Problem};
use crate::types::Type;
use crate::value::Value;

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub pos: Pos,
    pub ty: Type,
    pub slot: usize,
    /// Whether it is const.
    pub constant: bool,
    /// Its value, if it is a known constant.
    pub constant_value: Option<Value>,
}

/// The blocks that are open, innermost last.
pub(crate) struct Scopes {
    blocks: Vec<Vec<Variable>>,
    slots: usize,
}

impl Scopes {
    /// One open block, without names.
    pub fn new() -> Self {
        Self { blocks: vec![Vec::new()], slots: 0 }
    }

    /// Opens a block.
    pub fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Closes the innermost block.
    pub fn close(&mut self) {
        self.blocks.pop();
    }

    /// The number of slots given out.
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Declares a name in the innermost block and returns its slot. Fails when the block has the name already.
    pub fn declare(
        &mut self,
        name: &str,
        pos: Pos,
        ty: Type,
        constant: bool,
        constant_value: Option<Value>,
    ) -> Result<usize, Diagnostic> {
        let slot = self.slots;
        if let Some(block) = self.blocks.last_mut() {
            if let Some(before) = block.iter().find(|v| v.name == name) {
                let line = before.pos.line;
                let text = format!("'{name}' is already declared at line {line}; give one of the two another name");
                return Err(Diagnostic::new(pos, Problem::error("redeclared", text)));
            }
            block.push(Variable { name: name.to_owned(), pos, ty, slot, constant, constant_value });
        }
        self.slots += 1;
        Ok(slot)
    }

    /// The variable of a name, innermost first.
    pub fn find(&self, name: &str) -> Option<&Variable> {
        self.blocks.iter().rev().find_map(|block| block.iter().find(|v| v.name == name))
    }
}
