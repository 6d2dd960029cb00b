//! The mathematical functions of C++, from `libm`, so that every target computes the same bits.

use crate::program::MathFunction::{self, One, Three, Two};

/// A function by its name without `std::`, and whether the name fixes single precision (`expf`).
pub(crate) fn function(name: &str) -> Option<(MathFunction, bool)> {
    if let Some(found) = by_name(name) {
        return Some((found, false));
    }
    let found = by_name(name.strip_suffix('f')?)?;
    Some((found, true))
}

fn by_name(name: &str) -> Option<MathFunction> {
    Some(match name {
        "exp" => One(libm::expf, libm::exp),
        "exp2" => One(libm::exp2f, libm::exp2),
        "expm1" => One(libm::expm1f, libm::expm1),
        "log" => One(libm::logf, libm::log),
        "log2" => One(libm::log2f, libm::log2),
        "log10" => One(libm::log10f, libm::log10),
        "log1p" => One(libm::log1pf, libm::log1p),
        "sqrt" => One(libm::sqrtf, libm::sqrt),
        "cbrt" => One(libm::cbrtf, libm::cbrt),
        "sin" => One(libm::sinf, libm::sin),
        "cos" => One(libm::cosf, libm::cos),
        "tan" => One(libm::tanf, libm::tan),
        "asin" => One(libm::asinf, libm::asin),
        "acos" => One(libm::acosf, libm::acos),
        "atan" => One(libm::atanf, libm::atan),
        "sinh" => One(libm::sinhf, libm::sinh),
        "cosh" => One(libm::coshf, libm::cosh),
        "tanh" => One(libm::tanhf, libm::tanh),
        "erf" => One(libm::erff, libm::erf),
        "erfc" => One(libm::erfcf, libm::erfc),
        "floor" => One(libm::floorf, libm::floor),
        "ceil" => One(libm::ceilf, libm::ceil),
        "round" => One(libm::roundf, libm::round),
        "trunc" => One(libm::truncf, libm::trunc),
        "rint" | "nearbyint" => One(libm::rintf, libm::rint),
        "pow" => Two(libm::powf, libm::pow),
        "atan2" => Two(libm::atan2f, libm::atan2),
        "fmod" => Two(libm::fmodf, libm::fmod),
        "hypot" => Two(libm::hypotf, libm::hypot),
        "fmax" => Two(libm::fmaxf, libm::fmax),
        "fmin" => Two(libm::fminf, libm::fmin),
        "copysign" => Two(libm::copysignf, libm::copysign),
        "fma" => Three(libm::fmaf, libm::fma),
        "fdim" => Two(libm::fdimf, libm::fdim),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_fixes_single_precision() {
        assert_eq!(function("expf").map(|f| f.1), Some(true));
        assert_eq!(function("exp").map(|f| f.1), Some(false));
        // `erf` ends in f but is the double version; `erff` is the single version.
        assert_eq!(function("erf").map(|f| f.1), Some(false));
        assert_eq!(function("erff").map(|f| f.1), Some(true));
        assert!(function("gamma").is_none());
    }
}
