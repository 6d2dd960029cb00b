//! The specification of an NKI kernel, as in its form.

use serde::{Deserialize, Serialize};

use crate::recorder::RecorderCall;
use crate::studies::customop::{pack_source, unpack_source};
use ns_kernel::MAX_SOURCE_BYTES;
use ns_nki::{Settings, Setup, chip_of, combinations};

/// Most combinations of one run.
const MOST_CASES: usize = 256;
/// The name of a kernel that the user writes.
const OWN: &str = "own";

/// A kernel that comes with the program: its name, file, source and the shapes of its call.
const KERNELS: [(&str, &str, &str, &str); 3] = [
    ("matmul", "matmul.py", include_str!("kernels/matmul.py"), "lhs_t=1024x1024:bf16,rhs=1024x1024:bf16"),
    (
        "matmul-blocks",
        "matmul_blocks.py",
        include_str!("kernels/matmul_blocks.py"),
        "lhs_t=1024x1024:bf16,rhs=1024x1024:bf16",
    ),
    ("silu", "silu.py", include_str!("kernels/silu.py"), "x=4096x4096:f32"),
];

/// The fields of the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NkiStudy {
    /// The starting kernel: one that comes with the program, or `own`.
    pub kernel: String,
    /// The text of the file.
    pub source: String,
    /// Its function; empty if the file has one kernel.
    pub function: String,
    /// Shapes of the call; empty for the file's own call.
    pub shapes: String,
    pub instance: String,
    /// Settings to compare, as `NAME=VALUES; NAME=VALUES`.
    pub set: String,
    /// A flag of the compiler; empty for none.
    pub flag: String,
}

impl Default for NkiStudy {
    fn default() -> Self {
        let mut study = Self {
            kernel: String::new(),
            source: String::new(),
            function: String::new(),
            shapes: String::new(),
            instance: "trn2.48xlarge".to_owned(),
            set: String::new(),
            flag: String::new(),
        };
        study.take(KERNELS[0].0);
        study
    }
}

fn built_in(name: &str) -> Option<&'static (&'static str, &'static str, &'static str, &'static str)> {
    KERNELS.iter().find(|kernel| kernel.0 == name)
}

impl NkiStudy {
    fn take(&mut self, name: &str) {
        let (source, shapes) = built_in(name).map_or(("", ""), |(_, _, source, shapes)| (source.trim(), shapes));
        name.clone_into(&mut self.kernel);
        // Whoever writes a kernel begins with the source that is there.
        if name != OWN || self.source.is_empty() {
            source.clone_into(&mut self.source);
            shapes.clone_into(&mut self.shapes);
            self.function.clear();
        }
    }

    /// Whether the source is not the one that came with the kernel's name.
    pub(in crate::studies) fn is_edited(&self) -> bool {
        built_in(&self.kernel).is_none_or(|kernel| kernel.2.trim() != self.source)
    }

    /// Name of the file, for errors and the command line.
    pub(super) fn file(&self) -> &'static str {
        built_in(&self.kernel).filter(|_| !self.is_edited()).map_or("kernel.py", |kernel| kernel.1)
    }

    /// The file with its function, as the command line names them.
    pub(super) fn target(&self) -> String {
        match self.function.as_str() {
            "" => self.file().to_owned(),
            function => format!("{}::{function}", self.file()),
        }
    }

    /// The text of a field.
    pub(in crate::studies) fn text(&self, key: &str) -> String {
        let text = match key {
            "kernel" => &self.kernel,
            "source" => &self.source,
            "function" => &self.function,
            "shapes" => &self.shapes,
            "instance" => &self.instance,
            "set" => &self.set,
            "flag" => &self.flag,
            _ => return String::new(),
        };
        text.clone()
    }

    /// The text of a field in a link: a source that was edited is packed, and one that was not is left out.
    pub(in crate::studies) fn link_text(&self, key: &str) -> String {
        match key {
            "source" if self.is_edited() => pack_source(&self.source),
            "source" => String::new(),
            _ => self.text(key),
        }
    }

    /// Puts a text into a field, if it can be run with it.
    ///
    /// # Errors
    /// Says what is wrong and what would be right.
    pub(in crate::studies) fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        match key {
            "kernel" if built_in(text).is_none() && text != OWN => {
                return Err(format!("kernel: there is no kernel '{text}'; use one from the list, or own"));
            }
            "kernel" => self.take(text),
            "source" => self.source = source(text)?,
            "function" => text.clone_into(&mut self.function),
            "shapes" => text.clone_into(&mut self.shapes),
            "instance" => {
                chip_of(text).map_err(|e| format!("instance: {e}"))?;
                text.clone_into(&mut self.instance);
            }
            "set" => {
                let next = Self { set: text.to_owned(), ..self.clone() };
                next.cases()?;
                *self = next;
            }
            "flag" if text.is_empty() || text == DISABLE_DGE => text.clone_into(&mut self.flag),
            "flag" => return Err(format!("flag: '{text}' is not possible; use {DISABLE_DGE}, or nothing")),
            _ => return Err(format!("NKI kernels have no field '{key}'")),
        }
        Ok(())
    }

    /// The combinations of its settings.
    ///
    /// # Errors
    /// When they cannot be read, or are too many.
    pub(super) fn cases(&self) -> Result<Vec<Settings>, String> {
        combinations(self.set_parts(), MOST_CASES).map_err(|e| format!("set: {e}"))
    }

    /// Each constant with its values.
    pub(super) fn set_parts(&self) -> impl Iterator<Item = &str> {
        self.set.split(';').map(str::trim).filter(|part| !part.is_empty())
    }

    /// What the simulator needs to know.
    ///
    /// # Errors
    /// When the instance has no NeuronCore that runs kernels.
    pub(super) fn setup(&self) -> Result<Setup, String> {
        let flags: Vec<String> = Some(self.flag.clone()).filter(|flag| !flag.is_empty()).into_iter().collect();
        Setup::new(&self.instance, 1, &flags, &[]).map_err(|e| e.to_string())
    }

    /// The call of the recorder with some settings.
    ///
    /// # Errors
    /// As [`Self::setup`].
    pub(super) fn call(&self, settings: &[String]) -> Result<RecorderCall, String> {
        let chip = chip_of(&self.instance).map_err(|e| e.to_string())?;
        let mut words = vec![self.target(), "--source".to_owned(), "--chip".to_owned(), chip.to_owned()];
        if !self.shapes.is_empty() {
            words.extend(["--shapes".to_owned(), self.shapes.clone()]);
        }
        words.extend(settings.iter().flat_map(|setting| ["--set".to_owned(), setting.clone()]));
        Ok(RecorderCall { source: self.source.clone(), words })
    }
}

const DISABLE_DGE: &str = "disable-dge";

fn source(text: &str) -> Result<String, String> {
    let source = unpack_source(text).unwrap_or_else(|| Ok(text.to_owned()))?;
    if source.len() > MAX_SOURCE_BYTES {
        return Err(format!("source: has {} bytes; a kernel may have at most {MAX_SOURCE_BYTES}", source.len()));
    }
    Ok(source.trim().to_owned())
}
