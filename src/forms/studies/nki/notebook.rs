//! The Python of a notebook.

use ns_base::{Refusal, refuse};
use serde::Deserialize;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    source: Lines,
}

/// A text, or its lines with their ends.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    Text(String),
    Lines(Vec<String>),
}

/// The cells with code, below each other, each with a comment that numbers it. What is for the notebook (`%`, `!`) is a comment, and so is the
/// whole of a cell for another program (`%%bash`). Returns the name of a Python file and its text; a file that is no notebook stays as it is. Fails
/// when a notebook is damaged.
pub fn python_of(name: &str, text: &str) -> Result<(String, String), Refusal> {
    if !is_notebook(name) {
        return Ok((name.to_owned(), text.to_owned()));
    }
    let notebook: Notebook = serde_json::from_str(text).map_err(|error| {
        refuse!("{name}: the notebook is damaged: {error}").advise("save it again, or its cells as a Python file")
    })?;
    let cells = notebook.cells.into_iter().enumerate().filter(|(_, cell)| cell.cell_type == "code");
    let python = |(at, cell): (usize, Cell)| {
        let source = match cell.source {
            Lines::Text(text) => text,
            Lines::Lines(lines) => lines.concat(),
        };
        let is_other = source.trim_start().starts_with("%%") && !source.trim_start().starts_with("%%time");
        let line = |line: &str| {
            let is_command = is_other || line.trim_start().starts_with(['%', '!']);
            if is_command {
                format!("{}pass  # {}\n", &line[..line.len() - line.trim_start().len()], line.trim_start())
            } else {
                format!("{line}\n")
            }
        };
        format!("# Cell {}\n{}", at + 1, source.lines().map(line).collect::<String>())
    };
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    Ok((format!("{stem}.py"), cells.map(python).collect::<Vec<_>>().join("\n")))
}

/// Whether a file is a notebook, by its name.
pub fn is_notebook(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".ipynb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_with_code_are_a_file() {
        let notebook = r#"{"cells": [
            {"cell_type": "markdown", "source": ["Words"]},
            {"cell_type": "code", "source": ["%pip install x\n", "import nki\n", "if x:\n", "    !ls\n"]},
            {"cell_type": "code", "source": "%%bash\nls -l"},
            {"cell_type": "code", "source": "%%time\nx = 1 % 2"}], "nbformat": 4}"#;
        let python = "# Cell 2\npass  # %pip install x\nimport nki\nif x:\n    pass  # !ls\n\n# Cell 3\npass  # %%bash\npass  # ls -l\n\n# Cell 4\npass  # %%time\nx = 1 % 2\n";
        let of = |name: &str| python_of(name, notebook).unwrap();
        assert_eq!(of("a.IPYNB"), ("a.py".to_owned(), python.to_owned()));
        assert_eq!(of("b.py"), ("b.py".to_owned(), notebook.to_owned()));
        let error = python_of("a.ipynb", "{\"cells\": 1}").unwrap_err().to_string();
        assert!(error.starts_with("a.ipynb: the notebook is damaged: "), "{error}");
    }
}
