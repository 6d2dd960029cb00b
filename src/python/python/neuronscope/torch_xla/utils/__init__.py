"""torch_xla.utils: what is torch's own here."""

from ...missing import attribute_of
from . import checkpoint, serialization

__all__ = ["checkpoint", "serialization"]

__getattr__ = attribute_of("torch_xla.utils", __all__)
