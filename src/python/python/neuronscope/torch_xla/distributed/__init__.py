"""torch_xla.distributed"""

from ...missing import attribute_of
from . import fsdp, parallel_loader, spmd, xla_backend, xla_multiprocessing

__all__ = ["fsdp", "parallel_loader", "spmd", "xla_backend", "xla_multiprocessing"]

__getattr__ = attribute_of("torch_xla.distributed", __all__)
