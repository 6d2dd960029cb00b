"""torch_xla.debug.metrics: what the simulated device compiled and ran."""

from ... import device
from ...missing import attribute_of

__all__ = ["clear_all", "clear_counters", "counter_names", "counter_value", "metric_data", "metric_names", "metrics_report", "short_metrics_report"]


def counter_names():
    return []


def counter_value(name):
    return None


def metric_names():
    return [name for name, count in device.counts.items() if count]


def metric_data(name):
    """Number, and no times: the clock of the script has them."""
    return (device.counts[name], 0.0, ()) if device.counts.get(name) else None


def metrics_report():
    return "".join(f"Metric: {name}\n  TotalSamples: {device.counts[name]}\n" for name in metric_names())


def short_metrics_report(counter_names=None, metric_names=None):
    return metrics_report()


def clear_all():
    device.counts.update(dict.fromkeys(device.counts, 0))


clear_counters = clear_all

__getattr__ = attribute_of("torch_xla.debug.metrics", __all__)
