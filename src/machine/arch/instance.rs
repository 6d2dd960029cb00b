//! Instance sizes: the number of cores that MAX means in a benchmark, and the price of an hour.

use serde::Serialize;

use super::features;
use crate::cost::decisions::VCPUS_OF_A_CORE;
use ns_base::{Refusal, nearest_text, refuse};

/// One EC2 instance size with Neuron devices.
///
/// Sources: devices, cores, vCPUs and memory are from the Neuron documentation's instance tables; those of trn2.3xlarge from EC2's. Prices per hour of
/// Inf1 are from NeuronPerf's own cost table; those of Inf2 and Trn1 are from AWS's on-demand price list (Linux, US
/// East), as public price tables repeat it. Trn2, for which the tables disagree, and UltraServers have `None`: no price
/// is invented, and the user gives `cost_per_hour` to get a cost. UltraServers are not one EC2 size, so their names are
/// ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Instance {
    /// API name: `trn1.2xlarge`.
    pub name: &'static str,
    /// Neuron devices (chips).
    pub devices: u32,
    /// NeuronCores that a process sees in total (at logical NeuronCore size 2 on Trn2, its default).
    pub neuroncores: u32,
    /// Generation of its NeuronCores, 1 to 4.
    pub core_version: u8,
    /// Virtual CPUs of the host.
    pub vcpus: u32,
    /// Host memory, GiB.
    pub host_memory_gib: u32,
    /// On-demand price in US dollars per hour, where a cost table publishes one.
    pub usd_per_hour: Option<f64>,
}

impl Instance {
    /// NeuronCores that a process sees when a logical core has `lnc` physical cores; the default of the generation
    /// when absent. A generation without logical cores of that size keeps its own number.
    pub fn logical_cores(&self, lnc: Option<u32>) -> u32 {
        let Some(core) = features(self.core_version) else { return self.neuroncores };
        match lnc.filter(|n| core.lnc.contains(n)) {
            Some(lnc) => self.neuroncores * core.default_lnc / lnc,
            None => self.neuroncores,
        }
    }

    /// Physical cores of a logical core: `lnc`, or the default of the generation when absent.
    pub fn lnc(&self, lnc: Option<u32>) -> u32 {
        lnc.or_else(|| features(self.core_version).map(|f| f.default_lnc)).unwrap_or(1)
    }

    /// Cores of the host; each does the host work of one worker at a time.
    pub const fn host_cores(&self) -> u32 {
        self.vcpus / VCPUS_OF_A_CORE
    }

    /// Host memory in bytes.
    pub const fn host_memory_bytes(&self) -> u64 {
        (self.host_memory_gib as u64) << 30
    }
}

const fn size(
    name: &'static str,
    devices: u32,
    neuroncores: u32,
    core_version: u8,
    vcpus: u32,
    host_memory_gib: u32,
    usd_per_hour: Option<f64>,
) -> Instance {
    Instance { name, devices, neuroncores, core_version, vcpus, host_memory_gib, usd_per_hour }
}

/// Every known size, smallest family first.
pub const INSTANCES: &[Instance] = &[
    size("inf1.xlarge", 1, 4, 1, 4, 8, Some(0.228)),
    size("inf1.2xlarge", 1, 4, 1, 8, 16, Some(0.362)),
    size("inf1.6xlarge", 4, 16, 1, 24, 48, Some(1.18)),
    size("inf1.24xlarge", 16, 64, 1, 96, 192, Some(4.721)),
    size("inf2.xlarge", 1, 2, 2, 4, 16, Some(0.7582)),
    size("inf2.8xlarge", 1, 2, 2, 32, 128, Some(1.96786)),
    size("inf2.24xlarge", 6, 12, 2, 96, 384, Some(6.49063)),
    size("inf2.48xlarge", 12, 24, 2, 192, 768, Some(12.98127)),
    size("trn1.2xlarge", 1, 2, 2, 8, 32, Some(1.34375)),
    size("trn1.32xlarge", 16, 32, 2, 128, 512, Some(21.5)),
    size("trn1n.32xlarge", 16, 32, 2, 128, 512, Some(24.78)),
    size("trn2.3xlarge", 1, 4, 3, 12, 128, None),
    size("trn2.48xlarge", 16, 64, 3, 192, 2048, None),
    size("trn2u.48xlarge", 16, 64, 3, 192, 2048, None),
    size("trn2-ultraserver", 64, 256, 3, 768, 8192, None),
    size("trn3-ultraserver-gen1", 64, 512, 4, 768, 8192, None),
    size("trn3-ultraserver-gen2", 144, 1152, 4, 2304, 27648, None),
];

