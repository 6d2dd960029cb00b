//! The specification of a custom operator, as in its form.

use serde::{Deserialize, Serialize};

use super::cases::KernelCase;
use crate::options::OptionText;
use ns_kernel::{Fill, KernelDtype, MAX_PACKED_BYTES, MAX_SOURCE_BYTES, NamedKernel, built_in};
use ns_neuron::gpsimd::{CustomOpSpec, Workload};
use ns_nki::List;

/// The name of a kernel that the user writes.
pub(super) const OWN: &str = "own";
/// The initial source of the user's own kernel.
const OWN_SOURCE: &str = include_str!("own.cpp");

/// The fields of the form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomopStudy {
    /// The starting kernel: one that comes with the program, or `own`.
    pub kernel: String,
    /// Its source, as edited.
    pub source: String,
    /// Whether every processor runs it.
    pub multicore: bool,
    /// Numbers of processors to compare.
    pub cores: Vec<u32>,
    /// Element types of the tensors to compare.
    pub dtypes: Vec<KernelDtype>,
    /// A constant of the kernel and the values to compare; empty for none.
    pub constant: String,
    /// Networks to compare, each as widths of its layers.
    pub layers: Vec<Vec<u64>>,
    /// Samples of a step.
    pub batch: u64,
    /// The work of a step.
    pub workload: Workload,
    /// Shape of a separate input to run the kernel on.
    pub input: Option<Vec<u64>>,
    /// Values of the inputs.
    pub fill: Fill,
    /// Seed of normally distributed inputs.
    pub seed: u64,
    /// What the kernel should compute; empty for none.
    pub reference: String,
    /// Whether the tutorial's kernels are run for comparison.
    pub steps: bool,
}

impl Default for CustomopStudy {
    fn default() -> Self {
        let name = "relu-element";
        let base = CustomOpSpec::new(name, "", false);
        Self {
            kernel: name.to_owned(),
            source: source_of(name).to_owned(),
            multicore: false,
            cores: vec![base.cores],
            dtypes: vec![base.dtype],
            constant: String::new(),
            layers: vec![base.layers],
            batch: base.batch,
            workload: base.workload,
            input: None,
            fill: base.fill,
            seed: base.seed,
            reference: String::new(),
            steps: false,
        }
    }
}

/// The source of a named kernel; empty for a file, whose source is given with it.
pub(super) fn source_of(name: &str) -> &'static str {
    match built_in(name) {
        Some(kernel) => kernel.source.trim(),
        None if name == OWN => OWN_SOURCE.trim(),
        None => "",
    }
}

impl CustomopStudy {
    /// Whether the source is not the one that came with the kernel's name.
    pub fn is_edited(&self) -> bool {
        self.source.trim() != source_of(&self.kernel)
    }

    /// Checks everything except the kernel's constants, which come and go while the source is edited.
    pub(super) fn check(&self, key: &str) -> Result<(), String> {
        if key == "constant" {
            return self.constants().map(|_| ());
        }
        let count = self.cores.len() * self.layers.len() * self.dtypes.len();
        if count > KernelCase::MOST {
            return Err(format!("{key}: the lists make {count} combinations; at most {} can be run", KernelCase::MOST));
        }
        for layers in &self.layers {
            for cores in &self.cores {
                self.base(layers, *cores).check().map_err(|e| format!("{key}: {e}"))?;
            }
        }
        Ok(())
    }

    /// The kernel as in the form.
    pub fn base(&self, layers: &[u64], cores: u32) -> CustomOpSpec {
        let name = if self.is_edited() && built_in(&self.kernel).is_some() {
            format!("{}, edited", self.kernel)
        } else {
            self.kernel.clone()
        };
        CustomOpSpec {
            cores,
            layers: layers.to_vec(),
            batch: self.batch,
            workload: self.workload,
            input: self.input.clone(),
            fill: self.fill,
            seed: self.seed,
            reference: Some(self.reference.clone()).filter(|r| !r.is_empty()),
            ..CustomOpSpec::new(&name, &self.source, self.multicore)
        }
    }

    /// The constant and its values; `None` if the field is empty. Fails when it is not `NAME=VALUES`.
    pub(super) fn constants(&self) -> Result<Option<(&str, Vec<&str>)>, String> {
        if self.constant.is_empty() {
            return Ok(None);
        }
        let write = || "constant: write NAME=VALUES, such as buffer_size=128,512,1024".to_owned();
        let (name, values) = self.constant.split_once('=').ok_or_else(write)?;
        let (name, values): (&str, Vec<&str>) = (name.trim(), values.split(',').map(str::trim).collect());
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || values.iter().any(|v| v.is_empty() || v.contains([';', '\n'])) {
            return Err(write());
        }
        Ok(Some((name, values)))
    }
}

