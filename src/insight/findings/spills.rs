//! Spills: SBUF was full, and values went to device memory and back.

use super::context::Context;
use super::{Effect, Finding, Rule};
use crate::Role;
use crate::spans::{length_ns, merge, percent};
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_whole_share};

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let spills = || c.transfers().filter(|(_, _, t)| matches!(t.role, Role::SpillSave | Role::SpillReload));
    let (saved, reloaded) = (c.summary.spill_save_bytes, c.summary.spill_reload_bytes);
    if saved + reloaded == 0 {
        return Vec::new();
    }
    let of_reads = percent(u64_to_f64(reloaded), u64_to_f64(c.summary.hbm_read_bytes));
    let title = format!(
        "The on-chip memory is too small: {} are saved to device memory and {} come back ({} of all reads).",
        format_bytes(u64_to_f64(saved)),
        format_bytes(u64_to_f64(reloaded)),
        format_whole_share(of_reads)
    );
    let detail = "Smaller batches or layers, or a lower precision, keep more values on the chip.";
    let active = length_ns(&merge(spills().map(|(_, i, _)| i.time)));
    let finding = Finding::new(Rule::Spills, Effect::Cost, active, title, detail)
        .bytes("saved", u64_to_f64(saved))
        .bytes("reloaded", u64_to_f64(reloaded))
        .share("reloads, of bytes read", of_reads)
        .time("DMA of spills active", active);
    vec![finding.longest(c.run, spills().map(|(u, i, _)| (u, i)))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};

    #[test]
    fn saves_and_reloads_are_counted() {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/Linear/dot", "dot");
        t.queue("w", (0, 100), s, dma(Role::Weight, 3_072, 1));
        t.queue("spill", (200, 300), s, dma(Role::SpillSave, 2_048, 1));
        t.queue("spill", (400, 550), s, dma(Role::SpillReload, 1_024, 1));
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert_eq!(found.time_ns, 250);
        assert!(found.title.contains("2.00 KiB are saved") && found.title.contains("25 %"), "{}", found.title);
        assert_eq!(found.slices.len(), 1, "one slice of each operation");
        assert_eq!((found.slices[0].row.as_str(), found.slices[0].start_ns), ("spill", 400));
    }

    #[test]
    fn is_silent_without_spills() {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/Linear/dot", "dot");
        t.queue("w", (0, 100), s, dma(Role::Weight, 3_072, 1));
        assert_eq!(only(find, &t.run()), []);
    }
}
