"""Names of the SDK that do not exist here, and remarks about what is done in another way than on a NeuronCore."""

import contextlib
import os
import sys
import threading

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_said = set()
_asked = threading.local()


def place():
    """The line of the program that asked, with ``: `` behind it: the innermost one that belongs to no package."""
    asked = getattr(_asked, "place", None)
    if asked is not None:
        return asked
    frame = sys._getframe(1)
    while frame is not None:
        if is_of_script(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}: "
        frame = frame.f_back
    return ""


def is_asked_by_script():
    """Whether the code that called this package is the program's, not another package's."""
    frame = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and is_of_script(frame.f_code.co_filename)


def is_ours(file):
    return file.startswith(_PACKAGE)


def is_of_script(file):
    """Whether a file belongs to the program, and to no package."""
    return not (is_ours(file) or file.startswith("<") or "site-packages" in file or "dist-packages" in file or file.startswith(os.path.dirname(os.__file__)))


@contextlib.contextmanager
def placed(place):
    """What this thread does in here is for a line that another thread runs."""
    _asked.place = place
    try:
        yield
    finally:
        _asked.place = None


def remark(text):
    """Says something once about a line of the script."""
    line = f"note: {place()}{text}"
    if line not in _said:
        _said.add(line)
        print(line, file=sys.stderr)


def sentence(module, name, known):
    asked = f"{module}.{name}"
    found = next((said for of, said in _INSTEAD.items() if asked == of or asked.startswith(of + ".")), None)
    return f"{asked} is not on the simulated device: {found}" if found else f"{module} has no {name} on the simulated device; it has {', '.join(known)}"


# Packages of the SDK that are not simulated, and the command that answers what they are used for.
_LLM = "ask neuronscope generate --model llama-3-8b --tp 8 how long a prompt and a token take, and neuronscope fit where a model fits (docs/llm.md)"
_TRAINING = "neuronscope profile --model bert-base-uncased --training is a step of training (docs/training.md)"
_NKI = "a kernel of NKI is run alone: neuronscope nki FILE.py::KERNEL --shapes \"128x512,128x512\" says how long it takes (docs/nki.md); a kernel in C++ also inside of a module: torch_neuronx.xla_impl.custom_op (docs/customop.md)"
_ELSEWHERE = {
    "neuronx_distributed": f"models that share cores are not run from Python; {_LLM}; {_TRAINING}",
    "neuronx_distributed_inference": _LLM,
    "neuronx_distributed_training": _TRAINING,
    "transformers_neuronx": _LLM,
    "vllm": _LLM,
    "vllm_neuron": _LLM,
    "optimum.exporters": "NeuronModelForSequenceClassification.from_pretrained(FOLDER, export=True, batch_size=1, sequence_length=128) of optimum.neuron exports and runs a model",
    "torch_neuron": "it is the SDK of Inf1; trace with torch_neuronx.trace for Inf2, Trn1 and later",
    "tensorflow_neuronx": "give the saved model as ONNX or StableHLO to neuronscope bench --model FILE (docs/import.md)",
    "jax_neuronx": "give a lowered function to neuronscope.benchmark(jax.jit(f).lower(x))",
    "libneuronxla": "compile with neuronscope compile --model FILE",
    "neuronxcc": _NKI,
    "nki": _NKI,
    "neuronx_nki": _NKI,
}

_BUCKETS = "trace the module once for each shape, and choose the traced module by the length of its input"
_PARTS = "trace its parts with torch_neuronx.trace, each for its shapes, and call them from the script"
_ONE_CORE = f"scripts run on one simulated core, where there is nothing to share out; {_LLM}; {_TRAINING}"
# Names of modules that are simulated, and what to do in their place.
_INSTEAD = {
    "torch_neuronx.bucket_model_trace": _BUCKETS,
    "torch_neuronx.BucketModelConfig": _BUCKETS,
    "torch_neuronx.nki_jit": _NKI,
    "torch_neuronx.nki_call": _NKI,
    "torch_neuronx.xla_impl.ops": _NKI,
    "torch_neuronx.distributed": _ONE_CORE,
    "torch_neuronx.parallel_model_trace": _ONE_CORE,
    "torch_xla.distributed.fsdp": _ONE_CORE,
    "torch_xla.distributed.zero_redundancy_optimizer": f"the optimiser itself does what it shares out: take it without ZeroRedundancyOptimizer; {_ONE_CORE}",
    "torch_xla.distributed.spmd": _ONE_CORE,
    "torch_xla.runtime.use_spmd": _ONE_CORE,
    "torch_xla.experimental": _ONE_CORE,
    "torch_xla.core.xla_model.reduce_scatter": _ONE_CORE,
    "torch_xla.core.xla_model.all_to_all": _ONE_CORE,
    "torch_xla.core.xla_model.collective_permute": _ONE_CORE,
    "torch_xla.core.xla_model.get_memory_info": "neuronscope inspect MODEL --instance INSTANCE says what a model takes of the device's memory",
    "optimum.neuron.NeuronModelForCausalLM": _LLM,
    "optimum.neuron.NeuronModelForSeq2SeqLM": _PARTS,
    "optimum.neuron.NeuronStableDiffusionPipeline": _PARTS,
    "optimum.neuron.NeuronStableDiffusionXLPipeline": _PARTS,
    "optimum.neuron.NeuronDiffusionPipeline": _PARTS,
    "optimum.neuron.NeuronFluxPipeline": _PARTS,
    "optimum.neuron.pipeline": "tokenize in the script, and call the model of from_pretrained(..., export=True) with what the tokenizer gives",
    "optimum.neuron.pipelines": "tokenize in the script, and call the model of from_pretrained(..., export=True) with what the tokenizer gives",
    "optimum.neuron.distributed": _ONE_CORE,
    "torch_xla.stablehlo": "torch.export.save writes a file that neuronscope reads",
}


# Packages that are not there, which would not run on the simulated device either.
NOT_INSTALLED = {"jax": "jax does not run on the simulated device; with jax installed, neuronscope.benchmark(jax.jit(f).lower(x)) says how long a function takes, without this script"}


def elsewhere(name):
    """The sentence about a package that is not simulated; ``None`` of any other."""
    found = next((of for of in _ELSEWHERE if name == of or name.startswith(of + ".")), None)
    return found and f"{found} is not on the simulated device: {_ELSEWHERE[found]}"


class Missing(AttributeError):
    """A script asks for a name that the simulated device does not have. The message says what exists."""


class MissingModule(ModuleNotFoundError):
    """A script asks for a module that the simulated device does not have."""


def attribute_of(module, known):
    """The ``__getattr__`` of a module."""

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Missing(sentence(module, name, known))

    return __getattr__
