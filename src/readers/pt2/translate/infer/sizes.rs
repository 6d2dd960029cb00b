//! Results of views, parts, joins and repetitions.

use super::super::super::argument::Argument;
use super::super::call::Call;
use super::{Types, like_first, natural, operand, sizes_named};
use ns_base::{Refusal, refuse};
use ns_program::builder::broadcast_dims;
use ns_program::compose::dimension;
use ns_program::{ArrayType, ElementType};

/// Most parts of a tensor: a bound for hostile files, which can request very many with a few bytes.
const MAX_PARTS: u64 = 1 << 16;

/// Types of results of views, parts, joins and repetitions. Fails when operands do not fit.
pub fn types(c: &mut Call<'_, '_, '_>) -> Types {
    match c.op {
        "view" if c.overload == "dtype" => viewed(c),
        "view" | "_unsafe_view" | "reshape" | "_reshape_alias" | "view_copy" => reshaped(c),
        "as_strided" | "as_strided_copy" => {
            let dims = sizes_named(c, "size")?;
            like_first(c, dims)
        }
        "view_as" | "reshape_as" | "expand_as" => {
            let dims = operand(c, 1)?.dims;
            like_first(c, dims)
        }
        "flatten" | "ravel" => flattened(c),
        "unflatten" => unflattened(c),
        "squeeze" | "squeeze_copy" => squeezed(c),
        "unsqueeze" | "unsqueeze_copy" => {
            let mut dims = operand(c, 0)?.dims;
            let at = dimension(dims.len() + 1, c.int_or("dim", 0))?;
            dims.insert(at, 1);
            like_first(c, dims)
        }
        "atleast_1d" | "atleast_2d" | "atleast_3d" => filled_up(c),
        "expand" | "broadcast_to" | "expand_copy" => expanded(c),
        "select" | "select_copy" => selected(c),
        "split"
        | "split_with_sizes"
        | "chunk"
        | "unbind"
        | "tensor_split"
        | "unsafe_split"
        | "unsafe_chunk"
        | "split_copy"
        | "split_with_sizes_copy"
        | "unbind_copy" => parts(c),
        "cat" | "concat" | "concatenate" | "stack" | "hstack" | "vstack" | "dstack" => joined(c),
        "repeat" | "tile" => repeated(c),
        "repeat_interleave" => repeated_each(c),
        "meshgrid" => grid(c),
        "broadcast_tensors" => {
            let all = operands(c)?;
            let dims = all.iter().try_fold(Vec::new(), |dims, ty| broadcast_dims(&dims, &ty.dims))?;
            Ok(Some(all.into_iter().map(|ty| ArrayType::new(ty.element, dims.clone())).collect()))
        }
        "pixel_shuffle" | "pixel_unshuffle" => shuffled(c),
        _ => Ok(None),
    }
}

/// The same bits as numbers of another type.
fn viewed(c: &mut Call<'_, '_, '_>) -> Types {
    let own = operand(c, 0)?;
    let element = super::elements::dtype_argument(c)?.unwrap_or(own.element);
    if element.bits() != own.element.bits() {
        return Err(refuse!("{} cannot be viewed as {element}, which has another width", own.element));
    }
    Ok(Some(vec![ArrayType::new(element, own.dims)]))
}

/// At least as many dimensions as the name says.
fn filled_up(c: &mut Call<'_, '_, '_>) -> Types {
    let least = usize::from(c.op.as_bytes()[8] - b'0');
    let mut dims = operand(c, 0)?.dims;
    while dims.len() < least {
        // A matrix gets a last dimension of size one, a vector a first and a last one.
        let at = if dims.len() == 2 { 2 } else { 0 };
        dims.insert(at, 1);
    }
    like_first(c, dims)
}

/// The type without the dimension that is selected from.
fn selected(c: &mut Call<'_, '_, '_>) -> Types {
    let mut dims = operand(c, 0)?.dims;
    let at = dimension(dims.len(), c.int_or("dim", 0))?;
    if dims.is_empty() {
        return Err(refuse!("{} needs an operand of rank 1 or more, not 0", c.op));
    }
    dims.remove(at);
    like_first(c, dims)
}

/// Repeats every element a number of times.
fn repeated_each(c: &mut Call<'_, '_, '_>) -> Types {
    let mut dims = operand(c, 0)?.dims;
    let times = natural(c.int_or("repeats", -1))?;
    if c.int("dim").is_some() {
        let at = dimension(dims.len(), c.int_or("dim", 0))?;
        if let Some(n) = dims.get_mut(at) {
            *n = n.saturating_mul(times);
        }
    } else {
        dims = vec![product(&dims).saturating_mul(times)];
    }
    like_first(c, dims)
}

fn product(dims: &[u64]) -> u64 {
    dims.iter().fold(1u64, |all, &n| all.saturating_mul(n))
}

