"""torch_xla on the simulated device: modules run lazily, and at the end of a step."""

import contextlib
import functools

from ..missing import attribute_of
from . import amp, core, debug, distributed, runtime, utils
from .core import xla_model

__all__ = ["amp", "compile", "core", "debug", "device", "device_count", "devices", "distributed", "launch", "manual_seed", "real_devices", "runtime", "step", "sync", "utils"]

__version__ = "2.9.0"


def device(n=None):
    return xla_model.xla_device(n)


def devices():
    return [device()]


def real_devices():
    return ["NEURON:0"]


def device_count():
    return 1


def sync(wait=False, reset_scope=True):
    xla_model.mark_step(wait)


@contextlib.contextmanager
def step():
    """What is done in here is one step."""
    xla_model.mark_step()
    try:
        yield
    finally:
        xla_model.mark_step()


def compile(f=None, full_graph=False, name=None, num_different_graphs_allowed=None):
    """A function whose calls are steps, or ``with torch_xla.compile(): ...``."""
    if f is None:
        return step()

    @functools.wraps(f)
    def call(*args, **kwargs):
        with step():
            return f(*args, **kwargs)

    return call


def launch(fn, args=(), start_method="spawn", debug_single_process=False):
    """Calls ``fn(0, *args)`` in this process: there is one core."""
    distributed.xla_multiprocessing.spawn(fn, args)


def manual_seed(seed, device=None):
    xla_model.set_rng_state(seed)


__getattr__ = attribute_of("torch_xla", __all__)
