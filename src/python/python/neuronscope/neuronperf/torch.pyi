from typing import Any

from .framework import benchmark as benchmark, compile as compile

def evaluate(model_filename: Any, dataset: Any, metrics: Any, eval_target_col: Any = None, **options: Any) -> list[Any]: ...
