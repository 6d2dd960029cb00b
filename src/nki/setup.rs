//! Where and how a kernel runs.

use ns_base::{Refusal, nearest_text, refuse};
use ns_machine::arch::{INSTANCES, Instance, known_instance};
use ns_machine::cost::CostTable;

use crate::Decisions;
use crate::list::List;

/// Where and how a kernel runs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The costs of the core.
    pub costs: CostTable,
    /// Whether DMAs are static descriptors (`disable-dge`); one descriptor engine issues them else.
    pub is_static: bool,
    /// What the compiler does.
    pub decisions: Decisions,
    /// Whether the run is repeated without each limit.
    pub with_limits: bool,
    /// What is to be known about the times of this place.
    pub remarks: Vec<String>,
}

/// Flags of the compiler that change a kernel's time.
const FLAGS: [&str; 1] = ["disable-dge"];

impl Setup {
    /// A core of an instance, with flags of the compiler.
    ///
    /// # Errors
    /// When there is no such instance, its figures are not public, or a flag is not known.
    pub fn new(instance: &str, lnc: u32, flags: &[String], without: &[String]) -> Result<Self, Refusal> {
        let instance = known_instance(instance)?;
        let costs = CostTable::of_instance(instance).map_err(|e| Refusal::new(e.to_string()))?;
        for flag in flags {
            if !FLAGS.contains(&flag.trim_start_matches('-')) {
                return Err(refuse!("the compiler's flag '{flag}' changes nothing that is modelled")
                    .advise(format!("there is {}", FLAGS.join(", "))));
            }
        }
        if !matches!(lnc, 1 | 2) {
            return Err(refuse!("a logical core has {lnc} physical cores").advise("1 or 2 are possible"));
        }
        let mut decisions = Decisions::default();
        without.iter().try_for_each(|name| decisions.leave_out(name))?;
        // A descriptor engine came with NeuronCore-v3.
        let is_static = !flags.is_empty() || instance.core_version < 3;
        Ok(Self { costs, is_static, decisions, with_limits: true, remarks: remarks(instance, lnc) })
    }

    /// Whether a list was recorded for this core.
    ///
    /// # Errors
    /// When it was recorded for another one, whose limits differ.
    pub fn check(&self, list: &List, instance: &str) -> Result<(), Refusal> {
        let version = |name: &str| known_instance(name).map_or(0, |i| i.core_version);
        let of_list = match list.chip.as_str() {
            "trn1" | "inf2" => 2,
            "trn2" => 3,
            "trn3" => 4,
            _ => 0,
        };
        if of_list == version(instance) {
            return Ok(());
        }
        let chip = &list.chip;
        Err(refuse!("the list was recorded for {chip}, whose cores are not those of {instance}")
            .advise("record it again, or choose an instance of its chip"))
    }
}

/// The name by which the recorder knows the chip of an instance.
///
/// # Errors
/// When there is no such instance.
pub fn chip_of(instance: &str) -> Result<&'static str, Refusal> {
    let instance = known_instance(instance)?;
    Ok(match (instance.core_version, instance.name.starts_with("inf")) {
        (..=2, true) => "inf2",
        (..=2, false) => "trn1",
        (3, _) => "trn2",
        _ => "trn3",
    })
}

/// The smallest instance of a chip.
pub fn instance_of_chip(chip: &str) -> Option<&'static str> {
    INSTANCES.iter().map(|instance| instance.name).find(|name| chip_of(name).is_ok_and(|own| own == chip))
}

fn remarks(instance: &Instance, lnc: u32) -> Vec<String> {
    let mut remarks = Vec::new();
    if instance.core_version >= 4 {
        remarks.push(
            "NeuronCore-v4 was compared with no measured kernel: what its documents do not say is that of v3"
                .to_owned(),
        );
    }
    if lnc > 1 {
        remarks.push(
            "two physical cores were compared with no measured kernel: the time is that of one of them".to_owned(),
        );
    }
    remarks
}

impl Decisions {
    /// Leaves out what a name says.
    ///
    /// # Errors
    /// When no decision has this name.
    pub fn leave_out(&mut self, name: &str) -> Result<(), Refusal> {
        match name {
            "hoist" => self.hoist = false,
            "join-drains" => self.join_drains = false,
            "widen" => self.widen = false,
            "spread" => self.spread = false,
            "window" => self.window = 1,
            "sbuf" => self.sbuf = false,
            "psum" => self.psum = false,
            "own-partitions" => self.own_partitions = false,
            _ => {
                let nearest = nearest_text(name, Self::NAMES);
                return Err(refuse!("there is no decision '{name}' to leave out: the nearest are {nearest}"));
            }
        }
        Ok(())
    }

    /// The names of what can be left out.
    pub const NAMES: [&'static str; 8] =
        ["hoist", "join-drains", "widen", "spread", "window", "sbuf", "psum", "own-partitions"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_does_not_exist_is_a_sentence() {
        let of = |instance: &str, lnc, flags: &[&str], without: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
            Setup::new(instance, lnc, &owned(flags), &owned(without)).map_err(|e| e.to_string())
        };
        assert!(of("trn2.48xlarge", 1, &["--disable-dge"], &[]).unwrap().is_static);
        assert!(!of("trn2.48xlarge", 2, &[], &[]).unwrap().remarks.is_empty());
        assert!(of("trn1.2xlarge", 1, &[], &["window"]).unwrap().is_static);
        for (wrong, part) in [
            (of("trn9.large", 1, &[], &[]), "trn9.large"),
            (of("trn2.48xlarge", 3, &[], &[]), "3 physical"),
            (of("trn2.48xlarge", 1, &["-O2"], &[]), "-O2"),
            (of("trn2.48xlarge", 1, &[], &["hoists"]), "hoist"),
            (of("inf1.xlarge", 1, &[], &[]), "NeuronCore-v1"),
        ] {
            let error = wrong.unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        for name in Decisions::NAMES {
            let mut decisions = Decisions::default();
            decisions.leave_out(name).unwrap();
            assert_ne!(decisions, Decisions::default(), "{name}");
        }
    }
}
