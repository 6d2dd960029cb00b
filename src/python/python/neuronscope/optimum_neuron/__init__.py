"""optimum.neuron on the simulated device, from its documentation: transformers' models, traced for fixed shapes."""

from __future__ import annotations

import inspect
import os

from ..missing import attribute_of, remark
from ..model import ModelError

# What a model takes, by the kind of its inputs, and the shapes that a call must name.
_SHAPES = {"text": ("batch_size", "sequence_length"), "choices": ("batch_size", "num_choices", "sequence_length"), "image": ("batch_size",), "audio": ("batch_size", "audio_sequence_length")}
# The class of transformers for each class, what it takes, and whether its results have a row for each token.
_MODELS = {
    "FeatureExtraction": ("AutoModel", "text", True),
    "SentenceTransformers": ("AutoModel", "text", True),
    "MaskedLM": ("AutoModelForMaskedLM", "text", True),
    "QuestionAnswering": ("AutoModelForQuestionAnswering", "text", True),
    "SequenceClassification": ("AutoModelForSequenceClassification", "text", False),
    "TokenClassification": ("AutoModelForTokenClassification", "text", True),
    "MultipleChoice": ("AutoModelForMultipleChoice", "choices", False),
    "ImageClassification": ("AutoModelForImageClassification", "image", False),
    "SemanticSegmentation": ("AutoModelForSemanticSegmentation", "image", False),
    "ObjectDetection": ("AutoModelForObjectDetection", "image", False),
    "AudioClassification": ("AutoModelForAudioClassification", "audio", False),
    "AudioFrameClassification": ("AutoModelForAudioFrameClassification", "audio", False),
    "CTC": ("AutoModelForCTC", "audio", False),
    "XVector": ("AutoModelForAudioXVector", "audio", False),
}
__all__ = [*(f"NeuronModelFor{name}" for name in _MODELS), "NeuronModel", "NeuronTrainer", "NeuronTrainingArguments"]

_FILE = "model.neuron"
# What transformers' own from_pretrained takes.
_OF_HUB = {"revision", "token", "use_auth_token", "cache_dir", "subfolder", "local_files_only", "force_download", "trust_remote_code", "torch_dtype", "dtype", "attn_implementation", "num_labels"}
_WITHOUT_EFFECT = {"disable_neuron_cache", "inline_weights_to_neff", "compiler_workdir", "device_id", "data_parallel_mode", "disable_fallback", "disable_fast_relayout", "optlevel", "num_cores", "task", "library_name", "lazy_load"}


def _transformers():
    try:
        import transformers
    except ImportError:
        raise ModuleNotFoundError("optimum.neuron runs models of transformers; install it with pip install transformers") from None
    return transformers


