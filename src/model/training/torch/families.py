"""Writes families.json: the loss of a small model of each family of the zoo, and its gradients, by PyTorch and transformers.

    pip install torch torchvision transformers && python families.py > families.json

Parameters, images, ids and labels follow from a formula that families.rs has too. Of each gradient the file has its length and its
product with a vector of that formula.
"""
import json
import math

import torch
import torch.nn.functional as F
import torchvision
import transformers as hf
from torch import nn

torch.set_default_dtype(torch.double)


def numbers(name, count):
    """Numbers in [0, 1) by the name of a tensor and the position in it."""
    seed = 2166136261
    for byte in name.encode():
        seed = ((seed ^ byte) * 16777619) % 2**32
    result = []
    for i in range(count):
        x = (seed + (i + 1) * 2654435761) % 2**32
        x ^= x >> 16
        x = x * 2246822519 % 2**32
        x ^= x >> 13
        result.append(x / 2**32)
    return result


def tensor(name, shape, low, high):
    values = torch.tensor([low + (high - low) * x for x in numbers(name, math.prod(shape))])
    # As single precision has them.
    return values.float().double().reshape(shape)


def fill(model, path_of):
    for name, parameter in model.named_parameters():
        path = path_of(name)
        # Scales of norms are near one.
        low, high = (0.5, 1.5) if parameter.dim() == 1 and path.endswith("weight") else (-0.5, 0.5)
        with torch.no_grad():
            parameter.copy_(tensor(path, list(parameter.shape), low, high))


def ids(*shape, below):
    return torch.tensor([(i * 5 + 3) % below for i in range(math.prod(shape))]).reshape(shape)


def classes(*shape, below):
    return torch.tensor([(i * 7 + 1) % below for i in range(math.prod(shape))]).reshape(shape)


def images(*shape):
    return tensor("image", list(shape), -1.0, 1.0)


class WordHead(nn.Module):
    """The head of masked language modelling that a training step of the zoo has, and the next sentence."""

    def __init__(self, base, words, pooled):
        super().__init__()
        self.base, self.pooled = base, pooled
        width, features = base.config.hidden_size, words.shape[1]
        head = nn.Module()
        head.transform = nn.Module()
        head.transform.dense = nn.Linear(width, features)
        head.transform.LayerNorm = nn.LayerNorm(features, eps=1e-12)
        head.bias = nn.Parameter(torch.zeros(words.shape[0]))
        self.cls = nn.Module()
        self.cls.predictions = head
        if pooled:
            self.cls.seq_relationship = nn.Linear(width, 2)

    def loss(self, words, **inputs):
        result = self.base(**inputs)
        head = self.cls.predictions
        x = head.transform.LayerNorm(F.gelu(head.transform.dense(result.last_hidden_state)))
        scores = F.linear(x, words, head.bias)
        loss = cross_entropy(scores)
        if self.pooled:
            loss = loss + cross_entropy(self.cls.seq_relationship(result.pooler_output))
        return loss


def cross_entropy(scores):
    labels = classes(*scores.shape[:-1], below=scores.shape[-1])
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))


def squared_error(result):
    return F.mse_loss(result, tensor("label", list(result.shape), -1.0, 1.0))


EAGER = {"attn_implementation": "eager"}
BERT = dict(vocab_size=13, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=12, type_vocab_size=2)


def encoder(base, words, types=True, pooled=True):
    model = WordHead(base, words, pooled)
    path_of = lambda name: name.removeprefix("base.")
    inputs = {"input_ids": ids(2, 3, below=11), "attention_mask": torch.ones(2, 3)}
    if types:
        inputs["token_type_ids"] = ids(2, 3, below=2)
    return model.eval(), path_of, lambda: model.loss(words, **inputs)


def bert():
    base = hf.BertModel(hf.BertConfig(**BERT, max_position_embeddings=6, **EAGER))
    return encoder(base, base.embeddings.word_embeddings.weight)


def roberta():
    config = hf.RobertaConfig(**BERT, max_position_embeddings=8, pad_token_id=1, layer_norm_eps=1e-12, **EAGER)
    base = hf.RobertaModel(config)
    model, path_of, _ = encoder(base, base.embeddings.word_embeddings.weight, types=False)
    # Ids without the padding, so that positions are 2, 3, 4.
    words = base.embeddings.word_embeddings.weight
    inputs = {"input_ids": 2 + ids(2, 3, below=9), "attention_mask": torch.ones(2, 3)}
    return model, path_of, lambda: model.loss(words, **inputs)


def albert():
    config = hf.AlbertConfig(
        vocab_size=11, embedding_size=4, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
        max_position_embeddings=6, type_vocab_size=2, **EAGER)
    base = hf.AlbertModel(config)
    return encoder(base, base.embeddings.word_embeddings.weight)


def distilbert():
    config = hf.DistilBertConfig(
        vocab_size=11, dim=8, n_layers=1, n_heads=2, hidden_dim=12, max_position_embeddings=6, **EAGER)
    base = hf.DistilBertModel(config)
    return encoder(base, base.embeddings.word_embeddings.weight, types=False, pooled=False)


def decoder(model):
    return model.eval(), lambda name: name, lambda: cross_entropy(model(ids(2, 3, below=11)).logits)


def gpt2():
    config = hf.GPT2Config(vocab_size=11, n_embd=8, n_layer=1, n_head=2, n_positions=6, **EAGER)
    return decoder(hf.GPT2LMHeadModel(config))


