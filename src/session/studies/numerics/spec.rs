//! The fields of a comparison of values as text.

use crate::{NumericsSpec, Rounding};
use ns_compiler::UnknownOption;

/// The text of a field; empty for the default of the model or the device.
pub(in crate::studies) fn text(spec: &NumericsSpec, key: &str) -> String {
    let optional = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
    match key {
        "model" => spec.model.clone(),
        "instance" => spec.instance.clone(),
        "batch_size" => optional(spec.batch_size),
        "rounding" => spec.rounding.name().to_owned(),
        "tolerance" => spec.tolerance.to_string(),
        "seed" => spec.seed.to_string(),
        "auto_cast" => spec.options.auto_cast.to_string(),
        "auto_cast_type" => spec.options.auto_cast_type.to_string(),
        "optlevel" => spec.options.opt_level.to_string(),
        "lnc" => optional(spec.options.lnc),
        _ => String::new(),
    }
}

/// Puts a text into a field. A text that cannot be used leaves it as it was.
///
/// # Errors
/// One sentence for the user: what is wrong and what would be right.
pub(in crate::studies) fn set(spec: &mut NumericsSpec, key: &str, text: &str) -> Result<(), String> {
    let wrong = |wanted: &str| format!("{key}: '{text}' is not {wanted}");
    let unknown = |e: UnknownOption| e.to_string();
    let count = || match text {
        "" => Ok(None),
        text => text.parse().ok().filter(|n: &u32| *n > 0).map(Some).ok_or_else(|| wrong("a whole number above 0")),
    };
    match key {
        "model" | "instance" if text.is_empty() => return Err(wrong("a name")),
        "model" => text.clone_into(&mut spec.model),
        "instance" => text.clone_into(&mut spec.instance),
        "batch_size" => spec.batch_size = count()?,
        "rounding" => spec.rounding = Rounding::from_name(text).ok_or_else(|| wrong("rne or stochastic"))?,
        "tolerance" => {
            let tolerance = text.parse().ok().filter(|t: &f64| t.is_finite() && *t > 0.0);
            spec.tolerance = tolerance.ok_or_else(|| wrong("a number above 0, such as 0.02 for 2 %"))?;
        }
        "seed" => spec.seed = text.parse().map_err(|_| wrong("a whole number from 0 to 18446744073709551615"))?,
        "auto_cast" => spec.options.auto_cast = text.parse().map_err(unknown)?,
        "auto_cast_type" => spec.options.auto_cast_type = text.parse().map_err(unknown)?,
        "optlevel" => spec.options.opt_level = text.parse().map_err(unknown)?,
        "lnc" => spec.options.lnc = count()?,
        _ => return Err(format!("numerics has no field '{key}'")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::Link;
    use crate::studies::StudySpec;
    use crate::{AutoCast, CastType, CompileOptions, OptLevel};

    #[test]
    fn a_comparison_survives_a_link() {
        let spec = NumericsSpec {
            model: "matmult:n=32,loop_count=200,add_bias=false".into(),
            batch_size: Some(4),
            instance: "inf2.xlarge".into(),
            options: CompileOptions {
                auto_cast: AutoCast::All,
                auto_cast_type: CastType::Fp16,
                opt_level: OptLevel::O1,
                lnc: Some(1),
            },
            rounding: Rounding::Stochastic,
            seed: u64::MAX,
            tolerance: 1e-5,
        };
        let link = Link::Study(Box::new(StudySpec::Numerics(spec)));
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }

    #[test]
    fn wrong_values_are_reported_with_their_replacement() {
        let (link, notices) = Link::parse("#/numerics?batch_size=0&rounding=up&tolerance=0&auto_cast=x&seed=7");
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["batch_size", "rounding", "tolerance", "auto_cast"]);
        assert!(notices[2].message.ends_with("0.02 is used."), "{notices:?}");
        assert_eq!(
            link,
            Link::Study(Box::new(StudySpec::Numerics(NumericsSpec { seed: 7, ..NumericsSpec::default() })))
        );
    }
}