/// The instance of this name, in any case.
pub fn instance(name: &str) -> Option<&'static Instance> {
    INSTANCES.iter().find(|i| i.name.eq_ignore_ascii_case(name))
}

/// The instance of this name, in any case.
///
/// # Errors
/// When there is none; the message has the nearest.
pub fn known_instance(name: &str) -> Result<&'static Instance, Refusal> {
    instance(name.trim()).ok_or_else(|| refuse!("unknown instance type '{name}': {}", instances_like(name)))
}

/// A size by its name or by its family, of which it is the smallest one; any other text as it is. For questions about one NeuronCore, which
/// is the same in each size of a family.
pub fn size_name(text: &str) -> &str {
    let name = text.trim();
    let is_family = |size: &&Instance| size.name.split(['.', '-']).next().is_some_and(|f| f.eq_ignore_ascii_case(name));
    instance(name).or_else(|| INSTANCES.iter().find(is_family)).map_or(name, |size| size.name)
}

/// Which sizes somebody may have meant: those of the family, such as `trn3`, else the nearest names.
pub fn instances_like(name: &str) -> String {
    let family_of = |name: &str| name.split(['.', '-']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let (family, names) = (family_of(name), || INSTANCES.iter().map(|i| i.name));
    let sizes: Vec<&str> = names().filter(|known| family_of(known) == family).collect();
    match &sizes[..] {
        [] => format!("the nearest are {}", nearest_text(name, names())),
        [one] => format!("the only size of {family} is {one}"),
        [rest @ .., last] => format!("the sizes of {family} are {} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logical_cores_follow_lnc_where_there_is_a_choice() {
        let cores = |name, lnc| instance(name).map(|i| i.logical_cores(lnc));
        assert_eq!(cores("trn2.48xlarge", None), Some(64));
        assert_eq!(cores("trn2.48xlarge", Some(1)), Some(128));
        assert_eq!(cores("trn2.48xlarge", Some(2)), Some(64));
        assert_eq!(cores("trn1.32xlarge", Some(2)), Some(32));
    }

    #[test]
    fn every_host_has_whole_cores() {
        for size in INSTANCES {
            assert_eq!(size.host_cores() * VCPUS_OF_A_CORE, size.vcpus, "{}", size.name);
            assert!(size.host_memory_bytes() >= 8 << 30, "{}", size.name);
        }
        assert_eq!(instance("inf1.6xlarge").map(Instance::host_cores), Some(12));
    }

    #[test]
    fn a_family_is_its_smallest_size() {
        assert_eq!(
            ["TRN1", "trn3", "inf2.8xlarge", "Trn2.48xlarge", "p5"].map(size_name),
            ["trn1.2xlarge", "trn3-ultraserver-gen1", "inf2.8xlarge", "trn2.48xlarge", "p5"]
        );
    }

    #[test]
    fn names_are_found_in_any_case_and_are_unique() {
        assert_eq!(instance("TRN1.2xlarge").map(|i| i.neuroncores), Some(2));
        assert_eq!(instance("trn9.huge"), None);
        for (name, expected) in [
            ("trn3", "the sizes of trn3 are trn3-ultraserver-gen1 and trn3-ultraserver-gen2"),
            ("trn3.48xlarge", "the sizes of trn3 are trn3-ultraserver-gen1 and trn3-ultraserver-gen2"),
            ("TRN1.48xlarge", "the sizes of trn1 are trn1.2xlarge and trn1.32xlarge"),
            ("trn2u", "the only size of trn2u is trn2u.48xlarge"),
            ("inf9.xlarge", "the nearest are inf"),
        ] {
            assert!(instances_like(name).starts_with(expected), "{}", instances_like(name));
        }
        let mut names: Vec<_> = INSTANCES.iter().map(|i| i.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), INSTANCES.len());
    }
}