/// Types of a list of tensors at the front.
fn operands(c: &mut Call<'_, '_, '_>) -> Result<Vec<ArrayType>, Refusal> {
    let all = c.tensors(0)?;
    all.into_iter().map(|x| c.b().array(x).cloned()).collect()
}

/// Sizes, one of which may be -1 and stands for the rest.
fn reshaped(c: &mut Call<'_, '_, '_>) -> Types {
    let own = operand(c, 0)?;
    let name = if c.arg("shape").is_some() { "shape" } else { "size" };
    let asked = c.ints(name).ok_or_else(|| c.missing(name))?;
    let dims = filled(&asked, product(&own.dims))?;
    like_first(c, dims)
}

/// Sizes in which -1 stands for the rest of `all` elements.
fn filled(asked: &[i64], all: u64) -> Result<Vec<u64>, Refusal> {
    let times = |all: u64, &n: &i64| Ok::<u64, Refusal>(all.saturating_mul(natural(n)?));
    let known = asked.iter().filter(|&&n| n != -1).try_fold(1, times)?;
    let rest = all.checked_div(known).unwrap_or(0);
    asked.iter().map(|&n| if n == -1 { Ok(rest) } else { natural(n) }).collect()
}

fn flattened(c: &mut Call<'_, '_, '_>) -> Types {
    let dims = operand(c, 0)?.dims;
    if dims.is_empty() {
        return like_first(c, vec![1]);
    }
    let rank = dims.len();
    let (first, last) = match c.op {
        "ravel" => (0, rank - 1),
        _ => (dimension(rank, c.int_or("start_dim", 0))?, dimension(rank, c.int_or("end_dim", -1))?),
    };
    if last < first {
        return Err(refuse!("dimensions {first} to {last} are not a range"));
    }
    let middle = product(&dims[first..=last]);
    like_first(c, [&dims[..first], &[middle], &dims[last + 1..]].concat())
}

fn unflattened(c: &mut Call<'_, '_, '_>) -> Types {
    let dims = operand(c, 0)?.dims;
    let at = c.dimension("dim", 0, dims.len())?;
    let sizes = c.ints("sizes").ok_or_else(|| c.missing("sizes"))?;
    let inner = filled(&sizes, dims.get(at).copied().unwrap_or(1))?;
    let (front, back) = (&dims[..at.min(dims.len())], dims.get(at + 1..).unwrap_or_default());
    let dims = [front, &inner, back].concat();
    like_first(c, dims)
}

fn squeezed(c: &mut Call<'_, '_, '_>) -> Types {
    let dims = operand(c, 0)?.dims;
    let rank = dims.len();
    let along = c.dimensions("dim", rank)?;
    let kept = dims.iter().enumerate().filter(|(d, n)| **n != 1 || !along.contains(d));
    let dims = kept.map(|(_, &n)| n).collect();
    like_first(c, dims)
}

/// Sizes in which -1 keeps the operand's size.
fn expanded(c: &mut Call<'_, '_, '_>) -> Types {
    let own = operand(c, 0)?.dims;
    let asked = c.ints("size").ok_or_else(|| c.missing("size"))?;
    let front = asked.len().checked_sub(own.len());
    let front = front.ok_or_else(|| refuse!("sizes {own:?} cannot be expanded to {asked:?}"))?;
    let each = asked.iter().enumerate().map(|(d, &n)| match (n, d.checked_sub(front)) {
        (-1, Some(own_at)) => Ok(own[own_at]),
        _ => natural(n),
    });
    let dims = each.collect::<Result<Vec<u64>, _>>()?;
    like_first(c, dims)
}

/// Sizes of the parts along a dimension.
fn parts(c: &mut Call<'_, '_, '_>) -> Types {
    let own = operand(c, 0)?;
    let at = c.dimension("dim", 0, own.dims.len())?;
    let size = own.dims.get(at).copied();
    let size = size.ok_or_else(|| refuse!("{} needs an operand of rank 1 or more, not 0", c.op))?;
    let of = |step: u64| -> Result<Vec<u64>, Refusal> {
        if step == 0 || size.div_ceil(step) > MAX_PARTS {
            return Err(refuse!("a dimension of {size} elements cannot be split into parts of {step}"));
        }
        Ok((0..size.div_ceil(step).max(1)).map(|i| step.min(size - i * step)).collect())
    };
    let count = |name: &str| natural(c.int_or(name, -1)).and_then(|n| if n == 0 { natural(-1) } else { Ok(n) });
    let sizes = match c.op {
        "unbind" | "unbind_copy" => {
            if size > MAX_PARTS {
                return Err(refuse!("a dimension of {size} elements cannot be split into parts of 1"));
            }
            let mut dims = own.dims.clone();
            dims.remove(at);
            return Ok(Some(vec![ArrayType::new(own.element, dims); usize::try_from(size).unwrap_or(0)]));
        }
        "chunk" | "unsafe_chunk" => of(size.div_ceil(count("chunks")?).max(1))?,
        "tensor_split" => match c.ints("indices").or_else(|| c.ints("sections")) {
            Some(cuts) if c.arg("indices").is_some() => between(&cuts, size)?,
            Some(sections) => {
                let n = natural(sections.first().copied().unwrap_or(-1))?.clamp(1, MAX_PARTS);
                (0..n).map(|i| size / n + u64::from(i < size % n)).collect()
            }
            None => return Err(c.missing("indices or sections")),
        },
        _ => match c.ints("split_sizes") {
            Some(sizes) => sizes.into_iter().map(natural).collect::<Result<_, _>>()?,
            None => match c.arg("split_size") {
                Some(Argument::Ints(_)) => sizes_named(c, "split_size")?,
                _ => of(count("split_size")?)?,
            },
        },
    };
    let typed = |n: u64| {
        let mut dims = own.dims.clone();
        dims[at] = n;
        ArrayType::new(own.element, dims)
    };
    Ok(Some(sizes.into_iter().map(typed).collect()))
}

