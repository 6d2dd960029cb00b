//! Decisions that a file leaves to the user. On the command line, which does not ask questions, a file with an open decision is refused until
//! the user has decided.

use ns_base::refuse;
use ns_program::{ImportError, Inspection};

/// Most names in a message.
const MOST_NAMED: usize = 4;

/// Code that exports a PyTorch model.
const EXPORT: &str = "torch.export.save(torch.export.export(model.eval(), example_inputs), \"model.pt2\")";

fn unknown(names: &[&str]) -> String {
    let listed = list_names(names);
    match names {
        [_] => format!("{listed} is unknown: a custom operator, whose arithmetic the file does not hold"),
        _ => format!("{listed} are unknown: custom operators, whose arithmetic the file does not hold"),
    }
}

fn without_number(names: &[&str], is_batch: bool) -> String {
    let listed = list_names(names);
    match names {
        [_] if is_batch => format!("the batch size is a symbol ({listed}) without a number"),
        [_] => format!("a size is a symbol ({listed}) without a number"),
        _ => format!("sizes are symbols ({listed}) without numbers"),
    }
}

/// Refuses a file with a custom operator that `is_placed` does not know, or with a size that StableHLO leaves to a symbol. A symbol
/// of ONNX or torch.export is not a reason to refuse: these files name the batch, or give the size they were exported with. Fails
/// when the user has to decide something; the error says what, and how.
pub fn refuse_undecided(inspection: &Inspection, is_placed: impl Fn(&str) -> bool) -> Result<(), ImportError> {
    refuse_operators(inspection, is_placed)?;
    refuse_symbols(inspection)
}

/// A custom operator of PyTorch, whose arithmetic is not in any file. Only these graphs name operators by namespace.
fn refuse_operators(inspection: &Inspection, is_placed: impl Fn(&str) -> bool) -> Result<(), ImportError> {
    if !matches!(inspection.format.as_str(), "pt2" | "torchscript") {
        return Ok(());
    }
    let is_open = |op: &str| !["aten::", "prim::", "prims::"].iter().any(|own| op.starts_with(own)) && !is_placed(op);
    let open: Vec<_> = inspection.unsupported.iter().filter(|u| is_open(&u.op)).collect();
    let Some(first) = open.first() else { return Ok(()) };
    let names: Vec<&str> = open.iter().map(|u| u.op.as_str()).collect();
    let instead = format!(
        "give its time by an estimate with --assume {}=elementwise, or write it in operators of torch and save the model with: {EXPORT}",
        first.op
    );
    Err(refuse!(instead = instead, "{} (first at {})", unknown(&names), first.first).into())
}

/// A size of StableHLO that is a symbol: the file does not give a size for it, not even an example.
fn refuse_symbols(inspection: &Inspection) -> Result<(), ImportError> {
    if !matches!(inspection.format.as_str(), "mlir" | "mlirbc" | "jax-export") {
        return Ok(());
    }
    let open = || inspection.open_dimensions.iter().filter(|d| !d.is_chosen).map(|d| d.name.as_str());
    // With 1 most models work; another number is the first with which this one does.
    let used = inspection.open_dimensions.iter().filter(|d| !d.is_chosen).map(|d| d.used);
    let tried = used.map(|used| if used == 1 { 8 } else { used });
    let Some(first) = open().next() else { return Ok(()) };
    let mut inputs = inspection.inputs.iter();
    let is_batch = open().count() == 1 && inputs.any(|input| input.open.get(&0).is_some_and(|name| name == first));
    let sizes: Vec<String> = open().zip(tried).take(MOST_NAMED).map(|(name, size)| format!("{name}={size}")).collect();
    let instead = format!(
        "give a number with --dim {}, or export with fixed sizes: open(\"model.mlir\", \"w\").write(jax.jit(f).lower(*args).as_text())",
        sizes.join(",")
    );
    let names: Vec<&str> = open().collect();
    Err(refuse!(instead = instead, "{}", without_number(&names, is_batch)).into())
}

/// Some names, and the number of further ones.
fn list_names(names: &[&str]) -> String {
    let list = names[..names.len().min(MOST_NAMED)].join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_program::{OpenDimension, TensorInfo, UnsupportedOp};

    fn with_ops(format: &str, ops: &[&str]) -> Inspection {
        let op =
            |op: &&str| UnsupportedOp { op: (*op).to_owned(), count: 2, first: "at".to_owned(), why: String::new() };
        Inspection { format: format.to_owned(), unsupported: ops.iter().map(op).collect(), ..Inspection::default() }
    }

    fn with_sizes(format: &str, names: &[&str], is_chosen: bool) -> Inspection {
        let dimension =
            |n: &&str| OpenDimension { name: (*n).to_owned(), used: 1, is_chosen, ..OpenDimension::default() };
        let open = names.iter().enumerate().map(|(at, name)| (at, (*name).to_owned())).collect();
        Inspection {
            format: format.to_owned(),
            inputs: vec![TensorInfo { open, ..TensorInfo::default() }],
            open_dimensions: names.iter().map(dimension).collect(),
            ..Inspection::default()
        }
    }

    #[test]
    fn an_operator_of_ones_own_is_refused_until_it_is_placed() {
        let found = with_ops("pt2", &["aten::foo", "mine::act", "mine::gate"]);
        let error = refuse_undecided(&found, |_| false).unwrap_err().to_string();
        assert!(
            error.starts_with("mine::act, mine::gate are unknown") && error.contains("--assume mine::act="),
            "{error}"
        );
        let error = refuse_undecided(&found, |op| op == "mine::act").unwrap_err().to_string();
        assert!(error.starts_with("mine::gate is unknown: a custom operator"), "{error}");
        assert_eq!(refuse_undecided(&found, |op| op.starts_with("mine::")), Ok(()));
        // An operator without a counterpart on a core is not a custom operator.
        assert_eq!(refuse_undecided(&with_ops("onnx", &["MatMulInteger"]), |_| false), Ok(()));
        let many = with_ops("torchscript", &["m::a", "m::b", "m::c", "m::d", "m::e"]);
        assert!(
            refuse_undecided(&many, |_| false)
                .unwrap_err()
                .to_string()
                .starts_with("m::a, m::b, m::c, m::d and 1 more")
        );
    }

    #[test]
    fn a_symbol_of_stablehlo_is_refused_until_it_has_a_number() {
        let error = refuse_undecided(&with_sizes("jax-export", &["b"], false), |_| false).unwrap_err().to_string();
        assert!(error.starts_with("the batch size is a symbol (b)") && error.contains("--dim b=8,"), "{error}");
        let error = refuse_undecided(&with_sizes("mlir", &["b", "s"], false), |_| false).unwrap_err().to_string();
        assert!(error.starts_with("sizes are symbols (b, s)") && error.contains("--dim b=8,s=8"), "{error}");
        let mut even = with_sizes("jax-export", &["b"], false);
        even.open_dimensions[0].used = 2;
        let error = refuse_undecided(&even, |_| false).unwrap_err().to_string();
        assert!(error.contains("--dim b=2,"), "{error}");
        assert_eq!(refuse_undecided(&with_sizes("mlirbc", &["b"], true), |_| false), Ok(()));
        assert_eq!(refuse_undecided(&with_sizes("onnx", &["batch"], false), |_| false), Ok(()));
    }
}
