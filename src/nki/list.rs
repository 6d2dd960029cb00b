//! The instruction list of a kernel, as the recorder writes it ([docs/nki-list.md]).
//!
//! [docs/nki-list.md]: https://github.com/neuronscope/neuronscope

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use ns_base::units::capital;
use ns_base::{Refusal, refuse};

/// The name by which a list is known.
pub const FORMAT: &str = "neuronscope-nki-list";
/// Bytes of a list in which its format begins.
const LONGEST_HEAD: usize = 64;
const VERSION: u32 = 1;

/// Most instructions of a list.
const MAX_INSTRUCTIONS: usize = 4_000_000;

/// Partitions that a tile may have.
const PARTITIONS: u32 = 128;

/// Most elements, and the largest distance between two.
const MOST: i64 = 1 << 40;

/// Whether a pattern has numbers that can be multiplied.
fn is_possible(pattern: &[i64]) -> bool {
    let counts = pattern.iter().skip(1).step_by(2);
    let product = counts.fold(1i64, |product, count| product.saturating_mul((*count).max(1)));
    pattern.iter().all(|n| n.abs() < MOST) && product < MOST
}

/// A list as it stands in its file. Every number that refers to another part of it is checked by [`List::read`].
#[derive(Debug, Deserialize)]
pub struct List {
    format: String,
    version: u32,
    /// Whether the recorder found no error.
    pub builds: bool,
    /// `trn1`, `inf2`, `trn2` or `trn3`.
    pub chip: String,
    /// 1: `neuronxcc.nki`; 2: `nki`.
    pub dialect: u32,
    /// Physical cores of a logical core.
    #[serde(default = "one")]
    pub lnc: u32,
    /// Absent if the file ended before it called a kernel.
    pub kernel: Option<KernelEntry>,
    pub files: Vec<String>,
    /// File, line and function of each call.
    pub sites: Vec<(usize, u32, String)>,
    /// Kind, site and trip count.
    pub loops: Vec<(String, i64, i64)>,
    /// Parent, loop and iteration of each scope.
    pub scopes: Vec<i64>,
    pub tensors: Columns,
    pub names: Vec<String>,
    /// Name and bytes.
    pub dtypes: Vec<(String, u32)>,
    #[serde(default)]
    pub shapes: BTreeMap<String, Vec<u64>>,
    pub patterns: Vec<Vec<i64>>,
    pub forms: Vec<Form>,
    pub instructions: Vec<i64>,
    /// What a comparison of values found, if one was asked for.
    pub check: Option<Check>,
    #[serde(default)]
    pub errors: Vec<Problem>,
    #[serde(default)]
    pub warnings: Vec<Problem>,
}

const fn one() -> u32 {
    1
}

/// The values of a kernel beside those wanted, as docs/formats/nki-list.md has them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, Deserialize)]
pub struct Check {
    pub expression: String,
    /// Keys of the comparison, or `error`, `fix`, `file` and `line`.
    #[serde(flatten)]
    pub found: Map<String, Value>,
}

impl Check {
    /// A number of the comparison; infinity and NaN are texts in JSON.
    pub fn number(&self, key: &str) -> Option<f64> {
        let value = self.found.get(key)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    }

    /// Why nothing was compared, with what to do.
    pub fn error(&self) -> Option<String> {
        let text = |key: &str| self.found.get(key).and_then(Value::as_str).unwrap_or_default();
        self.found.contains_key("error").then(|| format!("{} {}.", text("error"), capital(text("fix"))))
    }
}

/// The function that was recorded.
#[derive(Debug, Deserialize)]
pub struct KernelEntry {
    pub function: String,
    #[serde(default)]
    pub line: u32,
    #[serde(default)]
    pub arguments: Vec<(String, Value)>,
}

/// Tensors and tiles, a column for each fact.
#[derive(Debug, Deserialize)]
pub struct Columns {
    pub memory: String,
    pub dtype: Vec<usize>,
    pub partitions: Vec<u32>,
    pub elements: Vec<u64>,
    pub scope: Vec<i64>,
    pub site: Vec<i64>,
    pub of: Vec<i64>,
    pub name: Vec<usize>,
}

/// What instructions have in common.
#[derive(Debug, Deserialize)]
pub struct Form {
    pub op: String,
    #[serde(default)]
    pub api: String,
    pub engine: String,
    pub writes: usize,
    pub operands: Vec<String>,
    #[serde(default)]
    pub args: Map<String, Value>,
    #[serde(default)]
    pub dynamic: Vec<usize>,
}

impl Form {
    /// Whether a flag is given and true.
    pub fn is(&self, flag: &str) -> bool {
        self.args.get(flag).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The text of an argument; empty if it is not given.
    pub fn text(&self, key: &str) -> &str {
        self.args.get(key).and_then(Value::as_str).unwrap_or("")
    }
}

/// An error or a warning with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
pub struct Problem {
    #[serde(default)]
    pub kind: String,
    /// The compiler's code: `NCC_IBIR229`; empty if none is known.
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub file: usize,
    #[serde(default)]
    pub line: u32,
    pub message: String,
    #[serde(default)]
    pub fix: String,
}

/// One instruction of a list.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    pub form: usize,
    pub site: usize,
    pub scope: usize,
    /// Tensor, start and pattern of each operand.
    operands: &'a [i64],
}

