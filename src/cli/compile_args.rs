//! Flags of the compiler, which several commands take.

use clap::Args as ClapArgs;

use ns_bench::{CompileSweep, comma_list};
use ns_session::CompileOptions;

/// The text of a list; without entries the default.
pub(super) fn list_or(list: &[String], default: &str) -> String {
    if list.is_empty() { default.to_owned() } else { comma_list(list) }
}

/// Flags of the compiler. Each may be a list; every combination is run.
#[derive(Debug, ClapArgs)]
pub(super) struct CompileListArgs {
    /// Which operations are cast: none, matmult (the default up to SDK 2.26, and in the published tables), all, or
    /// several: none,matmult [default: matmult]
    #[arg(long, value_name = "WHICH", value_delimiter = ',')]
    pub auto_cast: Vec<String>,
    /// Type they are cast to: bf16, fp16, tf32, fp8_e4m3, or several [default: bf16]
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub auto_cast_type: Vec<String>,
    /// Optimisation level: 1 (no fusion), 2, 3, or several [default: 2]
    #[arg(short = 'O', long = "optlevel", value_name = "LEVEL", value_delimiter = ',')]
    pub optlevel: Vec<String>,
    /// Physical NeuronCores in one logical core, where there is a choice (Trn2: 1 or 2) [default: the device's]
    #[arg(long, alias = "logical-nc-config", value_name = "CORES")]
    pub lnc: Option<u32>,
}

impl CompileListArgs {
    /// The options that the flags set, and the options that are swept. An error names the value that does not exist.
    pub fn options(&self) -> anyhow::Result<(CompileOptions, CompileSweep)> {
        let mut base = CompileOptions { lnc: self.lnc, ..CompileOptions::default() };
        let mut sweep = CompileSweep::default();
        if !self.auto_cast.is_empty() {
            sweep.set_auto_casts(&mut base, &comma_list(&self.auto_cast))?;
        }
        if !self.auto_cast_type.is_empty() {
            sweep.set_auto_cast_types(&mut base, &comma_list(&self.auto_cast_type))?;
        }
        if !self.optlevel.is_empty() {
            sweep.set_opt_levels(&mut base, &comma_list(&self.optlevel))?;
        }
        Ok((base, sweep))
    }
}
