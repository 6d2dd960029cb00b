//! Norms and softmaxes, found in the module before code is generated.
//!
//! HLO spells them out as reductions and elementwise work. Compiled separately, each of these would be a pass over
//! the whole tensor. The machine has instructions for the parts (statistics of a row in one pass, an activation that
//! sums its results), so norms and softmaxes are recognised and emitted as one operation.
//!
//! [`IDIOMS`] has the pattern of each. A further spelling is another arm of an `Either`; a further idiom is a further row, and its
//! steps in `rows.rs`. Nothing outside a match may read its intermediate values: if something does, the parts are compiled
//! separately.

use crate::hlo::{HloInstruction, HloModule, InstrId, Opcode};
use crate::patterns::Pattern::{
    Add, Divide, Either, Exponential, Given, Maximum, Multiply, Named, Number, One, RowMax, RowSum, Rsqrt, Sqrt,
    Subtract, X, Zero,
};
use crate::patterns::{Graph, Part, Pattern, PatternMatch};
use ns_base::Order;
use ns_base::{FxHashMap, FxHashSet, IndexVec};

/// The idiom of a row of [`IDIOMS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Softmax,
    Norm,
}

/// Each idiom with its last operation. An idiom that contains another comes first: a layer norm contains the RMS norm of its
/// centred rows.
const IDIOMS: [(Kind, Pattern); 4] =
    [(Kind::Softmax, SOFTMAX), (Kind::Norm, LAYER_NORM), (Kind::Norm, LAYER_NORM_BY_MOMENTS), (Kind::Norm, RMS_NORM)];

/// `exp(x - max(x)) / sum(exp(x - max(x)))`
const SOFTMAX: Pattern =
    Either(&[Divide(&EXPONENTIAL, &EXPONENTIALS), Multiply(&EXPONENTIAL, &Divide(&One, &EXPONENTIALS))]);
const EXPONENTIAL: Pattern = Named(Part::Exponential, &Exponential(&Subtract(&X, &Named(Part::Max, &RowMax(&X)))));
const EXPONENTIALS: Pattern = Named(Part::Sum, &RowSum(&EXPONENTIAL));

/// A sum divided by the number of elements.
macro_rules! mean {
    ($sum:expr) => {
        Either(&[Multiply(&$sum, &Number), Divide(&$sum, &Number)])
    };
}

/// A value divided by the root of a variance plus an optional small number. Either of the two may be multiplied by a weight.
macro_rules! over_root {
    ($value:expr, $variance:expr) => {
        Either(&[
            Multiply(&$value, &reciprocal_root!($variance)),
            Multiply(&$value, &Named(Part::Scaled, &Multiply(&reciprocal_root!($variance), &Given))),
            Divide(&$value, &Named(Part::Deviation, &Sqrt(&within_root!($variance)))),
        ])
    };
}
macro_rules! reciprocal_root {
    ($variance:expr) => {
        Named(
            Part::Deviation,
            &Either(&[Rsqrt(&within_root!($variance)), Divide(&One, &Sqrt(&within_root!($variance)))]),
        )
    };
}
macro_rules! within_root {
    ($variance:expr) => {
        Either(&[Add(&$variance, &Number), $variance])
    };
}

/// `(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps)`; weight and bias follow.
const LAYER_NORM: Pattern = over_root!(CENTRED, mean!(CENTRED_SQUARES));
const CENTRED: Pattern = Named(Part::Centred, &Subtract(&X, &MEAN));
const MEAN: Pattern = mean!(Named(Part::Sum, &RowSum(&X)));
const CENTRED_SQUARES: Pattern = Named(Part::Squares, &RowSum(&Named(Part::Square, &Multiply(&CENTRED, &CENTRED))));

/// The same with the variance as `mean(x^2) - mean(x)^2`, which Flax keeps from being negative.
const LAYER_NORM_BY_MOMENTS: Pattern = over_root!(CENTRED, VARIANCE_BY_MOMENTS);
const VARIANCE_BY_MOMENTS: Pattern = Either(&[MOMENTS, Maximum(&MOMENTS, &Zero)]);
const MOMENTS: Pattern = Subtract(&mean!(SQUARES), &Multiply(&MEAN, &MEAN));

