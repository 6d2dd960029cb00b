//! Flags about a model file, and opening that file.

use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use super::driver::Driver;
use super::file::FileSource;
use super::shell::Shell;
use super::{kernel_file, model_file};
use ns_session::{
    BatchRule, ByteSource, ImportError, JobRequest, JobResult, Message, ModelFileRef, ModelFileSettings, OpenedModel,
};

/// Choices about a model file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Model files")]
pub(super) struct ModelFileFlags {
    /// Size of an open dimension of a model file: batch=8,seq=128 (several)
    #[arg(long = "dim", value_name = "NAME=SIZE", value_delimiter = ',')]
    pub dims: Vec<String>,
    /// Where to place an operator of a model file whose meaning is not known: aten.foo=elementwise, or move, or sort, or the kernel
    /// that computes it: my_ops::relu=relu.cpp, or relu.cpp:FUNCTION, or the build.py of its library
    #[arg(long = "assume", value_name = "OPERATOR=PLACE", value_delimiter = ',')]
    pub assumptions: Vec<String>,
}

/// A model file named without a flag.
#[derive(Debug, Default, Args)]
pub(super) struct ModelFileArg {
    /// A model file of PyTorch, JAX or ONNX, instead of --model: .pt2, TorchScript, .onnx, HLO, StableHLO
    #[arg(value_name = "MODEL_FILE", conflicts_with = "model")]
    pub model_file: Option<String>,
}

/// Refuses a file with a decision for the user that the flags do not make. The flags of each command give its batch.
fn refuse_undecided(opened: &OpenedModel, settings: &ModelFileSettings) -> Result<(), ImportError> {
    let mut inspection = opened.inspection.clone();
    if let BatchRule::Open { dimension, .. } = &opened.batch {
        let batch = inspection.open_dimensions.iter_mut().filter(|d| d.name == *dimension);
        batch.for_each(|d| d.is_chosen = true);
    }
    model_file::check_decided(&inspection, settings)
}

/// An error about a file that holds what torch_neuronx compiled, with what to give in its place.
fn about_artifact(model: &str, error: anyhow::Error) -> anyhow::Error {
    let said = format!("{error:#}");
    let name = model.rsplit(['/', '\\']).next().unwrap_or(model).to_ascii_lowercase();
    let is_artifact = (name.contains("neuron") && name.ends_with(".pt")) || said.contains("neuron::");
    if !is_artifact {
        return error;
    }
    anyhow!(
        "{said}; a model that torch_neuronx.trace compiled holds instructions of the hardware, which are not simulated: give the model itself, saved with torch.export.save(torch.export.export(model.eval(), example_inputs), \"FILE.pt2\"), as in neuronscope bench FILE.pt2"
    )
}

impl ModelFileFlags {
    /// The choices as the session takes them. An error names the flag at fault.
    pub fn settings(&self, shell: &Shell) -> Result<ModelFileSettings> {
        let mut settings = ModelFileSettings::default();
        for (flag, texts) in [("--dim", &self.dims), ("--assume", &self.assumptions)] {
            for text in texts {
                let text = if flag == "--assume" {
                    kernel_file::placement(shell, text).with_context(|| flag.to_owned())?
                } else {
                    text.clone()
                };
                settings.set(&text).with_context(|| flag.to_owned())?;
            }
        }
        Ok(settings)
    }

    /// Opens the model file that a text names; `None` when it names a model of the zoo. Fails when the file cannot be read or is
    /// not a model, or when flags of model files are given for a model of the zoo.
    pub fn open(&self, driver: &mut Driver<'_>, model: &str) -> Result<Option<OpenedModel>> {
        self.open_with(driver, model, &ModelFileSettings::default())
    }

    /// Refuses the flags where no model file is named. Fails when one is given.
    pub fn refuse_without_a_file(&self, model: &str) -> Result<()> {
        let flag = match (&self.dims[..], &self.assumptions[..]) {
            ([], []) => return Ok(()),
            ([], _) => "--assume",
            _ => "--dim",
        };
        bail!(
            "{flag} is about a model file, and {model} is not one; sizes of a model of the zoo stand behind its name, as in bert-base-uncased:seq=128"
        );
    }

    /// The same where the places of some operators are known; the flags come before them. Fails as [`Self::open`].
    pub fn open_with(
        &self,
        driver: &mut Driver<'_>,
        model: &str,
        known: &ModelFileSettings,
    ) -> Result<Option<OpenedModel>> {
        let mut settings = self.settings(driver.shell)?;
        if !model_file::names_a_file(model) {
            return self.refuse_without_a_file(model).map(|()| None);
        }
        for (op, place) in &known.assumed {
            settings.assumed.entry(op.clone()).or_insert_with(|| place.clone());
        }
        let path = std::path::Path::new(model);
        let source = FileSource::open(driver.shell, path).map_err(|e| about_artifact(model, e))?;
        let name = path.file_name().map_or_else(|| model.to_owned(), |n| n.to_string_lossy().into_owned());
        let (size, decided) = (source.size(), settings.clone());
        let request = JobRequest::OpenModel { name, size, settings: Box::new(settings) };
        let message = driver.run(request, Some(Box::new(source))).map_err(|e| about_artifact(model, e))?;
        let Some(Message::Done(JobResult::Model(found))) = message else {
            bail!("the session did not open the model file");
        };
        let (opened, _) = *found;
        refuse_undecided(&opened, &decided).with_context(|| model.to_owned())?;
        for note in &opened.inspection.notes {
            driver.say(&format!("note: {model}: {note}"));
        }
        Ok(Some(opened))
    }

    /// A model that is only inspected: the file is kept and is read when it is shown, including operators that no NeuronCore can
    /// run. Fails when the file cannot be read, or as [`Self::open`].
    pub fn model_to_look_at(&self, driver: &mut Driver<'_>, model: &str) -> Result<String> {
        if !model_file::names_a_file(model) {
            return self.model(driver, model);
        }
        let settings = self.settings(driver.shell)?;
        let path = std::path::Path::new(model);
        let name = path.file_name().map_or_else(|| model.to_owned(), |n| n.to_string_lossy().into_owned());
        driver.models().keep(&name, Rc::new(FileSource::open(driver.shell, path)?))?;
        Ok(ModelFileRef { digest: None, ..ModelFileRef::new(&name, "", settings) }.to_string())
    }

    /// The model name for requests: a file is opened, a specification of the zoo is returned unchanged. Fails as [`Self::open`].
    pub fn model(&self, driver: &mut Driver<'_>, model: &str) -> Result<String> {
        Ok(self.open(driver, model)?.map_or_else(|| model.to_owned(), |opened| opened.id))
    }
}