impl<'a> Raw<'a> {
    /// Tensor, start and pattern of each operand.
    pub fn operands(&self) -> impl Iterator<Item = (usize, i64, usize)> + use<'a> {
        self.operands.chunks_exact(3).map(|o| (index(o[0]), o[1], index(o[2])))
    }
}

/// A number that was checked.
fn index(n: i64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl List {
    /// Whether a text is one, from its beginning.
    pub fn is_list(head: &[u8]) -> bool {
        head.starts_with(b"{") && head.windows(FORMAT.len()).take(LONGEST_HEAD).any(|part| part == FORMAT.as_bytes())
    }

    /// Reads a list.
    ///
    /// # Errors
    /// When it is no list, is of another version, or refers to something that it does not have.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let list: Self = serde_json::from_str(text)
            .map_err(|e| refuse!("the list of instructions is damaged: {e}").advise("record the kernel again"))?;
        if list.format != FORMAT || list.version != VERSION {
            let (format, version) = (&list.format, list.version);
            return Err(refuse!("a list of instructions of format '{format}', version {version}, is not read")
                .advise("record the kernel with the recorder of this version"));
        }
        list.check()?;
        Ok(list)
    }

    /// The instructions in the order of the program.
    pub fn raws(&self) -> impl Iterator<Item = Raw<'_>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let head = self.instructions.get(at..at + 3)?;
            let form = index(head[0]);
            let len = 3 * self.forms.get(form)?.operands.len();
            let operands = self.instructions.get(at + 3..at + 3 + len)?;
            at += 3 + len;
            Some(Raw { form, site: index(head[1]), scope: index(head[2]), operands })
        })
    }

    /// The bytes of an element of a tensor.
    pub fn element_bytes(&self, tensor: usize) -> u64 {
        u64::from(self.dtypes[self.tensors.dtype[tensor]].1)
    }

    /// The name of the kernel; empty if none was called.
    pub fn function(&self) -> &str {
        self.kernel.as_ref().map_or("", |kernel| &kernel.function)
    }

    /// Parent, loop and iteration of a scope.
    pub fn scope(&self, scope: usize) -> [i64; 3] {
        self.scopes.get(3 * scope..3 * scope + 3).and_then(|s| s.try_into().ok()).unwrap_or([-1; 3])
    }

    /// File and line of a site.
    pub fn place(&self, site: usize) -> (usize, u32) {
        self.sites.get(site).map_or((0, 0), |(file, line, _)| (*file, *line))
    }

    /// Whether a tensor is in device memory.
    fn is_outside(&self, tensor: usize) -> bool {
        matches!(self.tensors.memory.as_bytes()[tensor], b'i' | b'o' | b'h')
    }

    fn check(&self) -> Result<(), Refusal> {
        let t = &self.tensors;
        let n = t.memory.len();
        let lengths = [
            t.dtype.len(),
            t.partitions.len(),
            t.elements.len(),
            t.scope.len(),
            t.site.len(),
            t.of.len(),
            t.name.len(),
        ];
        let damage =
            |what: &str| refuse!("the list of instructions is damaged: {what}").advise("record the kernel again");
        if lengths.iter().any(|len| *len != n) || !t.memory.is_ascii() {
            return Err(damage("its columns of tensors have different lengths"));
        }
        let of_tensors = t.dtype.iter().all(|d| *d < self.dtypes.len())
            && t.name.iter().all(|d| *d < self.names.len())
            && t.of.iter().all(|d| usize::try_from(*d).map_or(true, |d| d < n))
            && t.elements.iter().all(|e| *e < 1 << 40)
            && self.dtypes.iter().all(|d| (1..=16).contains(&d.1))
            && t.partitions.iter().all(|p| *p <= PARTITIONS)
            && self.patterns.iter().all(|p| is_possible(p));
        let of_sites = self.sites.iter().all(|s| s.0 < self.files.len());
        let scopes = self.scopes.len() / 3;
        let of_scopes = self.scopes.chunks_exact(3).enumerate().all(|(at, s)| {
            usize::try_from(s[0]).map_or(true, |parent| parent < at)
                && (at == 0 || s[0] >= 0 && index(s[1]) < self.loops.len())
        });
        if !of_tensors || !of_sites || !of_scopes {
            return Err(damage("a tensor, a call or a loop refers to something that is not there"));
        }
        let (mut length, mut count) = (0, 0usize);
        for raw in self.raws() {
            length += 3 + raw.operands.len();
            count += 1;
            let in_range = raw.site < self.sites.len()
                && raw.scope < scopes
                && self.forms[raw.form].writes <= self.forms[raw.form].operands.len()
                && raw.operands().all(|(tensor, start, pattern)| {
                    let is_there = tensor < n && pattern < self.patterns.len() && start.abs() < MOST;
                    is_there
                        && (self.is_outside(tensor)
                            || self.patterns[pattern].iter().take(2).all(|p| (0..=i64::from(PARTITIONS)).contains(p)))
                });
            if !in_range {
                return Err(damage(&format!("instruction {count} refers to something that is not there")));
            }
        }
        if length != self.instructions.len() {
            return Err(damage("its last instruction is not complete"));
        }
        if count > MAX_INSTRUCTIONS {
            return Err(refuse!("the kernel has {count} instructions, more than {MAX_INSTRUCTIONS}")
                .advise("use smaller shapes"));
        }
        Ok(())
    }
}