/// `x / sqrt(mean(x^2) + eps)`; a weight follows.
const RMS_NORM: Pattern = over_root!(X, mean!(SQUARES));
const SQUARES: Pattern = Named(Part::Squares, &RowSum(&Named(Part::Square, &Multiply(&X, &X))));

/// A softmax along the last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Softmax {
    pub of: InstrId,
    /// The maximum of each row.
    pub max: InstrId,
    /// The exponential of the difference.
    pub exponential: InstrId,
    /// Instructions that it replaces, in program order.
    pub parts: Vec<InstrId>,
    pub result: InstrId,
}

/// A layer norm or an RMS norm along the last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Norm {
    pub of: InstrId,
    /// For a layer norm, the sum of each row and the row less its mean.
    pub centring: Option<(InstrId, InstrId)>,
    /// The sum of the squares.
    pub squares: InstrId,
    pub deviation: InstrId,
    /// Whether the result is multiplied by a weight.
    pub scales: bool,
    /// Whether a bias is added to the result.
    pub shifts: bool,
    /// Instructions that it replaces, in program order.
    pub parts: Vec<InstrId>,
    pub result: InstrId,
}

/// The idioms of a module, by the first instruction of each.
#[derive(Debug, Default)]
pub(super) struct Idioms {
    pub softmaxes: FxHashMap<InstrId, Softmax>,
    pub norms: FxHashMap<InstrId, Norm>,
    /// Softmaxes by their inputs.
    pub softmax_of: FxHashMap<InstrId, Softmax>,
}

impl Idioms {
    /// Looks at every product and quotient, since each idiom ends in one.
    pub fn find(module: &HloModule, users: &IndexVec<InstrId, Vec<InstrId>>) -> Self {
        let mut found = Self::default();
        let finder = Finder { module, users, graph: Graph::new(module) };
        let mut taken: FxHashSet<InstrId> = FxHashSet::default();
        for (owner, instruction) in module.instructions.iter_enumerated() {
            for (id, node) in nodes(owner, instruction) {
                if !matches!(node.opcode, Opcode::Multiply | Opcode::Divide) {
                    continue;
                }
                let Some((kind, matched, span)) = finder.idiom_at(id) else { continue };
                if span.parts.iter().chain([&span.result]).any(|p| taken.contains(p)) {
                    continue;
                }
                let instructions = span.parts.iter().chain([&span.result]).copied().collect::<Vec<_>>();
                if found.add(&finder, kind, &matched, span).is_some() {
                    taken.extend(instructions);
                }
            }
        }
        found
    }

    fn add(&mut self, finder: &Finder<'_>, kind: Kind, matched: &PatternMatch, span: Span) -> Option<()> {
        let owner = |part| matched.part(part).map(|id| finder.graph.owner(id));
        let first = *span.parts.first()?;
        let Span { of, parts, result, scales, shifts } = span;
        match kind {
            Kind::Softmax => {
                let (max, exponential) = (owner(Part::Max)?, owner(Part::Exponential)?);
                let softmax = Softmax { of, max, exponential, parts, result };
                self.softmax_of.insert(of, softmax.clone());
                self.softmaxes.insert(first, softmax);
            }
            Kind::Norm => {
                let centring = owner(Part::Sum).zip(owner(Part::Centred));
                let (squares, deviation) = (owner(Part::Squares)?, owner(Part::Deviation)?);
                self.norms.insert(first, Norm { of, centring, squares, deviation, scales, shifts, parts, result });
            }
        }
        Some(())
    }
}

/// The members of a fusion, or the instruction itself.
fn nodes(owner: InstrId, instruction: &HloInstruction) -> Vec<(InstrId, &HloInstruction)> {
    match &instruction.opcode {
        Opcode::Fusion(body) => body.ids.iter().copied().zip(&body.members).collect(),
        _ => vec![(owner, instruction)],
    }
}

/// The instructions that an idiom replaces.
struct Span {
    of: InstrId,
    parts: Vec<InstrId>,
    result: InstrId,
    scales: bool,
    shifts: bool,
}

