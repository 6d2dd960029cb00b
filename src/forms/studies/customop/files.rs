//! A kernel from files that are given together: sources in C++, the `build.py` that says which of them is the kernel, and the shape functions.

use super::spec::OWN;
use ns_base::{Refusal, refuse};
use ns_kernel::{BuildScript, Diagnostic, NamedKernel, Role, ShapeFile, compile, is_source_name};
use ns_neuron::gpsimd::{CustomOpSpec, Workload};

/// The kernel of some files.
#[derive(Debug, PartialEq, Eq)]
pub struct KernelOfFiles {
    /// The name of its file, without folders.
    pub name: String,
    pub source: String,
    /// Whether the library runs it on all processors, if a script says so.
    pub multicore: Option<bool>,
    /// Files that are not part of it.
    pub others: Vec<String>,
}

impl KernelOfFiles {
    /// Finds the kernel of files, each a name and its text. Fails when no file is a kernel, or several are and no script names one.
    pub fn of(files: &[(String, String)]) -> Result<Self, Refusal> {
        let mut builds = files.iter().filter(|(name, _)| is_script(name)).filter_map(|(name, text)| {
            BuildScript::parse(text).map_err(|e| refuse!("{name}: {e}")).transpose().map(|build| (name, build))
        });
        let (source, multicore) = match builds.next_back() {
            Some((name, build)) => {
                let build = build?;
                let wanted = build.source().map_err(|e| refuse!("{name}: {e}"))?;
                let is_it = |(other, _): &&(String, String)| file_name(other) == file_name(wanted);
                let found = files.iter().find(is_it);
                let found = found.ok_or_else(|| refuse!("{name} is built from {wanted}: drop both together"))?;
                (found, Some(build.multicore))
            }
            None => (only_kernel(files)?, None),
        };
        let is_other = |(name, _): &&(String, String)| *name != source.0 && !is_script(name);
        let others = files.iter().filter(is_other).map(|(name, _)| name.clone()).collect();
        Ok(Self { name: file_name(&source.0).to_owned(), source: source.1.clone(), multicore, others })
    }

    /// The fields of the form that it sets, with their texts.
    pub fn fields(self) -> Vec<(&'static str, String)> {
        let multicore = self.multicore.map(|multicore| ("multicore", multicore.to_string()));
        let name = if is_source_name(&self.name) { self.name } else { OWN.to_owned() };
        [("kernel", name), ("source", self.source)].into_iter().chain(multicore).collect()
    }
}

/// The kernel that an operator of a model file is placed on: of the source with this name the function that is named, else the one with the
/// operator's name, else the forward one.
pub fn placed_kernel(
    operator: &str,
    (name, source): (&str, &str),
    multicore: bool,
    function: Option<&str>,
) -> NamedKernel {
    let kernel = NamedKernel::own(name, source, multicore);
    let own_name = operator.rsplit(':').next().unwrap_or(operator).trim();
    // A source with an error has no functions; its errors are reported by whoever compiles it.
    let program = compile(source).ok();
    let has = |name: &&str| program.iter().flat_map(|p| p.kernels()).any(|f| f.name() == *name);
    let forward = program.as_ref().and_then(|p| p.kernel(Role::Forward)).map(|f| f.name());
    match function.or_else(|| Some(own_name).filter(has)) {
        // The forward function is meant without a name, so that a kernel has one text.
        Some(function) if forward != Some(function) => kernel.of_function(function),
        _ => kernel,
    }
}

/// The one file that has a kernel. A single file is taken as it is: its errors are reported at their lines.
fn only_kernel(files: &[(String, String)]) -> Result<&(String, String), Refusal> {
    let sources: Vec<_> = files.iter().filter(|(name, _)| !is_script(name)).collect();
    let has_kernel = |text: &str| compile(text).is_ok_and(|program| program.kernel(Role::Forward).is_some());
    let kernels: Vec<_> = sources.iter().copied().filter(|(_, text)| has_kernel(text)).collect();
    match (&sources[..], &kernels[..]) {
        ([one], _) | (_, [one]) => Ok(one),
        ([], _) => Err(refuse!("no file is the source of a kernel: drop the .cpp file too")),
        (_, found) => {
            let found = if found.is_empty() { &sources } else { found };
            let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            Err(refuse!("{} may each be the kernel: drop one, or the build.py that names it", names.join(", ")))
        }
    }
}

