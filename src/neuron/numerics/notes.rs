//! The meaning of a comparison, in sentences.

use super::{Exceptions, NumericsSpec, Origin};
use ns_compiler::AutoCast;

/// One sentence for each thing that the user should know or do.
pub(super) fn notes(spec: &NumericsSpec, device: &Exceptions, reference: &Exceptions) -> Vec<String> {
    let mut notes = Vec::new();
    let mut tell = |device: &Option<Origin>, reference: &Option<Origin>, what: &str, advice: String| {
        let Some(o) = device else { return };
        let both = match reference {
            Some(_) => "The reference has it too: it is the model, not the cast.",
            None => "The reference does not have it: it is the cast.",
        };
        notes.push(format!(
            "{} ({}) is the first operation with {what}: {} of {} elements. {both} {advice}",
            o.path, o.hlo, o.elements, o.of
        ));
    };
    const KEEP: &str = "a bias in each layer keeps values from vanishing.";
    let divides = |o: &Origin| matches!(o.opcode.as_str(), "rsqrt" | "divide" | "log");
    let inf_advice = match (&device.inf, spec.options.auto_cast) {
        (Some(inf), _) if divides(inf) => format!("It read a zero: {KEEP}"),
        (_, AutoCast::None) => "Scale the values.".to_owned(),
        (_, AutoCast::Matmult | AutoCast::All) => format!(
            "Scale the values, or cast to a type with a larger range than {} (bf16, tf32) or not at all.",
            spec.options.auto_cast_type
        ),
    };
    let nan_advice = match (&device.nan, &device.inf) {
        (Some(nan), Some(inf)) if inf.operation < nan.operation => "It results from the infinity before it.".to_owned(),
        (Some(nan), _) if divides(nan) => format!("It read 0 / 0 or a negative number: {KEEP}"),
        _ => "Look at what it reads.".to_owned(),
    };
    tell(
        &device.underflow,
        &reference.underflow,
        "nothing but zeros",
        format!("Each product made the values smaller until none was left: {KEEP}"),
    );
    tell(&device.inf, &reference.inf, "an infinity", inf_advice);
    tell(&device.nan, &reference.nan, "a NaN", nan_advice);
    if device.nan.is_some() || device.inf.is_some() {
        notes.push(
            "A device reports numerical errors to the host, which makes the run slower; that is not in simulated times."
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::hlo_text::parse;
    use crate::numerics::DeviceArithmetic;
    use ns_compiler::hlo::{Arithmetic, Evaluation, Reference};
    use ns_compiler::{CastType, CompileOptions};
    use ns_tensor::{Rounding, Shape, Tensor};

    #[test]
    fn an_overflow_of_the_cast_differs_from_one_of_the_model() {
        // 20 x 20 is beyond the largest number of eight bits, 240.
        let text = "HloModule m\nENTRY {\n%p0 = f32[2] parameter(0), input=0\n%a = f32[2] multiply(%p0, %p0)\n\
            ROOT %r = f32[2] negate(%a)\n}";
        let module = parse(text).unwrap();
        let options =
            CompileOptions { auto_cast: AutoCast::All, auto_cast_type: CastType::Fp8E4m3, ..CompileOptions::default() };
        let spec = NumericsSpec { options, ..NumericsSpec::default() };
        let seen = |x: f32, arithmetic: &mut dyn Arithmetic| {
            let x = Rc::new(Tensor::splat(Shape::f32([2]), x).unwrap());
            let mut seen = Exceptions::default();
            Evaluation::new(&module, vec![x]).step(u64::MAX, arithmetic, &mut seen).unwrap();
            seen
        };
        let mut device = DeviceArithmetic::new(&module, &spec.options, 128, Rounding::Rne, 0);
        let sentences = notes(&spec, &seen(20.0, &mut device), &seen(20.0, &mut Reference));
        assert!(
            sentences[0].contains("(a) is the first operation with an infinity: 2 of 2 elements."),
            "{sentences:?}"
        );
        assert!(sentences[0].contains("it is the cast. Scale the values, or cast to a type"), "{sentences:?}");
        let mut device = DeviceArithmetic::new(&module, &spec.options, 128, Rounding::Rne, 0);
        let sentences = notes(&spec, &seen(1e30, &mut device), &seen(1e30, &mut Reference));
        // The input itself is infinite in eight bits: the product passes the infinity on and does not create one.
        assert!(sentences.is_empty(), "{sentences:?}");
        assert_eq!(notes(&spec, &Exceptions::default(), &Exceptions::default()), Vec::<String>::new());
    }
}
