//! Neuron devices (chips), figure by figure.

use serde::Serialize;

use super::figure::{Figure, derived, published, unpublished};

/// One device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DeviceData {
    /// Name as the documentation writes it.
    pub name: &'static str,
    /// Generation of its cores.
    pub core_version: u8,
    /// Physical NeuronCores.
    pub cores: u32,
    /// Its figures.
    pub figures: &'static [Figure],
}

const PAGE: &str = "device page of the Neuron documentation";
const DRIVER_COPY: &str = "aws-neuron-driver, comment on a copy of 64 KiB";
const NOT_THERE: &str = "not in the documentation of this device";
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// All devices, oldest first.
pub const DEVICES: &[DeviceData] = &[
    DeviceData {
        name: "Inferentia",
        core_version: 1,
        cores: 4,
        figures: &[
            published("memory_bytes", 8.0 * GIB, "bytes", PAGE),
            published("memory_stacks", 2.0, "channels", "aws-neuron-driver, address map"),
            published("memory_bytes_per_us", 50.0 * GIB / 1e6, "bytes/us", PAGE),
            unpublished("dma_bytes_per_us", "bytes/us", NOT_THERE),
            published("dma_engines", 12.0, "engines", "aws-neuron-driver, address map"),
            published("bf16_tflops", 64.0, "TFLOPS", PAGE),
            published("neuronlink_bytes_per_us", 32.0 * GIB / 1e6, "bytes/us", PAGE),
            derived("pcie_bytes_per_us", 4_096.0, "bytes/us", "driver: 64 KiB in about 16 us"),
        ],
    },
    DeviceData {
        name: "Inferentia2",
        core_version: 2,
        cores: 2,
        figures: &[
            published("memory_bytes", 32.0 * GIB, "bytes", PAGE),
            published("memory_stacks", 2.0, "stacks", PAGE),
            published("memory_bytes_per_us", 820_000.0, "bytes/us", PAGE),
            published("dma_bytes_per_us", 1_000_000.0, "bytes/us", PAGE),
            published("dma_engines", 32.0, "engines", "aws-neuron-driver, address map; 2 more to the host"),
            published("bf16_tflops", 190.0, "TFLOPS", PAGE),
            published("neuronlink_bytes_per_us", 192.0 * GIB / 1e6, "bytes/us", PAGE),
            published("pcie_bytes_per_us", 16_000.0, "bytes/us", DRIVER_COPY),
        ],
    },
    DeviceData {
        name: "Trainium",
        core_version: 2,
        cores: 2,
        figures: &[
            published("memory_bytes", 32.0 * GIB, "bytes", PAGE),
            published("memory_stacks", 2.0, "stacks", PAGE),
            published("memory_bytes_per_us", 820_000.0, "bytes/us", PAGE),
            published("dma_bytes_per_us", 1_000_000.0, "bytes/us", PAGE),
            published("dma_engines", 32.0, "engines", "aws-neuron-driver, address map; 2 more to the host"),
            published("bf16_tflops", 190.0, "TFLOPS", PAGE),
            published("neuronlink_bytes_per_us", 384.0 * GIB / 1e6, "bytes/us", "device page; 768 GiB/s in Trn1n"),
            published("pcie_bytes_per_us", 16_000.0, "bytes/us", DRIVER_COPY),
        ],
    },
    DeviceData {
        name: "Trainium2",
        core_version: 3,
        cores: 8,
        figures: &[
            published("memory_bytes", 96.0 * GIB, "bytes", PAGE),
            published("memory_stacks", 4.0, "stacks", "device page: each shared by two cores"),
            published("memory_bytes_per_us", 2_900_000.0, "bytes/us", PAGE),
            published("dma_bytes_per_us", 3_500_000.0, "bytes/us", PAGE),
            published("dma_engines", 128.0, "engines", "aws-neuron-driver, address map; 4 more to the host"),
            published("bf16_tflops", 667.0, "TFLOPS", "device page; eight cores have 629"),
            published("neuronlink_bytes_per_us", 1_280_000.0, "bytes/us", PAGE),
            unpublished("pcie_bytes_per_us", "bytes/us", NOT_THERE),
        ],
    },
    DeviceData {
        name: "Trainium3",
        core_version: 4,
        cores: 8,
        figures: &[
            published("memory_bytes", 144.0 * GIB, "bytes", PAGE),
            published("memory_stacks", 4.0, "stacks", PAGE),
            published("memory_bytes_per_us", 4_900_000.0, "bytes/us", "device page; the NKI guide says 4.7 TB/s"),
            published("dma_bytes_per_us", 4_900_000.0, "bytes/us", PAGE),
            published("dma_engines", 128.0, "engines", PAGE),
            published("bf16_tflops", 671.0, "TFLOPS", "device page; eight cores have 629"),
            published("neuronlink_bytes_per_us", 2_560_000.0, "bytes/us", PAGE),
            unpublished("pcie_bytes_per_us", "bytes/us", NOT_THERE),
        ],
    },
];

/// The device of an instance, found by the instance's family.
pub fn device_of(instance: &str) -> Option<&'static DeviceData> {
    const FAMILIES: [(&str, &str); 5] = [
        ("inf1", "Inferentia"),
        ("inf2", "Inferentia2"),
        ("trn1", "Trainium"),
        ("trn2", "Trainium2"),
        ("trn3", "Trainium3"),
    ];
    let name = instance.to_ascii_lowercase();
    let (_, device) = FAMILIES.iter().find(|(family, _)| name.starts_with(family))?;
    DEVICES.iter().find(|d| d.name == *device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::INSTANCES;

    #[test]
    fn every_instance_has_a_device_with_its_cores() {
        for i in INSTANCES {
            let device = device_of(i.name).unwrap();
            assert_eq!(device.core_version, i.core_version, "{}", i.name);
            let lnc = crate::arch::features(i.core_version).unwrap().default_lnc;
            assert_eq!(i.neuroncores * lnc, i.devices * device.cores, "{}", i.name);
        }
    }
}
