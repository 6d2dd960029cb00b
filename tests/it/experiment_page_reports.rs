//! Reports of NeuronPerf on the page of experiments: compared by configuration, with rows that open.

use neuronscope::session::ExperimentField as Field;
use neuronscope::view::document::{Block, Plot};

use crate::experiment_page::{Page, opened_by_points, tables, texts};

#[test]
fn reports_of_neuronperf_stand_side_by_side() {
    let csv = |throughput: f64| {
        format!(
            "n_models,workers_per_model,batch_size,throughput_avg,latency_ms_p50,model_name,instance_type\n1,1,1,{throughput},2.0,net,inf2.xlarge\n2,1,1,9.0,2.0,net,inf2.xlarge\n"
        )
    };
    let mut page = Page::with(&[("before.csv", csv(100.0).as_bytes()), ("after.csv", csv(80.0).as_bytes())]);
    assert_eq!((page.read.records, page.read.reports), (0, 4));
    let shown = page.show(&[]);
    let all = tables(&shown.document);
    assert_eq!(texts(all[0].1, "status"), ["baseline", "baseline", "regressed", "within noise"]);
    assert_eq!(texts(all[0].1, "ratio")[2], "0.8");
}

#[test]
fn reports_of_another_instance_or_model_are_compared_by_the_rest_of_their_configuration() {
    let csv = |model: &str, instance: &str, throughput: f64| {
        format!(
            "n_models,workers_per_model,batch_size,throughput_avg,latency_ms_p50,model_name,instance_type\n1,1,1,{throughput},2.0,{model},{instance}\n2,1,8,9.0,2.0,{model},{instance}\n"
        )
    };
    let compared = |first: &str, then: &str| {
        let shown = Page::with(&[("a.csv", first.as_bytes()), ("b.csv", then.as_bytes())]).show(&[]);
        let Some(Block::Text(about)) = shown.document.blocks.first() else { panic!("{:?}", shown.document) };
        (texts(tables(&shown.document)[0].1, "ratio"), about.clone())
    };
    let trn = csv("net", "trn1.2xlarge", 100.0);
    let (ratios, about) = compared(&trn, &csv("net", "inf2.xlarge", 80.0));
    assert_eq!(ratios, ["1", "1", "0.8", "1"]);
    assert!(about.contains("with one instance per file"), "{about}");
    let (ratios, about) = compared(&trn, &csv("other", "inf2.xlarge", 50.0));
    assert_eq!(ratios, ["1", "1", "0.5", "1"]);
    assert!(about.contains("with one model and one instance per file"), "{about}");
    // A file of two instances would have two rows for one configuration.
    let both = format!("{trn}1,1,1,7.0,2.0,net,inf2.xlarge\n");
    let page =
        Page::with(&[("a.csv", both.as_bytes()), ("b.csv", csv("net", "trn2.3xlarge", 9.0).as_bytes())]).show(&[]);
    let found = format!("{:?}", page.document);
    assert_eq!(found.matches("The files have no configuration in common.").count(), 1);
}

#[test]
fn reports_of_neuronperf_have_speedups_percentiles_and_rows_to_open() {
    let csv = |a: f64, b: f64| {
        format!(
            "n_models,workers_per_model,batch_size,throughput_avg,latency_ms_p50,model_name,instance_type\n1,1,1,{a},2.0,net,inf2.xlarge\n2,1,1,{b},2.0,net,inf2.xlarge\n"
        )
    };
    let files = [csv(100.0, 10.0), csv(80.0, 10.0), csv(400.0, 10.0)];
    let named: Vec<(&str, &[u8])> =
        ["first.csv", "second.csv", "third.csv"].into_iter().zip(files.iter().map(|f| f.as_bytes())).collect();
    let mut page = Page::with(&named);
    let shown = page.show(&[]);
    let views: Vec<&str> = shown.choices.views.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(views, ["speedup", "latest", "histogram", "reports", "lines"]);
    // Three plots: a line of means, a scatter of the last file, three lines of percentiles.
    let targets = opened_by_points(&shown.document);
    assert_eq!(targets.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 3, 3, 3]);
    let means = page.show(&[(Field::View, "speedup")]);
    let Some(Block::Points { figure, .. }) = means.document.blocks.first() else { panic!("{:?}", means.document) };
    let Plot::Lines(plot) = &figure.plot else { panic!("{figure:?}") };
    let points: Vec<f64> = plot.lines[0].points.iter().map(|p| p.1).collect();
    // The geometric means of 1 and 1, 0.8 and 1, 4 and 1.
    for (found, expected) in points.iter().zip([1.0, 0.8_f64.sqrt(), 2.0]) {
        assert!((found - expected).abs() < 1e-12, "{points:?}");
    }
    // The fastest configuration of the last file is its first row.
    let last = targets[1].last().unwrap();
    let row = page.show(&[(Field::Open, last.as_str())]);
    assert_eq!(row.document.title, "net, 1 model x 1 worker: row 1 of third.csv");
    let all = tables(&row.document);
    assert!(
        texts(all[0].1, "value").contains(&"400.0".to_owned()) || texts(all[0].1, "value").contains(&"400".to_owned())
    );
    // Its history opens the same configuration in the other files.
    let history = opened_by_points(&row.document).concat();
    assert_eq!(history.len(), 3);
    let earlier = page.show(&[(Field::Open, history[1].as_str())]);
    assert_eq!(earlier.document.title, "net, 1 model x 1 worker: row 1 of second.csv");
    let nowhere = page.show(&[(Field::Open, "report=9.9")]);
    assert_eq!(nowhere.document.title, "Row of a report");
    let one = Page::with(&[named[0]]).show(&[(Field::View, "reports")]);
    assert!(opened_by_points(&one.document).is_empty());
}