fn is_script(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".py")
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Runs the shape functions of a file (`text`) on the input shapes of every call of a kernel. Fails with line and column of each problem.
pub fn check_shapes(spec: &CustomOpSpec, file: &str, text: &str) -> Result<(), Refusal> {
    spec.check()?;
    // A kernel that does not compile has its own errors, and so has one that does not take the elements.
    let (Ok(program), Ok(of)) = (compile(&spec.source), spec.dtype.scalar()) else { return Ok(()) };
    let in_network = spec.hidden().map(|width| vec![spec.batch, width]);
    let calls: Vec<Vec<u64>> = in_network.chain(spec.input.clone()).collect();
    let is_training = spec.workload == Workload::Training;
    let roles = if is_training { &[Role::Forward, Role::Backward][..] } else { &[Role::Forward] };
    let mut problems = match ShapeFile::compile(text) {
        Err(found) => found,
        Ok(file) => {
            let kernels = roles.iter().filter_map(|role| program.kernel(*role));
            let each =
                kernels.flat_map(|kernel| calls.iter().map(move |dims| (kernel, vec![dims.clone(); kernel.inputs()])));
            each.flat_map(|(kernel, inputs)| file.problems(kernel.name(), &inputs, of)).collect()
        }
    };
    problems.dedup();
    if problems.is_empty() {
        return Ok(());
    }
    let place = |d: &Diagnostic| format!("{file}:{}:{}: error: {}", d.pos.line, d.pos.column, d.problem);
    Err(refuse!("{}", problems.iter().map(place).collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: &str =
        "#include <torch/torch.h>\nstd::vector<int64_t> relu_shape(std::vector<int64_t> x) { return x; }\n";
    const BUILD: &str = "from torch_neuronx.xla_impl import custom_op\ncustom_op.load(name='relu', compute_srcs=['src/relu.cpp'], shape_srcs=['shape.cpp'], multicore=True)\n";

    fn of(files: &[(&str, &str)]) -> Result<KernelOfFiles, String> {
        let files: Vec<_> = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        KernelOfFiles::of(&files).map_err(|e| e.to_string())
    }

    #[test]
    fn the_script_says_which_source_is_the_kernel_and_where_it_runs() {
        let relu = ns_kernel::BUILT_IN[0].source;
        let kernel = |multicore| KernelOfFiles {
            name: "relu.cpp".to_owned(),
            source: relu.to_owned(),
            multicore,
            others: vec!["shape.cpp".to_owned()],
        };
        for files in [
            [("build.py", BUILD), ("relu.cpp", relu), ("shape.cpp", SHAPE)],
            [("shape.cpp", SHAPE), ("relu.cpp", relu), ("build.py", BUILD)],
        ] {
            assert_eq!(of(&files), Ok(kernel(Some(true))));
        }
        assert_eq!(of(&[("relu.cpp", relu), ("shape.cpp", SHAPE)]), Ok(kernel(None)));
        assert_eq!(of(&[("wrong.cpp", "int f(")]).unwrap().source, "int f(");
    }

    #[test]
    fn what_lacks_a_kernel_says_what_to_drop() {
        let relu = ns_kernel::BUILT_IN[0].source;
        for (files, expected) in [
            (&[("build.py", BUILD)][..], "build.py is built from src/relu.cpp: drop both together"),
            (&[("a.cpp", relu), ("b.cpp", relu)], "a.cpp, b.cpp may each be the kernel: drop one, or the build.py"),
            (&[("a.cpp", "int f("), ("b.cpp", "int g(")], "a.cpp, b.cpp may each be the kernel"),
        ] {
            let said = of(files).unwrap_err();
            assert!(said.contains(expected), "{said}");
        }
    }
}
