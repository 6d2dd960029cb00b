"""torch_xla.runtime: one process on one NeuronCore."""

from ..missing import attribute_of

__all__ = [
    "addressable_device_count",
    "addressable_runtime_device_count",
    "device_type",
    "global_device_count",
    "global_ordinal",
    "global_runtime_device_count",
    "initialize_cache",
    "is_spmd",
    "local_device_count",
    "local_ordinal",
    "local_process_count",
    "process_count",
    "process_index",
    "set_device_type",
    "world_size",
]


def device_type():
    return "NEURON"


def set_device_type(pjrt_device):
    """There is one kind of device."""


def _one():
    return 1


def _zero():
    return 0


world_size = process_count = local_process_count = _one
global_device_count = local_device_count = addressable_device_count = addressable_runtime_device_count = global_runtime_device_count = _one
global_ordinal = local_ordinal = process_index = _zero


def is_spmd():
    return False


def initialize_cache(path, readonly=False):
    """Programs are kept in memory only."""


__getattr__ = attribute_of("torch_xla.runtime", __all__)
