"""compile and benchmark of NeuronPerf for MXNet models."""

from .framework import benchmark, compile  # noqa: A004 (NeuronPerf's names)

__all__ = ["benchmark", "compile"]
