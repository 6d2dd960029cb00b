from neuronxcc import nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
from dataclasses import dataclass

@dataclass(frozen=True)
class ConvConfig:
    width: int = 3
    tile: int = 512
    @property
    def halo(self):
        return self.width - 1

CFG = ConvConfig()

def _window(img, row, cfg):
    """rows that one tile needs"""
    return nl.load(img[row * 128 + nl.arange(128)[:, None], nl.arange(cfg.tile + cfg.halo)[None, :]])

@nki.jit(mode="benchmark", warmup=5, iters=20)
def depthwise_conv1d(img_ref, filter_ref, *, cfg=CFG, **kwargs):
    C, L = img_ref.shape
    out = nl.ndarray((C, L - cfg.halo), dtype=img_ref.dtype, buffer=nl.shared_hbm)
    for c in nl.affine_range(C // 128):
        w = nl.load(filter_ref[nl.ds(c * 128, 128), :])
        x = _window(img_ref, c, cfg)
        acc = nl.zeros((nl.par_dim(128), cfg.tile), dtype=nl.float32)
        for k in range(cfg.width):
            acc[...] = nisa.scalar_tensor_tensor(data=x[:, nl.ds(k, cfg.tile)], op0=nl.multiply, operand0=w[:, k:k + 1], op1=nl.add, operand1=acc)
        nl.store(out[c * 128:(c + 1) * 128, :], acc)
    return out

if __name__ == "__main__":
    import numpy as np
    img = np.zeros((256, 514), dtype=np.float32); f = np.zeros((256, 3), dtype=np.float32)
    depthwise_conv1d(img, f)