/// The text of a source, which a link packs.
pub(in crate::studies) fn source(given: &OptionText<'_>) -> Result<String, String> {
    let source = unpack_source(given.text).unwrap_or_else(|| Ok(given.text.to_owned()))?;
    let most = if List::is_list(source.as_bytes()) { MAX_PACKED_BYTES } else { MAX_SOURCE_BYTES };
    if source.len() > most {
        return Err(format!("{}: has {} bytes; at most {most} are read", given.name, source.len()));
    }
    Ok(source.trim().to_owned())
}

pub(super) fn list<T: std::str::FromStr>(given: &OptionText<'_>, text: &str) -> Result<Vec<T>, String> {
    text.split(',').map(|text| OptionText { name: given.name, text: text.trim() }.whole()).collect()
}

/// A kernel's source as a link carries it: `1234~PACKED` for a source of 1,234 bytes.
pub(in crate::studies) fn pack_source(source: &str) -> String {
    NamedKernel::own(&source.len().to_string(), source, false).to_string()
}

/// The source of a packed text; `None` for a text that is not packed. Fails when it is packed and damaged.
fn unpack_source(text: &str) -> Option<Result<String, String>> {
    let (size, packed) = text.split_once('~')?;
    let size: usize = size.parse().ok()?;
    let is_packed = !packed.is_empty() && packed.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let damaged = || "source: the kernel in the link is damaged; copy the whole link again".to_owned();
    let read = || text.parse::<NamedKernel>().ok().map(|k| k.source.into_owned()).filter(|s| s.len() == size);
    is_packed.then(|| read().ok_or_else(damaged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options as _;
    use crate::studies::{StudyKind, StudySpec};

    #[test]
    fn a_kernel_brings_its_source_and_an_edited_one_travels_packed() {
        let mut study = CustomopStudy::default();
        study.set_text("kernel", "relu-multicore").unwrap();
        let link_text = |study: &CustomopStudy, key| StudySpec::Customop(study.clone()).link_text(key);
        assert!(study.multicore && study.source.contains("get_cpu_id") && link_text(&study, "source").is_empty());
        study.set_text("source", &study.source.replace("buffer_size", "part")).unwrap();
        let packed = link_text(&study, "source");
        assert!(packed.len() < study.source.len() && packed.starts_with(&format!("{}~", study.source.len())));
        let mut read = CustomopStudy::default();
        for key in ["kernel", "source", "multicore"] {
            read.set_text(key, &link_text(&study, key)).unwrap();
        }
        assert_eq!(read, study);
        assert_eq!(study.base(&[8, 8], 2).name, "relu-multicore, edited");
        study.set_text("kernel", OWN).unwrap();
        assert_eq!((study.base(&[8, 8], 2).name.as_str(), study.multicore), (OWN, false));
    }

    #[test]
    fn an_impossible_run_is_refused_with_its_field() {
        let mut study = CustomopStudy::default();
        for (key, text, part) in [
            ("kernel", "gelu", "no kernel 'gelu'"),
            ("cores", "0", "cores 0 is outside 1 to 8"),
            ("cores", "8,x", "'x' is not a whole number"),
            ("layers", "784", "number of layers 1 is outside"),
            ("layers", "784,0,10", "layer width 0"),
            ("batch", "-1", "'-1' is not a whole number"),
            ("input", "1000,0", "elements of the input 0"),
            ("workload", "both", "'both' is not inference or training"),
            ("constant", "buffer_size", "write NAME=VALUES"),
            ("constant", "a=1;2", "write NAME=VALUES"),
            ("steps", "yes", "use true or false"),
            ("nothing", "1", "no field 'nothing'"),
        ] {
            let error = study.set_text(key, text).unwrap_err();
            assert!(error.contains(part), "{key}={text}: {error}");
        }
        assert_eq!(study, CustomopStudy::default());
        assert!(study.set_text("source", &"x".repeat(MAX_SOURCE_BYTES + 1)).unwrap_err().contains("at most"));
        // A recorded list is longer than a source, and a link holds it too.
        let list = |bytes| format!("{{\"format\":\"neuronscope-nki-list\"{}}}", " ".repeat(bytes));
        let long = list(2 * MAX_SOURCE_BYTES);
        assert_eq!(unpack_source(&pack_source(&long)), Some(Ok(long.clone())));
        let mut nki = StudySpec::new(StudyKind::Nki);
        assert_eq!((nki.set("source", &long), nki.set("source", &list(MAX_PACKED_BYTES)).is_err()), (Ok(()), true));
    }

    #[test]
    fn sources_travel_packed() {
        let source = "torch::Tensor f(const torch::Tensor& t) { return t; } // a~b \u{e4}";
        let text = pack_source(source);
        assert!(text.starts_with(&format!("{}~", source.len())));
        assert_eq!(unpack_source(&text), Some(Ok(source.to_owned())));
        assert_eq!(unpack_source(source), None);
        assert_eq!(unpack_source("12~x y"), None);
        assert!(unpack_source("12~AAAA").unwrap().is_err());
        assert!(unpack_source(&text.replacen(&source.len().to_string(), "3", 1)).unwrap().is_err());
    }
}
