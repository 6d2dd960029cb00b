"""torch_xla.distributed.fsdp, which packages import whether they need it or not: each of its names says what to do."""

from ...missing import attribute_of

__all__ = []

__getattr__ = attribute_of("torch_xla.distributed.fsdp", __all__)
