//! The words of a report: where the time goes, what would make the kernel faster, why one kernel is faster than another.

use super::report::{Breakdown, CustomOpReport};
use ns_base::units::format_ns;

impl Breakdown {
    /// The parts of the device's work, with their times in nanoseconds.
    pub const fn parts(&self) -> [(&'static str, f64); 7] {
        [
            ("elements of device memory, one by one", self.hbm_access),
            ("copies between device memory and TCM", self.dma),
            ("tensors filled and copied", self.tensor_move),
            ("instructions and local memory", self.compute),
            ("start of the engine", self.start),
            ("rest of the network", self.network),
            ("start-up and tear-down of the execution", self.launch),
        ]
    }

    /// Time of the device, nanoseconds.
    pub fn device_ns(&self) -> f64 {
        self.parts().iter().map(|p| p.1).sum()
    }

    /// Time of the operator alone, nanoseconds.
    pub fn operator_ns(&self) -> f64 {
        self.device_ns() - self.network - self.launch
    }
}

impl CustomOpReport {
    /// The largest part of the operator's time; `-` when the operator did not run.
    pub fn largest_part(&self) -> &'static str {
        let b = &self.breakdown_ns;
        let parts = [
            ("single elements of device memory", b.hbm_access),
            ("copies to and from TCM", b.dma),
            ("whole tensors", b.tensor_move),
            ("instructions and TCM", b.compute),
        ];
        parts.into_iter().filter(|p| p.1 > 0.0).max_by(|a, b| a.1.total_cmp(&b.1)).map_or("-", |p| p.0)
    }

    /// Device, host and wait of a step of the loop, in words; `None` when a kernel of the step does not finish.
    pub fn step_in_words(&self) -> Option<String> {
        let looped = self.looped?;
        Some(format!(
            "host {} ({} to load the batch), device {} at the same time, wait {}",
            format_ns(looped.host_ns),
            format_ns(looped.load_batch_ns),
            format_ns(looped.device_ns),
            format_ns(looped.wait_ns)
        ))
    }

    /// Advice on how to make the kernel faster.
    pub fn advice(&self) -> String {
        let b = &self.breakdown_ns;
        // A run on a single input has no host time.
        if self.bound_by == Some("host") && b.host > 0.0 {
            return format!(
                "The host takes {} a step and the device {}: a faster kernel changes nothing.",
                format_ns(b.host),
                format_ns(b.device_ns())
            );
        }
        if b.hbm_access > b.operator_ns() / 2.0 {
            return "Most of the time the processor waits for single elements of device memory: copy blocks with \
                    tcm_accessor() and work on them in TCM."
                .to_owned();
        }
        if self.cores == 1 {
            let missing = match (self.multicore, self.divides) {
                (true, _) => "give it more processors.",
                (false, true) => {
                    "the kernel divides its work by get_cpu_id(), so switch on \u{201c}Run on all processors\u{201d} (--multicore), or \
                     build with multicore=True."
                }
                (false, false) => {
                    "divide the elements by get_cpu_id(), write through get_dst_tensor(), and build with multicore=True."
                }
            };
            return format!("One processor of eight works: {missing}");
        }
        "Every processor works; what remains is fewer instructions per element, or larger blocks.".to_owned()
    }

    /// Why a step is faster or slower than with another kernel: the part that changed most, and the new bottleneck.
    pub fn reason_against(&self, before: &Self) -> String {
        let changes = before.breakdown_ns.parts().into_iter().zip(self.breakdown_ns.parts());
        let largest = changes.max_by(|a, b| (a.0.1 - a.1.1).abs().total_cmp(&(b.0.1 - b.1.1).abs()));
        let mut said = Vec::new();
        if self.cores > before.cores {
            said.push(format!("{} processors share the elements", self.cores));
        }
        if let Some(((name, was), (_, is))) = largest.filter(|(a, b)| a.1 != b.1) {
            let verb = if is < was { "fall" } else { "rise" };
            said.push(format!("{name} {verb} from {} to {}", format_ns(was), format_ns(is)));
        }
        if self.bound_by == Some("host") && before.bound_by != Some("host") {
            said.push("now the host is slower than the device".to_owned());
        }
        if said.is_empty() { "nothing that takes time changed".to_owned() } else { said.join("; ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(hbm_access: f64, compute: f64, cores: u32) -> CustomOpReport {
        let breakdown_ns = Breakdown { hbm_access, compute, network: 10.0, host: 50.0, ..Breakdown::default() };
        CustomOpReport { breakdown_ns, cores, bound_by: Some("device"), ..CustomOpReport::default() }
    }

    #[test]
    fn words_follow_the_figures() {
        let (element, blocks, all) = (report(900.0, 100.0, 1), report(0.0, 100.0, 1), report(0.0, 13.0, 8));
        assert_eq!(element.breakdown_ns.device_ns(), 1_010.0);
        assert_eq!(element.breakdown_ns.operator_ns(), 1_000.0);
        assert_eq!(
            (element.largest_part(), blocks.largest_part()),
            ("single elements of device memory", "instructions and TCM")
        );
        assert_eq!(CustomOpReport::default().largest_part(), "-");
        assert!(element.advice().contains("tcm_accessor()") && blocks.advice().contains("get_cpu_id()"));
        let divided = CustomOpReport { divides: true, ..blocks.clone() };
        assert!(
            divided.advice().contains("so switch on \u{201c}Run on all processors\u{201d}"),
            "{}",
            divided.advice()
        );
        let narrow = CustomOpReport { multicore: true, ..divided };
        assert!(narrow.advice().ends_with("give it more processors."), "{}", narrow.advice());
        assert!(all.advice().starts_with("Every processor works"));
        assert_eq!(blocks.reason_against(&element), "elements of device memory, one by one fall from 900 ns to 0 ns");
        let host = CustomOpReport { bound_by: Some("host"), ..all };
        assert_eq!(
            host.reason_against(&blocks),
            "8 processors share the elements; instructions and local memory fall from 100 ns to 13 ns; now the host is \
             slower than the device"
        );
        assert!(host.advice().contains("a faster kernel changes nothing"));
        let mut alone = host.clone();
        alone.breakdown_ns.host = 0.0;
        assert!(alone.advice().starts_with("Every processor works"));
        assert_eq!(host.reason_against(&host), "nothing that takes time changed");
    }
}
