import nki
import nki.language as nl
import nki.isa as nisa

@nki.jit
def update_kv(cache, new, pos):
    B, S, D = cache.shape
    # in place
    idx = nl.ndarray((B, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=idx, src=pos)
    x = nl.ndarray((B, D), dtype=new.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=x, src=new.reshape((B, D)))
    rows = nl.ndarray((B, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=rows, pattern=[[1, 1]], offset=0, channel_multiplier=S)
    nisa.tensor_tensor(dst=rows, data1=rows, data2=idx, op=nl.add)
    nisa.dma_copy(dst=cache.reshape((B * S, D)).ap(pattern=[[D, B], [1, D]], offset=0, vector_offset=rows, indirect_dim=0), src=x)
    return cache

if __name__ == "__main__":
    import numpy as np
    update_kv(np.zeros((8, 1024, 128), dtype=nl.bfloat16), np.zeros((8, 1, 128), dtype=nl.bfloat16), np.zeros((8, 1), np.int32))
