//! The numbers of the resources that workers share: the host's cores, its one path to the devices of a system given by its
//! times, an interpreter, links of devices, input locks, the tracing of lazy tensors and NeuronCores.

use std::ops::Range;

use crate::config::configuration::Configuration;

/// The interpreter that all copies share when they are in one process.
const INTERPRETER: usize = 0;
pub(super) const HOST_CORES: usize = 1;
/// The path between the host and all devices of a system given by its times.
pub(super) const PATH: usize = 2;
/// Links of devices follow, then of each copy its locks and its NeuronCores.
const FIRST_LINK: usize = 3;
/// Locks of a copy: one for its inputs, one for the tracing of its process.
const LOCKS: usize = 2;

/// Which resource a copy uses for what; a run does not change it.
pub(super) struct Places {
    pipeline_size: u32,
    /// The device of each model copy.
    devices: Box<[u32]>,
    /// Number of the first input lock.
    first_lock: usize,
    is_shared_process: bool,
}

impl Places {
    pub(super) fn of(configuration: &Configuration) -> Self {
        Self {
            pipeline_size: configuration.pipeline_size.max(1),
            devices: (0..configuration.n_models).map(|model| configuration.device_of(model)).collect(),
            first_lock: FIRST_LINK + configuration.links() as usize,
            is_shared_process: !configuration.options.is_multiprocess(),
        }
    }

    /// Number of resources.
    pub(super) fn count(&self) -> usize {
        self.first_lock + self.devices.len() * self.of_a_copy()
    }

    /// Number of locks and NeuronCores of a copy.
    fn of_a_copy(&self) -> usize {
        LOCKS + self.pipeline_size as usize
    }

    /// Whether a stage is the last one of the pipeline.
    pub(super) fn is_last(&self, stage: u32) -> bool {
        stage + 1 >= self.pipeline_size
    }

    /// The interpreter, if copies take turns on it.
    pub(super) fn interpreter(&self) -> Option<usize> {
        self.is_shared_process.then_some(INTERPRETER)
    }

    /// Where the workers of a copy take turns to fetch inputs.
    pub(super) fn input(&self, model: u32) -> usize {
        if self.is_shared_process { INTERPRETER } else { self.input_lock(model) }
    }

    /// Where the workers of a copy take turns to record the ops of a lazy step: a process traces one graph at a time.
    pub(super) fn tracing(&self, model: u32) -> usize {
        if self.is_shared_process { INTERPRETER } else { self.input_lock(model) + 1 }
    }

    fn input_lock(&self, model: u32) -> usize {
        self.first_lock + model as usize * self.of_a_copy()
    }

    /// Every way between the host and devices: the path and the links.
    pub(super) fn ways(&self) -> Range<usize> {
        PATH..self.first_lock
    }

    /// The link between the host and the device of a copy.
    pub(super) fn link(&self, model: u32) -> usize {
        FIRST_LINK + self.devices[model as usize] as usize
    }

    /// The NeuronCore of a pipeline stage of a copy.
    pub(super) fn core(&self, model: u32, stage: u32) -> usize {
        self.input_lock(model) + LOCKS + stage as usize
    }
}
