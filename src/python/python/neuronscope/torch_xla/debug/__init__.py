"""torch_xla.debug"""

from ...missing import attribute_of
from . import metrics

__all__ = ["metrics"]

__getattr__ = attribute_of("torch_xla.debug", __all__)
