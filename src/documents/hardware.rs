//! The figures of the hardware: every core, device and size of instances, and every cost, each with its source.

use serde::Serialize;

use ns_base::Refusal;
use ns_machine::arch::{
    CORES, CoreData, DEVICES, DeviceData, Figure, INSTANCES, Instance, core_spec, device_of, known_instance,
};
use ns_machine::cost::{Entry, register, register_markdown};
use ns_view::document::{Block, Document};
use ns_view::table::Table;

/// All figures, as `neuronscope devices --json` prints them.
#[derive(Serialize)]
pub struct Hardware {
    cores: Vec<HardwareCore>,
    devices: Vec<&'static DeviceData>,
    instances: Vec<HardwareInstance>,
}

#[derive(Serialize)]
struct HardwareCore {
    #[serde(flatten)]
    core: &'static CoreData,
    /// Whether programs can be timed on the device.
    simulated: bool,
    /// The missing figures, when programs cannot be timed.
    not_simulated_because: Option<String>,
}

#[derive(Serialize)]
struct HardwareInstance {
    #[serde(flatten)]
    instance: &'static Instance,
    device: Option<&'static str>,
    simulated: bool,
}

/// The register of the machine, and what a language model on many cores costs beside it.
pub fn costs() -> Vec<Entry> {
    register().into_iter().chain(ns_llm::cost_entries()).collect()
}

/// The costs as the tables of docs/costs.md.
pub fn costs_markdown() -> String {
    register_markdown(&costs())
}

impl Hardware {
    /// The instances whose name has a part, with their devices and NeuronCores; an empty part is in every name. Fails when no name
    /// has it.
    pub fn of(part: &str) -> Result<Self, Refusal> {
        let part = part.trim().to_ascii_lowercase();
        let chosen: Vec<&'static Instance> = INSTANCES.iter().filter(|i| i.name.contains(&part)).collect();
        if chosen.is_empty() {
            known_instance(&part)?;
        }
        let has_core = |version: u8| part.is_empty() || chosen.iter().any(|i| i.core_version == version);
        let is_of = |device: &&DeviceData| {
            part.is_empty() || chosen.iter().any(|i| device_of(i.name).is_some_and(|of| of.name == device.name))
        };
        let core = |core: &'static CoreData| {
            let missing = core_spec(core.version).err().map(|e| e.to_string());
            HardwareCore { core, simulated: missing.is_none(), not_simulated_because: missing }
        };
        let instance = |instance: &'static Instance| HardwareInstance {
            instance,
            device: device_of(instance.name).map(|d| d.name),
            simulated: core_spec(instance.core_version).is_ok(),
        };
        Ok(Self {
            cores: CORES.iter().filter(|core| has_core(core.version)).map(core).collect(),
            devices: DEVICES.iter().filter(is_of).collect(),
            instances: chosen.iter().copied().map(instance).collect(),
        })
    }

    pub fn document(&self) -> Document {
        let mut blocks = Vec::new();
        for HardwareCore { core, not_simulated_because, .. } in &self.cores {
            blocks.push(figures(format!("{}: {}", core.name, core.devices), core.figures));
            blocks.extend(not_simulated_because.clone().map(Block::Text));
        }
        let device = |d: &DeviceData| format!("{}: {} NeuronCores-v{}", d.name, d.cores, d.core_version);
        blocks.extend(self.devices.iter().map(|d| figures(device(d), d.figures)));
        let table = Table::of(&self.instances)
            .text("instance", "Instance", |i| i.instance.name)
            .text("device", "Device", |i| i.device.unwrap_or_default())
            .count("devices", "Devices", |i| u64::from(i.instance.devices))
            .count("neuroncores", "NeuronCores", |i| u64::from(i.instance.neuroncores))
            .text("core", "Core", |i| format!("v{}", i.instance.core_version))
            .count("vcpus", "vCPU", |i| u64::from(i.instance.vcpus))
            .count("host_memory", "Host GiB", |i| u64::from(i.instance.host_memory_gib))
            .text("usd_per_hour", "US$/hour", |i| i.instance.usd_per_hour.map_or("-".to_owned(), |p| p.to_string()))
            .text("simulated", "Simulated", |i| if i.simulated { "yes" } else { "no" })
            .table();
        blocks.push(Block::Table { title: "Instances".to_owned(), file: "instances".to_owned(), table });
        Document { title: "Hardware".to_owned(), blocks }
    }
}

fn figures(title: String, figures: &[Figure]) -> Block {
    let table = Table::of(figures)
        .text("figure", "Figure", |f| f.name)
        .text("value", "Value", |f| f.value.map_or("-".to_owned(), |v| v.to_string()))
        .text("unit", "Unit", |f| f.unit)
        .text("status", "Status", |f| f.status.name())
        .text("source", "Source", |f| f.source)
        .table();
    Block::Table { title, file: "figures".to_owned(), table }
}
