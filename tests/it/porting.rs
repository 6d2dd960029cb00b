//! Every command of docs/porting.md, as a user would run them: in order, in one folder, with the files the page shows.

use crate::folder::Folder;
use crate::shell::{blocks, page};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// An array of zeros of this shape, as `numpy.save` writes it.
fn npy(shape: &str, values: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(vec![0; 4 * values]);
    bytes
}

#[test]
fn every_command_of_the_page_runs() {
    let f = Folder::new("porting");
    f.write("images.npy", npy("(50, 28, 28)", 50 * 28 * 28));
    let mut commands = 0;
    for (kind, text) in blocks(&page("docs/porting.md")) {
        if let Some((_, name)) = kind.split_once(' ') {
            f.write(name, text);
            continue;
        }
        assert_eq!(kind, "sh", "a block is commands, or a file with its name");
        for line in text.lines() {
            assert!(line.starts_with("neuronscope "), "{line}");
            let output = f.run(line);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !said.contains("ERROR"), "{line}: {said}");
            commands += 1;
        }
    }
    assert!(commands >= 30, "only {commands} commands were found");

    // What the page says about the files.
    let array = json(&f.read("out.json"));
    assert_eq!((array.as_array().unwrap().len(), array[0]["n_models"].as_u64()), (4, Some(1)));
    assert!(array[0].get("throughput_window").is_none());
    assert_eq!((f.read("mine.csv").lines().count(), f.read("one.csv").lines().count()), (5, 3));
    let named: Vec<String> =
        std::fs::read_dir(&f).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    for extension in [".csv", ".json"] {
        let found = named.iter().filter(|n| n.starts_with("nn.results-20") && n.ends_with(extension)).count();
        assert_eq!(found, 1, "{named:?}");
    }
    let timers = json(&f.read("timers.json"));
    let e2e = &timers[0][1]["timers"]["e2e"][0];
    assert!(e2e[1][0].as_f64() >= e2e[0][1].as_f64() && e2e[0][1].as_f64() > e2e[0][0].as_f64(), "{}", e2e[0]);
}

#[test]
fn timers_as_pairs_give_the_reports_of_their_run() {
    let f = Folder::new("pairs");
    let base =
        "neuronscope bench --model fixed --device-ms 3 --host-ms 0.2 --instance inf1.xlarge --duration 4 --seed 5";
    f.stdout(&format!("{base} --return_timers t.json --json_format neuronperf --csv_file own.csv"));
    let read = f.stdout("neuronscope report t.json --csv");
    assert_eq!(read, f.read("own.csv"));
    // To stdout, in place of reports.
    let printed = f.stdout(&format!("{base} --return-timers --json-format neuronperf"));
    assert_eq!(printed, f.read("t.json"));
}

#[test]
fn neuronperfs_array_is_read_back_with_its_figures() {
    let f = Folder::new("array");
    f.stdout("neuronscope bench --model nn --duration 3 --json_format neuronperf --json_file a.json --csv_file a.csv");
    assert_eq!(f.stdout("neuronscope report a.json --csv"), f.read("a.csv"));
    let printed = f.stdout("neuronscope bench --model nn --duration 3 --json --json-format neuronperf");
    assert_eq!(printed, f.read("a.json"));
}

#[test]
fn mistakes_name_the_place_and_what_to_do() {
    let f = Folder::new("porting-mistakes");
    f.write("run.json", "{\n  \"model\": \"nn\",\n  \"n_modles\": 1\n}");
    let said = f.stderr("neuronscope bench --config run.json");
    assert!(
        said.contains("run.json: line 3, n_modles: bench has no such argument; the nearest are n_models"),
        "{said}"
    );
    assert!(f.stderr("neuronscope bench --config no.json").contains("--config: no.json: cannot be read"));
    let said = f.stderr("neuronscope bench --preprocess 'x / (255'");
    assert!(said.contains("--preprocess: 'x / (255': a closing bracket is missing at character 9"), "{said}");
    let said = f.stderr("neuronscope bench --model nn --preprocess 'x / 255, y / 255' --n-models 1 --duration 2");
    assert!(said.contains("names 2 inputs, nn has 1"), "{said}");
    assert!(
        f.stderr("neuronscope bench --dataset no.npy")
            .contains("no.npy: is neither a number of records nor a readable file")
    );
    f.write("wide.csv", "1,2,3,4,5,6,7\n");
    let said = f.stderr("neuronscope bench --model nn --dataset wide.csv");
    assert!(said.contains("wide.csv: a record has 7 values, nn takes 4x4"), "{said}");
    let said = f.stderr("neuronscope bench --dataset wide.csv --eval-metrics Speed");
    assert!(said.contains("--eval-metrics: unknown metric 'Speed'"), "{said}");
    // An index where a flag takes it is not overwritten.
    f.stdout("neuronscope compile --model nn --filename index.json");
    let before = f.read("index.json");
    let said = f.stderr("neuronscope bench --json_file index.json");
    assert!(said.contains("index.json is a model index and would be overwritten"), "{said}");
    assert_eq!(f.read("index.json"), before);
}

#[test]
fn lines_of_a_start_come_before_the_run() {
    let f = Folder::new("porting-log");
    let line = "neuronscope bench --model nn --n-models 1 --workers-per-model 2 --duration 5 --verbosity 2";
    let said = String::from_utf8(f.run(line).stderr).unwrap();
    let at = |text: &str| said.find(text).unwrap_or_else(|| panic!("{text} is not in {said}"));
    let order = [
        "DEBUG:neuronperf.benchmarking - Cast mode was not specified, assuming default.",
        "INFO:neuronperf.benchmarking - Benchmarking 'nn', ~5 seconds remaining.",
        "DEBUG:neuronperf.benchmarking - Running model config: {",
        "DEBUG:neuronperf.benchmarking - Benchmarker 0 started.",
        "DEBUG:neuronperf.benchmarking - Benchmarker 0, Worker 1 started.",
        "DEBUG:neuronperf.benchmarking - Benchmarker 0, Worker 0 finished after ",
        "DEBUG:neuronperf.benchmarking - Benchmarker 0 finished.",
    ];
    assert!(order.map(at).is_sorted(), "{said}");
}
