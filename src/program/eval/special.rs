//! Functions that `libm` does not have.

/// The inverse of the error function: Giles' approximation of 2012 in single precision's range, refined by two steps of Newton's
/// method on `erf`.
pub(super) fn erf_inv(y: f64) -> f64 {
    if y.is_nan() || libm::fabs(y) > 1.0 {
        return f64::NAN;
    }
    if libm::fabs(y) == 1.0 {
        return libm::copysign(f64::INFINITY, y);
    }
    let w = -libm::log((1.0 - y) * (1.0 + y));
    let (t, coefficients) = if w < 5.0 {
        let c = [
            2.81022636e-08,
            3.43273939e-07,
            -3.5233877e-06,
            -4.39150654e-06,
            0.00021858087,
            -0.00125372503,
            -0.00417768164,
            0.246640727,
            1.50140941,
        ];
        (w - 2.5, c)
    } else {
        let c = [
            -0.000200214257,
            0.000100950558,
            0.00134934322,
            -0.00367342844,
            0.00573950773,
            -0.0076224613,
            0.00943887047,
            1.00167406,
            2.83297682,
        ];
        (libm::sqrt(w) - 3.0, c)
    };
    let mut x = y * coefficients.iter().fold(0.0, |sum, c| sum * t + c);
    for _ in 0..2 {
        // erf'(x) = 2 / sqrt(pi) * exp(-x^2)
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x);
        if slope > 0.0 {
            x -= (libm::erf(x) - y) / slope;
        }
    }
    x
}

/// The derivative of the logarithm of the gamma function: reflection below zero, recurrence up to 6, then the asymptotic series.
pub(super) fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        if x == libm::floor(x) {
            return f64::NAN;
        }
        return digamma(1.0 - x) - std::f64::consts::PI / libm::tan(std::f64::consts::PI * x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 6.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0];
    let (mut term, mut tail) = (square, 0.0);
    for c in series {
        tail += c * term;
        term *= square;
    }
    sum + libm::log(x) - 0.5 / x - tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_undoes_the_error_function() {
        for x in [-2.5, -0.7, 0.0, 0.01, 1.3, 3.0] {
            assert!((erf_inv(libm::erf(x)) - x).abs() < 1e-9, "{x}");
        }
        assert!(erf_inv(1.0).is_infinite() && erf_inv(1.5).is_nan());
    }

    #[test]
    fn digamma_follows_its_recurrence() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-9);
        for x in [-2.3, 0.4, 5.0, 40.0] {
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-8, "{x}");
        }
    }
}
