//! Operations of products, two for each multiply-add: matrix products, convolutions, attention, recurrent cells.

use super::argument::{Argument, Symbolic};
use super::meta::Symbols;
use super::schema::{Graph, Node};

/// Operations of the products of one node; `None` if it is not a product or its values are not described.
pub fn of_node(node: &Node<'_>, graph: &Graph<'_>, symbols: &Symbols) -> Option<u64> {
    let op = node.target.get().strip_prefix("torch.ops.aten.")?.split('.').next()?;
    let shape = |name: &str| graph.tensor_values.get(name).and_then(|m| symbols.array(m).ok()).map(|a| a.dims);
    let input = |at: usize| match &node.inputs.get(at)?.arg {
        Argument::Tensor(name) => shape(name.get()),
        _ => None,
    };
    let output = || match node.outputs.first()? {
        Argument::Tensor(name) => shape(name.get()),
        Argument::Tensors(names) => shape(names.first()?.get()),
        _ => None,
    };
    match op {
        "linear" => product(&[&output()?, last(&input(1)?)?, &[2]]),
        "mm" | "bmm" | "matmul" | "mv" | "dot" | "vdot" => product(&[&output()?, last(&input(0)?)?, &[2]]),
        "addmm" | "baddbmm" | "addmv" => product(&[&output()?, last(&input(1)?)?, &[2]]),
        "conv1d" | "conv2d" | "conv3d" | "_convolution" | "_convolution_mode" | "convolution" | "conv_transpose1d"
        | "conv_transpose2d" | "conv_transpose3d" => {
            let is_transposed = op.contains("transpose") || flag(node, "transposed");
            let places = if is_transposed { input(0)? } else { output()? };
            product(&[&places, input(1)?.get(1..)?, &[2]])
        }
        _ if op.starts_with("scaled_dot_product_attention") || op.starts_with("_scaled_dot_product") => {
            let (q, k, v) = (input(0)?, input(1)?, input(2)?);
            let keys = *k.get(k.len().checked_sub(2)?)?;
            let scores = product(&[&q, &[keys, 2]])?;
            scores.checked_add(product(&[q.split_last()?.1, &[keys, 2], last(&v)?])?)
        }
        "_native_multi_head_attention" => heads([&input(0)?, &input(1)?, &input(2)?], &input(7)?),
        "_transformer_encoder_layer_fwd" => {
            let x = input(0)?;
            let (rows, first, second) = (x.split_last()?.1, input(14)?, input(16)?);
            let linear = product(&[rows, &first, &[2]])?.checked_add(product(&[rows, &second, &[2]])?)?;
            heads([&x, &x, &x], &input(5)?)?.checked_add(linear)
        }
        "einsum" => einsum(node, shape),
        "lstm" | "gru" | "rnn_tanh" | "rnn_relu" => {
            let x = input(0)?;
            let weights = node.inputs.iter().find_map(|i| match &i.arg {
                Argument::Tensors(names) if names.len() > 2 => Some(names),
                _ => None,
            })?;
            let mut rows = 0u64;
            for dims in weights.iter().filter_map(|name| shape(name.get())).filter(|dims| dims.len() == 2) {
                rows = rows.checked_add(product(&[&dims])?)?;
            }
            product(&[x.get(..2)?, &[rows, 2]])
        }
        _ => None,
    }
}

/// Attention of several heads over `[batch, length, size]`, with the weights `[size, size]` before and after it.
fn heads([q, k, v]: [&[u64]; 3], weight: &[u64]) -> Option<u64> {
    let (size, keys) = (*last(weight)?.first()?, *k.get(1)?);
    let rows = |x: &[u64]| product(&[x.split_last()?.1, &[size, size, 2]]);
    // Of the queries and of the results.
    let projections = rows(q)?.checked_mul(2)?.checked_add(rows(k)?)?.checked_add(rows(v)?)?;
    projections.checked_add(product(&[q.split_last()?.1, &[keys, size, 4]])?)
}

/// The product of all sizes in a summation.
fn einsum(node: &Node<'_>, shape: impl Fn(&str) -> Option<Vec<u64>>) -> Option<u64> {
    let (Argument::Text(equation), Argument::Tensors(names)) = (&node.inputs.first()?.arg, &node.inputs.get(1)?.arg)
    else {
        return None;
    };
    let sides: String = equation.get().chars().filter(|c| !c.is_whitespace()).collect();
    let mut sizes: Vec<(char, u64)> = Vec::new();
    for (side, name) in sides.split("->").next()?.split(',').zip(names) {
        for (letter, n) in side.chars().zip(shape(name.get())?) {
            match sizes.iter_mut().find(|(c, _)| *c == letter) {
                Some((_, known)) => *known = n,
                None => sizes.push((letter, n)),
            }
        }
    }
    sizes.iter().try_fold(2u64, |total, &(_, n)| total.checked_mul(n))
}

fn product(factors: &[&[u64]]) -> Option<u64> {
    factors.iter().flat_map(|f| f.iter()).try_fold(1u64, |total, &n| total.checked_mul(n))
}

fn last(dims: &[u64]) -> Option<&[u64]> {
    dims.get(dims.len().checked_sub(1)?..)
}

fn flag(node: &Node<'_>, name: &str) -> bool {
    node.inputs.iter().any(|i| {
        i.name.get() == name && matches!(i.arg, Argument::Bool(true) | Argument::SymBool(Symbolic::Known(true)))
    })
}
