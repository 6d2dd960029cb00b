//! Einstein's summation.

use super::super::{Binary, Builder, Built, Comparison, DotDims, ElementType, InstructionId};
use ns_base::Order;
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

/// An operand and the letters of its dimensions.
#[derive(Clone, Debug)]
struct Term {
    value: InstructionId,
    letters: Vec<char>,
}

/// Computes `equation` (`bij,bjk->bik`; `...` stands for leading dimensions), two operands at a time from the left. Fails when the
/// equation does not fit the operands.
pub fn einsum(b: &mut Builder, equation: &str, operands: &[InstructionId]) -> Built {
    let (terms, result) = parse(b, equation, operands)?;
    let mut terms = terms.into_iter().map(|term| diagonals(b, term)).collect::<Result<Vec<Term>, Refusal>>()?;
    let mut rest = terms.split_off(1.min(terms.len())).into_iter().collect::<std::collections::VecDeque<_>>();
    let Some(mut left) = terms.pop() else {
        return Err(refuse!("there is nothing to add up"));
    };
    left = without_unused(b, left, |c| result.contains(&c) || rest.iter().any(|t| t.letters.contains(&c)))?;
    while let Some(right) = rest.pop_front() {
        let needed = |c: char| result.contains(&c) || rest.iter().any(|t| t.letters.contains(&c));
        let right = without_unused(b, right, |c| needed(c) || left.letters.contains(&c))?;
        let keep_left = |c: char| needed(c) || right.letters.contains(&c);
        left = without_unused(b, left, keep_left)?;
        left = product(b, &left, &right, needed)?;
    }
    let order: Option<Vec<usize>> = result.iter().map(|c| left.letters.iter().position(|l| l == c)).collect();
    match order {
        Some(order) if order.len() == left.letters.len() => b.transpose(left.value, &order),
        _ => Err(refuse!("the result of {equation} has letters that no operand has")),
    }
}

/// Operands with their letters, and the letters of the result.
fn parse(b: &Builder, equation: &str, operands: &[InstructionId]) -> Result<(Vec<Term>, Vec<char>), Refusal> {
    let plain: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (sides, result) = match plain.split_once("->") {
        Some((sides, result)) => (sides, Some(result)),
        None => (plain.as_str(), None),
    };
    let sides: Vec<&str> = sides.split(',').collect();
    if sides.len() != operands.len() {
        let (equation, takes, given) = (equation.to_owned(), sides.len(), operands.len());
        return Err(refuse!("{equation} takes {takes} operands and {given} are given"));
    }
    let mut terms = Vec::new();
    let mut extra = 0;
    for (side, &value) in sides.iter().zip(operands) {
        let named = side.chars().filter(|c| *c != '.').count();
        let rank = b.rank(value);
        let dots = rank.checked_sub(named).filter(|&n| n == 0 || side.contains("..."));
        let Some(dots) = dots else {
            let (letters, ty) = (side, b.type_of(value));
            return Err(refuse!("the letters {letters} do not fit {ty}"));
        };
        extra = extra.max(dots);
        terms.push(Term { value, letters: letters(side, dots) });
    }
    let result = match result {
        Some(text) => letters(text, if text.contains("...") { extra } else { 0 }),
        None => implied(&sides, extra),
    };
    Ok((terms, result))
}

/// The term with the diagonal of dimensions that have the same letter.
fn diagonals(b: &mut Builder, mut term: Term) -> Result<Term, Refusal> {
    let repeated = |term: &Term| (0..term.letters.len()).find(|&i| term.letters[..i].contains(&term.letters[i]));
    while let Some(second) = repeated(&term) {
        let first = term.letters.iter().position(|&c| c == term.letters[second]).unwrap_or(second);
        let dims = b.dims(term.value);
        if dims[first] != dims[second] {
            let (letter, one, other) = (term.letters[second], dims[first], dims[second]);
            return Err(refuse!("the letter {letter} stands for sizes {one} and {other}"));
        }
        let (row, column) = (b.iota(ElementType::S64, &dims, first)?, b.iota(ElementType::S64, &dims, second)?);
        let is_diagonal = b.compare(Comparison::Eq, row, column)?;
        let none = b.number(b.element(term.value), 0.0)?;
        let alone = b.select(is_diagonal, term.value, none)?;
        term.value = b.reduce(Binary::Add, alone, &[second], false)?;
        term.letters.remove(second);
    }
    Ok(term)
}

