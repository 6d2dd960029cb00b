"""torch_xla.core"""

from ...missing import attribute_of
from . import xla_model

__all__ = ["xla_model"]

__getattr__ = attribute_of("torch_xla.core", __all__)