class NeuronModel:
    """A model of transformers that is traced for one shape. Shorter inputs are filled up, and their results cut."""

    _auto = _takes = None
    _has_tokens = False

    def __init__(self, model, config, shapes):
        self.model, self.config, self._shapes = model, config, shapes

    @classmethod
    def from_pretrained(cls, model_id, config=None, export=None, dynamic_batch_size=False, auto_cast=None, auto_cast_type=None, **options):
        """Traces the model of a folder or of the hub; one that ``save_pretrained`` wrote is loaded."""
        import torch

        transformers, name = _transformers(), cls.__name__
        if cls._auto is None:
            raise ModelError(f"{name} is the base of the classes for a task; take one of them, such as NeuronModelForSequenceClassification")
        wanted = (*_SHAPES[cls._takes], *(("height", "width", "num_channels") if cls._takes == "image" else ()))
        shapes = {key: options.pop(key) for key in wanted if options.get(key) is not None}
        hub = {key: options.pop(key) for key in list(options) if key in _OF_HUB}
        for key in options:
            if key not in _WITHOUT_EFFECT:
                raise TypeError(f"{name}.from_pretrained has no argument {key}; it has export, config, {', '.join(wanted)}, dynamic_batch_size, auto_cast, auto_cast_type and what transformers takes")
            remark(f"{key} of {name}.from_pretrained has no effect here: there is one simulated core, and nothing is written for the compiler")
        try:
            known = config or transformers.AutoConfig.from_pretrained(model_id, **{key: value for key, value in hub.items() if key not in ("num_labels", "torch_dtype", "dtype", "attn_implementation")})
            saved = os.path.join(model_id, _FILE)
            if os.path.isfile(saved):
                return cls(torch.jit.load(saved), known, dict(known.neuron))
            missing = [key for key in _SHAPES[cls._takes] if key not in shapes]
            if missing:
                such = ", ".join(f"{key}={1 if key == 'batch_size' else 128}" for key in missing)
                raise TypeError(f"{name}.from_pretrained compiles for fixed shapes: give {' and '.join(missing)}, such as {such}")
            model = getattr(transformers, cls._auto).from_pretrained(model_id, config=config, **hub).eval()
        except OSError as error:
            first = str(error).strip().partition("\n")[0]
            raise ModelError(f"{model_id}: transformers finds no model there: {first.rstrip('.')}; give a folder that save_pretrained wrote, with the network where it was downloaded") from error
        return cls._traced(model, shapes, dynamic_batch_size, _flags(auto_cast, auto_cast_type))

    @classmethod
    def _traced(cls, model, shapes, is_dynamic, flags):
        from .. import torch_neuronx

        inputs = _inputs(cls._takes, model, shapes)
        # What a call returns beside the results is of no use on the device.
        model.config.use_cache = False
        traced = torch_neuronx.trace(model, example_kwarg_inputs=inputs, compiler_args=flags)
        made = cls(traced, model.config, {key: list(value.shape) for key, value in inputs.items()})
        return made if not is_dynamic else cls(torch_neuronx.dynamic_batch(traced), made.config, made._shapes)

    def __call__(self, *inputs, **named):
        return self.forward(*inputs, **named)

    def forward(self, *inputs, **named):
        given = {**dict(zip(self._shapes, inputs)), **{key: value for key, value in named.items() if value is not None and key not in ("return_dict", "output_attentions", "output_hidden_states")}}
        missing, more = [key for key in self._shapes if key not in given], [key for key in given if key not in self._shapes]
        for key in missing:
            if key not in ("attention_mask", "token_type_ids"):
                raise ModelError(f"{type(self).__name__} is called without {key}; it takes {', '.join(self._shapes)}")
        if more:
            remark(f"{', '.join(more)} of the call is left out: {type(self).__name__} takes {', '.join(self._shapes)}")
        first = next(iter(self._shapes))
        size = list(given[first].shape)
        filled = {key: self._filled(key, given.get(key), size) for key in self._shapes}
        return self._cut(self.model(**filled), size, self._shapes[first])

    def _filled(self, key, value, size):
        """An input in the shape that the model is compiled for."""
        import torch

        wanted = self._shapes[key]
        if value is None:
            value = torch.full(size, 1 if key == "attention_mask" else 0)
        more = [w - n for n, w in zip(value.shape, wanted)]
        if self.model.takes_batches:
            more[0] = 0
        if value.dim() != len(wanted) or min(more) < 0:
            raise ModelError(f"{key} has the shape {list(value.shape)}, and the model is compiled for {wanted}; cut it, or compile it for more with from_pretrained(..., export=True)")
        if not any(more):
            return value
        fill = getattr(self.config, "pad_token_id", None) or 0 if key == "input_ids" else 0
        return torch.nn.functional.pad(value, [n for of in reversed(more) for n in (0, of)], value=fill)

    def _cut(self, results, size, wanted):
        """The results of what was given, without those of what was filled in."""
        import torch
        from torch.utils import _pytree

        if size == wanted:
            return results

        def cut(x):
            if not isinstance(x, torch.Tensor) or not x.dim():
                return x
            is_of_tokens = self._has_tokens and x.dim() > 1 and x.shape[1] == wanted[-1] and (x.dim() > 2 or self._takes == "text" and not hasattr(results, "pooler_output"))
            return x[: size[0], : size[-1]] if is_of_tokens else x[: size[0]]

        return _pytree.tree_map(cut, results)

    def save_pretrained(self, save_directory, **_options):
        os.makedirs(save_directory, exist_ok=True)
        self.config.neuron = list(self._shapes.items())
        self.config.save_pretrained(save_directory)
        self.model.save(os.path.join(save_directory, _FILE))

    def eval(self):
        return self

    def to(self, *_args, **_kwargs):
        return self


def _flags(cast, kind):
    """optimum's words for casts as flags of the compiler."""
    words = [f"--auto-cast={'matmult' if cast == 'matmul' else cast}"] if cast else []
    return words + ([f"--auto-cast-type={kind}"] if kind else [])


def _inputs(takes, model, shapes):
    import torch

    config, batch = model.config, shapes["batch_size"]
    if takes == "image":
        size = getattr(config, "image_size", 224)
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        return {"pixel_values": torch.zeros(batch, shapes.get("num_channels", getattr(config, "num_channels", 3)), shapes.get("height", height), shapes.get("width", width))}
    if takes == "audio":
        return {"input_values": torch.zeros(batch, shapes["audio_sequence_length"])}
    size = [shapes[key] for key in _SHAPES[takes]]
    inputs = {"input_ids": torch.zeros(size, dtype=torch.long), "attention_mask": torch.ones(size, dtype=torch.long)}
    if "token_type_ids" in inspect.signature(model.forward).parameters and getattr(config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = torch.zeros(size, dtype=torch.long)
    return inputs


for _name, (_auto, _takes, _has_tokens) in _MODELS.items():
    globals()[f"NeuronModelFor{_name}"] = type(f"NeuronModelFor{_name}", (NeuronModel,), {"_auto": _auto, "_takes": _takes, "_has_tokens": _has_tokens, "__module__": __name__})

_missing = attribute_of("optimum.neuron", __all__)


def __getattr__(name):
    # transformers' own train on the simulated core.
    if name == "NeuronTrainer":
        return _transformers().Trainer
    if name == "NeuronTrainingArguments":
        return _transformers().TrainingArguments
    return _missing(name)
