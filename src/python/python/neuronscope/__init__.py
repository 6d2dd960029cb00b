"""Benchmark and profile models for AWS NeuronCores without the hardware.

Every function takes the options of the command of its name, with underscores for dashes, and returns what that command gives, digit for
digit. docs/python.md has examples of all of them.
"""

from ._core import Error, UsageError, __version__

__all__ = [
    "Error",
    "ModelError",
    "UsageError",
    "__version__",
    "benchmark",
    "bench",
    "command",
    "compare",
    "customop",
    "fit",
    "generate",
    "inspect",
    "models",
    "neuronperf",
    "nki",
    "numerics",
    "open",
    "profile",
    "validate",
]

_API = {name for name in __all__ if not name.startswith("_")} - {"Error", "ModelError", "UsageError", "command", "neuronperf"}


# A name is imported when it is used: `import neuronscope` takes no longer than its library takes to load.
def __getattr__(name):
    import importlib

    if name in _API:
        return getattr(importlib.import_module(".api", __name__), name)
    if name == "command":
        return importlib.import_module(".calls", __name__).command
    if name == "ModelError":
        return importlib.import_module(".model", __name__).ModelError
    if name == "neuronperf":
        return importlib.import_module(".neuronperf", __name__)
    raise AttributeError(f"module 'neuronscope' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__():
    return sorted(__all__)
