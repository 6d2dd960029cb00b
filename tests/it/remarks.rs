//! What a reader noticed in a file is part of every answer about it.

use std::fs::write;

use crate::folder::Folder;

/// A trace of 40 calls, whole, cut in an event, or with a call that is not JSON.
fn folder_of_traces() -> Folder {
    let folder = Folder::new("remarks");
    let event = |i: usize| {
        format!(r#"{{"ph":"X","name":"op{}","cat":"cpu_op","pid":1,"tid":1,"ts":{},"dur":5}}"#, i % 3, i * 10)
    };
    let counter = r#"{"ph":"C","name":"load","pid":1,"ts":0,"args":{"value":1}}"#;
    let events: Vec<String> = (0..40).map(event).chain([counter.to_owned()]).collect();
    let whole = format!("[{}]", events.join(",\n"));
    write(folder.join("whole.json"), &whole).unwrap();
    write(folder.join("cut.json"), &whole[..whole.len() / 2]).unwrap();
    write(folder.join("damaged.json"), whole.replacen(r#""name":"op1""#, r#""name":"{"a": 1}""#, 1)).unwrap();
    folder
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let folder = folder_of_traces();
    let file = folder.stdout("neuronscope operators whole.json --csv");
    for line in [
        "cat whole.json | neuronscope operators - --csv",
        "gzip -c whole.json | neuronscope operators /dev/stdin --csv",
    ] {
        assert_eq!(folder.stdout(line), file, "{line}");
    }
}

#[test]
fn names_in_text_do_not_act_on_a_terminal() {
    let folder = Folder::new("escapes");
    folder.write("a.json", r#"[{"ph":"X","name":"a\u001b[2J\u202e\nforged","pid":1,"tid":1,"ts":1,"dur":2}]"#);
    for command in ["open F", "open F --summary", "operators F", "flame F", "query F ''", "compare F F"] {
        let text = folder.stdout(&format!("neuronscope {}", command.replace('F', "a.json")));
        assert!(text.contains(r"a\u{1b}[2J\u{202e}\nforged"), "{command}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{command}");
    }
}

/// Each command that answers from a profile; `F` is the file.
const COMMANDS: &[&str] = &[
    "open F --summary",
    "open F -o out.json --json",
    "open F --html page.html --json",
    "operators F",
    "operators F --csv",
    "operators F --members op0",
    "query F 'group by name'",
    "query F 'where dur > 1ns' --csv",
    "idle F",
    "critical-path F",
    "counters F",
    "counters F --curve load",
    "flame F",
    "flame F --name op0",
    "flame F --modules",
    "histogram F op0",
    "compare F whole.json",
    "compare whole.json F",
    "parquet F --table slices -o out.parquet",
    "parquet F --table operators -o out.parquet",
];

#[test]
fn every_command_says_what_was_noticed_in_the_file() {
    let folder = folder_of_traces();
    for (file, said) in [("cut.json", "the text ends"), ("damaged.json", "not JSON: 'a' at byte"), ("whole.json", "")] {
        for command in COMMANDS.iter().map(|c| format!("neuronscope {}", c.replace('F', file))) {
            let output = folder.run(&command);
            let noted = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success() || command.contains("--curve"), "{command}: {noted}");
            let notes: Vec<&str> = noted.lines().filter(|l| l.contains(": ") && !l.contains("rows")).collect();
            assert_eq!(
                notes.iter().any(|l| l.starts_with(&format!("note: {file}: "))),
                !said.is_empty(),
                "{command}: {noted}"
            );
            assert!(notes.iter().any(|l| l.contains(said)) || said.is_empty(), "{command}: {noted}");
        }
        let text = folder.stdout(&format!("neuronscope open {file}"));
        assert_eq!(text.contains("note: "), !said.is_empty(), "{text}");
        let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
        assert_eq!(page.contains("Note: "), !said.is_empty());
    }
}

#[test]
fn an_export_says_what_its_format_cannot_hold() {
    let folder = folder_of_traces();
    for (command, said) in [
        ("open whole.json --export speedscope -o out", true),
        ("open whole.json --export chrome -o out", false),
        ("profile --model nn --export speedscope -o out", true),
        ("customop --kernel relu-tcm --layers 8,8,10 --export speedscope -o out", true),
        ("generate --model gpt2 --instance inf2.xlarge --tp 1 --output 8 --trace out --trace-export speedscope", true),
    ] {
        let output = folder.run(&format!("neuronscope {command} --json"));
        let noted = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{command}: {noted}");
        assert_eq!(noted.contains("note: out: speedscope cannot hold all: "), said, "{command}: {noted}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let remarks = json["remarks"].as_array().map_or(&[][..], Vec::as_slice);
        let codes: Vec<&str> =
            remarks.iter().filter(|r| r["profile"] == "out").filter_map(|r| r["code"].as_str()).collect();
        assert_eq!(codes.contains(&"processes"), said, "{command}: {codes:?}");
    }
}

#[test]
fn json_has_remarks_if_there_are_any() {
    let folder = folder_of_traces();
    let answers = COMMANDS.iter().filter(|c| !c.contains("csv") && !c.contains("parquet") && !c.contains("curve"));
    for command in answers {
        let command = command.trim_end_matches(" --json");
        let json = |file: &str| -> serde_json::Value {
            serde_json::from_str(&folder.stdout(&format!("neuronscope {} --json", command.replace('F', file)))).unwrap()
        };
        let (whole, damaged) = (json("whole.json"), json("damaged.json"));
        assert_eq!(whole.get("remarks"), None, "{command}");
        assert_eq!(whole.is_array(), damaged.get("rows").is_some_and(|_| !command.starts_with("compare")), "{command}");
        let remark = &damaged["remarks"][0];
        assert_eq!(
            (remark["profile"].as_str(), remark["count"].as_u64()),
            (Some("damaged.json"), Some(1)),
            "{command}"
        );
        assert_eq!(remark["code"], "bad_json");
    }
    let both = folder.stdout("neuronscope compare cut.json damaged.json --json");
    let both: serde_json::Value = serde_json::from_str(&both).unwrap();
    let named: Vec<&str> = both["remarks"].as_array().unwrap().iter().map(|r| r["profile"].as_str().unwrap()).collect();
    assert_eq!(named, ["cut.json", "cut.json", "damaged.json"]);
}
