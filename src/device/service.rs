//! How long each stage of one inference takes, without queueing: provided by a device simulation or by the user.

use serde::{Deserialize, Serialize};

use super::estimated_op::EstimatedOp;
use super::removed_products::RemovedProducts;
use ns_base::{Refusal, SimTime, refuse};
use ns_neuron::step::StepCosts;

/// The longest a load or a whole inference may take without queueing: a day of simulated time.
pub const MAX_SERVICE: SimTime = SimTime::from_secs(86_400);

/// The parts of a call that finds nothing in its way, without variation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallParts {
    /// Work of the host: the call, and what it does on the resource that all workers share.
    pub host: SimTime,
    /// Moving inputs and outputs between host and device.
    pub link: SimTime,
    /// All device stages.
    pub device: SimTime,
}

/// Stage times of one model copy at one batch size.
///
/// The order of an inference is input, preprocess, record, call, host, link, (NeuronCore taken) transfer, device stages
/// (released), postprocess. `host` and `transfer` are served one at a time by one path that all workers of the
/// instance share; `link` one at a time by the link of each Neuron device. `input`, `preprocess`, `record`,
/// `call` and `postprocess` each take a core of the host; the workers of one process record one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceTimes {
    /// Before the model is loaded, once per model copy.
    pub env_setup: SimTime,
    /// Loading the model, once per copy; copies load side by side.
    pub load: SimTime,
    /// Added to the load of a copy for each other copy of the configuration, which loads at the same time.
    #[serde(default)]
    pub load_beside: SimTime,
    /// After the model is loaded, once per copy.
    pub setup: SimTime,
    /// The whole of one warm-up inference, including the extra time of a first inference.
    pub warmup: SimTime,
    /// Fetching an input; the workers of one model take turns.
    pub input: SimTime,
    /// The user's own work before the call, on the worker's thread.
    pub preprocess: SimTime,
    /// Recording the ops of lazy tensors and finding their program; zero for a traced model.
    #[serde(default)]
    pub record: SimTime,
    /// Host work of a call on the worker's own thread: preparing it and copying inputs and outputs.
    pub call: SimTime,
    /// Before a NeuronCore is taken, on the path between the host and all devices.
    pub host: SimTime,
    /// Moving inputs and outputs over the link between host and device, which the copies of one device share.
    #[serde(default)]
    pub link: SimTime,
    /// Moving data to and from the device while its NeuronCore is held, on the same path.
    pub transfer: SimTime,
    /// The time of each pipeline stage on its own NeuronCore; one entry without a pipeline.
    pub device: Vec<SimTime>,
    /// The user's own work after the call, on the worker's thread.
    pub postprocess: SimTime,
    /// Weights of a copy, which its process reads into the memory of the host; zero if they are not known.
    #[serde(default)]
    pub weight_bytes: u64,
    /// Operators of the model whose time is an estimate; every row of these times names them.
    #[serde(default)]
    pub estimated_ops: Vec<EstimatedOp>,
    /// Products of the model that the compiler removed; they take no time in any stage.
    #[serde(default)]
    pub removed: Option<RemovedProducts>,
}

impl ServiceTimes {
    /// The times of a compiled model, from those of its step, divided into `stages` equal pipeline stages. `warmup` is the
    /// extra time of the first inference.
    pub fn of_step(step: &StepCosts, stages: u32) -> Self {
        let times = Self {
            load: step.first.load,
            load_beside: step.first.load_beside,
            warmup: step.first.warmup,
            // Inputs and outputs move while the core works on another request: with one worker their time is added to each
            // call, with two it is hidden, as the published rows of NeuronCore-v2 show. Threads copy in parallel; only the
            // link of a device is shared, by the copies on it.
            record: step.record,
            call: step.call,
            link: step.link,
            device: vec![step.device()],
            ..Self::default()
        };
        // A compiled pipeline would have its own stage times.
        if stages > 1 { times.with_even_pipeline(stages) } else { times }
    }

    /// One inference alone on an idle instance: the sum of its stages.
    pub fn unloaded(&self) -> SimTime {
        let host = self.input + self.preprocess + self.record + self.call + self.host + self.postprocess;
        host + self.link + self.transfer + self.device_total()
    }

