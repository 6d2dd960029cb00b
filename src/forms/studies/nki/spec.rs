//! The specification of an NKI kernel, as in its form.

use serde::{Deserialize, Serialize};

use ns_base::Refusal;
use ns_nki::{List, Settings, Setup, chip_of, combinations, instance_of_chip};

/// The instance of a kernel without `platform_target`.
const USUAL_INSTANCE: &str = "trn2.48xlarge";
/// What a recorded list does not take.
pub const LIST_HAS_ITS_OWN: &str =
    "a recorded list has its shapes and settings; --shapes, --grid, --set and --check need the Python file";
/// The name of a kernel that the user writes.
pub(super) const OWN: &str = "own";

/// A kernel that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInKernel {
    pub name: &'static str,
    /// Its text in the list of the form.
    pub label: &'static str,
    pub file: &'static str,
    pub source: &'static str,
    /// Shapes of its call.
    pub shapes: &'static str,
}

const PRODUCT: &str = "lhs_t=1024x1024:bf16,rhs=1024x1024:bf16";
const KERNELS: [BuiltInKernel; 3] = [
    BuiltInKernel {
        name: "matmul",
        label: "matmul \u{2013} a product in tiles",
        file: "matmul.py",
        source: include_str!("kernels/matmul.py"),
        shapes: PRODUCT,
    },
    BuiltInKernel {
        name: "matmul-blocks",
        label: "matmul-blocks \u{2013} the same with fewer loads",
        file: "matmul_blocks.py",
        source: include_str!("kernels/matmul_blocks.py"),
        shapes: PRODUCT,
    },
    BuiltInKernel {
        name: "silu",
        label: "silu \u{2013} an activation, in the first dialect",
        file: "silu.py",
        source: include_str!("kernels/silu.py"),
        shapes: "x=4096x4096:f32",
    },
];

/// The kernels with their labels, and the one that the user writes.
pub(super) const CHOICES: [(&str, &str); KERNELS.len() + 1] = {
    let mut all = [(OWN, "own \u{2013} your file"); KERNELS.len() + 1];
    let mut at = 0;
    while at < KERNELS.len() {
        all[at] = (KERNELS[at].name, KERNELS[at].label);
        at += 1;
    }
    all
};

impl BuiltInKernel {
    /// All of them.
    pub const ALL: &'static [Self] = &KERNELS;

    /// All names.
    pub fn names() -> String {
        KERNELS.map(|kernel| kernel.name).join(", ")
    }

    /// The kernel of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KERNELS.iter().find(|kernel| kernel.name == name)
    }
}

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
    /// The instance; empty for that of the kernel's `platform_target`, or the usual one.
    pub instance: String,
    /// Settings to compare, as `NAME=VALUES; NAME=VALUES`.
    pub set: String,
    /// What the values are compared with; empty for nothing.
    pub check: String,
    /// A flag of the compiler; empty for none.
    pub flag: String,
    /// Type of the tensors whose shape names none.
    pub dtype: String,
    /// Physical cores of a logical core.
    pub lnc: u32,
    /// Programs of the launch; empty for the file's own.
    pub grid: String,
    /// Decisions of the compiler that are left out.
    pub without: Vec<String>,
}

impl Default for NkiStudy {
    fn default() -> Self {
        let mut study = Self {
            kernel: String::new(),
            source: String::new(),
            function: String::new(),
            shapes: String::new(),
            instance: String::new(),
            set: String::new(),
            check: String::new(),
            flag: String::new(),
            dtype: "float32".to_owned(),
            lnc: 1,
            grid: String::new(),
            without: Vec::new(),
        };
        study.take(KERNELS[0].name);
        study
    }
}

/// Whether a kernel is named by the file that holds it.
pub(super) fn is_file_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".py", ".json"].iter().any(|end| name.ends_with(end))
}

impl NkiStudy {
    /// Most combinations of one run.
    pub const MOST_CASES: usize = 256;
    /// Most combinations of settings; a page runs fewer.
    pub const MOST_SETTINGS: usize = 10_000;

    pub(super) fn take(&mut self, name: &str) {
        let (source, shapes) = BuiltInKernel::named(name).map_or(("", ""), |own| (own.source.trim(), own.shapes));
        name.clone_into(&mut self.kernel);
        // Whoever writes a kernel begins with the source that is there.
        if name != OWN || self.source.is_empty() {
            source.clone_into(&mut self.source);
            shapes.clone_into(&mut self.shapes);
            self.function.clear();
        }
    }

