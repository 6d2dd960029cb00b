//! The state of the view: a model, its instance and its open modules, as texts for a form and a link.

use serde::{Deserialize, Serialize};

use crate::{EXAMPLE_INSTANCE, EXAMPLE_MODEL};
use ns_base::names;
use ns_device::{ModelFileRef, ModelFileSettings};

names! {
    /// A choice of the page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum InspectField {
        /// A model of the zoo, `bert-base-uncased`, or a file that is open, `file:bert.onnx@k3x9q2ab:batch=8`.
        Model = "model",
        /// Size of an instance: `trn1.2xlarge`.
        Instance = "instance",
        /// Batch size; empty for the model's own.
        Batch = "batch",
        /// The view: see [`InspectView`].
        View = "view",
        /// Paths of modules that differ from the first view (opened or closed), separated by `|`.
        Toggled = "toggled",
        /// Path of the selected node.
        Selected = "selected",
        Search = "search",
        /// Number of a pass of the compiler, from 0.
        Pass = "pass",
    }

    pub const ALL: [Self; _];
    /// Its name in links.
    pub const fn key(self) -> &'static str;
}

names! {
    /// A view of a model.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum InspectView {
        /// Modules as a tree and as a picture.
        #[default]
        Graph = "graph",
        /// All operators as a table.
        Table = "table",
        /// The program before and after each pass of the compiler.
        Passes = "passes",
    }

    /// All views, in the order of the page.
    pub const ALL: [Self; _];
    /// Its name in links.
    pub const fn key(self) -> &'static str;
}

/// Separator of paths.
const BETWEEN: char = '|';

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InspectSpec {
    values: [String; InspectField::ALL.len()],
}

impl InspectView {
    /// Label of its button.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Graph => "Graph",
            Self::Table => "Table",
            Self::Passes => "Compiler passes",
        }
    }

    /// The view with this name; the graph for any other name.
    pub fn of_key(key: &str) -> Self {
        Self::ALL.into_iter().find(|view| view.key() == key).unwrap_or_default()
    }
}

impl InspectSpec {
    /// What the page opens with.
    pub fn example() -> Self {
        Self::default().with(InspectField::Model, EXAMPLE_MODEL).with(InspectField::Instance, EXAMPLE_INSTANCE)
    }

    /// The text of a field.
    pub fn get(&self, field: InspectField) -> &str {
        self.values.get(field as usize).map_or("", String::as_str)
    }

    /// Puts a text into a field. A different model resets the opened modules; other sizes of the same model do not.
    pub fn set(&mut self, field: InspectField, text: &str) {
        let name = |model: &str| match ModelFileRef::of(model) {
            Some(file) => ModelFileRef { settings: ModelFileSettings::default(), ..file }.to_string(),
            None => model.split(':').take(1).collect(),
        };
        if field == InspectField::Model && name(self.get(field)) != name(text) {
            for of_model in [InspectField::Toggled, InspectField::Selected, InspectField::Search, InspectField::Pass] {
                self.values[of_model as usize].clear();
            }
        }
        if let Some(value) = self.values.get_mut(field as usize) {
            text.clone_into(value);
        }
    }

    /// The same state with another text in a field.
    pub fn with(mut self, field: InspectField, text: &str) -> Self {
        self.set(field, text);
        self
    }

    /// The file shown, with the sizes of its open dimensions; `None` for a model of the zoo.
    pub fn file(&self) -> Option<ModelFileRef> {
        ModelFileRef::of(self.get(InspectField::Model))
    }

    pub fn view(&self) -> InspectView {
        InspectView::of_key(self.get(InspectField::View))
    }

    /// Paths of modules that differ from the first view.
    pub fn toggled(&self) -> impl Iterator<Item = &str> {
        self.get(InspectField::Toggled).split(BETWEEN).filter(|path| !path.is_empty())
    }

    /// Opens or closes a module.
    pub fn toggle(&mut self, path: &str) {
        let mut paths: Vec<String> = self.toggled().filter(|p| *p != path).map(str::to_owned).collect();
        if paths.len() == self.toggled().count() {
            paths.push(path.to_owned());
        }
        self.set(InspectField::Toggled, &paths.join(&BETWEEN.to_string()));
    }

    /// The state without how it is looked at: the model on its device.
    pub fn run(&self) -> Self {
        use InspectField::{Batch, Instance, Model};
        [Model, Instance, Batch].into_iter().fold(Self::default(), |run, field| run.with(field, self.get(field)))
    }

    /// Whether two states have the same model on the same device, so that nothing is computed again.
    pub fn is_same_run(&self, other: &Self) -> bool {
        self.run() == other.run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_model_closes_the_open_modules() {
        let mut spec = InspectSpec::default().with(InspectField::Model, "nn").with(InspectField::Selected, "a/b");
        spec.toggle("a");
        spec.toggle("b");
        spec.toggle("a");
        assert_eq!(spec.toggled().collect::<Vec<_>>(), ["b"]);
        spec.set(InspectField::Model, "nn:hidden=8");
        assert_eq!(spec.toggled().count(), 1);
        spec.set(InspectField::Model, "bert-base-uncased");
        assert_eq!((spec.toggled().count(), spec.get(InspectField::Selected)), (0, ""));
        spec.set(InspectField::Model, "file:a.onnx@12345678");
        assert!(spec.file().is_some_and(|file| file.name == "a.onnx" && file.settings.is_empty()));
        spec.set(InspectField::Selected, "a");
        spec.set(InspectField::Model, "file:a.onnx@12345678:batch=8");
        assert!(spec.file().is_some_and(|file| file.settings.to_string() == "batch=8"));
        assert_eq!(spec.get(InspectField::Selected), "a");
    }
}
