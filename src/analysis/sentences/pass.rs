//! Finds the sentences about a profile, a part at a time.

use super::causes::{GAPS_LOOKED_INTO, IdleReason};
use super::overview::{Overview, overview};
use super::say;
use super::tally::{Tally, TallyPass};
use super::types::Sentence;
use crate::Selection;
use crate::idle::IdlePass;
use crate::self_time::SelfTimes;
use crate::work::Works;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_profile::Profile;
use ns_profile::flows::FlowIndex;

/// Finds the sentences about a profile, a part at a time: self times, times by kind of work, idle gaps.
#[derive(Debug)]
pub struct SentencesPass {
    slices: u64,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Own(SelfTimes),
    Tally(Box<TallyPass>),
    Idle(Box<(Tally, IdlePass)>),
}

impl SentencesPass {
    /// Prepares it.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        Self { slices: profile.slices().len() as u64, stage: Stage::Own(SelfTimes::new(profile, all_tracks(profile))) }
    }

    /// Looks at about `limit` slices more. Returns whether it knows all it needs.
    pub fn advance(&mut self, profile: &Profile, works: &Works, flows: &FlowIndex, limit: usize) -> bool {
        let next = match &mut self.stage {
            Stage::Own(own) => {
                if !own.advance(profile, limit) {
                    return false;
                }
                let own = std::mem::replace(own, SelfTimes::new(&Profile::default(), Selection::default()));
                Stage::Tally(Box::new(TallyPass::new(profile, own.finish())))
            }
            Stage::Tally(tally) => {
                if !tally.advance(profile, works, limit) {
                    return false;
                }
                let empty = TallyPass::new(&Profile::default(), Vec::new());
                let tally = std::mem::replace(&mut **tally, empty).finish();
                let idle = IdlePass::new(profile, tally.window, GAPS_LOOKED_INTO);
                Stage::Idle(Box::new((tally, idle)))
            }
            Stage::Idle(idle) => return idle.1.advance(profile, works, flows, limit),
        };
        self.stage = next;
        false
    }

    /// How much of how much is done: slices in three passes.
    pub fn progress(&self) -> (u64, u64) {
        let n = self.slices;
        let done = match &self.stage {
            Stage::Own(own) => n.saturating_sub(own.remaining()),
            Stage::Tally(tally) => (2 * n).saturating_sub(tally.remaining()),
            Stage::Idle(idle) => {
                let (done, of) = idle.1.progress();
                2 * n + f64_to_u64(u64_to_f64(n) * u64_to_f64(done) / u64_to_f64(of.max(1)))
            }
        };
        (done, 3 * n)
    }

    /// The sentences; `None` until it has read every slice.
    pub fn finish(self, profile: &Profile, works: &Works) -> Vec<Sentence> {
        let Stage::Idle(idle) = self.stage else { return Vec::new() };
        let (tally, gaps) = (idle.0, idle.1.finish());
        say::all(profile, works, &tally, &gaps, &IdleReason::of(profile, works, &tally, &gaps))
    }

    /// The sentences and the numbers behind them; `None` until the pass has read every slice.
    pub fn finish_overview(self, profile: &Profile, works: &Works) -> Overview {
        let Stage::Idle(idle) = self.stage else { return Overview::default() };
        let (tally, idle) = *idle;
        overview(profile, works, &tally, &idle.finish())
    }
}

/// Tracks of samples too: a profile may have no others.
fn all_tracks(profile: &Profile) -> Selection {
    Selection::of_tracks(profile.tracks().ids().collect())
}
