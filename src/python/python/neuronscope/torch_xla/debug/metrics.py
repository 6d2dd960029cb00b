"""torch_xla.debug.metrics: what the simulated device compiled and ran."""

from ... import device
from ...missing import attribute_of

__all__ = ["clear_all", "clear_counters", "counter_names", "counter_value", "metric_data", "metric_names", "metrics_report", "short_metrics_report"]


def counter_names():
    return []


def counter_value(name):
    return None


def metric_names():
    return [name for name, each in device.took.items() if each]


def metric_data(name):
    """How many there were, their nanoseconds, and those of each, which has no time of day here."""
    each = device.took.get(name)
    return (len(each), sum(each), tuple((0.0, ns) for ns in each)) if each else None


def metrics_report():
    return "".join(f"Metric: {name}\n  TotalSamples: {count}\n  Accumulator: {_time(ns)}\n" for name in metric_names() for count, ns, _ in [metric_data(name)])


def _time(ns):
    """As torch_xla writes it: 02s010ms004.500us."""
    seconds, rest = divmod(ns, 1e9)
    return (f"{seconds:02.0f}s" if seconds else "") + f"{rest // 1e6:03.0f}ms{rest % 1e6 / 1e3:07.3f}us"


def short_metrics_report(counter_names=None, metric_names=None):
    return metrics_report()


def clear_all():
    for each in device.took.values():
        each.clear()


clear_counters = clear_all

__getattr__ = attribute_of("torch_xla.debug.metrics", __all__)
