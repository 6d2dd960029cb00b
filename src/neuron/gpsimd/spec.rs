//! The specification of a custom operator's study.

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, refuse};
use ns_kernel::{Fill, KernelDtype, MAX_CALL_ELEMENTS};
use ns_machine::cost::GPSIMD_PROCESSORS;

/// The kind of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// The forward pass of one batch.
    #[default]
    Inference,
    /// Forward, backward and update.
    Training,
}

/// A custom operator, the network that uses it, and an input to try it on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomOpSpec {
    /// Name of the kernel, for reports.
    pub name: String,
    pub source: String,
    /// Whether every processor runs it.
    pub multicore: bool,
    /// Processors of the engine that work, at most all of them.
    pub cores: u32,
    /// Widths of the network: input, hidden layers, output. The operator follows every layer but the last.
    pub layers: Vec<u64>,
    /// Samples of a step.
    pub batch: u64,
    /// The kind of a step.
    pub workload: Workload,
    /// Shape of an input on which the kernel runs without the network; lines and times of the report are then those of that
    /// run.
    pub input: Option<Vec<u64>>,
    /// Element type of the tensors that the kernel takes and returns.
    pub dtype: KernelDtype,
    /// Contents of the inputs.
    pub fill: Fill,
    /// Seed of inputs.
    pub seed: u64,
    /// What the kernel should compute, as an expression of `x` (and `y` for a second input); a kernel with `relu` in its name has
    /// a default.
    pub reference: Option<String>,
}

impl CustomOpSpec {
    /// A kernel with the tutorial's network.
    pub fn new(name: &str, source: &str, multicore: bool) -> Self {
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            multicore,
            cores: GPSIMD_PROCESSORS,
            layers: vec![784, 4096, 2048, 10],
            batch: 32,
            workload: Workload::Inference,
            input: None,
            dtype: KernelDtype::Float32,
            fill: Fill::Normal,
            seed: 0,
            reference: None,
        }
    }

    /// The same kernel with another value of one of its constants. Fails when the source has no line `static constexpr ... NAME =
    /// ...;`.
    pub fn with_constant(&self, constant: &str, value: &str) -> Result<Self, Refusal> {
        let declares = |line: &&str| {
            let before = line.split('=').next().unwrap_or_default();
            let is_last_word = before.split_whitespace().next_back() == Some(constant);
            line.contains('=') && before.contains("constexpr") && is_last_word
        };
        let missing = || refuse!("{} has no line 'static constexpr ... {constant} = ...;'", self.name);
        let line = self.source.lines().find(declares).ok_or_else(missing)?;
        let (before, after) = line.split_once('=').ok_or_else(missing)?;
        let rest = after.split_once(';').map_or("", |(_, rest)| rest);
        let source = self.source.replacen(line, &format!("{before}= {value};{rest}"), 1);
        Ok(Self { name: format!("{} {constant}={value}", self.name), source, ..self.clone() })
    }

    /// Checks that every option is within its bounds. Fails with the option that is outside its bounds, with these bounds.
    pub fn check(&self) -> Result<(), Refusal> {
        let within = |option: &'static str, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(refuse!("{option} {value} is outside {low} to {high}"))
            }
        };
        within("cores", u64::from(self.cores), 1, u64::from(GPSIMD_PROCESSORS))?;
        within("batch", self.batch, 1, 65_536)?;
        within("number of layers", self.layers.len() as u64, 2, 16)?;
        for width in &self.layers {
            within("layer width", *width, 1, 65_536)?;
        }
        for hidden in self.hidden() {
            within("elements of one operator call", hidden.saturating_mul(self.batch), 1, MAX_CALL_ELEMENTS)?;
        }
        if let Some(dims) = &self.input {
            within("number of input dimensions", dims.len() as u64, 1, 8)?;
            let elements = dims.iter().fold(1_u64, |n, d| n.saturating_mul(*d));
            within("elements of the input", elements, 1, MAX_CALL_ELEMENTS)?;
        }
        Ok(())
    }

    /// Whether the kernel also runs in the network, whose tensors have two dimensions: not if it has its own input, and all of its accessors
    /// want another number.
    pub fn runs_in_network(&self) -> bool {
        let mut ranks = accessor_ranks(&self.source).peekable();
        self.input.is_none() || ranks.peek().is_none() || ranks.any(|rank| rank == NETWORK_RANK)
    }

    /// Widths after which the operator is called.
    pub fn hidden(&self) -> impl Iterator<Item = u64> + '_ {
        let inner = if self.runs_in_network() { self.layers.len().saturating_sub(1) } else { 0 };
        self.layers.iter().take(inner).skip(1).copied()
    }
}

/// Dimensions of the tensors of the network.
const NETWORK_RANK: u32 = 2;

/// The numbers of dimensions that the accessors of a source take: 3 for `accessor<float, 3>`. One that is a name is left out.
fn accessor_ranks(source: &str) -> impl Iterator<Item = u32> {
    let arguments = source.split("accessor<").skip(1).filter_map(|after| after.split_once('>'));
    arguments.filter_map(|(arguments, _)| arguments.rsplit_once(',')?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_other_dimensions_runs_on_its_own_input_alone() {
        let of = |source: &str, input: Option<Vec<u64>>| {
            CustomOpSpec { input, ..CustomOpSpec::new("k", source, false) }.runs_in_network()
        };
        let three = "auto a = t.accessor<float, 3>();";
        assert!(!of(three, Some(vec![2, 3, 4])) && of(three, None));
        assert!(!of("auto a = t.accessor<float,1>();", Some(vec![5])));
        assert!(of("a.accessor<float, 2>(); b.accessor<float, 1>();", Some(vec![5])));
        assert!(of("t.tcm_accessor(); t.read_stream_accessor<float>();", Some(vec![503])));
        assert!(of("t.accessor<float, N>();", Some(vec![5])));
    }
}
