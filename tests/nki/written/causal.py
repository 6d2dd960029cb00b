"""Causal scores with masks that leave nothing of some tiles, and a table of settings."""
from dataclasses import dataclass

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
from neuronxcc.nki.language import par_dim

WIDE = nl.tile_size.gemm_moving_fmax


@dataclass(frozen=True)
class Config:
    large: int = 1024
    low: float = -9984.0


@nki.jit(mode="trace")
def scores(q, k, at, first, wide, config):
    s = nl.ndarray((par_dim(128), config.large), dtype=nl.float32)
    for j in nl.affine_range(config.large // WIDE):
        below = at * 128 + 127 >= first + j * WIDE
        psum = nl.zeros((par_dim(128), WIDE), dtype=np.float32, buffer=nl.psum)
        psum[:, :] = nl.matmul(q, k[:, nl.ds(j * WIDE, WIDE)], transpose_x=True, mask=below)
        row, column = nl.mgrid[0:128, 0:WIDE]
        s[:, nl.ds(j * WIDE, WIDE)] = nisa.affine_select(
            pred=at * 128 + row >= first + j * WIDE + column, on_true_tile=psum, on_false_value=config.low, dtype=nl.float32, mask=below
        )
        wide[:, j] = nisa.tensor_reduce(np.max, s[:, nl.ds(j * WIDE, WIDE)], axis=(1,))
    return s


@nki.jit
def causal(q, k, config=None):
    config = config or Config()
    head = nl.program_id(axis=0)
    heads, d, n = q.shape
    out = nl.ndarray((heads, n, n), dtype=q.dtype, buffer=nl.shared_hbm)
    for at in nl.affine_range(n // 128):
        q_tile = nl.ndarray((d, 128), dtype=nl.bfloat16)
        q_tile[:, :] = nl.load(q[head, :, nl.ds(at * 128, 128)], dtype=nl.bfloat16) * d**-0.5
        for large in nl.sequential_range(n // config.large):
            columns = nl.ds(large * config.large, config.large)
            k_tile = nl.load(k[head, :, columns], dtype=nl.bfloat16)
            wide = nl.ndarray((par_dim(128), config.large // WIDE), dtype=nl.float32)
            s = scores(q_tile, k_tile, at, large * config.large, wide, config)
            top = nisa.tensor_reduce(np.max, wide[:, :], axis=(1,), negate=True)
            part = nl.ndarray((par_dim(128), 1), dtype=nl.float32)
            p = nisa.activation_reduce(np.exp, s[:, :], bias=top, scale=1.0, reduce_op=nl.add, reduce_res=part, dtype=nl.bfloat16)
            nl.store(out[head, nl.ds(at * 128, 128), columns], p * nl.reciprocal(part))
    return out


if __name__ == "__main__":
    import torch

    q = torch.randn(2, 64, 2048, dtype=torch.bfloat16)
    causal[2](q, q, config=Config(large=1024))