def llama():
    config = hf.LlamaConfig(
        vocab_size=11, hidden_size=16, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2, intermediate_size=12,
        rms_norm_eps=1e-5, rope_theta=10000.0, max_position_embeddings=3, tie_word_embeddings=False, **EAGER)
    return decoder(hf.LlamaForCausalLM(config))


def vit():
    config = hf.ViTConfig(
        image_size=8, patch_size=4, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=12, num_labels=3,
        layer_norm_eps=1e-12, **EAGER)
    model = hf.ViTForImageClassification(config).eval()
    # Names that parameters had before transformers 5, which the published files have.
    older = {
        "vit.layers.": "vit.encoder.layer.", "attention.q_proj": "attention.attention.query", "attention.k_proj": "attention.attention.key",
        "attention.v_proj": "attention.attention.value", "attention.o_proj": "attention.output.dense", "mlp.fc1": "intermediate.dense",
        "mlp.fc2": "output.dense",
    }

    def path_of(name):
        for new, old in older.items():
            name = name.replace(new, old)
        return name

    return model, path_of, lambda: cross_entropy(model(images(2, 3, 8, 8)).logits)


def clip():
    tower = dict(hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2)
    config = hf.CLIPConfig(
        text_config=dict(tower, vocab_size=11, max_position_embeddings=77, projection_dim=6, eos_token_id=2),
        vision_config=dict(tower, image_size=8, patch_size=4, projection_dim=6), projection_dim=6, **EAGER)
    model = hf.CLIPModel(config).eval()
    # The last token of each has the highest id, so its state stands for the text.
    inputs = dict(input_ids=ids(2, 2, below=11), attention_mask=torch.ones(2, 2), pixel_values=images(2, 3, 8, 8))
    return model, lambda name: name, lambda: squared_error(model(**inputs).logits_per_image)


def resnet(block):
    model = torchvision.models.ResNet(block, [1, 1, 1, 1], num_classes=3)
    return model.train(), lambda name: name, lambda: cross_entropy(model(images(4, 3, 64, 64)))


class UNet(nn.Module):
    """The network of milesial's Pytorch-UNet by its structure, with a narrow first level."""

    def __init__(self, channels, classes, width):
        super().__init__()
        level = lambda n: width << n
        self.inc = self.double(channels, width)
        for n in range(1, 5):
            down = nn.Module()
            down.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), self.double(level(n - 1), level(n)))
            setattr(self, f"down{n}", down)
        for n in range(1, 5):
            up = nn.Module()
            up.up = nn.ConvTranspose2d(level(5 - n), level(4 - n), 2, 2)
            up.conv = self.double(level(5 - n), level(4 - n))
            setattr(self, f"up{n}", up)
        self.outc = nn.Module()
        self.outc.conv = nn.Conv2d(width, classes, 1)

    @staticmethod
    def double(channels, out):
        both = nn.Module()
        layers = []
        for i in (channels, out):
            layers += [nn.Conv2d(i, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
        both.double_conv = nn.Sequential(*layers)
        both.forward = both.double_conv.forward
        return both

    def forward(self, x):
        levels = [self.inc.double_conv(x)]
        for n in range(1, 5):
            pool, conv = getattr(self, f"down{n}").maxpool_conv
            levels.append(conv.double_conv(pool(levels[-1])))
        x = levels.pop()
        for n in range(1, 5):
            up = getattr(self, f"up{n}")
            x = up.conv.double_conv(torch.cat([levels.pop(), up.up(x)], 1))
        return self.outc.conv(x)


def unet():
    model = UNet(3, 2, 2)
    return model.train(), lambda name: name, lambda: squared_error(model(images(2, 3, 64, 64)))


def mlp():
    model = nn.Module()
    model.fc1, model.fc2, model.fc3 = nn.Linear(9, 7), nn.Linear(7, 6), nn.Linear(6, 4)
    x = images(5, 9)
    forward = lambda: F.log_softmax(model.fc3(model.fc2(model.fc1(x).relu()).relu()), 1)
    return model, lambda name: name, lambda: F.nll_loss(forward(), classes(5, below=4))


def nn_tutorial():
    model = nn.Module()
    model.layer1, model.layer2 = nn.Linear(4, 4), nn.Linear(4, 2)
    return model, lambda name: name, lambda: squared_error(model.layer2(model.layer1(images(4, 4)).relu()).tanh())


def family(name, build):
    model, path_of, loss = build()
    fill(model, path_of)
    value = loss()
    value.backward()
    gradients = {}
    for key, parameter in model.named_parameters():
        if parameter.grad is None:
            continue
        flat, path = parameter.grad.reshape(-1), path_of(key)
        probe = tensor("probe " + path, [flat.numel()], -1.0, 1.0)
        gradients[path] = [float(f"{flat.norm().item():.9g}"), float(f"{(flat @ probe).item():.9g}")]
    return {"name": name, "loss": float(f"{value.item():.9g}"), "gradients": gradients}


FAMILIES = {
    "bert": bert, "roberta": roberta, "albert": albert, "distilbert": distilbert, "gpt2": gpt2, "llama": llama, "vit": vit, "clip": clip,
    "resnet of basic blocks": lambda: resnet(torchvision.models.resnet.BasicBlock),
    "resnet of bottlenecks": lambda: resnet(torchvision.models.resnet.Bottleneck),
    "unet": unet, "mlp": mlp, "nn": nn_tutorial,
}

if __name__ == "__main__":
    versions = {"torch": torch.__version__, "torchvision": torchvision.__version__, "transformers": hf.__version__}
    print(json.dumps({"versions": versions, "families": [family(*each) for each in FAMILIES.items()]}, indent=1))
