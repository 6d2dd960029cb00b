"""torch_neuronx.experimental"""

import contextlib

from ...missing import attribute_of, remark
from . import placement, profiler

__all__ = ["multicore_context", "neuron_cores_context", "placement", "profiler", "set_multicore", "set_neuron_cores"]


def set_neuron_cores(trace, start_nc=-1, nc_count=-1):
    remark("programs are on the one simulated core; what several cores do says neuronscope bench --model FILE --n_models 2")


def set_multicore(trace):
    set_neuron_cores(trace)


@contextlib.contextmanager
def neuron_cores_context(start_nc=-1, nc_count=-1):
    set_neuron_cores(None)
    yield


multicore_context = neuron_cores_context

__getattr__ = attribute_of("torch_neuronx.experimental", __all__)