    /// Whether the source is a recorded list. Fails when it is one, and fields are set that it has itself.
    pub fn is_list(&self) -> Result<bool, String> {
        let is_list = List::is_list(self.source.as_bytes());
        let is_set = [&self.shapes, &self.grid, &self.set, &self.check].iter().any(|text| !text.is_empty());
        if is_list && is_set {
            return Err(format!("{}: {LIST_HAS_ITS_OWN}", self.file()));
        }
        Ok(is_list)
    }

    /// Whether the source is not the one that came with the kernel's name.
    pub fn is_edited(&self) -> bool {
        BuiltInKernel::named(&self.kernel).is_none_or(|own| own.source.trim() != self.source)
    }

    /// Name of the file, for errors and the command line.
    pub fn file(&self) -> &str {
        match BuiltInKernel::named(&self.kernel).filter(|_| !self.is_edited()) {
            Some(own) => own.file,
            None if is_file_name(&self.kernel) => &self.kernel,
            None => "kernel.py",
        }
    }

    /// The file with its function.
    pub fn target(&self) -> String {
        self.with_function(self.file())
    }

    /// A file, or a kernel of this program, with the function that is called.
    pub fn with_function(&self, of: &str) -> String {
        if self.function.is_empty() { of.to_owned() } else { format!("{of}::{}", self.function) }
    }

    /// The combinations of its settings. Fails when they cannot be read, or are more than `most`.
    pub fn cases(&self, most: usize) -> Result<Vec<Settings>, String> {
        combinations(self.set_parts(), most).map_err(|e| e.to_string())
    }

    /// Each constant with its values.
    pub(super) fn set_parts(&self) -> impl Iterator<Item = &str> {
        self.set.split(';').map(str::trim).filter(|part| !part.is_empty())
    }

    /// The chosen instance, or the usual one.
    pub fn usual(&self) -> &str {
        if self.instance.is_empty() { USUAL_INSTANCE } else { &self.instance }
    }

    /// What the simulator needs to know. Fails when the instance has no NeuronCore that runs kernels, or the compiler has no such flag or
    /// decision.
    pub fn setup(&self) -> Result<Setup, String> {
        let flags: Vec<String> = Some(self.flag.clone()).filter(|flag| !flag.is_empty()).into_iter().collect();
        Setup::new(self.usual(), self.lnc, &flags, &self.without).map_err(|e| e.to_string())
    }

    /// The instance of a list, and what the simulator needs to know there: that of the kernel's `platform_target` unless another one is
    /// chosen. Fails when the list was recorded for another chip than the chosen one.
    pub fn placed(&self, list: &List, setup: &Setup) -> Result<(String, Setup), Refusal> {
        let wrong = match setup.check(list, self.usual()) {
            Ok(()) => return Ok((self.usual().to_owned(), setup.clone())),
            Err(wrong) => wrong,
        };
        let own = instance_of_chip(&list.chip).filter(|_| self.instance.is_empty()).ok_or(wrong)?;
        let there = Self { instance: own.to_owned(), ..self.clone() }.setup().map_err(Refusal::new)?;
        Ok((own.to_owned(), Setup { with_limits: setup.with_limits, ..there }))
    }

    /// The words of the recorder's command line for a file with some settings. Fails as [`Self::setup`].
    pub fn words(&self, target: &str, settings: &[String]) -> Result<Vec<String>, String> {
        let (chip, lnc) = (chip_of(self.usual()).map_err(|e| e.to_string())?, self.lnc.to_string());
        let always = [("--dtype", &self.dtype), ("--lnc", &lnc), ("--shapes", &self.shapes), ("--grid", &self.grid)];
        let set = settings.iter().map(|setting| ("--set", setting));
        let flags = always.into_iter().filter(|(_, text)| !text.is_empty()).chain(set);
        let chosen = if self.instance.is_empty() { &[][..] } else { &["--chip", chip] };
        let first = std::iter::once(&target).chain(chosen).map(|word| (*word).to_owned());
        // An expression may begin with a minus.
        let check = (!self.check.is_empty()).then(|| format!("--check={}", self.check));
        Ok(first.chain(flags.flat_map(|(flag, text)| [flag.to_owned(), text.clone()])).chain(check).collect())
    }
}
