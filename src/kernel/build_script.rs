//! The call `custom_op.load(name='relu', compute_srcs=['relu.cpp'], ...)` of a `build.py`: which files a library is built from, and
//! whether its kernels run on all processors.

use ns_base::{Refusal, refuse};

/// What the call names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildScript {
    /// The library's name.
    pub name: String,
    /// Files with kernels.
    pub compute_srcs: Vec<String>,
    /// Files with shape functions.
    pub shape_srcs: Vec<String>,
    pub multicore: bool,
}

/// Where the arguments of the first call begin: `custom_op.load(`, or `load(` of `from ... custom_op import load`, or of another name that
/// the module is imported under.
fn call(text: &str) -> Option<usize> {
    const LOAD: &str = "load(";
    let module = text.split_once("custom_op as ").and_then(|(_, rest)| rest.split_whitespace().next());
    let is_imported = text.contains("custom_op import load");
    text.match_indices(LOAD).find_map(|(at, _)| {
        let before = text.get(..at)?;
        let path = before.rsplit(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).next()?;
        let is_call = match path.strip_suffix('.') {
            Some(of) => of.ends_with("custom_op") || Some(of) == module,
            None => path.is_empty() && is_imported,
        };
        is_call.then_some(at + LOAD.len())
    })
}

impl BuildScript {
    /// The file with the kernel. Fails when the library is built from more or fewer files than one.
    pub fn source(&self) -> Result<&str, Refusal> {
        match &self.compute_srcs[..] {
            [source] => Ok(source),
            names => Err(refuse!(
                "compute_srcs names {}; a kernel is one file: name it with --kernel, or put the functions into one file",
                if names.is_empty() { "no file".to_owned() } else { names.join(", ") }
            )),
        }
    }

    /// Reads the first call of a script; `None` if the script has none. Fails when an argument that matters is not a constant. The
    /// message names the line.
    pub fn parse(script: &str) -> Result<Option<Self>, Refusal> {
        let text = without_comments(script);
        let Some(from) = call(&text) else { return Ok(None) };
        let line = |offset: usize| text.get(..from + offset).map_or(1, |before| before.matches('\n').count() + 1);
        let mut found = Self::default();
        for (offset, argument) in arguments(text.get(from..).unwrap_or_default())? {
            let (key, value) = argument.split_once('=').unwrap_or(("", argument));
            let (key, value, line) = (key.trim(), value.trim(), line(offset));
            let texts = || {
                list_of_texts(value)
                    .ok_or_else(|| refuse!("line {line}: {key}: write the file names in quotes: ['relu.cpp']"))
            };
            match key {
                "name" => {
                    found.name =
                        text_of(value).ok_or_else(|| refuse!("line {line}: name: write it in quotes: 'relu'"))?;
                }
                "compute_srcs" => found.compute_srcs = texts()?,
                "shape_srcs" => found.shape_srcs = texts()?,
                "multicore" => {
                    found.multicore = match value {
                        "True" => true,
                        "False" => false,
                        _ => return Err(refuse!("line {line}: multicore: write True or False")),
                    };
                }
                // Where the library is stored, and what its compiler says.
                "build_directory" | "verbose" | "extra_cflags" => {}
                _ => {
                    return Err(refuse!(
                        "line {line}: custom_op.load has no argument '{argument}'; its arguments are name, compute_srcs, shape_srcs, build_directory, multicore, verbose and extra_cflags"
                    ));
                }
            }
        }
        if found.compute_srcs.is_empty() {
            return Err(refuse!(
                "line {}: custom_op.load names no compute_srcs; add compute_srcs=['relu.cpp']",
                line(0)
            ));
        }
        Ok(Some(found))
    }
}

