//! The form of a study as data: a page shows it, links carry its texts, tests fill it in.

/// The form of a study, with the texts of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyForm {
    /// Heading of the page.
    pub title: &'static str,
    /// The purpose of the page, one or two sentences.
    pub lead: &'static str,
    /// What to do first, while there is no result.
    pub begin: &'static str,
    /// Its fields, in their order.
    pub groups: &'static [FieldGroup],
    pub examples: &'static [StudyExample],
    /// Labels of files that every result has.
    pub files: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldGroup {
    /// Title above the fields; empty for none.
    pub title: &'static str,
    /// Whether the group can be closed.
    pub look: GroupLook,
    pub fields: &'static [FormField],
}

/// Whether the fields of a group can be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupLook {
    /// Always visible.
    Open,
    /// Hidden until the title is opened.
    Folded,
    /// Hidden behind the flags of the compiler.
    Compiler,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormField {
    /// Its name in links.
    pub key: &'static str,
    /// Label above it.
    pub label: &'static str,
    /// Help text below it.
    pub help: &'static str,
    /// Placeholder while it is empty.
    pub placeholder: &'static str,
    /// The kind of input.
    pub kind: FieldKind,
}

/// The kind of input of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A line of text.
    Line,
    /// A line of numbers.
    Numbers,
    /// A number with a fraction.
    Decimal,
    /// Whole numbers.
    Whole,
    /// A model with its parameters, or a model file.
    Model,
    Instance,
    /// One of several values, each with its label.
    Choice(&'static [(&'static str, &'static str)]),
    /// A name, with those that are known.
    Named(&'static [(&'static str, &'static str)]),
    /// Any of several values, each with its label, as a list with commas.
    Several(&'static [(&'static str, &'static str)]),
    /// `true` or `false`.
    Flag,
    /// A source text of several lines.
    Source,
}

/// A field of a form, in one line.
pub const fn field(
    key: &'static str,
    label: &'static str,
    help: &'static str,
    placeholder: &'static str,
    kind: FieldKind,
) -> FormField {
    FormField { key, label, help, placeholder, kind }
}

/// The values of `--auto-cast`, in words.
pub const AUTO_CASTS: &[(&str, &str)] = &[("matmult", "matrix products"), ("all", "everything"), ("none", "nothing")];
/// The values of `--auto-cast-type`.
pub const AUTO_CAST_TYPES: &[(&str, &str)] =
    &[("bf16", "bf16"), ("fp16", "fp16"), ("tf32", "tf32"), ("fp8_e4m3", "fp8 (e4m3)")];
/// The values of `-O`.
pub const OPT_LEVELS: &[(&str, &str)] = &[("1", "1 (no fusion)"), ("2", "2"), ("3", "3")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyExample {
    /// Label of its button.
    pub name: &'static str,
    /// Fields that differ from the default, as key and text.
    pub fields: &'static [(&'static str, &'static str)],
}

impl StudyForm {
    /// All fields, in the order of the form.
    pub fn fields(&self) -> impl Iterator<Item = &'static FormField> + use<> {
        self.groups.iter().flat_map(|group| group.fields)
    }
}