/// Distances between the cuts of a dimension.
fn between(cuts: &[i64], size: u64) -> Result<Vec<u64>, Refusal> {
    let mut ends = cuts.iter().map(|&n| natural(n)).collect::<Result<Vec<u64>, _>>()?;
    ends.push(size);
    let mut from = 0;
    let each = ends.into_iter().map(|end| {
        let end = end.min(size);
        let n = end.saturating_sub(from);
        from = end;
        n
    });
    Ok(each.collect())
}

fn joined(c: &mut Call<'_, '_, '_>) -> Types {
    let all = operands(c)?;
    let first = all.iter().find(|ty| ty.dims != [0]).or_else(|| all.first());
    let mut dims = first.ok_or_else(|| refuse!("there is nothing to join"))?.dims.clone();
    let element = widest(&all);
    match c.op {
        "stack" => {
            let at = dimension(dims.len() + 1, c.int_or("dim", 0))?;
            dims.insert(at, all.len() as u64);
        }
        "vstack" if dims.len() == 1 => dims.insert(0, 1),
        // No size changes here: the translation joins these tensors at their own rank.
        "hstack" | "vstack" | "dstack" => {}
        _ => {
            let at = dimension(dims.len(), c.int_or("dim", 0))?;
            let sum = all.iter().filter_map(|ty| ty.dims.get(at)).fold(0u64, |sum, &n| sum.saturating_add(n));
            if let Some(n) = dims.get_mut(at) {
                *n = sum;
            }
        }
    }
    Ok(Some(vec![ArrayType::new(element, dims)]))
}

/// The element type that can hold all of them: the higher kind wins, then the wider.
fn widest(all: &[ArrayType]) -> ElementType {
    let rank = |e: ElementType| (u8::from(e.is_integer()) + 2 * u8::from(e.is_float()), e.bits());
    let best = all.iter().map(|ty| ty.element).max_by_key(|&e| rank(e));
    best.unwrap_or(ElementType::F32)
}

fn repeated(c: &mut Call<'_, '_, '_>) -> Types {
    let mut dims = operand(c, 0)?.dims;
    let name = if c.op == "tile" { "dims" } else { "repeats" };
    let mut times = sizes_named(c, name)?;
    while dims.len() < times.len() {
        dims.insert(0, 1);
    }
    while times.len() < dims.len() {
        times.insert(0, 1);
    }
    let dims = dims.iter().zip(times).map(|(&n, t)| n.saturating_mul(t)).collect();
    like_first(c, dims)
}

fn grid(c: &mut Call<'_, '_, '_>) -> Types {
    let all = operands(c)?;
    let mut dims: Vec<u64> = all.iter().map(|ty| product(&ty.dims)).collect();
    if c.text("indexing") == Some("xy") && dims.len() > 1 {
        dims.swap(0, 1);
    }
    Ok(Some(all.into_iter().map(|ty| ArrayType::new(ty.element, dims.clone())).collect()))
}

fn shuffled(c: &mut Call<'_, '_, '_>) -> Types {
    let mut dims = operand(c, 0)?.dims;
    let is_up = c.op == "pixel_shuffle";
    let name = if is_up { "upscale_factor" } else { "downscale_factor" };
    let factor = natural(c.int_or(name, -1))?;
    let (rank, squared) = (dims.len(), factor.saturating_mul(factor));
    if rank < 3 {
        return Err(refuse!("{} needs an operand of rank 3 or more, not {rank}", c.op));
    }
    if factor == 0 {
        return Err(refuse!("argument {name} of {} is not a positive number", c.op));
    }
    let scaled = |n: u64, by: u64, grows: bool| if grows { n.saturating_mul(by) } else { n / by };
    dims[rank - 3] = scaled(dims[rank - 3], squared, !is_up);
    dims[rank - 2] = scaled(dims[rank - 2], factor, is_up);
    dims[rank - 1] = scaled(dims[rank - 1], factor, is_up);
    like_first(c, dims)
}
