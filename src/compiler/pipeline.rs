//! From a model to an executable, stage by stage: lower or place, optimise, generate code.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::codegen;
use super::error::StageError;
use super::from_program::{GuessedCost, HloProgram, UnknownOpPolicy, from_program, outline};
use super::hlo::HloModule;
use super::lowering::lower;
use super::passes::{PassLog, PassManager};
use super::{CompileOptions, ProgramOutline, Workflow};
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_model::Graph;
use ns_program::{ImportedModel, Inspection, Role};

/// A model on its way to a core. Each stage is computed when it is first asked for, and kept.
#[derive(Clone, Debug)]
pub struct Pipeline {
    source: Source,
    workflow: Workflow,
    options: CompileOptions,
    lowered: OnceCell<Result<LoweredProgram, StageError>>,
    optimised: OnceCell<Result<OptimisedProgram, StageError>>,
    executable: OnceCell<Result<Rc<Executable>, StageError>>,
}

#[derive(Clone, Debug)]
enum Source {
    Graph(Rc<Graph>),
    /// A model file, with places for operators whose meaning is not known.
    File(Rc<ImportedModel>, BTreeMap<String, UnknownOpPolicy>),
}

/// A model's program before any pass.
#[derive(Clone, Debug)]
pub struct LoweredProgram {
    pub module: Rc<HloModule>,
    /// Operators of a model file that are placed by an estimate, with the count and the first location of each.
    pub estimates: BTreeMap<String, GuessedCost>,
    /// Notes on a model file for the user.
    pub notes: Vec<String>,
}

/// A model's program after the passes.
#[derive(Clone, Debug)]
pub struct OptimisedProgram {
    pub module: Rc<HloModule>,
    pub passes: PassLog,
}

impl Pipeline {
    /// A traced module, to be compiled.
    pub fn of_graph(graph: Rc<Graph>, workflow: Workflow, options: CompileOptions) -> Self {
        Self::new(Source::Graph(graph), workflow, options)
    }

    /// A model file, to be compiled. `assumed` says how operators without a known meaning are placed, by name.
    pub fn of_file(
        file: Rc<ImportedModel>,
        assumed: BTreeMap<String, UnknownOpPolicy>,
        workflow: Workflow,
        options: CompileOptions,
    ) -> Self {
        Self::new(Source::File(file, assumed), workflow, options)
    }

    fn new(source: Source, workflow: Workflow, options: CompileOptions) -> Self {
        let (lowered, optimised, executable) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { source, workflow, options, lowered, optimised, executable }
    }

    /// What a model file says about itself.
    pub fn inspection(&self) -> Option<&Inspection> {
        match &self.source {
            Source::Graph(_) => None,
            Source::File(file, _) => Some(&file.inspection),
        }
    }

    /// Elements of all parameters, each counted once, without buffers: PyTorch's number of parameters.
    pub fn parameters(&self) -> u64 {
        match &self.source {
            Source::Graph(graph) => graph.parameter_count(),
            Source::File(file, _) => file.inspection.parameters,
        }
    }

    /// The names of weights that are no parameters, such as running statistics.
    pub fn buffers(&self) -> BTreeSet<String> {
        match &self.source {
            Source::Graph(graph) => {
                graph.weights().into_iter().filter(|(_, w)| w.buffer).map(|(path, _)| path).collect()
            }
            Source::File(file, _) => {
                let all = file.program.parameters.iter().filter(|p| p.role == Role::Buffer);
                all.map(|p| p.name.clone()).collect()
            }
        }
    }

    /// Operations of the model's products and convolutions as written.
    pub fn model_flops(&self) -> u64 {
        match &self.source {
            Source::Graph(graph) => graph.flops(),
            Source::File(file, _) => file.inspection.flops,
        }
    }

    /// Ops that the host records for a call when nothing is traced ahead. Each operator of a file counts as one.
    pub fn recorded_ops(&self) -> u64 {
        match &self.source {
            Source::Graph(graph) => graph.recorded_ops(),
            Source::File(file, _) => file.inspection.ops.iter().map(|(op, count)| count * lazy_ops(op)).sum(),
        }
    }

