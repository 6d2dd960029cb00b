"""compile and benchmark of NeuronPerf for TensorFlow models."""

from .framework import benchmark, compile  # noqa: A004 (NeuronPerf's names)

__all__ = ["benchmark", "compile"]
