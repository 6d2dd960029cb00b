//! Tables of options: page, command line, Python and links share each row.

use neuronscope::bench::BenchConfig;
use neuronscope::experiment::sweep::ExperimentsRequest;
use neuronscope::session::options::{Opt, Options};
use neuronscope::session::share::Link;
use neuronscope::session::studies::{
    CustomopStudy, FidelityStudy, FieldKind, FormField, LlmStudy, MatmultStudy, NkiStudy, NumericsStudy, StudyKind,
    StudySpec,
};
use neuronscope::session::{ExperimentField, ExperimentSpec, ProfileSpec};

use crate::folder::Folder;

/// Options without a flag: a command names the file, its arguments or several kernels instead.
const WITHOUT_FLAG: [(&str, &[&str]); 5] = [
    ("matmult", &["coarse_clock", "small", "cpu"]),
    ("customop", &["source", "steps"]),
    ("nki", &["kernel", "source", "function"]),
    ("validate", &["table", "rows"]),
    ("bench", &["processes"]),
];

/// Whether the commands have a flag of every row, named as its key, from which Python makes its keywords.
fn check_flags<C: Options>(f: &Folder, commands: &[&str], form: Option<StudyKind>) {
    let without = WITHOUT_FLAG.iter().find(|(command, _)| commands.contains(command)).map_or(&[][..], |(_, keys)| keys);
    for command in commands {
        let help = f.stdout(&format!("neuronscope {command} --help")).replace('_', "-");
        for option in C::options() {
            let (key, name) = (option.key(), option.flag_name().replace('_', "-"));
            assert_eq!(name.is_empty(), without.contains(&key), "{command}: {key}");
            if !name.is_empty() {
                let is_there = [" ", "=", "\n", "["].iter().any(|end| help.contains(&format!("--{name}{end}")));
                assert_eq!(is_there, option.is_of_command(command), "{command} --{name}");
            }
        }
    }
    if let Some(kind) = form {
        let keys: Vec<&str> = C::options().map(Opt::key).collect();
        assert_eq!(kind.form().fields().map(|field| field.key).collect::<Vec<_>>(), keys);
    }
}

#[test]
fn every_option_is_a_field_of_the_form_and_a_flag_of_the_command() {
    let f = Folder::new("options");
    check_flags::<BenchConfig>(&f, &["bench"], None);
    check_flags::<ProfileSpec>(&f, &["profile"], None);
    check_flags::<ExperimentsRequest>(&f, &["experiment"], None);
    check_flags::<ExperimentSpec>(&f, &["records"], None);
    let of_records: Vec<&str> = ExperimentSpec::options().map(Opt::key).collect();
    let fields = ExperimentField::ALL.map(ExperimentField::key);
    assert_eq!(of_records, fields[..fields.len() - 1], "all but the records that are open");
    check_flags::<MatmultStudy>(&f, &["matmult"], Some(StudyKind::Matmult));
    check_flags::<CustomopStudy>(&f, &["customop"], Some(StudyKind::Customop));
    check_flags::<NumericsStudy>(&f, &["numerics"], Some(StudyKind::Numerics));
    check_flags::<FidelityStudy>(&f, &["validate"], Some(StudyKind::Fidelity));
    check_flags::<LlmStudy>(&f, &["generate", "fit"], Some(StudyKind::Llm));
    check_flags::<NkiStudy>(&f, &["nki"], Some(StudyKind::Nki));
}

/// A text that is not the default of a field.
fn text_of(field: &FormField, default: &str) -> String {
    let own = match field.key {
        "model" => "mistral-7b",
        "instance" => "inf2.48xlarge",
        "without" => "hoist,widen",
        "set" => "ROWS=1,2; N=3",
        "dtype" => "bfloat16",
        "grid" => "4x8",
        "shapes" => "a=128x512",
        "function" | "source" => "made_up",
        "acceptance" => "0.5",
        _ => match field.kind {
            FieldKind::Choice(all) => all.iter().find(|(name, _)| *name != default).unwrap().0,
            FieldKind::Flag => "true",
            FieldKind::Numbers => "512,2048",
            _ => "3",
        },
    };
    if own == default && field.key == "instance" { "trn2.48xlarge".to_owned() } else { own.to_owned() }
}

#[test]
fn links_and_printed_commands_have_every_option_of_language_models_and_kernels() {
    for kind in [StudyKind::Llm, StudyKind::Nki] {
        for field in kind.form().fields().filter(|field| field.key != "config") {
            let mut spec = StudySpec::new(kind);
            let text = text_of(field, &spec.text(field.key));
            spec.set(field.key, &text).unwrap();
            assert_eq!(spec.text(field.key), text, "{}", field.key);
            let link = Link::Study(Box::new(spec));
            assert_eq!(Link::parse(&link.print()), (link, vec![]), "{}", field.key);
            let nonsense = StudySpec::new(kind).set(field.key, "nonsense");
            let is_free = ["source", "function", "shapes", "check", "dtype", "grid"].contains(&field.key);
            assert_eq!(nonsense.is_ok(), is_free, "{}", field.key);
        }
    }
    for option in LlmStudy::options().filter(|option| option.key() != "config") {
        let mut study = LlmStudy::default();
        for option in option.flag.needs.and_then(LlmStudy::option).into_iter().chain([option]) {
            let text = text_of(&option.field, &option.text(&study));
            option.set(&mut study, &text).unwrap();
        }
        let (request, text) = (study.request().unwrap(), option.text(&study));
        for command in ["generate", "fit"] {
            let is_there = study.command(command, &request).contains(&format!(" --{} {text}", option.flag_name()));
            assert_eq!(is_there, option.is_of_command(command), "{command} {}", option.key());
        }
    }
}

/// The help of every command; INSTA_UPDATE=always writes it where a change is meant.
#[test]
fn the_help_of_every_command_is_the_one_that_was_read() {
    let f = Folder::new("help");
    let list = f.stdout("neuronscope --help");
    let (_, list) = list.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help");
    let help = |name: &str| format!("== {name}\n{}", f.stdout(&format!("neuronscope {name} --help")));
    insta::assert_snapshot!("help", names.map(help).collect::<Vec<_>>().join("\n"));
}
