//! Counts of a two-class classification and the rates computed from them.

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;

/// How predictions and targets agree. Counts of several workers are added up before a rate is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// Positive, predicted positive.
    pub tp: u64,
    /// Negative, predicted positive.
    pub fp: u64,
    /// Negative, predicted negative.
    pub tn: u64,
    /// Positive, predicted negative.
    pub fn_: u64,
}

/// `None` for a zero denominator: a rate over no records is not zero.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole != 0.0).then(|| part / whole)
}

impl Confusion {
    /// Counts one answer.
    pub fn add(&mut self, predicted: bool, target: bool) {
        let counter = match (predicted, target) {
            (true, true) => &mut self.tp,
            (true, false) => &mut self.fp,
            (false, false) => &mut self.tn,
            (false, true) => &mut self.fn_,
        };
        *counter += 1;
    }

    fn counts(&self) -> [f64; 4] {
        [u64_to_f64(self.tp), u64_to_f64(self.fp), u64_to_f64(self.tn), u64_to_f64(self.fn_)]
    }

    /// TP / (TP + FN): sensitivity, recall, hit rate.
    pub fn true_positive_rate(&self) -> Option<f64> {
        let [tp, _, _, fn_] = self.counts();
        ratio(tp, tp + fn_)
    }

    /// TN / (TN + FP): specificity, selectivity.
    pub fn true_negative_rate(&self) -> Option<f64> {
        let [_, fp, tn, _] = self.counts();
        ratio(tn, tn + fp)
    }

    /// TP / (TP + FP): precision.
    pub fn positive_predictive_value(&self) -> Option<f64> {
        let [tp, fp, ..] = self.counts();
        ratio(tp, tp + fp)
    }

    /// TN / (TN + FN).
    pub fn negative_predictive_value(&self) -> Option<f64> {
        let [_, _, tn, fn_] = self.counts();
        ratio(tn, tn + fn_)
    }

    /// FN / (FN + TP).
    pub fn false_negative_rate(&self) -> Option<f64> {
        let [tp, _, _, fn_] = self.counts();
        ratio(fn_, fn_ + tp)
    }

    /// FP / (FP + TN).
    pub fn false_positive_rate(&self) -> Option<f64> {
        let [_, fp, tn, _] = self.counts();
        ratio(fp, fp + tn)
    }

    /// FP / (FP + TP). NeuronPerf's table prints FP / (FP + TN), which is the false positive rate.
    pub fn false_discovery_rate(&self) -> Option<f64> {
        let [tp, fp, ..] = self.counts();
        ratio(fp, fp + tp)
    }

    /// FN / (FN + TN). NeuronPerf's table prints FP / (FP + TP), which is the false discovery rate.
    pub fn false_omission_rate(&self) -> Option<f64> {
        let [_, _, tn, fn_] = self.counts();
        ratio(fn_, fn_ + tn)
    }

    /// TPR / FPR.
    pub fn positive_likelihood_ratio(&self) -> Option<f64> {
        ratio(self.true_positive_rate()?, self.false_positive_rate()?)
    }

    /// FNR / TNR.
    pub fn negative_likelihood_ratio(&self) -> Option<f64> {
        ratio(self.false_negative_rate()?, self.true_negative_rate()?)
    }

    /// sqrt(FPR) / (sqrt(TPR) + sqrt(FPR)).
    pub fn prevalence_threshold(&self) -> Option<f64> {
        let (tpr, fpr) = (libm::sqrt(self.true_positive_rate()?), libm::sqrt(self.false_positive_rate()?));
        ratio(fpr, tpr + fpr)
    }

    /// TP / (TP + FN + FP).
    pub fn threat_score(&self) -> Option<f64> {
        let [tp, fp, _, fn_] = self.counts();
        ratio(tp, tp + fn_ + fp)
    }

    /// 2 TP / (2 TP + FP + FN).
    pub fn f1_score(&self) -> Option<f64> {
        let [tp, fp, _, fn_] = self.counts();
        ratio(2.0 * tp, 2.0 * tp + fp + fn_)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_a_worked_example() {
        // Bowel cancer screening, the example of the literature: 20 of 30 found, 180 false alarms among 2,000.
        let c = Confusion { tp: 20, fp: 180, tn: 1_820, fn_: 10 };
        let near = |x: Option<f64>, y: f64| (x.unwrap() - y).abs() < 5e-4;
        assert!(near(c.true_positive_rate(), 0.667) && near(c.true_negative_rate(), 0.91));
        assert!(near(c.positive_predictive_value(), 0.1) && near(c.negative_predictive_value(), 0.9945));
        assert!(near(c.false_discovery_rate(), 0.9) && near(c.false_omission_rate(), 0.00546));
        assert!(near(c.false_positive_rate(), 0.09) && near(c.false_negative_rate(), 0.3333));
        assert!(near(c.positive_likelihood_ratio(), 7.407) && near(c.negative_likelihood_ratio(), 0.3663));
        assert!(near(c.f1_score(), 0.1739) && near(c.threat_score(), 0.0952));
        assert!(near(c.prevalence_threshold(), 0.2687));
        assert_eq!(Confusion::default().threat_score(), None);
    }

    #[test]
    fn complements_add_up() {
        let c = Confusion { tp: 7, fp: 3, tn: 11, fn_: 2 };
        let sum = |a: Option<f64>, b: Option<f64>| (a.unwrap() + b.unwrap() - 1.0).abs() < 1e-12;
        assert!(sum(c.true_positive_rate(), c.false_negative_rate()));
        assert!(sum(c.true_negative_rate(), c.false_positive_rate()));
        assert!(sum(c.positive_predictive_value(), c.false_discovery_rate()));
        assert!(sum(c.negative_predictive_value(), c.false_omission_rate()));
    }
}
