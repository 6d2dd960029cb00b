"""compile and benchmark of NeuronPerf for PyTorch models."""

from .framework import benchmark, compile  # noqa: A004 (NeuronPerf's names)

__all__ = ["benchmark", "compile", "evaluate"]


def evaluate(model_filename, dataset, metrics, eval_target_col=None, **options):
    """The reports of one pass over a dataset, with metrics of the answers."""
    options = {"duration": 0, "n_models": 1, "workers_per_model": 2, **options}
    return benchmark(model_filename, dataset, eval_metrics=metrics, eval_target_col=eval_target_col, **options)