/// Letters of one side; the dimensions of `...` are written as digits, counted from the last.
fn letters(side: &str, dots: usize) -> Vec<char> {
    let stand_in = |i: usize| char::from_u32(0xE000 + usize_to_u32(dots - 1 - i)).unwrap_or('\u{E000}');
    match side.split_once("...") {
        Some((front, back)) => front.chars().chain((0..dots).map(stand_in)).chain(back.chars()).collect(),
        None => side.chars().collect(),
    }
}

/// The result of an equation that does not state it: letters that occur once, in alphabetical order.
fn implied(sides: &[&str], extra: usize) -> Vec<char> {
    let all: Vec<char> = sides.iter().flat_map(|s| s.chars()).filter(|c| *c != '.').collect();
    let mut once: Vec<char> = all.iter().copied().filter(|c| all.iter().filter(|d| *d == c).count() == 1).collect();
    once.order();
    let front = if sides.iter().any(|s| s.contains("...")) { letters("...", extra) } else { Vec::new() };
    front.into_iter().chain(once).collect()
}

/// The term summed over letters that are not needed any more.
fn without_unused(b: &mut Builder, term: Term, is_needed: impl Fn(char) -> bool) -> Result<Term, Refusal> {
    let over: Vec<usize> = (0..term.letters.len()).filter(|&d| !is_needed(term.letters[d])).collect();
    if over.is_empty() {
        return Ok(term);
    }
    let value = b.reduce(Binary::Add, term.value, &over, false)?;
    Ok(Term { value, letters: term.letters.into_iter().filter(|&c| is_needed(c)).collect() })
}

/// The product of two terms: letters that both have are summed over unless they are needed later.
fn product(b: &mut Builder, left: &Term, right: &Term, is_needed: impl Fn(char) -> bool) -> Result<Term, Refusal> {
    let (mut left, mut right) = (left.clone(), right.clone());
    stretch(b, &mut left, &right)?;
    stretch(b, &mut right, &left)?;
    let place = |term: &Term, c: char| term.letters.iter().position(|&l| l == c).map(usize_to_u32);
    let mut dims = DotDims::default();
    let (mut batch, mut is_contracted) = (Vec::new(), Vec::new());
    for (i, &c) in left.letters.iter().enumerate() {
        let Some(j) = place(&right, c) else { continue };
        if is_needed(c) {
            batch.push(c);
            dims.lhs_batch.push(usize_to_u32(i));
            dims.rhs_batch.push(j);
        } else {
            is_contracted.push(c);
            dims.lhs_contracting.push(usize_to_u32(i));
            dims.rhs_contracting.push(j);
        }
    }
    let is_free = |c: &&char| !batch.contains(*c) && !is_contracted.contains(*c);
    let mut letters = batch.clone();
    letters.extend(left.letters.iter().filter(is_free));
    letters.extend(right.letters.iter().filter(is_free));
    let value = b.dot(left.value, right.value, dims)?;
    Ok(Term { value, letters })
}

/// Dimensions of size one, repeated to the sizes of the other term.
fn stretch(b: &mut Builder, term: &mut Term, other: &Term) -> Result<(), Refusal> {
    let mut dims = b.dims(term.value);
    let theirs = b.dims(other.value);
    for (d, c) in term.letters.iter().enumerate() {
        if let Some(j) = other.letters.iter().position(|l| l == c)
            && dims[d] == 1
        {
            dims[d] = theirs[j];
        }
    }
    term.value = b.broadcast_to(term.value, &dims)?;
    Ok(())
}
