//! Uses of values in a function: statements with unused results, values that are only converted back to numbers.
//!
//! PyTorch drops both when it loads a file, so neither counts among a model's operators.

use rustc_hash::FxHashSet;

use super::tree::{Expression, ScriptFunction, Statement, StatementKind, Target};

/// For each statement of a function, whether its result is unused in the statements after it.
pub fn dead_statements(function: &ScriptFunction) -> Vec<bool> {
    let mut used: FxHashSet<&str> = FxHashSet::default();
    let mut dead = vec![false; function.body.len()];
    for (at, statement) in function.body.iter().enumerate().rev() {
        if let StatementKind::Assign { targets, .. } = &statement.kind {
            let is_used = |t: &Target| match t {
                Target::Name(name) => used.contains(name.as_str()),
                Target::Attribute(..) => true,
            };
            if !targets.iter().any(is_used) {
                dead[at] = true;
                continue;
            }
        }
        each_expression(statement, &mut |e| {
            if let Expression::Name(name) = e {
                used.insert(name);
            }
        });
    }
    dead
}

/// Whether all uses of a name are calls of a function with it as the only argument: `int(x)`.
pub fn is_only_for(function: &ScriptFunction, name: &str, caller: &str) -> bool {
    let (mut all, mut called) = (0usize, 0usize);
    for statement in &function.body {
        each_expression(statement, &mut |e| match e {
            Expression::Name(found) if found == name => all += 1,
            Expression::Call { callee, arguments, .. } => {
                let is_caller = matches!(&**callee, Expression::Name(f) if f == caller);
                let is_alone = matches!(arguments.as_slice(), [Expression::Name(found)] if found == name);
                called += usize::from(is_caller && is_alone);
            }
            _ => {}
        });
    }
    all == called
}

/// Whether a tensor that a function made from a number is converted back to a number: PyTorch uses the number, and then drops unused values.
pub fn turns_numbers_back(function: &ScriptFunction) -> bool {
    let is_made = |e: &Expression| matches!(e, Expression::Call { callee, .. } if matches!(&**callee, Expression::Attribute(_, f) if f == "NumToTensor"));
    let mut made: FxHashSet<&str> = FxHashSet::default();
    let mut turns = false;
    for statement in &function.body {
        each_expression(statement, &mut |e| {
            let Expression::Call { callee, arguments, .. } = e else { return };
            if matches!(&**callee, Expression::Name(f) if f == "int") {
                turns |= match arguments.as_slice() {
                    [Expression::Name(name)] => made.contains(name.as_str()),
                    [inner] => is_made(inner),
                    _ => false,
                };
            }
        });
        if let StatementKind::Assign { targets, value, .. } = &statement.kind
            && let [Target::Name(name)] = targets.as_slice()
            && is_made(value)
        {
            made.insert(name);
        }
    }
    turns
}

/// All expressions of a statement, including nested ones.
fn each_expression<'s>(statement: &'s Statement, visit: &mut dyn FnMut(&'s Expression)) {
    match &statement.kind {
        StatementKind::Assign { targets, value, .. } => {
            for target in targets {
                if let Target::Attribute(of, _) = target {
                    each_part(of, visit);
                }
            }
            each_part(value, visit);
        }
        StatementKind::Evaluate(value) | StatementKind::Return(value) => each_part(value, visit),
        StatementKind::If { condition, then, otherwise } => {
            each_part(condition, visit);
            then.iter().chain(otherwise).for_each(|s| each_expression(s, visit));
        }
        StatementKind::For { items, body, .. } => {
            each_part(items, visit);
            body.iter().for_each(|s| each_expression(s, visit));
        }
        StatementKind::While | StatementKind::Pass | StatementKind::Other(_) => {}
    }
}

/// An expression and all expressions in it.
fn each_part<'s>(expression: &'s Expression, visit: &mut dyn FnMut(&'s Expression)) {
    visit(expression);
    match expression {
        Expression::Attribute(of, _) | Expression::Minus(of) | Expression::Not(of) => each_part(of, visit),
        Expression::Item(a, b) | Expression::Binary(_, a, b) => {
            each_part(a, visit);
            each_part(b, visit);
        }
        Expression::Call { callee, arguments, named } => {
            each_part(callee, visit);
            arguments.iter().chain(named.iter().map(|(_, e)| e)).for_each(|e| each_part(e, visit));
        }
        Expression::List(items) | Expression::Tuple(items) => items.iter().for_each(|e| each_part(e, visit)),
        Expression::Map(pairs) => pairs.iter().for_each(|(k, v)| {
            each_part(k, visit);
            each_part(v, visit);
        }),
        Expression::Choice(a, b, c) => [a, b, c].into_iter().for_each(|e| each_part(e, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::{dead_statements, is_only_for};

    #[test]
    fn unused_results_and_numbers_that_come_back() {
        let source = "def f(x):\n  p = g(x)\n  n = size(x)\n  a = int(n)\n  y = h(x, a, int(n))\n  z = p\n  return y\n";
        let file = parse(source).unwrap();
        assert_eq!(dead_statements(&file.functions[0]), [true, false, false, false, true, false]);
        assert!(is_only_for(&file.functions[0], "n", "int"));
        assert!(!is_only_for(&file.functions[0], "a", "int"));
    }
}
