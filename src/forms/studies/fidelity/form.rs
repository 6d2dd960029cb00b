//! The form and the options of the comparison with figures of devices.

use super::spec::{FidelityStudy, OWN, TABLES};
use crate::options::{Flag, Opt, Options, fields, opt};
use crate::studies::customop::source;
use crate::studies::form::{FieldGroup, FieldKind, GroupLook, StudyExample, StudyForm, field};

pub const FORM: StudyForm = StudyForm {
    title: "Fidelity",
    lead: "How far can a simulated figure be trusted? Figures that devices gave, each beside what the model predicts for it, and the errors of \
           each model. Drop a table of your own measurements to see how well your device is met. Nothing is uploaded.",
    begin: "Press Run, take an example, or drop a CSV file with the columns model, instance, batch_size and throughput.",
    groups: &[FieldGroup { title: "", look: GroupLook::Open, fields: &fields::<_, { TABLE.len() }>(TABLE) }],
    examples: &[
        StudyExample { name: "Published throughput of models", fields: &[("table", "published")] },
        StudyExample { name: "Tokens of language models", fields: &[("table", "decode")] },
        StudyExample { name: "Language models behind servers", fields: &[("table", "served")] },
        StudyExample { name: "Instructions and transfers", fields: &[("table", "instructions")] },
        StudyExample { name: "Two measurements of your own", fields: &[("table", OWN), ("rows", EXAMPLE)] },
    ],
    files: &["JSON"],
};

/// Rows as a user would write them; the figures are those of two published rows.
const EXAMPLE: &str = "model,instance,batch_size,n_models_or_cores,throughput\nresnet50,inf2.xlarge,1,1,1218.9\nbert-base-uncased,trn1.2xlarge,16,2,3421.6";

type Row = Opt<FidelityStudy>;

impl Options for FidelityStudy {
    const OPTIONS: &'static [&'static [Row]] = &[TABLE];
    const IS_USAGE: bool = false;
}

/// Fields that take new texts when another is edited: a table of the program has its own rows, and other rows are no table of the program.
pub const fn followers(key: &str) -> &'static [&'static str] {
    match key.as_bytes() {
        b"table" => &["rows"],
        b"rows" => &["table"],
        _ => &[],
    }
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    opt(field("table", "Table", "", "", FieldKind::Choice(&TABLES)),
        Flag::NONE,
        |s| s.table.clone(), |s, given| { if !FidelityStudy::is_shipped(given.text) && given.text != OWN && !given.text.to_ascii_lowercase().ends_with(".csv") { return Err(format!("{}: there is no table '{}'; use one from the list, own, or the name of a .csv file with its rows", given.name, given.text)); } s.take(given.text); Ok(()) }),
    opt(field("rows", "Rows", "CSV with a header: model, instance, batch_size, throughput, and more if you have them. A dropped .csv is put here", "the table\u{2019}s own", FieldKind::Source),
        Flag::NONE,
        |s| s.rows.clone(), |s, given| source(given).map(|rows| s.take_rows(rows))),
];

#[cfg(test)]
mod tests {
    use crate::share::Link;
    use crate::studies::{FidelityStudy, StudyKind, StudySpec};

    #[test]
    fn rows_of_the_user_survive_a_link() {
        let study = FidelityStudy { table: "mine.csv".to_owned(), rows: "model,throughput\nresnet50,1000".to_owned() };
        let link = Link::Study(Box::new(StudySpec::Fidelity(study)));
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }

    #[test]
    fn a_table_and_its_rows_agree() {
        let mut spec = StudySpec::new(StudyKind::Fidelity);
        assert_eq!((spec.text("table"), spec.text("rows")), ("published".to_owned(), String::new()));
        spec.set("rows", "model\nresnet50").unwrap();
        assert_eq!(spec.text("table"), "own");
        spec.set("table", "served").unwrap();
        assert_eq!(spec.text("rows"), "");
        let wrong = spec.set("table", "publishd").unwrap_err();
        assert!(wrong.contains("there is no table 'publishd'"), "{wrong}");
    }

    #[test]
    fn a_dropped_file_is_the_table() {
        let fields = StudyKind::Fidelity.fields_of_file("mine.csv", "model\nresnet50".to_owned());
        let mut spec = StudySpec::new(StudyKind::Fidelity);
        fields.iter().for_each(|(key, text)| spec.set(key, text).unwrap());
        assert_eq!((spec.text("table"), spec.text("rows")), ("mine.csv".to_owned(), "model\nresnet50".to_owned()));
    }
}
