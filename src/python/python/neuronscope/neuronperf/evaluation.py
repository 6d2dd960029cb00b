"""Metrics of a model's answers."""

from __future__ import annotations

import re

from ..calls import run

_ALIASES = {}


class BaseEvalMetric:
    """The base of a user-written metric."""

    def process_record(self, output, target):
        raise NotImplementedError

    @staticmethod
    def aggregate(metrics):
        raise NotImplementedError


def list_metrics():
    """Prints the names and descriptions of the metrics."""
    print(run(["evaluate"])[0].decode(), end="")


def register_metric_from_existing(metric_name, new_metric_name, **options):
    """Gives a metric with options a name: ``register_metric_from_existing("topk", "topk_3", k=3)``."""
    if metric_name.lower() != "topk" or set(options) != {"k"}:
        raise ValueError(f"{metric_name} takes no options here; topk takes k")
    _ALIASES[new_metric_name] = f"topk_{int(options['k'])}"


def register_metric(metric_name, metric):
    raise NotImplementedError(
        f"{metric_name}: user-written metrics are formulas here; register one with neuronscope evaluate --register 'balanced=(TPR+TNR)/2'"
    )


def names(metrics):
    """Metrics as the command line names them."""
    metrics = [metrics] if isinstance(metrics, str) else metrics
    return [_ALIASES.get(name, re.sub(r"^topk$", "topk_1", name)) for name in metrics]
