"""torch_xla.distributed.xla_backend: the backend ``xla`` of torch.distributed, with one process."""

import torch.distributed as dist

__all__ = []

_init = dist.init_process_group


def _init_process_group(backend=None, *args, **kwargs):
    """The backend ``xla`` is the one of the processor: one process has nothing to send."""
    if backend != "xla":
        return _init(backend, *args, **kwargs)
    import os

    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "0")):
        os.environ.setdefault(name, value)
    if os.environ["WORLD_SIZE"] != "1":
        raise ValueError(f"WORLD_SIZE is {os.environ['WORLD_SIZE']}: scripts run on one simulated core; start one process with torchrun --nproc_per_node=1")
    kwargs = {name: value for name, value in kwargs.items() if name != "init_method" or value != "xla://"}
    return _init("gloo", *args, **kwargs)


if dist.is_available():
    dist.init_process_group = _init_process_group
