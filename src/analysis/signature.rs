//! Signatures of C++ functions: `void a::b<int, 4>(float*)`.

use std::borrow::Cow;

const ANONYMOUS: &str = "(anonymous namespace)";

/// The parts of a signature.
pub(crate) struct Signature<'a> {
    /// The function with its namespaces: `a::b<int, 4>`.
    path: &'a str,
    /// Arguments of its first template.
    pub arguments: Vec<&'a str>,
    /// Whether the type of the result stands before it. Only functions made from templates have one, so kernels do.
    pub has_type: bool,
}

impl<'a> Signature<'a> {
    /// The signature in a name; `None` for a name that is not a C++ function with template arguments or parameters. Python's
    /// `file.py(12): f` is not one.
    pub fn of(name: &'a str) -> Option<Self> {
        if !(name.starts_with("void ") || name.contains("::")) {
            return None;
        }
        let end = parameters_at(name)?;
        let head = &name[..end];
        let (has_parameters, space) = (end < name.len(), last_at_top(head, " "));
        // Nothing but a signature has its parameters directly behind the name.
        let has_type = has_parameters && space.is_some() || head.starts_with("void ");
        let path = match space {
            Some(at) if has_type => &head[at + 1..],
            Some(_) => return None,
            None => head,
        };
        let template = path.find('<');
        if path.is_empty() || path.starts_with('<') || !(has_parameters || template.is_some()) {
            return None;
        }
        let arguments = template.and_then(|at| inside(&path[at..])).map(arguments).unwrap_or_default();
        Some(Self { path, arguments, has_type })
    }

    /// The function without template arguments; of a kernel without its namespaces, unless the rest says nothing.
    pub fn operation(&self) -> Cow<'a, str> {
        let path = without_templates(self.path);
        if !self.has_type {
            return path;
        }
        let last = |text: &str| {
            let at = text.rfind("::").map_or(0, |at| at + 2);
            let says_nothing = text[at..].eq_ignore_ascii_case("kernel") || text[at..].starts_with("operator");
            let outer = text[..at.saturating_sub(2)].rfind("::").map_or(0, |at| at + 2);
            if says_nothing && !text[outer..].starts_with(ANONYMOUS) { outer } else { at }
        };
        match path {
            Cow::Borrowed(text) => Cow::Borrowed(&text[last(text)..]),
            Cow::Owned(text) => Cow::Owned(text[last(&text)..].to_owned()),
        }
    }
}

