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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::{HloModule, Opcode};
    use crate::hlo_text::parse;
    use crate::passes::optimize;
    use proptest::prelude::*;

    /// A batch norm and a ReLU, fused.
    fn fused() -> HloModule {
        let text = "HloModule M, workflow=trace\n\nENTRY {\n  %x = f32[4,8] parameter(0), input=0\n  %w = f32[8] parameter(1), \
                    weight=\"w\"\n  %b = f32[8] parameter(2), weight=\"b\"\n  %c = f32[] constant(0.0)\n  %zero = f32[4,8] \
                    broadcast(%c), dimensions={}\n  %scale = f32[4,8] broadcast(%w), dimensions={1}\n  %shift = f32[4,8] \
                    broadcast(%b), dimensions={1}\n  %scaled = f32[4,8] multiply(%x, %scale)\n  %shifted = f32[4,8] \
                    add(%scaled, %shift)\n  ROOT %out = f32[4,8] maximum(%shifted, %zero)\n}\n";
        optimize(parse(text).unwrap()).unwrap().0
    }

    fn body(module: &HloModule) -> &FusionBody {
        let Opcode::Fusion(body) = &module.instructions[module.root].opcode else { panic!("no fusion") };
        body
    }

    /// The members that compute, and their parts.
    fn parts(charges: &Charges, body: &FusionBody) -> Vec<u32> {
        let shares = charges.shares(body);
        assert_eq!(shares.iter().sum::<u32>(), 1_000_000);
        let computing = body.members.iter().zip(shares).filter(|(m, share)| m.opcode.is_elementwise() || *share > 0);
        computing.map(|(_, share)| share).collect()
    }

    fn computing(body: &FusionBody) -> Vec<InstrId> {
        let members = body.ids.iter().zip(&body.members).filter(|(_, m)| m.opcode.is_elementwise());
        members.map(|(id, _)| *id).collect()
    }

    #[test]
    fn elements_are_divided_and_the_minimum_interval_is_the_roots() {
        let (costs, module) = (CostTable::neuroncore_v2(), fused());
        let (body, ids) = (body(&module), computing(body(&module)));
        let after = |free| {
            let mut charges = Charges::default();
            charges.add(&costs, &ids, Engine::Scalar, Op::Activate { free });
            parts(&charges, body)
        };
        assert_eq!(after(costs.engine.min_interval_cycles), [0, 0, 1_000_000], "short rows count for the root alone");
        // 512 elements in 512 cycles, of which 64 are the minimum interval, and the overhead of an instruction.
        let [scale, shift, root] = after(512)[..] else { panic!("three members compute") };
        let overhead = f64::from(costs.engine.static_overhead_cycles);
        let each = (512.0 - 64.0) / (512.0 + overhead) / 3.0 * 1e6;
        assert!((f64::from(scale) - each).abs() < 200.0 && scale.abs_diff(shift) <= 1, "{scale} {shift} {root}");
    }

    #[test]
    fn instructions_of_one_member_are_its_own() {
        let (costs, module) = (CostTable::neuroncore_v2(), fused());
        let (body, ids) = (body(&module), computing(body(&module)));
        let mut charges = Charges::default();
        charges.add(&costs, &ids[..1], Engine::Vector, Op::TensorScalar { free: 2_048 });
        charges.add(&costs, &ids[1..], Engine::Vector, Op::TensorTensor { free: 2_048, sbuf_only: true });
        let [scale, shift, root] = parts(&charges, body)[..] else { panic!("three members compute") };
        // One pass, then two cycles an element of which a scalar on the way has a third.
        assert!(scale > shift && root > scale, "{scale} {shift} {root}");
        let mut unnamed = Charges::default();
        unnamed.add(&costs, &[], Engine::Vector, Op::TensorScalar { free: 100_000 });
        let even = parts(&unnamed, body);
        assert!(even.iter().all(|share| share.abs_diff(333_333) < 1_000), "{even:?}");
        assert_eq!(parts(&Charges::default(), body), [0, 0, 1_000_000], "without any instruction");
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(
            instructions in prop::collection::vec((0usize..4, 0usize..4, 1u32..5_000, any::<bool>()), 0..20),
        ) {
            let (costs, module) = (CostTable::neuroncore_v2(), fused());
            let (body, ids) = (body(&module), computing(body(&module)));
            let mut charges = Charges::default();
            for (from, until, free, pair) in instructions {
                let op = if pair { Op::TensorTensor { free, sbuf_only: true } } else { Op::TensorScalar { free } };
                let members = ids.get(from..until.min(ids.len())).unwrap_or_default();
                charges.add(&costs, members, Engine::Vector, op);
            }
            prop_assert_eq!(charges.shares(body).iter().sum::<u32>(), 1_000_000);
        }
    }
}