    /// The program before any pass. Fails when it has an operation that cannot be lowered or placed.
    pub fn lowered(&self) -> Result<&LoweredProgram, StageError> {
        let lower = || {
            Ok(match &self.source {
                Source::Graph(graph) => {
                    let module = Rc::new(lower(graph, self.workflow)?);
                    LoweredProgram { module, estimates: BTreeMap::new(), notes: Vec::new() }
                }
                Source::File(file, assumed) => from_program(&file.program, self.workflow, assumed)?.into(),
            })
        };
        self.lowered.get_or_init(lower).as_ref().map_err(Clone::clone)
    }

    /// The same for display, of a file that cannot be placed: what is refused stands as one operation, and is listed by name with the
    /// reason. `None` for a graph, and for a program that cannot even be displayed.
    pub fn outlined(&self) -> Option<(Self, BTreeMap<String, String>)> {
        let Source::File(file, assumed) = &self.source else { return None };
        let ProgramOutline { placed, refused } = outline(&file.program, self.workflow, assumed).ok()?;
        let outlined = Self::new(self.source.clone(), self.workflow, self.options);
        Some((Self { lowered: OnceCell::from(Ok(placed.into())), ..outlined }, refused))
    }

    /// The program after the passes of the optimisation level. Fails as [`Self::lowered`], and when a pass breaks the program.
    pub fn optimised(&self) -> Result<&OptimisedProgram, StageError> {
        let optimise = || {
            let (module, passes) = self.run(&PassManager::of_level(self.options.opt_level))?;
            Ok(OptimisedProgram { module: Rc::new(module), passes })
        };
        self.optimised.get_or_init(optimise).as_ref().map_err(Clone::clone)
    }

    /// The program after the first passes; it is not kept. Fails as [`Self::optimised`].
    pub fn after_passes(&self, count: usize) -> Result<HloModule, StageError> {
        Ok(self.run(&PassManager::of_level(self.options.opt_level).first(count))?.0)
    }

    fn run(&self, passes: &PassManager) -> Result<(HloModule, PassLog), StageError> {
        let lowered = self.lowered()?;
        Ok(passes.run((*lowered.module).clone())?)
    }

    /// The code for a core with these costs. A pipeline is for one kind of core: the first costs count. Fails as
    /// [`Self::optimised`], and when no code can be generated.
    pub fn executable(&self, costs: &CostTable) -> Result<&Rc<Executable>, StageError> {
        let generate = || Ok(Rc::new(codegen::generate_with(&self.optimised()?.module, costs, &self.options)?));
        self.executable.get_or_init(generate).as_ref().map_err(Clone::clone)
    }
}

/// Ops that the lazy tensors of torch_xla record for an operator of a file: torch takes `linear` apart before they see it, into the
/// transposition of its weight and the product.
fn lazy_ops(operator: &str) -> u64 {
    let is_linear = operator.split(['.', ':']).any(|part| part == "linear");
    if is_linear { 2 } else { 1 }
}

impl From<HloProgram> for LoweredProgram {
    fn from(placed: HloProgram) -> Self {
        Self { module: Rc::new(placed.module), estimates: placed.estimates, notes: placed.notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_machine::arch::instance;
    use ns_model::ModelSpec;

    #[test]
    fn a_stage_is_computed_once() {
        let spec: ModelSpec = "mlp".parse().unwrap();
        let graph = Rc::new(spec.trace(1).unwrap());
        let pipeline = Pipeline::of_graph(graph, Workflow::Trace, CompileOptions::default());
        let costs = CostTable::of_instance(instance("trn1.2xlarge").unwrap()).unwrap();
        let first = Rc::clone(pipeline.executable(&costs).unwrap());
        assert!(Rc::ptr_eq(&first, pipeline.executable(&costs).unwrap()));
        let (lowered, optimised) = (pipeline.lowered().unwrap(), pipeline.optimised().unwrap());
        assert!(optimised.module.instructions.len() < lowered.module.instructions.len());
        assert_eq!(pipeline.after_passes(0).unwrap(), *lowered.module);
        assert_eq!(pipeline.after_passes(optimised.passes.len()).unwrap(), *optimised.module);
    }
}
