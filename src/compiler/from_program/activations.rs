//! Activations that a model spells out and for which the scalar engine has a table.
//!
//! A further spelling is another row of [`GELU`]; a further activation is another list, with its opcode.

use crate::hlo::{HloModule, InstrId, Opcode};
use crate::patterns::Pattern::{Add, Divide, Either, Erf, Erfc, Multiply, Near, Negate, One, Tanh, X};
use crate::patterns::{Graph, Pattern};

const SQRT_HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;
const SQRT_TWO: f32 = std::f32::consts::SQRT_2;
/// `sqrt(2 / pi)`
const SQRT_TWO_OVER_PI: f32 = 0.797_884_6;

/// `x / sqrt(2)`
const SCALED: Pattern = Either(&[Multiply(&X, &Near(SQRT_HALF)), Divide(&X, &Near(SQRT_TWO))]);
/// `1 + erf(x / sqrt(2))`, twice the normal distribution function.
const BY_ERF: Pattern = Add(&One, &Erf(&SCALED));
/// `erfc(-x / sqrt(2))`, the same.
const BY_ERFC: Pattern = Erfc(&Either(&[
    Negate(&SCALED),
    Multiply(&X, &Near(-SQRT_HALF)),
    Multiply(&Negate(&X), &Near(SQRT_HALF)),
    Divide(&Negate(&X), &Near(SQRT_TWO)),
]));
const CUBE: Pattern = Multiply(&X, &Multiply(&X, &X));
const INNER: Pattern = Add(&X, &Multiply(&CUBE, &Near(0.044_715)));
/// `1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))`, nearly the same.
const BY_TANH: Pattern = Add(&One, &Tanh(&Multiply(&INNER, &Near(SQRT_TWO_OVER_PI))));
const TWICE: Pattern = Either(&[BY_ERF, BY_ERFC, BY_TANH]);

/// `x / 2 * twice(x)` in each order of its factors.
const GELU: [Pattern; 3] = [
    Multiply(&Multiply(&X, &Near(0.5)), &TWICE),
    Multiply(&X, &Multiply(&TWICE, &Near(0.5))),
    Multiply(&Multiply(&X, &TWICE), &Near(0.5)),
];

/// Replaces each activation by one instruction. Its parts are left for dead code removal.
pub(super) fn recognise(module: &mut HloModule) {
    let found: Vec<(InstrId, InstrId)> = {
        let graph = Graph::new(module);
        let products = module.instructions.iter_enumerated().filter(|(_, i)| matches!(i.opcode, Opcode::Multiply));
        let of = |id: InstrId| GELU.iter().find_map(|pattern| graph.find(pattern, id)?.x());
        let is_alike = |id: InstrId, x: InstrId| module.instructions[id].shape == module.instructions[x].shape;
        products.filter_map(|(id, _)| of(id).filter(|&x| is_alike(id, x)).map(|x| (id, x))).collect()
    };
    for (id, x) in found {
        let instruction = &mut module.instructions[id];
        instruction.opcode = Opcode::Gelu;
        instruction.operands = vec![x];
    }
}
