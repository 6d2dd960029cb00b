"""torch_neuronx.xla_impl.custom_op: kernels for the GPSIMD processors of the simulated device."""

from __future__ import annotations

import os
import sys

from ...api import customop
from ...calls import flags, run
from ...kernels import Library
from ...missing import attribute_of

__all__ = ["load", "load_library"]

_WITHOUT_EFFECT = ("extra_cflags", "extra_include_paths", "extra_ldflags", "isolated", "keep_intermediates", "is_python_module")


def load(name, compute_srcs, shape_srcs, build_directory=None, multicore=False, verbose=False, **options):
    """Checks a kernel on the simulated processors, its backward function too if the library has one, writes its library ``lib<name>.so`` and
    loads it; a kernel whose values are wrong is an error. The result has the operators as attributes, and the check as ``report``.

    What chooses how the real compiler works has no effect.
    """
    unknown = [name for name in options if name not in _WITHOUT_EFFECT]
    if unknown:
        raise TypeError(f"custom_op.load has no argument {', '.join(unknown)}; it has name, compute_srcs, shape_srcs, build_directory, multicore, verbose, {', '.join(_WITHOUT_EFFECT)}")
    compute_srcs, shape_srcs = ([one] if isinstance(one, (str, os.PathLike)) else one for one in (compute_srcs, shape_srcs))
    folder = os.fspath(build_directory or os.getcwd())
    path = lambda source: source if os.path.isabs(source) else os.path.join(folder, source)  # noqa: E731
    for given, what, why in ((compute_srcs, "compute_srcs", "a kernel"), (shape_srcs, "shape_srcs", "what registers its operators")):
        if len(given) != 1:
            raise ValueError(f"{what}: {why} is one file, not {', '.join(given) or 'none'}; put the functions into one file")
    kernel, shape = path(compute_srcs[0]), path(shape_srcs[0])
    library = Library(name, _source(kernel), _source(shape), multicore)
    workload = "training" if library.has_gradient else None
    words = {"shape": shape, "multicore": multicore or None, "layers": "16,64,10", "batch": 4, "workload": workload}
    if verbose:
        print(run(["customop", f"--kernel={kernel}", *flags(words)])[0].decode(), end="")
    library.report = customop(kernel, **words)
    library.save(os.path.join(folder, f"lib{name}.so"))
    return library.register() if _has_torch() else library


def load_library(path):
    """Loads what ``load`` has written: the operators are in ``torch.ops`` under the name of ``NEURON_LIBRARY``."""
    return Library.read(path).register()


def _source(path):
    with open(path, encoding="utf-8") as file:
        return os.path.basename(path), file.read()


def _has_torch():
    if "torch" in sys.modules:
        return True
    from importlib.util import find_spec

    return find_spec("torch") is not None


__getattr__ = attribute_of("torch_neuronx.xla_impl.custom_op", __all__)
