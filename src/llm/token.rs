//! One token as a timeline: the parts of a step, one after another.

use ns_base::{Refusal, SimTime};

use super::rank_program::COLLECTIVE;
use super::segment::Segment;
use super::step::Decoder;

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenPart {
    /// `host`, `attention`, `feed-forward`, `head`, or `all-reduce`.
    pub name: &'static str,
    /// The layer, from 0; absent for the host and the head.
    pub layer: Option<u64>,
    pub start: SimTime,
    pub time: SimTime,
}

/// The parts of the step that [`Decoder::decode`] sums up, in order; they fill it without gaps. What a step saves or adds as a whole (bytes of
/// int8 weights, further sequences) changes the parts on the device alike.
/// Fails when a segment cannot be compiled.
pub fn token_parts(decoder: &mut Decoder, batch: u64, bucket: u64) -> Result<Vec<TokenPart>, Refusal> {
    let step = decoder.decode(batch, bucket)?;
    let mut kinds = Vec::new();
    for kind in 0..decoder.config.kinds.len() {
        let [attention, feed_forward] = decoder.layer(kind, batch, bucket);
        kinds.push([decoder.window(kind, attention)?, decoder.window(kind, feed_forward)?]);
    }
    let order = decoder.config.order.clone();
    let head = decoder.window(0, Segment::Head { rows: batch })?;
    let layers = || order.iter().filter_map(|kind| kinds.get(*kind));
    let simulated = layers().map(|[attention, feed_forward]| *attention + *feed_forward).sum::<SimTime>() + head;
    let device = step.device();
    let exchange = decoder.all_reduce(batch, false);
    let mut parts = vec![TokenPart { name: "host", layer: None, start: SimTime::ZERO, time: step.host }];
    let (mut now, mut done, mut placed) = (step.host, SimTime::ZERO, SimTime::ZERO);
    let mut add = |name, layer, time: SimTime, is_device: bool| {
        let time = if is_device {
            done += time;
            // In whole picoseconds, so that the parts add up to the step.
            let until = u128::from(done.0) * u128::from(device.0) / u128::from(simulated.0.max(1));
            let until = SimTime(u64::try_from(until).unwrap_or(u64::MAX));
            let part = until.saturating_sub(placed);
            placed = until;
            part
        } else {
            time
        };
        if time > SimTime::ZERO {
            parts.push(TokenPart { name, layer, start: now, time });
        }
        now += time;
    };
    for (layer, [attention, feed_forward]) in (0..).zip(layers()) {
        add("attention", Some(layer), *attention, true);
        add(COLLECTIVE, Some(layer), exchange, false);
        add("feed-forward", Some(layer), *feed_forward, true);
        add(COLLECTIVE, Some(layer), exchange, false);
    }
    add("head", None, head, true);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FITTED, Weights, llm_instance, named_config};

    #[test]
    fn the_parts_of_a_token_fill_its_step() {
        for weights in [Weights::Bf16, Weights::Int8] {
            let (config, instance) = (named_config("llama-2-7b").unwrap(), llm_instance("inf2.48xlarge").unwrap());
            let mut decoder = Decoder::new(&config, instance, 24, None, FITTED).unwrap();
            decoder.weights = weights;
            let parts = token_parts(&mut decoder, 4, 2_048).unwrap();
            assert_eq!(parts.len(), 2 + 4 * 32);
            assert!(parts.windows(2).all(|w| w[0].start + w[0].time == w[1].start));
            let last = parts.last().unwrap();
            assert_eq!(last.start + last.time, decoder.decode(4, 2_048).unwrap().time());
        }
    }
}
