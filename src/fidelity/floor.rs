//! The error that one factor between two releases leaves, however well one of them is predicted.

use ns_bench::SdkGeneration;

use super::PublishedRow;
use super::predict::configuration;
use super::search::{mean_of_ratios, models_in_order};

/// Predicted over published throughput if every row of PyTorch 2 came out as it is published, and every row of PyTorch 1 as its twin
/// of PyTorch 2 does, divided by one factor: the mean ratio of the other models' twins. Rows of PyTorch 1 without a twin are left out.
pub fn ratios_by_one_factor(rows: &[PublishedRow]) -> Vec<f64> {
    let generation = |row: &PublishedRow| SdkGeneration::of_framework(&row.framework);
    let counted: Vec<(&PublishedRow, f64)> =
        rows.iter().filter(|row| configuration(row).is_ok()).filter_map(|row| Some((row, row.published?))).collect();
    let (old, new): (Vec<_>, Vec<_>) = counted.into_iter().partition(|(row, _)| generation(row) == SdkGeneration::Pt1);
    let shape =
        |row: &PublishedRow| (row.model.clone(), row.instance.clone(), row.batch_size, row.outstanding_requests);
    let slower: Vec<(&str, f64)> = (old.iter())
        .filter_map(|(row, published)| {
            let (_, twin) = new.iter().find(|(other, _)| shape(other) == shape(row))?;
            Some((row.model.as_str(), twin / published))
        })
        .collect();
    let mut ratios = vec![1.0; new.len()];
    for model in models_in_order(slower.iter().map(|(model, _)| *model)) {
        let others: Vec<f64> = slower.iter().filter(|(of, _)| *of != model).map(|(_, ratio)| *ratio).collect();
        let factor = mean_of_ratios(&others);
        ratios.extend(slower.iter().filter(|(of, _)| *of == model).map(|(_, ratio)| ratio / factor));
    }
    ratios
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(model: &str, framework: &str, batch_size: u32, published: f64) -> PublishedRow {
        PublishedRow {
            model: model.to_owned(),
            framework: framework.to_owned(),
            instance: "inf2.xlarge".to_owned(),
            batch_size: Some(batch_size),
            published: Some(published),
            ..PublishedRow::default()
        }
    }

    #[test]
    fn models_that_slow_down_alike_leave_no_error() {
        let rows = [
            row("resnet50", "PyTorch 1.13.1", 1, 100.0),
            row("resnet50", "PyTorch 2.5", 1, 110.0),
            row("vgg16", "PyTorch 1.13.1", 1, 50.0),
            row("vgg16", "PyTorch 2.5", 1, 55.0),
            row("vgg16", "PyTorch 1.13.1", 8, 80.0),
        ];
        let ratios = ratios_by_one_factor(&rows);
        assert_eq!(ratios.len(), 4, "the last row has no twin");
        assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 1e-12), "{ratios:?}");
        let mut apart = rows.to_vec();
        apart[3].published = Some(60.5);
        let ratios = ratios_by_one_factor(&apart);
        assert!((ratios[2] - 1.0 / 1.1).abs() < 1e-12 && (ratios[3] - 1.1).abs() < 1e-12, "{ratios:?}");
    }
}
