//! Flags of `neuronscope compile` and `neuronscope index`, with NeuronPerf's names.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::compile_args::{CompileListArgs, list_or};
use super::kernel_file;
use super::model_args::{ModelFileArg, ModelFileFlags};
use ns_bench::{CompileConfig, comma_list, parse_inputs, parse_levels, parse_list};

#[derive(Debug, Args)]
pub(super) struct ModelCompileArgs {
    #[command(flatten)]
    pub file: ModelFileArg,
    #[command(flatten)]
    pub file_flags: ModelFileFlags,
    /// Model, with parameters after a colon; or a model file: resnet50.onnx
    #[arg(long, default_value = "nn", value_parser = kernel_file::model)]
    pub model: String,
    /// Instance type to compile for
    #[arg(long, alias = "instance-type", alias = "compiler-target", default_value = "trn1.2xlarge")]
    pub instance: String,
    /// Shapes of the inputs, one entry for each batch size; entries separated by ;
    #[arg(long)]
    pub inputs: Option<String>,
    /// Samples of one inference: 1, 1,2 or 1-10 [default: 1; for a model file its own]
    #[arg(long, alias = "batch-size", value_delimiter = ',')]
    pub batch_sizes: Vec<String>,
    /// NeuronCores of one model copy
    #[arg(long, alias = "pipeline-size", value_delimiter = ',', default_value = "1")]
    pub pipeline_sizes: Vec<String>,
    /// 0 (most accurate) to 3 (fastest)
    #[arg(long, alias = "performance-level", value_delimiter = ',', default_value = "3")]
    pub performance_levels: Vec<String>,
    #[command(flatten)]
    pub compile: CompileListArgs,
    /// Folder of the artifacts
    #[arg(long, default_value = "models")]
    pub models_dir: String,
    /// Write the program as HLO text beside each artifact, before and after the passes: NAME.before.hlo.txt, NAME.after.hlo.txt
    #[arg(long)]
    pub hlo: bool,
    /// Label in the index and in artifact names
    #[arg(long)]
    pub model_name: Option<String>,
    /// File of the index; .json is added where it is missing [default: a name made from the label]
    #[arg(long)]
    pub filename: Option<PathBuf>,
}

impl ModelCompileArgs {
    /// The list of batch sizes.
    pub fn batch_sizes(&self) -> String {
        list_or(&self.batch_sizes, "1")
    }

    /// The model as given: a specification of the zoo or the path of a file.
    pub fn model(&self) -> &str {
        self.file.model_file.as_deref().unwrap_or(&self.model)
    }

    /// What to compile. Fails with the flag at fault.
    pub fn config(&self) -> Result<CompileConfig> {
        let (options, compile) = self.compile.options()?;
        Ok(CompileConfig {
            model: self.model().to_owned(),
            model_name: self.model_name.clone(),
            instance_type: self.instance.clone(),
            inputs: self.inputs.as_deref().map(parse_inputs).transpose()?.unwrap_or_default(),
            batch_sizes: parse_list("--batch-sizes", &self.batch_sizes())?,
            pipeline_sizes: parse_list("--pipeline-sizes", &comma_list(&self.pipeline_sizes))?,
            performance_levels: parse_levels("--performance-levels", &comma_list(&self.performance_levels))?,
            options,
            compile,
            models_dir: self.models_dir.clone(),
            hlo: self.hlo,
        })
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum IndexCommand {
    /// Make an index for an existing artifact
    Create {
        /// The artifact
        artifact: String,
        /// Specification of the model in it
        #[arg(long)]
        model: Option<String>,
        /// Label
        #[arg(long)]
        model_name: Option<String>,
        /// Samples of one inference
        #[arg(long, default_value_t = 1)]
        batch_size: u32,
        /// NeuronCores of one copy
        #[arg(long, default_value_t = 1)]
        pipeline_size: u32,
        /// 0 (most accurate) to 3 (fastest)
        #[arg(long, default_value_t = 3)]
        performance_level: u8,
        /// Where to write the index [default: a name made from the label]
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Write the entries of several indexes into one; the source indexes are kept
    Append {
        /// The indexes; the first one's name is kept
        #[arg(required = true)]
        indexes: Vec<PathBuf>,
        /// Where to write the combined index
        #[arg(long, short)]
        output: PathBuf,
    },
    /// Show the entries as a table
    Show {
        /// The index
        index: PathBuf,
    },
    /// Print the entries that have these values
    Filter {
        /// The index
        index: PathBuf,
        /// field=value,value: batch_size=1,2 (batch_sizes is understood too)
        #[arg(required = true)]
        filters: Vec<String>,
        /// Write the entries to a file instead
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Copy an index and its artifacts
    Copy(CopyArgs),
    /// Move an index and its artifacts
    Move(CopyArgs),
    /// Remove an index and its artifacts
    Delete {
        /// The index
        index: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(super) struct CopyArgs {
    /// The index
    pub old_index: PathBuf,
    /// The index to write
    pub new_index: PathBuf,
    /// Folder for the artifacts
    pub new_dir: String,
}
