import neuronxcc.nki as nki, neuronxcc.nki.language as nl, neuronxcc.nki.isa as nisa, neuronxcc.nki.compiler as ncc
import numpy as np
from neuronxcc.nki.language import par_dim

@nki.compiler.skip_middle_end_transformations
@nki.compiler.enable_stack_allocator
@nki.jit
def interleave(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    buf = nl.ndarray((8, par_dim(128), 512), dtype=a.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))
    ps = nl.ndarray((8, par_dim(128), 128), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(4,)))
    for i in nl.affine_range(8):
        buf[i] = nl.load(a[i * 128:(i + 1) * 128, :])
        ps[i] = nisa.nc_matmul(buf[i][:, 0:128], buf[i][:, 128:256])
        buf[i][:, 0:128] = nisa.tensor_copy(ps[i])
        nl.store(out[i * 128:(i + 1) * 128, :], buf[i])
    return out
if __name__ == "__main__":
    interleave(np.zeros((1024, 512), np.float32))
