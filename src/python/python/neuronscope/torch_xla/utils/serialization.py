"""torch_xla.utils.serialization: tensors of the device as those of the host, in one file."""

from torch import load

from ..core.xla_model import save

__all__ = ["load", "save"]
