//! Result types of matrix factorisations: the factorisations are not translated, but their sizes are known.

use super::super::call::Call;
use super::{Types, operand};
use ns_base::refuse;
use ns_program::{ArrayType, ElementType};

/// Types of the factors of a matrix. Fails when the operand is not a matrix.
pub fn types(c: &mut Call<'_, '_, '_>) -> Types {
    if !matches!(
        c.op,
        "qr" | "linalg_qr"
            | "svd"
            | "linalg_svd"
            | "linalg_svdvals"
            | "linalg_eigh"
            | "linalg_eigvalsh"
            | "linalg_eig"
            | "linalg_eigvals"
    ) {
        return Ok(None);
    }
    let own = operand(c, 0)?;
    let [batch @ .., m, n] = own.dims.as_slice() else {
        return Err(refuse!("{} needs an operand of rank 2 or more, not {}", c.op, own.dims.len()));
    };
    let (m, n, k) = (*m, *n, *m.min(n));
    let array = |element: ElementType, last: &[u64]| ArrayType::new(element, [batch, last].concat());
    let complex = if own.element == ElementType::F64 { ElementType::C128 } else { ElementType::C64 };
    let is_full = c.flag_or("full_matrices", true);
    Ok(Some(match c.op {
        "linalg_qr" if c.text("mode") == Some("r") => {
            vec![ArrayType::new(own.element, [0]), array(own.element, &[k, n])]
        }
        "linalg_qr" if c.text("mode") == Some("complete") => {
            vec![array(own.element, &[m, m]), array(own.element, &[m, n])]
        }
        "qr" if !c.flag_or("some", true) => vec![array(own.element, &[m, m]), array(own.element, &[m, n])],
        "qr" | "linalg_qr" => vec![array(own.element, &[m, k]), array(own.element, &[k, n])],
        "svd" => {
            let is_thin = c.flag_or("some", true);
            let [left, right] = if is_thin { [k, k] } else { [m, n] };
            vec![array(own.element, &[m, left]), array(own.element, &[k]), array(own.element, &[n, right])]
        }
        "linalg_svd" => {
            let [left, right] = if is_full { [m, n] } else { [k, k] };
            vec![array(own.element, &[m, left]), array(own.element, &[k]), array(own.element, &[right, n])]
        }
        "linalg_svdvals" => vec![array(own.element, &[k])],
        "linalg_eigvalsh" => vec![array(own.element, &[n])],
        "linalg_eigh" => vec![array(own.element, &[n]), own.clone()],
        "linalg_eigvals" => vec![array(complex, &[n])],
        _ => vec![array(complex, &[n]), array(complex, &[n, n])],
    }))
}
