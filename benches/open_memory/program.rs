//! The program that is measured in every format: its functions, and the stack of it as time goes on.

use std::fmt::Write as _;

use neuronscope::base::Rng;

/// Functions that stacks are made of.
pub const FUNCTIONS: u32 = 3000;

/// A number below `n`.
pub fn below(rng: &mut Rng, n: u32) -> u32 {
    rng.next_u32() % n
}

/// The stack of a program that is sampled: half of the samples find it as it was, others find some frames changed.
pub struct Walk {
    pub rng: Rng,
    pub stack: Vec<u32>,
}

impl Walk {
    pub fn new() -> Self {
        Self { rng: Rng::new(11, 1), stack: vec![0, 1, 2, 3] }
    }

    /// The number of frames that stayed.
    pub fn step(&mut self) -> usize {
        let mut kept = self.stack.len();
        if below(&mut self.rng, 2) == 0 {
            kept -= 1 + below(&mut self.rng, 3).min(kept as u32 - 2) as usize;
            self.stack.truncate(kept);
            let pushed = 1 + below(&mut self.rng, 3).min(24 - kept.min(24) as u32);
            // What a function calls is one of a few.
            for _ in 0..pushed {
                let caller = self.stack.last().copied().unwrap_or(0);
                self.stack.push((caller * 7 + 1 + below(&mut self.rng, 6)) % FUNCTIONS);
            }
        }
        kept
    }

    /// Microseconds to the next sample.
    pub fn delta_us(&mut self) -> u32 {
        990 + below(&mut self.rng, 30)
    }
}

/// The name of a function.
pub fn function(i: u32) -> String {
    format!("package.module{}.Class{}.method_{i}", i % 17, i % 311)
}

/// The file a function is in.
pub fn file(i: u32) -> String {
    format!("file:///srv/app/node_modules/package{}/lib/module{}.js", i % 17, i % 311)
}

/// A tree of calls with the node of each sample.
pub struct Calls {
    /// Function and caller of each node.
    pub nodes: Vec<(u32, usize)>,
    known: std::collections::BTreeMap<(usize, u32), usize>,
    pub walk: Walk,
}

impl Calls {
    pub fn new() -> Self {
        Self { nodes: vec![(0, 0)], known: std::collections::BTreeMap::new(), walk: Walk::new() }
    }

    /// The node of the next sample. Stacks of a real program repeat: no more than a few ten thousand nodes are made.
    pub fn sample(&mut self) -> u64 {
        self.walk.step();
        let mut node = 0;
        for &function in &self.walk.stack {
            let next = self.nodes.len();
            if let Some(&known) = self.known.get(&(node, function)) {
                node = known;
            } else if next < 40_000 {
                self.nodes.push((function, node));
                self.known.insert((node, function), next);
                node = next;
            } else {
                break;
            }
        }
        node as u64
    }
}

/// Numbers with commas between them.
pub fn numbers(text: &mut String, numbers: impl IntoIterator<Item = u64>) {
    for (i, n) in numbers.into_iter().enumerate() {
        let _ = write!(text, "{}{n}", if i > 0 { "," } else { "" });
    }
}
