//! DMAs that are too small for the full rate.

use super::context::Context;
use super::{Effect, Finding, Rule};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;

/// Average size of a DMA that uses the bandwidth (glossary of Neuron Explorer: at least 32 KiB).
const GOOD_BYTES: u64 = 32 * 1024;
/// Size of a descriptor below which its fixed cost dominates (NKI DMA guide: 512 B reach a fifth of the plateau).
const GOOD_DESCRIPTOR_BYTES: u64 = 512;

pub(super) fn find(c: &Context<'_>) -> Vec<Finding> {
    let count = c.summary.dma_transfer_count;
    let descriptors: u64 = c.transfers().map(|(_, _, t)| u64::from(t.descriptors.max(1))).sum();
    if count == 0 {
        return Vec::new();
    }
    let average = u64_to_f64(c.summary.dma_transfer_total_bytes) / u64_to_f64(count);
    let per_descriptor = u64_to_f64(c.summary.dma_transfer_total_bytes) / u64_to_f64(descriptors);
    if average >= u64_to_f64(GOOD_BYTES) && per_descriptor >= u64_to_f64(GOOD_DESCRIPTOR_BYTES) {
        return Vec::new();
    }
    let small = || {
        c.transfers().filter(|(_, _, t)| {
            t.bytes < GOOD_BYTES || t.bytes < GOOD_DESCRIPTOR_BYTES * u64::from(t.descriptors.max(1))
        })
    };
    let exposed = c.exposed_ns(small().map(|(_, i, _)| i));
    let title = format!(
        "DMAs are small: {} on average (32 KiB or more use the bandwidth), {} a descriptor (512 B or more).",
        format_bytes(average),
        format_bytes(per_descriptor)
    );
    let detail = "Each DMA has a fixed cost, whatever its size. Larger layers and batches, or \
        tensors laid out together, make larger ones.";
    let finding = Finding::new(Rule::SmallTransfers, Effect::Cost, exposed, title, detail)
        .bytes("average DMA", average)
        .bytes("average descriptor", per_descriptor)
        .count("small DMAs", small().count() as u64)
        .count("DMAs", count)
        .time("small DMAs active and no engine", exposed);
    vec![finding.longest(c.run, small().map(|(u, i, _)| (u, i)))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::findings::only;
    use crate::testing::{TestRun, dma};

    fn run(bytes: u64, descriptors: u32) -> TestRun {
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/Linear/dot", "dot");
        t.queue("q", (0, 600), s, dma(Role::Weight, bytes, descriptors));
        t.queue("q", (600, 700), s, dma(Role::Weight, 128 * 1024, 128));
        t
    }

    #[test]
    fn the_average_decides_and_the_small_ones_are_shown() {
        let t = run(64, 4);
        let found = only(find, &t.run());
        assert_eq!(found, [], "64 KiB on average");
        let mut t = TestRun::new(0, 1_000);
        let s = t.source("m/Linear/dot", "dot");
        t.queue("q", (0, 600), s, dma(Role::Weight, 64, 4));
        t.queue("q", (600, 700), s, dma(Role::Input, 60 * 1024, 128));
        let [found] = &only(find, &t.run())[..] else { panic!("one finding") };
        assert!(found.title.contains("30.0 KiB on average") && found.title.contains("466 B"), "{}", found.title);
        assert_eq!((found.slices[0].start_ns, found.slices[0].end_ns), (0, 600));
    }

    #[test]
    fn many_descriptors_make_a_large_dma_small() {
        let found = only(find, &run(40 * 1024, 2_000).run());
        assert_eq!(found.len(), 1, "168 KiB in 2,128 descriptors");
    }
}
