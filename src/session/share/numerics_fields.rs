//! The fields of a comparison of values as text: one reader and one writer for links and for the form.

use super::{Notice, Query};
use crate::{NumericsSpec, Rounding};
use ns_compiler::UnknownOption;

/// A field of a [`NumericsSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumericsField {
    /// Model in text form.
    Model,
    /// Samples of one inference.
    BatchSize,
    /// Instance type.
    Instance,
    /// Which operations are cast.
    AutoCast,
    /// Type they are cast to.
    AutoCastType,
    /// How hard the compiler tries.
    OptLevel,
    /// Physical cores of a logical one.
    Lnc,
    /// How values are rounded.
    Rounding,
    /// Seed.
    Seed,
    /// Mean relative error below which an output passes.
    Tolerance,
}

/// All fields in the order of links.
pub const NUMERICS_FIELDS: [NumericsField; 10] = [
    NumericsField::Model,
    NumericsField::BatchSize,
    NumericsField::Instance,
    NumericsField::AutoCast,
    NumericsField::AutoCastType,
    NumericsField::OptLevel,
    NumericsField::Lnc,
    NumericsField::Rounding,
    NumericsField::Seed,
    NumericsField::Tolerance,
];

impl NumericsField {
    /// Its name in links.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::BatchSize => "batch_size",
            Self::Instance => "instance",
            Self::AutoCast => "auto_cast",
            Self::AutoCastType => "auto_cast_type",
            Self::OptLevel => "optlevel",
            Self::Lnc => "lnc",
            Self::Rounding => "rounding",
            Self::Seed => "seed",
            Self::Tolerance => "tolerance",
        }
    }

    /// The text of this field in a specification; empty for the default of the model or the device.
    #[must_use]
    pub fn text(self, spec: &NumericsSpec) -> String {
        let optional = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
        match self {
            Self::Model => spec.model.clone(),
            Self::BatchSize => optional(spec.batch_size),
            Self::Instance => spec.instance.clone(),
            Self::AutoCast => spec.options.auto_cast.to_string(),
            Self::AutoCastType => spec.options.auto_cast_type.to_string(),
            Self::OptLevel => spec.options.opt_level.to_string(),
            Self::Lnc => optional(spec.options.lnc),
            Self::Rounding => spec.rounding.name().to_owned(),
            Self::Seed => spec.seed.to_string(),
            Self::Tolerance => spec.tolerance.to_string(),
        }
    }

    /// Puts a text into a specification. A text that cannot be used leaves it as it was.
    ///
    /// # Errors
    /// One sentence for the user: what is wrong and what would be right.
    pub fn set(self, spec: &mut NumericsSpec, text: &str) -> Result<(), String> {
        let text = text.trim();
        let wrong = |wanted: &str| format!("{}: '{text}' is not {wanted}", self.key());
        let unknown = |e: UnknownOption| e.to_string();
        let count = || match text.parse::<u32>() {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(wrong("a whole number above 0")),
        };
        match self {
            Self::Model | Self::Instance if text.is_empty() => return Err(wrong("a name")),
            Self::Model => text.clone_into(&mut spec.model),
            Self::Instance => text.clone_into(&mut spec.instance),
            Self::BatchSize if text.is_empty() => spec.batch_size = None,
            Self::BatchSize => spec.batch_size = Some(count()?),
            Self::AutoCast => spec.options.auto_cast = text.parse().map_err(unknown)?,
            Self::AutoCastType => spec.options.auto_cast_type = text.parse().map_err(unknown)?,
            Self::OptLevel => spec.options.opt_level = text.parse().map_err(unknown)?,
            Self::Lnc if text.is_empty() => spec.options.lnc = None,
            Self::Lnc => spec.options.lnc = Some(count()?),
            Self::Rounding => spec.rounding = Rounding::from_name(text).ok_or_else(|| wrong("rne or stochastic"))?,
            Self::Seed => {
                spec.seed = text.parse().map_err(|_| wrong("a whole number from 0 to 18446744073709551615"))?;
            }
            Self::Tolerance => {
                let tolerance = text.parse().ok().filter(|t: &f64| t.is_finite() && *t > 0.0);
                spec.tolerance = tolerance.ok_or_else(|| wrong("a number above 0, such as 0.02 for 2 %"))?;
            }
        }
        Ok(())
    }
}

/// The comparison in a link.
pub(super) fn read(query: &Query, notices: &mut Vec<Notice>) -> NumericsSpec {
    let mut spec = NumericsSpec::default();
    for field in NUMERICS_FIELDS {
        let Some(text) = query.get(field.key()) else { continue };
        if let Err(problem) = field.set(&mut spec, text) {
            let used = field.text(&spec);
            let used = if used.is_empty() { "the default".to_owned() } else { used };
            notices.push(Notice { field: field.key().to_owned(), message: format!("{problem}. {used} is used.") });
        }
    }
    spec
}

/// Every field that has a value, so that the link means the same when defaults change.
pub(super) fn write(spec: &NumericsSpec, query: &mut Query) {
    for field in NUMERICS_FIELDS {
        let text = field.text(spec);
        if !text.is_empty() {
            query.set(field.key(), &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Link;
    use super::*;
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
        let link = Link::Numerics(Box::new(spec));
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }

    #[test]
    fn wrong_values_are_named_with_what_is_used() {
        let (link, notices) = Link::parse("#/numerics?batch_size=0&rounding=up&tolerance=0&auto_cast=x&seed=7");
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["batch_size", "auto_cast", "rounding", "tolerance"]);
        assert!(notices[3].message.ends_with("0.02 is used."), "{notices:?}");
        assert_eq!(link, Link::Numerics(Box::new(NumericsSpec { seed: 7, ..NumericsSpec::default() })));
    }
}
