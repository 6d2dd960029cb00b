//! `neuronscope devices`

use anyhow::Result;
use serde::Serialize;

use super::text;
use crate::args::DevicesArgs;
use ns_machine::arch::{CORES, CoreData, DEVICES, DeviceData, Figure, INSTANCES, Instance, core_spec, device_of};
use ns_machine::cost::{Entry, register, register_markdown};

#[derive(Serialize)]
struct DevicesJson {
    cores: Vec<CoreJson>,
    devices: &'static [DeviceData],
    instances: Vec<InstanceJson>,
}

#[derive(Serialize)]
struct CoreJson {
    #[serde(flatten)]
    core: &'static CoreData,
    /// Whether programs can be timed on the device.
    simulated: bool,
    /// The missing figures, when programs cannot be timed.
    not_simulated_because: Option<String>,
}

#[derive(Serialize)]
struct InstanceJson {
    #[serde(flatten)]
    instance: &'static Instance,
    device: Option<&'static str>,
    simulated: bool,
}

/// The register of the machine, and what a language model on many cores costs beside it.
fn all_costs() -> Vec<Entry> {
    register().into_iter().chain(ns_llm::cost_entries()).collect()
}

pub(super) fn run(args: DevicesArgs) -> Result<()> {
    if args.costs && !args.json {
        return text::print(register_markdown(&all_costs()).as_bytes());
    }
    if args.json {
        return if args.costs { text::print_json(&all_costs()) } else { text::print_json(&all()) };
    }
    text::print(describe(&all()).as_bytes())
}

fn all() -> DevicesJson {
    let core = |core: &'static CoreData| {
        let missing = core_spec(core.version).err().map(|e| e.to_string());
        CoreJson { core, simulated: missing.is_none(), not_simulated_because: missing }
    };
    let instance = |instance: &'static Instance| InstanceJson {
        instance,
        device: device_of(instance.name).map(|d| d.name),
        simulated: core_spec(instance.core_version).is_ok(),
    };
    DevicesJson {
        cores: CORES.iter().map(core).collect(),
        devices: DEVICES,
        instances: INSTANCES.iter().map(instance).collect(),
    }
}

fn describe(all: &DevicesJson) -> String {
    let mut out = String::new();
    for core in &all.cores {
        out.push_str(&format!("{}: {}\n", core.core.name, core.core.devices));
        if let Some(why) = &core.not_simulated_because {
            out.push_str(&format!("  {why}\n"));
        }
        out.push_str(&figures(core.core.figures));
    }
    for device in all.devices {
        out.push_str(&format!("{}: {} NeuronCores-v{}\n", device.name, device.cores, device.core_version));
        out.push_str(&figures(device.figures));
    }
    let rows: Vec<Vec<String>> = all
        .instances
        .iter()
        .map(|i| {
            vec![
                i.instance.name.to_owned(),
                i.device.unwrap_or_default().to_owned(),
                i.instance.devices.to_string(),
                i.instance.neuroncores.to_string(),
                format!("v{}", i.instance.core_version),
                i.instance.vcpus.to_string(),
                i.instance.host_memory_gib.to_string(),
                i.instance.usd_per_hour.map_or_else(|| "-".to_owned(), |p| p.to_string()),
                if i.simulated { "yes" } else { "no" }.to_owned(),
            ]
        })
        .collect();
    let headings =
        ["Instance", "Device", ">Devices", ">NeuronCores", "Core", ">vCPU", ">Host GiB", ">US$/hour", "Simulated"];
    out.push_str(&text::table(&headings, &rows));
    out
}

fn figures(figures: &[Figure]) -> String {
    let rows: Vec<Vec<String>> = figures
        .iter()
        .map(|f| {
            vec![
                format!("  {}", f.name),
                f.value.map_or_else(|| "-".to_owned(), |v| v.to_string()),
                f.unit.to_owned(),
                f.status.name().to_owned(),
                f.source.to_owned(),
            ]
        })
        .collect();
    text::table(&["  Figure", ">Value", "Unit", "Status", "Source"], &rows) + "\n"
}
