from .framework import benchmark as benchmark, compile as compile
