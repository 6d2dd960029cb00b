"""torch_neuronx.experimental"""

from ...missing import attribute_of
from . import profiler

__all__ = ["profiler"]

__getattr__ = attribute_of("torch_neuronx.experimental", __all__)
