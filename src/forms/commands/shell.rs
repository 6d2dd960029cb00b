//! Words of a command line.

use ns_device::ModelKind;
use ns_kernel::without_source;

/// A word for a POSIX shell: quoted if it holds a character that is special to the shell.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/=+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Whether a command line can name a model by its text: the text is not a file opened on the page, nor a source written there.
pub fn has_name(model: &str) -> bool {
    !model.is_empty() && ModelKind::of(model) != ModelKind::File && without_source(model) == model
}

/// Builder of a command line.
pub struct CommandLine(String);

impl CommandLine {
    /// Begins with `neuronscope COMMAND`.
    pub fn new(command: &str) -> Self {
        Self(format!("neuronscope {command}"))
    }

    /// Adds a word that is not a flag.
    pub fn word(mut self, word: &str) -> Self {
        self.0.push(' ');
        self.0.push_str(&quoted(word));
        self
    }

    /// Adds `--name` if it is set.
    pub fn flag(mut self, name: &str, is_set: bool) -> Self {
        if is_set {
            self.0.push_str(" --");
            self.0.push_str(name);
        }
        self
    }

    /// Adds `--name value`; a value that begins with a dash is written after `=`, so that it is not read as a flag.
    pub fn option(mut self, name: &str, value: &str) -> Self {
        let between = if value.starts_with('-') { '=' } else { ' ' };
        self.0.push_str(" --");
        self.0.push_str(name);
        self.0.push(between);
        self.0.push_str(&quoted(value));
        self
    }

    /// Adds `--name value` if there is a value.
    pub fn some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.option(name, value),
            None => self,
        }
    }

    pub fn print(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("trn1.2xlarge"), "trn1.2xlarge");
        assert_eq!(quoted(""), "''");
        let line =
            CommandLine::new("query").word("a b.json").option("level", "-x").flag("total", false).flag("csv", true);
        assert_eq!(line.print(), "neuronscope query 'a b.json' --level=-x --csv");
    }

    #[test]
    fn files_and_sources_of_the_page_have_no_name_in_a_terminal() {
        assert!(has_name("bert-base-uncased:seq=128"));
        assert!(!has_name("file:bert.onnx@k3x9"));
        assert!(!has_name(""));
    }
}