    /// The parts of a call, without the user's own work around it.
    pub fn parts(&self) -> CallParts {
        let host = self.record + self.call + self.host;
        CallParts { host, link: self.link + self.transfer, device: self.device_total() }
    }

    /// The operators whose time is an estimate, in words; `None` when there are none.
    pub fn estimated_ops_text(&self) -> Option<String> {
        let all: Vec<String> = self.estimated_ops.iter().map(ToString::to_string).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Work of one inference on a core of the host.
    pub fn host_work(&self) -> SimTime {
        self.input + self.preprocess + self.record + self.call + self.postprocess
    }

    /// All device stages together.
    pub fn device_total(&self) -> SimTime {
        self.device.iter().copied().sum()
    }

    /// Loading one copy beside `n_models - 1` others.
    pub fn load_of(&self, n_models: u32) -> SimTime {
        self.load + self.load_beside.times(u64::from(n_models.saturating_sub(1)))
    }

    /// Everything before the first warm-up inference of a copy.
    pub fn setup_total(&self) -> SimTime {
        self.env_setup + self.load + self.setup
    }

    /// The same model divided into `stages` equal pipeline stages (the first ones take the odd picoseconds). For
    /// models given by one device time; a compiled pipeline has its own stage times.
    pub fn with_even_pipeline(mut self, stages: u32) -> Self {
        let (total, n) = (self.device_total().0, u64::from(stages.max(1)));
        self.device = (0..n).map(|i| SimTime(total / n + u64::from(i < total % n))).collect();
        self
    }

    /// The same with inferences that take `permille` thousandths as long, on the host and on the device. Loads and the
    /// user's own work do not change.
    pub fn with_slower_inferences(mut self, permille: u32) -> Self {
        let slower = |t: SimTime| {
            let ps = u128::from(t.0) * u128::from(permille) / 1_000;
            SimTime(u64::try_from(ps).unwrap_or(u64::MAX))
        };
        for part in
            [&mut self.record, &mut self.call, &mut self.host, &mut self.transfer].into_iter().chain(&mut self.device)
        {
            *part = slower(*part);
        }
        self
    }

    /// The mean of `calls` calls, of which the last takes these times and the others those of `before`. Loads, the warm-up and the
    /// user's own work do not change.
    pub fn averaged(mut self, before: &Self, calls: u32) -> Self {
        let mean = |last: SimTime, before: SimTime| {
            let calls = u128::from(calls.max(1));
            let ps = (u128::from(before.0) * (calls - 1) + u128::from(last.0)) / calls;
            SimTime(u64::try_from(ps).unwrap_or(u64::MAX))
        };
        self.record = mean(self.record, before.record);
        self.call = mean(self.call, before.call);
        self.link = mean(self.link, before.link);
        for (stage, before) in self.device.iter_mut().zip(&before.device) {
            *stage = mean(*stage, *before);
        }
        self
    }

    /// Checks that the times can be simulated for a model copy of `pipeline_size` cores. Fails on a wrong number of device stages,
    /// or an inference of no length or longer than [`MAX_SERVICE`].
    pub fn check(&self, pipeline_size: u32) -> Result<(), Refusal> {
        if self.device.len() as u64 != u64::from(pipeline_size) {
            return Err(refuse!(
                "the model has device times for {} pipeline stages, the configuration has pipeline_size {pipeline_size}; give one time for each stage",
                self.device.len()
            ));
        }
        if self.unloaded() == SimTime::ZERO {
            return Err(refuse!(
                "every stage of an inference takes zero time, so its throughput has no meaning; give the device or the host a time above zero"
            ));
        }
        for (what, time) in
            [("an inference", self.unloaded()), ("loading a model", self.setup_total()), ("a warm-up", self.warmup)]
        {
            if time > MAX_SERVICE {
                return Err(refuse!(
                    "{what} takes {secs} s, at most {max} s can be simulated; use a smaller model or batch",
                    max = MAX_SERVICE.to_secs_f64(),
                    secs = time.0 / SimTime::from_secs(1).0
                ));
            }
        }
        Ok(())
    }
}
