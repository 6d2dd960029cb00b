"""torch_xla.distributed.xla_multiprocessing: one process, which is this one."""

from ...missing import attribute_of
from ..core import xla_model

__all__ = ["MpModelWrapper", "MpSerialExecutor", "spawn"]


def spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method="spawn"):
    """Calls ``fn(0, *args)`` in this process."""
    if nprocs not in (None, 1):
        raise ValueError(
            f"xmp.spawn with {nprocs} processes: scripts run on one simulated core; call it with nprocs=1, and ask neuronscope generate --tp {nprocs} "
            "what a language model takes on several cores (docs/training.md says what is modelled of training)"
        )
    fn(0, *args)
    xla_model.mark_step()


class MpModelWrapper:
    def __init__(self, model):
        self._model = model

    def to(self, device):
        return self._model.to(device)


class MpSerialExecutor:
    def run(self, fn):
        return fn()


__getattr__ = attribute_of("torch_xla.distributed.xla_multiprocessing", __all__)
