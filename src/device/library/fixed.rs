//! The model `fixed`: a system given by the times of its stages, to replay a system whose code is not available.

use std::str::FromStr;

use ns_base::{Refusal, SimTime, refuse};

use crate::service::{MAX_SERVICE, ServiceTimes};

/// The name before the colon.
pub const FIXED_MODEL: &str = "fixed";

/// The parameters of `fixed`: name and description.
pub const FIXED_PARAMETERS: &[(&str, &str)] = &[
    (
        "device_ms",
        "time on the NeuronCores, milliseconds; a pipeline divides it evenly, or give one for each stage: 2+1.5",
    ),
    ("host_ms", "host work before a NeuronCore is acquired, one worker at a time"),
    ("transfer_ms", "data movement while the NeuronCore is held, on the same resource as host_ms"),
    ("input_ms", "fetching an input; the workers of one model take turns"),
    ("load_ms", "loading one model copy"),
    ("warmup_ms", "one whole warm-up inference; as long as any other inference if left out"),
];

fn parameter_names() -> String {
    FIXED_PARAMETERS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// A system given by its stage times, the same at every batch size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedModel {
    times: ServiceTimes,
    /// Time of a warm-up inference; by default the time of any other inference.
    pub warmup: Option<SimTime>,
}

impl FixedModel {
    /// The error where a program is asked for.
    pub fn no_program() -> Refusal {
        refuse!("model fixed is given by its times and has no program; name another model, such as nn")
    }

    /// Its stage times for a pipeline with this many stages. A model with a time for each stage fixes the number of stages.
    pub fn service_times(&self, pipeline_size: u32) -> ServiceTimes {
        let times = self.times.clone();
        let warmup = self.warmup.unwrap_or_else(|| times.unloaded());
        let times = ServiceTimes { warmup, ..times };
        if times.device.len() > 1 { times } else { times.with_even_pipeline(pipeline_size) }
    }
}

impl FromStr for FixedModel {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let list = text.trim().split_once(':').map_or("", |(_, list)| list);
        let mut given: [Option<Vec<SimTime>>; 6] = Default::default();
        for entry in list.split(',').map(str::trim).filter(|e| !e.is_empty()) {
            let (name, value) =
                entry.split_once('=').ok_or_else(|| refuse!("model fixed: '{entry}' is not a time; write name=milliseconds, such as fixed:device_ms=2.895,host_ms=0.216"))?;
            let (name, value) = (name.trim(), value.trim());
            let at = FIXED_PARAMETERS.iter().position(|(known, _)| *known == name);
            let slot = at.and_then(|at| given.get_mut(at));
            let Some(slot) = slot else {
                return Err(refuse!("model fixed has no parameter '{name}'; its parameters are {}", parameter_names()));
            };
            if slot.is_some() {
                return Err(refuse!("model fixed: {name} is given twice"));
            }
            // Only the device has stages.
            let parts = if at == Some(0) { value.split('+').collect() } else { vec![value] };
            *slot = Some(parts.into_iter().map(|part| parse_ms(name, part.trim())).collect::<Result<_, _>>()?);
        }
        let [device, host, transfer, input, load, warmup] = given;
        let one = |time: Option<Vec<SimTime>>| time.and_then(|list| list.first().copied());
        let or_zero = |time| one(time).unwrap_or_default();
        let times = ServiceTimes {
            device: device.unwrap_or_else(|| vec![SimTime::ZERO]),
            host: or_zero(host),
            transfer: or_zero(transfer),
            input: or_zero(input),
            load: or_zero(load),
            ..ServiceTimes::default()
        };
        if times.unloaded() == SimTime::ZERO {
            return Err(refuse!("model fixed needs a time: write at least device_ms, such as fixed:device_ms=2.895"));
        }
        Ok(Self { times, warmup: one(warmup) })
    }
}

fn parse_ms(name: &str, value: &str) -> Result<SimTime, Refusal> {
    match value.parse::<f64>() {
        Ok(ms) if (0.0..=MAX_SERVICE.to_ms_f64()).contains(&ms) => Ok(SimTime::from_ns_f64(ms * 1e6)),
        _ => Err(refuse!(
            "model fixed: {name}={value} is not possible; use a number of milliseconds from 0 to {}",
            MAX_SERVICE.to_ms_f64()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_divided_over_a_pipeline() {
        let model: FixedModel = "fixed:device_ms=2.895, host_ms=0.216,transfer_ms=0.140,load_ms=62".parse().unwrap();
        let times = model.service_times(1);
        assert_eq!((times.device, times.host), (vec![SimTime::from_us(2_895)], SimTime::from_us(216)));
        assert_eq!((times.transfer, times.load), (SimTime::from_us(140), SimTime::from_us(62_000)));
        assert_eq!(model.service_times(3).device, vec![SimTime::from_us(965); 3]);
        assert_eq!(times.warmup, SimTime::from_us(2_895 + 216 + 140), "a warm-up is an inference");
        let uneven: FixedModel = "fixed:device_ms=2+1.5 + 0.5,warmup_ms=9".parse().unwrap();
        let times = uneven.service_times(3);
        assert_eq!(times.device, [2_000, 1_500, 500].map(SimTime::from_us));
        assert_eq!(times.warmup, SimTime::from_us(9_000));
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text: &str| text.parse::<FixedModel>().unwrap_err().to_string();
        assert!(message("fixed").contains("at least device_ms"));
        assert!(message("fixed:load_ms=3").contains("at least device_ms"));
        assert!(message("fixed:device=3").contains("no parameter 'device'; its parameters are device_ms, host_ms"));
        assert!(message("fixed:device_ms").contains("'device_ms' is not a time"));
        assert!(message("fixed:device_ms=-1").contains("device_ms=-1 is not possible"));
        assert!(message("fixed:device_ms=NaN").contains("NaN"));
        assert!(message("fixed:device_ms=1+x").contains("device_ms=x is not possible"));
        assert!(message("fixed:host_ms=1+2").contains("host_ms=1+2 is not possible"));
        assert!(message("fixed:device_ms=1,device_ms=2").contains("twice"));
    }
}