/// Calls `visit` with each position outside of all brackets; stops at the first for which it is true. `None` if there is none
/// or the brackets do not match.
fn find_at_top(text: &str, mut visit: impl FnMut(usize) -> bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        if depth == 0 && visit(at) {
            return Some(at);
        }
        match byte {
            b'(' | b'<' | b'{' | b'[' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b')' | b'>' | b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Where the parameters begin, or the end of a text without them. `None` if the brackets do not match.
fn parameters_at(name: &str) -> Option<usize> {
    let begins = |at: usize| {
        let rest = &name.as_bytes()[at..];
        rest.starts_with(b"(") && !rest.starts_with(ANONYMOUS.as_bytes()) && !name[..at].ends_with("operator")
    };
    match find_at_top(name, begins) {
        Some(at) if name[..at].ends_with(' ') => None,
        Some(at) => Some(at),
        None => is_balanced(name).then_some(name.len()),
    }
}

fn is_balanced(text: &str) -> bool {
    let closed = format!("{text} ");
    find_at_top(&closed, |at| at == text.len()).is_some()
}

/// The last place outside of brackets at which a text of one byte stands.
fn last_at_top(text: &str, wanted: &str) -> Option<usize> {
    let mut last = None;
    find_at_top(text, |at| {
        if text.as_bytes()[at..].starts_with(wanted.as_bytes()) {
            last = Some(at);
        }
        false
    });
    last
}

/// The text between the bracket at the beginning and its counterpart.
fn inside(text: &str) -> Option<&str> {
    let closed = format!("{text} ");
    let behind = find_at_top(&closed, |at| at > 0)?;
    text.get(1..behind - 1)
}

/// Splits at the commas outside of brackets.
fn arguments(text: &str) -> Vec<&str> {
    let mut cuts = vec![];
    find_at_top(text, |at| {
        if text.as_bytes()[at] == b',' {
            cuts.push(at);
        }
        false
    });
    let mut from = 0;
    let mut found = Vec::with_capacity(cuts.len() + 1);
    for cut in cuts {
        found.push(text[from..cut].trim());
        from = cut + 1;
    }
    found.push(text[from..].trim());
    found
}

/// `a::b<int>::c` is `a::b::c`.
fn without_templates(path: &str) -> Cow<'_, str> {
    match path.find('<') {
        None => Cow::Borrowed(path),
        Some(at) => match path[at..].rfind('>') {
            Some(end)
                if at + end + 1 == path.len()
                    && inside(&path[at..]).is_some_and(|t| t.len() + 2 == path.len() - at) =>
            {
                Cow::Borrowed(&path[..at])
            }
            _ => Cow::Owned(outside(path)),
        },
    }
}

/// The text without template arguments.
fn outside(path: &str) -> String {
    let mut depth = 0_usize;
    let mut text = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    text
}

/// Templates that only carry another functor.
const CARRIERS: [&str; 9] = [
    "ReduceOp",
    "func_wrapper_t",
    "BinaryFunctor",
    "AUnaryFunctor",
    "BUnaryFunctor",
    "UnaryFunctor",
    "gpu_kernel_impl",
    "gpu_kernel_impl_nocast",
    "gpu_kernel_with_scalars",
];

/// Beginnings and ends of the names of functors that every one has.
const BEGINNINGS: [&str; 4] = ["CUDAFunctorOnSelf_", "CUDAFunctor_", "launch_", "Launch"];
const ENDS: [&str; 10] =
    ["Functor", "_functor", "KernelImpl", "_impl", "_cuda", "CUDA", "_kernel", "Kernel", "Ops", "Op"];

/// The short form of a template argument: a number, or the operation of a functor. `None` for types, flags and whatever else
/// all instances have.
pub(crate) fn argument_text(argument: &str) -> Option<String> {
    let (cast, value) = match argument.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((cast, value)) if !value.starts_with("::") => (cast, value),
        _ => ("", argument),
    };
    let digits = value.trim_end_matches(['u', 'l', 'U', 'L']);
    if !digits.is_empty() && digits.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()) {
        return (cast != "bool").then(|| digits.to_owned());
    }
    functor(argument).or_else(|| is_own_name(argument).then(|| argument.to_owned()))
}

/// `cutlass_80_tensorop_s1688gemm`: a name made for one kernel, not a type.
fn is_own_name(argument: &str) -> bool {
    let is_word = argument.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_word && argument.matches('_').count() > 1 && !argument.starts_with("__") && !argument.ends_with("_t")
}

/// The operation of a functor, or of the functor that it carries.
fn functor(argument: &str) -> Option<String> {
    // The first part with brackets is the function or the class; lambdas inside it come after.
    let part = parts(argument).into_iter().find(|part| part.contains(['<', '(']) && *part != ANONYMOUS)?;
    let word = &part[..part.find(['<', '('])?];
    if CARRIERS.contains(&word) {
        let template = part.find('<').and_then(|at| inside(&part[at..]))?;
        return arguments(template).into_iter().find_map(functor);
    }
    let mut operation = BEGINNINGS.iter().find_map(|b| word.strip_prefix(b)).unwrap_or(word);
    while let Some(shorter) = ENDS.iter().find_map(|end| operation.strip_suffix(end)) {
        operation = shorter;
    }
    let is_function = part.contains('(') || operation.len() < word.len();
    (is_function && !operation.is_empty()).then(|| snake_case(operation))
}

/// Splits at `::` outside of brackets.
fn parts(path: &str) -> Vec<&str> {
    let mut cuts = vec![];
    find_at_top(path, |at| {
        if path.as_bytes()[at..].starts_with(b"::") {
            cuts.push(at);
        }
        false
    });
    let mut from = 0;
    let mut found = Vec::with_capacity(cuts.len() + 1);
    for cut in cuts {
        found.push(&path[from..cut]);
        from = cut + 2;
    }
    found.push(&path[from..]);
    found
}

/// `LayerNorm` is `layer_norm`.
fn snake_case(word: &str) -> String {
    let mut text = String::with_capacity(word.len() + 4);
    let mut before = '_';
    for c in word.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
        before = c;
    }
    text.trim_matches('_').to_owned()
}
