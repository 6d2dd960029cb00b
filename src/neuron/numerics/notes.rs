//! What a comparison means, in sentences.

use super::{Exceptions, NumericsSpec, Origin};
use crate::compiler::AutoCast;

/// One sentence for each thing a person should know or do.
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
        (Some(nan), Some(inf)) if inf.operation < nan.operation => "It comes of the infinity before it.".to_owned(),
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
