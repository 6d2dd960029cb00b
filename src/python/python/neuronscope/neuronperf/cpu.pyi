from typing import Any

GPUS: Any

def benchmark(model_class: Any, inputs: Any = None, *args: Any, **options: Any) -> Any: ...
