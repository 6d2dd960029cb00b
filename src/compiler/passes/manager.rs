//! Runs a named list of passes.

use serde::{Deserialize, Serialize};

use crate::OptLevel;
use crate::hlo::{HloModule, verify};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

use super::{CommonSubexpressions, DeadCode, FoldTransposes, Fusion, Simplify, Views};

/// Most examples in a log entry; without a limit, a loop of a thousand products would give a thousand.
const MAX_EXAMPLES: usize = 20;

/// The number of changes that a pass made, with examples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    count: u32,
    examples: Vec<String>,
}

impl Changes {
    /// Counts a change; `describe` is called for the first few only.
    pub fn add(&mut self, describe: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(describe());
        }
    }
}

/// A rewrite of a module that keeps its meaning.
pub trait Pass {
    /// Name in logs.
    fn name(&self) -> &'static str;
    /// Rewrites the module.
    fn run(&self, module: &mut HloModule) -> Changes;
}

/// The changes of one pass to a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassRecord {
    pub pass: String,
    /// Instructions before, members of fusions not counted.
    pub before: u32,
    /// Instructions after.
    pub after: u32,
    /// How many changes it made.
    pub changes: u32,
    /// The first of these changes, in words.
    pub examples: Vec<String>,
}

/// The changes of all passes, in order.
pub type PassLog = Vec<PassRecord>;

/// A list of passes, run in order, with a check after each.
pub struct PassManager {
    passes: Vec<Box<dyn Pass>>,
}

impl Default for PassManager {
    /// The standard list: dead code, transposes folded into batched products, views moved behind products, simplification,
    /// common subexpressions, dead code again, fusion.
    fn default() -> Self {
        Self::empty()
            .with(DeadCode)
            .with(FoldTransposes)
            .with(Views)
            .with(Simplify)
            .with(CommonSubexpressions)
            .with(DeadCode)
            .with(Fusion)
    }
}

impl PassManager {
    /// The passes of an optimisation level: without fusion at the first, all of them above.
    pub fn of_level(level: OptLevel) -> Self {
        let mut manager = Self::default();
        if level == OptLevel::O1 {
            manager.passes.retain(|p| p.name() != Fusion.name());
        }
        manager
    }

    /// No passes.
    pub fn empty() -> Self {
        Self { passes: Vec::new() }
    }

    /// Only the first passes of the list.
    pub fn first(mut self, count: usize) -> Self {
        self.passes.truncate(count);
        self
    }

    /// The list with one more pass at the end.
    pub fn with(mut self, pass: impl Pass + 'static) -> Self {
        self.passes.push(Box::new(pass));
        self
    }

    /// Names of the passes in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.passes.iter().map(|p| p.name()).collect()
    }

    /// Runs all passes. Fails when the module is invalid, before the first pass or after one.
    pub fn run(&self, mut module: HloModule) -> Result<(HloModule, PassLog), Refusal> {
        let check = |module: &HloModule, pass: &str| {
            verify(module).map_err(|source| refuse!("pass {pass} made an invalid module: {source}"))
        };
        check(&module, "input")?;
        let mut log = PassLog::new();
        for pass in &self.passes {
            let before = usize_to_u32(module.instructions.len());
            let Changes { count, examples } = pass.run(&mut module);
            check(&module, pass.name())?;
            let after = usize_to_u32(module.instructions.len());
            log.push(PassRecord { pass: pass.name().to_owned(), before, after, changes: count, examples });
        }
        Ok((module, log))
    }
}

/// Runs the standard passes. Fails when the module is invalid, before the first pass or after one.
pub fn optimize(module: HloModule) -> Result<(HloModule, PassLog), Refusal> {
    PassManager::default().run(module)
}
