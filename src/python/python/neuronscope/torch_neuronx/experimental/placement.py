"""torch_neuronx.experimental.placement: where programs are loaded. There is one simulated core."""

from ...missing import attribute_of

__all__ = ["multicore_context", "neuron_cores_context", "set_multicore", "set_neuron_cores"]


def __getattr__(name):
    from .. import experimental

    return getattr(experimental, name) if name in __all__ else attribute_of("torch_neuronx.experimental.placement", __all__)(name)
