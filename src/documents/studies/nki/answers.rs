//! The answers of earlier runs of a session: settings that have run do not run again, after a cancel or with more values.

use crate::results::KeptResult;
use ns_forms::studies::NkiStudy;
use ns_nki::{Answer, List, Ranked, Settings};

/// The answers of a file and call for a later session, as JSON: a part of an answer that is absent has no place in postcard.
type KeptAnswers = KeptResult<(NkiStudy, bool), String>;

/// The answers of one file and call.
#[derive(Debug, Default)]
pub struct KernelAnswers {
    /// The study but for its settings, and whether limits were removed.
    of: Option<(NkiStudy, bool)>,
    ranked: Vec<Ranked>,
    /// The list of the fastest, with its time and its settings.
    best: Option<(f64, Settings, List)>,
}

impl KernelAnswers {
    /// The answer of each case that has one; those of another file or call are forgotten. `kept` is the text of an earlier session.
    pub(super) fn begin(
        &mut self,
        study: &NkiStudy,
        with_limits: bool,
        cases: &[Settings],
        kept: &str,
    ) -> Vec<Option<Ranked>> {
        let of = (NkiStudy { set: String::new(), ..study.clone() }, with_limits);
        if self.of.as_ref() != Some(&of) {
            let kept = KeptAnswers::from_text(kept).filter(|kept| kept.spec == of);
            let ranked = kept.and_then(|kept| serde_json::from_str(&kept.result).ok()).unwrap_or_default();
            *self = Self { of: Some(of), ranked, best: None };
        }
        self.best.take_if(|best| !cases.contains(&best.1));
        let answer = |case: &Settings| self.ranked.iter().find(|ranked| ranked.settings == *case).cloned();
        cases.iter().map(answer).collect()
    }

    /// All answers as text, which a later session takes up; empty if they cannot be written.
    pub(super) fn to_text(&self) -> String {
        let result = serde_json::to_string(&self.ranked).ok();
        let kept = self.of.clone().zip(result).map(|(spec, result)| KeptAnswers { spec, result, when_ms: 0 });
        kept.and_then(|kept| kept.to_text()).unwrap_or_default()
    }

    /// Keeps an answer, and its list if it is the fastest; of equal ones the first of the cases.
    pub(super) fn keep(&mut self, ranked: &Ranked, answer: &Answer, list: List, cases: &[Settings]) {
        let place = |settings: &Settings| cases.iter().position(|case| case == settings);
        let time = answer.total_us.unwrap_or(f64::INFINITY);
        let is_best = self.best.as_ref().is_none_or(|(best, settings, _)| {
            time < *best || (time == *best && place(&ranked.settings) <= place(settings))
        });
        if is_best {
            self.best = Some((time, ranked.settings.clone(), list));
        }
        self.ranked.retain(|old| old.settings != ranked.settings);
        if self.ranked.len() >= NkiStudy::MOST_CASES {
            self.ranked.remove(0);
        }
        self.ranked.push(ranked.clone());
    }

    /// The list of the fastest, if it is that of these settings.
    pub(super) fn list_of(&self, settings: &Settings) -> Option<&List> {
        self.best.as_ref().filter(|best| best.1 == *settings).map(|best| &best.2)
    }
}