/// The script with spaces in the place of its comments.
fn without_comments(script: &str) -> String {
    let mut quote = None;
    let mut is_comment = false;
    let blank = |c: char| {
        match (c, quote) {
            ('\n', _) => (is_comment, quote) = (false, None),
            _ if is_comment => return ' ',
            ('#', None) => {
                is_comment = true;
                return ' ';
            }
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            _ => {}
        }
        c
    };
    script.chars().map(blank).collect()
}

/// The arguments of a call, up to its closing bracket, with their offsets.
fn arguments(text: &str) -> Result<Vec<(usize, &str)>, Refusal> {
    let (mut found, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    let mut add = |start: usize, end: usize| {
        let argument = text.get(start..end).unwrap_or_default();
        let blanks = argument.len() - argument.trim_start().len();
        if !argument.trim().is_empty() {
            found.push((start + blanks, argument.trim()));
        }
    };
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('[' | '(' | '{', None) => depth += 1,
            (')', None) if depth == 0 => {
                add(start, at);
                return Ok(found);
            }
            (']' | ')' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                add(start, at);
                start = at + 1;
            }
            _ => {}
        }
    }
    Err(refuse!("the call custom_op.load( does not end; close it with )"))
}

/// The text of a constant in quotes.
fn text_of(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains([quote, '\\'])).then(|| inner.to_owned())
}

fn list_of_texts(value: &str) -> Option<Vec<String>> {
    let inner = value.strip_prefix('[')?.strip_suffix(']')?;
    inner.split(',').map(str::trim).filter(|t| !t.is_empty()).map(text_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUTORIAL: &str = "import os
import torch_neuronx
from torch_neuronx.xla_impl import custom_op

custom_op.load(  # custom_op.load(name='old')
    name='relu',
    compute_srcs=['relu.cpp'],
    shape_srcs=[\"shape.cpp\"],
    build_directory=os.getcwd(),
    multicore=True,
    verbose=True
)
";

    fn problem(script: &str) -> String {
        BuildScript::parse(script).unwrap_err().to_string()
    }

    #[test]
    fn the_call_of_the_tutorial_is_read() {
        let found = BuildScript::parse(TUTORIAL).unwrap().unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let expected = BuildScript {
            name: "relu".to_owned(),
            compute_srcs: texts(&["relu.cpp"]),
            shape_srcs: texts(&["shape.cpp"]),
            multicore: true,
        };
        assert_eq!(found, expected);
        let one = BuildScript::parse(&TUTORIAL.replace("    multicore=True,\n", "")).unwrap().unwrap();
        assert!(!one.multicore);
        for (import, call) in [("custom_op.load", "load"), ("custom_op as ops", "ops.load")] {
            let import = import.replace("custom_op.load", "custom_op import load");
            let script =
                format!("from torch_neuronx.xla_impl.{import}\n{call}(name='relu', compute_srcs=['relu.cpp'])");
            assert_eq!(BuildScript::parse(&script).unwrap().unwrap().compute_srcs, ["relu.cpp"], "{script}");
        }
        assert_eq!(BuildScript::parse("import torch\ntorch.load('a.pt')\ndownload(custom_op)"), Ok(None));
        assert_eq!(BuildScript::parse("print('custom_op')"), Ok(None));
        assert_eq!(BuildScript::parse("# custom_op.load(name='relu')"), Ok(None));
    }

    #[test]
    fn what_is_no_constant_is_refused_at_its_line() {
        assert!(problem(&TUTORIAL.replace("['relu.cpp']", "sources")).starts_with("line 7: compute_srcs: write"));
        assert!(problem(&TUTORIAL.replace("multicore=True", "multicore=many")).starts_with("line 10: multicore"));
        assert!(
            problem(&TUTORIAL.replace("verbose=", "loud=")).contains("line 11: custom_op.load has no argument 'loud=")
        );
        assert!(problem(&TUTORIAL.replace("    compute_srcs=['relu.cpp'],\n", "")).contains("names no compute_srcs"));
        assert!(problem("custom_op.load(name='relu'").contains("does not end"));
    }
}
