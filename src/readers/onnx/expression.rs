//! Names of open dimensions that are sums or products of others: `past_sequence_length + 1`, `2*s77`.

/// Most levels of parentheses.
const MOST_DEEP: usize = 32;

/// The value of a name that is an expression of other names; `None` if it is a plain name or not a valid expression. `size` gives the size of
/// a plain name.
pub(super) fn value(text: &str, size: &mut dyn FnMut(&str) -> u64) -> Option<u64> {
    // Names may contain dashes: a dash is a minus sign only between blanks.
    if !(text.contains(['+', '*']) || text.contains(" - ") || text.contains(" // ")) || text.len() > 1000 {
        return None;
    }
    let mut reader = Reader { rest: text, depth: 0 };
    check(&mut reader.clone())?;
    let value = reader.sum(size)?;
    u64::try_from(value).ok().filter(|_| reader.rest.trim().is_empty())
}

/// Whether the whole text is an expression; checked before any size is asked for.
fn check(reader: &mut Reader<'_>) -> Option<()> {
    reader.sum(&mut |_| 1)?;
    reader.rest.trim().is_empty().then_some(())
}

#[derive(Clone)]
struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl Reader<'_> {
    /// Whether `sign` follows; if so, it is consumed.
    fn takes(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self, size: &mut dyn FnMut(&str) -> u64) -> Option<i64> {
        let mut sum = self.product(size)?;
        loop {
            if self.takes("+") {
                sum = sum.checked_add(self.product(size)?)?;
            } else if self.takes("-") {
                sum = sum.checked_sub(self.product(size)?)?;
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self, size: &mut dyn FnMut(&str) -> u64) -> Option<i64> {
        let mut product = self.one(size)?;
        loop {
            if self.takes("*") {
                product = product.checked_mul(self.one(size)?)?;
            } else if self.takes("//") {
                product = product.checked_div_euclid(self.one(size)?)?;
            } else {
                return Some(product);
            }
        }
    }

    fn one(&mut self, size: &mut dyn FnMut(&str) -> u64) -> Option<i64> {
        if self.takes("(") {
            self.depth += 1;
            let inner = if self.depth <= MOST_DEEP { self.sum(size)? } else { return None };
            self.depth -= 1;
            return self.takes(")").then_some(inner);
        }
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !(c.is_alphanumeric() || "_.:".contains(c))).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        self.rest = rest;
        match name.parse::<i64>() {
            Ok(number) => Some(number),
            Err(_) if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => i64::try_from(size(name)).ok(),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_of_names() {
        let of = |text: &str| value(text, &mut |name| if name == "past" { 7 } else { 2 });
        assert_eq!(of("past + 1"), Some(8));
        assert_eq!(of("past + seq"), Some(9));
        assert_eq!(of("2*(past - 1) // seq"), Some(6));
        assert_eq!(of("batch"), None);
        assert_eq!(of("batch-size"), None);
        assert_eq!(of("a + "), None);
        assert_eq!(of("1 - past * 3"), None);
        assert_eq!(of(&"(".repeat(900)), None);
    }
}
