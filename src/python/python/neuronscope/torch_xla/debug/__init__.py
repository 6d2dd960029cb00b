"""torch_xla.debug"""

from ...missing import attribute_of
from . import metrics, profiler

__all__ = ["metrics", "profiler"]

__getattr__ = attribute_of("torch_xla.debug", __all__)
