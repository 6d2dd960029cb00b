//! Kernels in files: `mlp:kernel=my_relu.cpp` becomes a specification that holds the source, because nothing below the command
//! line reads files.

use std::path::Path;

use anyhow::{Context, Result, bail};

use ns_session::studies::placed_kernel;
use ns_session::{
    BUILT_IN, BuildScript, BuiltIn, ByteSource, MAX_SOURCE_BYTES, NamedKernel, TABLE_KERNEL, built_in,
    neuronperf_command, refuse_script,
};

use super::file::FileSource;
use super::shell::Shell;

/// The parameter of a model that names a kernel.
const PARAMETER: &str = "kernel";

/// A model's specification with every kernel file replaced by its source.
pub(super) fn model(text: &str) -> Result<String> {
    let Some((name, parameters)) = text.split_once(':') else { return Ok(text.to_owned()) };
    let parts: Vec<String> = parameters.split(',').map(with_source).collect::<Result<_>>()?;
    Ok(format!("{name}:{}", parts.join(",")))
}

fn with_source(part: &str) -> Result<String> {
    let Some((PARAMETER, path)) = part.split_once('=').map(|(n, v)| (n.trim(), v.trim())) else {
        return Ok(part.to_owned());
    };
    let is_file = Path::new(path).is_file();
    if path == TABLE_KERNEL || built_in(path).is_some() || (!is_file && path.parse::<NamedKernel>().is_ok()) {
        return Ok(part.to_owned());
    }
    Ok(format!("{PARAMETER}={}", NamedKernel::own(file_name(path), &read(&Shell::default(), path)?, false)))
}

/// The placement `OPERATOR=PLACE` of an operator of a model file, with the source in place of a kernel's file. The kernel is the function
/// that `FILE.cpp:FUNCTION` names, else the one with the operator's name, else the forward one.
pub(super) fn placement(shell: &Shell, text: &str) -> Result<String> {
    let Some((operator, path)) = text.rsplit_once('=').map(|(o, p)| (o, p.trim())) else { return Ok(text.to_owned()) };
    if let Some(kernel) = built_in(path) {
        return Ok(format!("{operator}={}", NamedKernel::own(kernel.name, kernel.source, kernel.multicore)));
    }
    let is_file = |path: &str| [".cpp", ".cc", ".py"].iter().any(|end| path.to_ascii_lowercase().ends_with(end));
    let (path, function) = match path.rsplit_once(':') {
        Some((file, function)) if is_file(file) => (file, Some(function)),
        _ => (path, None),
    };
    if !is_file(path) {
        return Ok(text.to_owned());
    }
    let file = open(shell, path)?;
    let kernel = placed_kernel(operator, (file_name(&file.path), &file.source), file.multicore, function);
    Ok(format!("{operator}={kernel}"))
}

/// A kernel outside the program: its source, and what the `build.py` of its library says of it.
pub(super) struct KernelFile {
    /// The file of the source.
    pub path: String,
    pub source: String,
    pub multicore: bool,
    /// Files of shape functions.
    pub shapes: Vec<String>,
}

impl KernelFile {
    /// A kernel that comes with the program.
    pub fn of(kernel: &BuiltIn) -> Self {
        let BuiltIn { name, source, multicore, .. } = *kernel;
        Self { path: name.to_owned(), source: source.to_owned(), multicore, shapes: Vec::new() }
    }
}

/// Reads a kernel from its source, or from the `build.py` that names the source.
pub(super) fn open(shell: &Shell, path: &str) -> Result<KernelFile> {
    if !path.to_ascii_lowercase().ends_with(".py") {
        return Ok(KernelFile {
            path: path.to_owned(),
            source: read(shell, path)?,
            multicore: false,
            shapes: Vec::new(),
        });
    }
    let script = read(shell, path)?;
    let Some(build) = BuildScript::parse(&script).with_context(|| path.to_owned())? else {
        match refuse_script(path, script.as_bytes(), &[], neuronperf_command) {
            Some(refusal) => return Err(refusal.into()),
            None => bail!("{path}: calls no custom_op.load(...); name the kernel's C++ file"),
        }
    };
    let beside = |name: &str| Path::new(path).with_file_name(name).to_string_lossy().into_owned();
    let source = beside(build.source().with_context(|| path.to_owned())?);
    let text = read(shell, &source).with_context(|| format!("{path}: compute_srcs"))?;
    let shapes = build.shape_srcs.iter().map(|name| beside(name)).collect();
    Ok(KernelFile { path: source, source: text, multicore: build.multicore, shapes })
}

/// The name of a kernel is that of its file, so that it is never one of a kernel that comes with the program.
fn file_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|s| s.to_str()).unwrap_or(path)
}

/// Reads a source from a file.
pub(super) fn read(shell: &Shell, path: &str) -> Result<String> {
    let names = BUILT_IN.map(|k| k.name).join(", ");
    if path == TABLE_KERNEL && !Path::new(path).is_file() {
        bail!(
            "{path}: is one time for each element of mlp:kernel={path}, without a source; name a kernel ({names}) or a file"
        );
    }
    let file = FileSource::open(shell, Path::new(path))
        .with_context(|| format!("{path}: not a kernel ({names}) and not a file"))?;
    let size = file.size();
    if size > MAX_SOURCE_BYTES as u64 {
        bail!("{path}: has {size} bytes; a kernel may have at most {MAX_SOURCE_BYTES}");
    }
    let bytes = super::file::read(shell, Path::new(path))?;
    String::from_utf8(bytes).with_context(|| format!("{path}: is not UTF-8 text; save it as UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_becomes_its_source() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernel/operator/kernels/relu_tcm.cpp");
        let text = model(&format!("mlp:kernel={path},hidden1=8")).unwrap();
        let (kernel, rest) = text.strip_prefix("mlp:kernel=").unwrap().split_once(',').unwrap();
        let found: NamedKernel = kernel.parse().unwrap();
        assert_eq!((found.name.as_str(), rest), ("relu_tcm.cpp", "hidden1=8"));
        assert_eq!(found.source, std::fs::read_to_string(path).unwrap());
        assert_eq!(model(&text).unwrap(), text);
        for same in ["nn", "mlp:kernel=relu", "mlp:kernel=relu-tcm", "matmult:n=3"] {
            assert_eq!(model(same).unwrap(), same);
        }
        let function = |text: &str| {
            let placed = placement(&Shell::default(), text).unwrap();
            placed.rsplit_once('=').unwrap().1.parse::<NamedKernel>().unwrap().function
        };
        assert_eq!(function(&format!("my_ops::relu={path}")), None);
        assert_eq!(function(&format!("my_ops::relu={path}:relu_forward")), None);
        assert_eq!(function(&format!("my_ops::relu_backward={path}")).as_deref(), Some("relu_backward"));
        assert_eq!(function(&format!("my_ops::gradient={path}:relu_backward")).as_deref(), Some("relu_backward"));
        assert!(model("mlp:kernel=missing.cpp").unwrap_err().to_string().contains("not a kernel (relu-element"));
    }
}