struct Finder<'a> {
    module: &'a HloModule,
    users: &'a IndexVec<InstrId, Vec<InstrId>>,
    graph: Graph<'a>,
}

impl Finder<'_> {
    fn idiom_at(&self, id: InstrId) -> Option<(Kind, PatternMatch, Span)> {
        IDIOMS.iter().find_map(|(kind, pattern)| {
            let found = self.graph.find(pattern, id)?;
            let span = self.span(*kind, id, &found)?;
            Some((*kind, found, span))
        })
    }

    /// The instructions that a match replaces, if nothing else reads its intermediate values and the last instruction
    /// only scales and shifts by weights.
    fn span(&self, kind: Kind, id: InstrId, found: &PatternMatch) -> Option<Span> {
        let result = self.graph.owner(id);
        let x = found.x()?;
        let of = self.graph.owner(x);
        if self.graph.is_constant(x) || self.graph.producer(of) != x {
            return None;
        }
        let owners = found.nodes.iter().filter(|n| !self.graph.is_constant(**n)).map(|n| self.graph.owner(*n));
        let mut parts: Vec<InstrId> = owners.filter(|o| *o != result).collect();
        parts.order();
        parts.dedup();
        let inside = |i: &InstrId| *i == result || parts.contains(i);
        let read_inside = parts.iter().all(|p| *p != self.module.root && self.users[*p].iter().all(inside));
        let reads_inside = |i: &InstrId| {
            let operands = &self.module.instructions[*i].operands;
            operands.iter().all(|o| *o == of || parts.contains(o) || self.graph.is_constant(*o))
        };
        if inside(&of) || !read_inside || !parts.iter().chain([&result]).all(reads_inside) {
            return None;
        }
        let (mut scales, mut shifts) = (found.part(Part::Scaled).is_some(), false);
        for (id, member) in nodes(result, &self.module.instructions[result]) {
            let by_weights = member.operands.iter().any(|o| self.graph.is_constant(*o));
            match &member.opcode {
                _ if found.nodes.contains(&id) || self.graph.is_constant(id) => {}
                Opcode::Broadcast { .. } | Opcode::Convert | Opcode::Reshape => {}
                Opcode::Multiply if kind == Kind::Norm && by_weights && !scales => scales = true,
                Opcode::Add if kind == Kind::Norm && by_weights && !shifts => shifts = true,
                _ => return None,
            }
        }
        Some(Span { of, parts, result, scales, shifts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo_text::parse;
    use crate::passes::optimize;
    use crate::{Workflow, lower};
    use ns_model::trace;
    use ns_model::zoo::text::{LlamaConfig, Reads, llama};
    use ns_tensor::{DType, Shape};

    fn idioms(module: &HloModule) -> Idioms {
        let mut users: IndexVec<InstrId, Vec<InstrId>> = module.instructions.iter().map(|_| Vec::new()).collect();
        for (id, instruction) in module.instructions.iter_enumerated() {
            instruction.operands.iter().for_each(|o| users[*o].push(id));
        }
        Idioms::find(module, &users)
    }

    /// Instructions on rows of eight elements, as they are written and after the passes.
    fn idioms_of(lines: &str) -> [Idioms; 2] {
        let text = format!(
            "HloModule M, workflow=trace\n\nENTRY {{\n  %x = f32[4,8] parameter(0), input=0\n  %w = f32[8] parameter(1), \
             weight=\"w\"\n  %b = f32[8] parameter(2), weight=\"b\"\n  %wide = f32[4,8] broadcast(%w), dimensions={{1}}\n  \
             %bias = f32[4,8] broadcast(%b), dimensions={{1}}\n  %c = f32[] constant(0.125)\n  %n = f32[4] broadcast(%c), \
             dimensions={{}}\n  %e = f32[] constant(0.00001)\n  %eps = f32[4] broadcast(%e), dimensions={{}}\n  %i = f32[] \
             constant(1.0)\n  %one = f32[4] broadcast(%i), dimensions={{}}\n{lines}}}\n"
        );
        let module = parse(&text).unwrap();
        [idioms(&module), idioms(&optimize(module).unwrap().0)]
    }

    fn norm(found: &Idioms) -> &Norm {
        assert_eq!((found.norms.len(), found.softmaxes.len()), (1, 0), "{found:?}");
        found.norms.values().next().unwrap()
    }

    const SQUARES_OF_X: &str = "  %square = f32[4,8] multiply(%x, %x)
  %sum = f32[4] reduce(%square), dimensions={1}, to_apply=add\n";

    #[test]
    fn an_rms_norm_is_found_in_any_spelling() {
        let spellings = [
            "  %mean = f32[4] multiply(%sum, %n)
  %v = f32[4] add(%mean, %eps)
  %r = f32[4] rsqrt(%v)
  %rows = f32[4,8] broadcast(%r), dimensions={0}
  %normal = f32[4,8] multiply(%x, %rows)
  ROOT %out = f32[4,8] multiply(%wide, %normal)\n",
            "  %mean = f32[4] divide(%sum, %n)
  %v = f32[4] add(%eps, %mean)
  %r = f32[4] sqrt(%v)
  %rows = f32[4,8] broadcast(%r), dimensions={0}
  %normal = f32[4,8] divide(%x, %rows)
  ROOT %out = f32[4,8] multiply(%normal, %wide)\n",
            "  %mean = f32[4] multiply(%n, %sum)
  %v = f32[4] add(%mean, %eps)
  %root = f32[4] sqrt(%v)
  %r = f32[4] divide(%one, %root)
  %rows = f32[4,8] broadcast(%r), dimensions={0}
  %normal = f32[4,8] multiply(%rows, %x)
  ROOT %out = f32[4,8] multiply(%normal, %wide)\n",
        ];
        for spelling in spellings {
            let [plain, fused] = idioms_of(&format!("{SQUARES_OF_X}{spelling}"));
            let (plain, fused) = (norm(&plain), norm(&fused));
            assert!(plain.centring.is_none() && fused.centring.is_none(), "{spelling}");
            // Without fusion the weight is an operation of its own.
            assert!(fused.scales && !fused.shifts && !plain.scales, "{spelling}");
        }
    }

    #[test]
    fn a_layer_norm_is_found_in_any_spelling() {
        for (mean, over) in [("multiply(%total, %n)", "rsqrt"), ("divide(%total, %n)", "sqrt")] {
            let last = if over == "rsqrt" { "multiply" } else { "divide" };
            let [plain, fused] = idioms_of(&format!(
                "  %total = f32[4] reduce(%x), dimensions={{1}}, to_apply=add
  %mean = f32[4] {mean}
  %means = f32[4,8] broadcast(%mean), dimensions={{0}}
  %centred = f32[4,8] subtract(%x, %means)
  %square = f32[4,8] multiply(%centred, %centred)
  %sum = f32[4] reduce(%square), dimensions={{1}}, to_apply=add
  %variance = f32[4] multiply(%sum, %n)
  %v = f32[4] add(%variance, %eps)
  %r = f32[4] {over}(%v)
  %rows = f32[4,8] broadcast(%r), dimensions={{0}}
  %normal = f32[4,8] {last}(%centred, %rows)
  %scaled = f32[4,8] multiply(%normal, %wide)
  ROOT %out = f32[4,8] add(%bias, %scaled)\n"
            ));
            assert!(norm(&plain).centring.is_some());
            let fused = norm(&fused);
            assert!(fused.centring.is_some() && fused.scales && fused.shifts);
        }
    }

    #[test]
    fn a_layer_norm_by_moments_is_found() {
        for positive in ["maximum(%difference, %zeros)", "maximum(%zeros, %difference)"] {
            let [plain, fused] = idioms_of(&format!(
                "  %total = f32[4] reduce(%x), dimensions={{1}}, to_apply=add
  %mean = f32[4] multiply(%total, %n)
  %square = f32[4,8] multiply(%x, %x)
  %sum = f32[4] reduce(%square), dimensions={{1}}, to_apply=add
  %squares = f32[4] multiply(%sum, %n)
  %squared = f32[4] multiply(%mean, %mean)
  %difference = f32[4] subtract(%squares, %squared)
  %zero = f32[] constant(0.0)
  %zeros = f32[4] broadcast(%zero), dimensions={{}}
  %variance = f32[4] {positive}
  %v = f32[4] add(%variance, %eps)
  %r = f32[4] rsqrt(%v)
  %means = f32[4,8] broadcast(%mean), dimensions={{0}}
  %centred = f32[4,8] subtract(%x, %means)
  %rows = f32[4,8] broadcast(%r), dimensions={{0}}
  %factor = f32[4,8] multiply(%rows, %wide)
  %normal = f32[4,8] multiply(%centred, %factor)
  ROOT %out = f32[4,8] add(%normal, %bias)\n"
            ));
            // The weight is part of the norm, the bias follows it.
            let (plain, fused) = (norm(&plain), norm(&fused));
            assert!(plain.centring.is_some() && plain.scales && !plain.shifts);
            assert!(fused.centring.is_some() && fused.scales && fused.shifts);
        }
    }

    #[test]
    fn a_softmax_is_found_in_either_spelling() {
        let start = "  %max = f32[4] reduce(%x), dimensions={1}, to_apply=maximum
  %most = f32[4,8] broadcast(%max), dimensions={0}
  %less = f32[4,8] subtract(%x, %most)
  %exp = f32[4,8] exponential(%less)
  %sum = f32[4] reduce(%exp), dimensions={1}, to_apply=add\n";
        let divided = "  %sums = f32[4,8] broadcast(%sum), dimensions={0}
  ROOT %out = f32[4,8] divide(%exp, %sums)\n";
        let multiplied = "  %r = f32[4] divide(%one, %sum)
  %rows = f32[4,8] broadcast(%r), dimensions={0}
  ROOT %out = f32[4,8] multiply(%rows, %exp)\n";
        for end in [divided, multiplied] {
            for found in idioms_of(&format!("{start}{end}")) {
                assert_eq!((found.norms.len(), found.softmaxes.len()), (0, 1), "{end}: {found:?}");
            }
        }
    }

    #[test]
    fn values_with_other_readers_and_other_shapes_are_not_fused() {
        let end = "  %mean = f32[4] multiply(%sum, %n)
  %v = f32[4] add(%mean, %eps)
  %r = f32[4] rsqrt(%v)\n";
        let rows = "  %rows = f32[4,8] broadcast(%r), dimensions={0}\n";
        let others = [
            // The square is read again.
            format!("{end}{rows}  %y = f32[4,8] multiply(%x, %rows)\n  ROOT %out = f32[4,8] add(%y, %square)\n"),
            // A value that differs from the squared one.
            format!("{end}{rows}  %t = f32[4,8] tanh(%x)\n  ROOT %out = f32[4,8] multiply(%t, %rows)\n"),
            // The last instruction adds a value that is not a weight.
            format!(
                "{end}{rows}  %y = f32[4,8] multiply(%x, %rows)\n  %t = f32[4,8] tanh(%x)\n  ROOT %out = f32[4,8] add(%y, %t)\n"
            ),
        ];
        for (n, other) in others.iter().enumerate() {
            let [plain, fused] = idioms_of(&format!("{SQUARES_OF_X}{other}"));
            // Without fusion the sum of the third is an operation after the norm.
            assert_eq!((plain.norms.len(), fused.norms.len()), (usize::from(n == 2), 0), "{other}");
        }
    }

    #[test]
    fn every_norm_of_a_llama_is_found() {
        let config = LlamaConfig {
            vocab: 50,
            hidden: 32,
            layers: 2,
            heads: 4,
            kv_heads: 2,
            intermediate: 40,
            theta: 10_000.0,
            context: 9,
            reads: Reads::LastToken,
        };
        let integer = |dims: &[u64]| Shape::new(DType::S32, dims);
        let graph = trace(&llama(&config), &[integer(&[2, 1]), integer(&[2, 9]), integer(&[1])]).unwrap();
        let (module, _) = optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
        let found = idioms(&module);
        assert_eq!((found.norms.len(), found.softmaxes.len()), (5, 2));
        assert!(found.norms.values().all(|n| n.centring.is_none() && n.scales && !n.shifts));
    }
}
