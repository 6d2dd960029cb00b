//! The register: every number and every decision that changes a simulated time, with its unit, its status and its source.
//!
//! Values are read from the tables that the simulator uses, so the register cannot disagree with them. Figures are declared with
//! their entries: one without an entry does not compile.

use super::core_entries::core_entries;
use super::entry::Entry;
use super::{Calibration, CostTable, DmaCosts, EngineCosts, FITTED, GpsimdCosts, KernelCosts, RuntimeCosts, decisions};

/// Every entry, group by group.
pub fn register() -> Vec<Entry> {
    let v2 = CostTable::neuroncore_v2();
    let v3 = CostTable::neuroncore_v3().unwrap_or_else(|_| v2.clone());
    let v4 = CostTable::neuroncore_v4().unwrap_or_else(|_| v2.clone());
    let tables = [&v2, &v3, &v4];
    let mut all = core_entries(tables.map(|t| &t.core));
    all.extend(EngineCosts::entries(tables.map(|t| &t.engine)));
    all.extend(DmaCosts::entries(tables.map(|t| &t.dma)));
    all.extend(GpsimdCosts::entries(tables.map(GpsimdCosts::of).each_ref()));
    all.extend(KernelCosts::entries(tables.map(|t| &t.kernel)));
    all.extend(decisions::kernels());
    all.extend(RuntimeCosts::entries(tables.map(|t| &t.runtime)));
    all.extend(Calibration::entries([&FITTED; 3]));
    all.extend(decisions::code_generation());
    all.extend(decisions::ways());
    all.extend(decisions::collectives());
    all.extend(decisions::host());
    all
}

/// Entries as the Markdown tables of `docs/costs.md`, one for each group.
pub fn register_markdown(entries: &[Entry]) -> String {
    let mut out = String::new();
    let mut group = "";
    for entry in entries {
        if entry.group != group {
            group = entry.group;
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!(
                "{gap}### {group}\n\n| name | value | unit | status | source |\n|---|---|---|---|---|\n"
            ));
        }
        let (value, status) = (entry.value_cell(), entry.status.words());
        out.push_str(&format!("| {} | {value} | {} | {status} | {} |\n", entry.name, entry.unit, entry.source));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::entry::CostStatus;
    use ns_base::FxHashSet;

    #[test]
    fn every_entry_has_a_name_of_its_own_a_value_and_a_source() {
        let all = register();
        let mut names = FxHashSet::default();
        for entry in &all {
            assert!(names.insert((entry.group, entry.name)), "{} twice", entry.name);
            assert!(!entry.source.is_empty() && !entry.values[0].is_empty(), "{entry:?}");
            assert!(!entry.source.contains('|') && !entry.name.contains('|'), "{entry:?}");
        }
    }

    #[test]
    fn the_fitted_numbers_are_those_of_the_calibration() {
        let fitted: Vec<&str> = register()
            .iter()
            .filter(|e| e.status == CostStatus::Fitted && e.group == "Fitted numbers")
            .map(|e| e.name)
            .collect();
        assert_eq!(fitted.len(), 3, "{fitted:?}");
    }
}
