# style before nki.jit returned values: output passed as argument
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np
def simple_kernel(a_ptr, b_ptr, out_ptr):
    ix = nl.arange(128)[:, None]
    iy = nl.arange(256)[None, :]
    a = nl.load(a_ptr[ix, iy]); b = nl.load(b_ptr[ix, iy])
    nl.store(out_ptr[ix, iy], value=nl.add(a, b))
if __name__ == "__main__":
    a = np.ones((128, 256), np.float32); out = np.zeros_like(a)
    fn = nki.baremetal(simple_kernel)
    fn(a, a, out)
    np.testing.assert_allclose(out, a + a)
