//! The parts of a fusion's time that its members have: what the cost model charges for each on the engine that runs it.
//!
//! * The time of an instruction grows with its elements from the minimum interval on. What it grows by belongs to the members
//!   that the instruction computes. Several in one instruction (a scale, a bias and the function after them) have it in
//!   the proportion of what each would take in an instruction of its own.
//! * The minimum interval, which an instruction takes whatever it does, belongs to the root, the operation by which the fusion
//!   is listed. So rows of a few elements count for the root alone, as in the published table of the two-layer example: it
//!   lists `maximum` with 276 ns and has no row for the `add` of the bias, which is a member of the same fusion.
//! * Broadcasts, and values that are known when the model is loaded, take no instruction and have no part.

use crate::hlo::{FusionBody, InstrId};
use ns_base::FxHashMap;
use ns_machine::cost::{CostTable, element_time, instruction_cost};
use ns_machine::isa::{Engine, Op};

/// A whole in the unit of [`ns_machine::SourceMember::share_ppm`].
const MILLION: u128 = 1_000_000;

/// The time charged to the members of one fusion, picoseconds.
#[derive(Debug, Default)]
pub(super) struct Charges {
    of: FxHashMap<InstrId, u64>,
    /// Minimum intervals.
    fixed: u64,
    /// Elements of instructions that do not say which members they compute.
    unnamed: u64,
}

impl Charges {
    /// Adds an instruction that computes these members, the last of which gives its result.
    pub fn add(&mut self, costs: &CostTable, members: &[InstrId], engine: Engine, op: Op) {
        let elements = element_time(costs, engine, &op).0;
        self.fixed += instruction_cost(costs, engine, &op).interval.0 - elements;
        let Some((&last, others)) = members.split_last() else {
            self.unnamed += elements;
            return;
        };
        // Members before the last are scalars that the instruction applies on the way.
        let alone = op.free_elements().map_or(0, |free| element_time(costs, engine, &Op::TensorScalar { free }).0);
        let whole = elements + alone * others.len() as u64;
        let part = (u128::from(elements) * u128::from(alone)).checked_div(u128::from(whole)).unwrap_or(0);
        let part = u64::try_from(part).unwrap_or(elements);
        for member in others {
            *self.of.entry(*member).or_insert(0) += part;
        }
        *self.of.entry(last).or_insert(0) += elements.saturating_sub(part * others.len() as u64);
    }

    /// The parts of the members in millionths, in the order of the members; they add up to a million.
    pub fn shares(&self, body: &FusionBody) -> Vec<u32> {
        let computes: Vec<bool> = body.members.iter().map(|m| m.opcode.is_elementwise()).collect();
        let each = self.unnamed / (computes.iter().filter(|c| **c).count() as u64).max(1);
        let mut times: Vec<u64> = (body.ids.iter().zip(&computes))
            .map(|(id, computes)| self.of.get(id).copied().unwrap_or(0) + if *computes { each } else { 0 })
            .collect();
        if let Some(root) = times.last_mut() {
            *root += self.fixed;
        }
        let total: u128 = times.iter().map(|t| u128::from(*t)).sum();
        let mut until = 0;
        let mut before = 0;
        let last = times.len().saturating_sub(1);
        let share = |(i, time): (usize, &u64)| {
            until += u128::from(*time);
            let rounded = (until * MILLION + total / 2).checked_div(total).unwrap_or(0);
            let end = if i == last { MILLION } else { rounded };
            u32::try_from(end - std::mem::replace(&mut before, end)).unwrap_or(0)
        };
        times.iter().enumerate().map(share).collect()
    }
}
