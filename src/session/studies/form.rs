//! The form of a study as data: a page shows it, links carry its texts, tests fill it in.

/// The form of a study, and what its page says around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyForm {
    /// Its page in links: `matmult`.
    pub path: &'static str,
    /// Heading of the page.
    pub title: &'static str,
    /// What the page is for, one or two sentences.
    pub lead: &'static str,
    /// What to do first, while there is no result.
    pub begin: &'static str,
    /// Its fields, in their order.
    pub groups: &'static [FieldGroup],
    /// Runs worth seeing.
    pub examples: &'static [StudyExample],
}

/// Fields that stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldGroup {
    /// What stands above them; empty for none.
    pub title: &'static str,
    /// How they stand.
    pub look: GroupLook,
    /// The fields.
    pub fields: &'static [StudyField],
}

/// How the fields of a group stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupLook {
    /// Always there.
    Open,
    /// Behind the title until it is opened.
    Folded,
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyField {
    /// Its name in links.
    pub key: &'static str,
    /// What stands above it.
    pub label: &'static str,
    /// What stands below it.
    pub help: &'static str,
    /// What is shown while it is empty.
    pub placeholder: &'static str,
    /// What can be put in.
    pub kind: FieldKind,
}

/// What can be put into a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A line of text.
    Line,
    /// A line of numbers.
    Numbers,
    /// One of some values, each with what it is called.
    Choice(&'static [(&'static str, &'static str)]),
    /// `true` or `false`.
    Flag,
    /// A source text of several lines.
    Source,
}

/// A run worth seeing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyExample {
    /// What its button says.
    pub name: &'static str,
    /// Fields that differ from the default, as key and text.
    pub fields: &'static [(&'static str, &'static str)],
}

impl StudyForm {
    /// All fields, in the order of the form.
    pub fn fields(&self) -> impl Iterator<Item = &'static StudyField> + use<> {
        self.groups.iter().flat_map(|group| group.fields)
    }
}
