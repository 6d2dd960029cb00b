"""torch_neuronx.xla_impl"""

from ...missing import attribute_of
from . import custom_op

__all__ = ["custom_op"]

__getattr__ = attribute_of("torch_neuronx.xla_impl", __all__)
