"""torch_neuronx.xla_impl.custom_op: kernels for the GPSIMD processors of the simulated device."""

from __future__ import annotations

import os

from ...api import customop
from ...calls import run
from ...missing import attribute_of

__all__ = ["load"]


def load(name, compute_srcs, shape_srcs, build_directory=None, multicore=False, verbose=False, extra_cflags=None, **_options):
    """Checks a kernel on the simulated processors and returns its report; a kernel whose values are wrong is an error.

    The compiler's flags of ``extra_cflags`` have no effect.
    """
    folder = os.fspath(build_directory or os.getcwd())
    path = lambda source: source if os.path.isabs(source) else os.path.join(folder, source)  # noqa: E731
    if len(compute_srcs) != 1:
        raise ValueError(f"compute_srcs: a kernel is one file, not {', '.join(compute_srcs)}; put the functions into one file")
    words = {"multicore": multicore or None, "layers": "16,64,10", "batch": 4}
    shapes = [f"--shape={path(source)}" for source in shape_srcs]
    if verbose:
        from ...calls import flags

        print(run(["customop", f"--kernel={path(compute_srcs[0])}", *shapes, *flags(words)])[0].decode(), end="")
    return customop(path(compute_srcs[0]), **words, **({"shape": path(shape_srcs[0])} if shape_srcs else {}))


__getattr__ = attribute_of("torch_neuronx.xla_impl.custom_op", __all__)
