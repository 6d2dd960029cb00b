import jax
import jax.numpy as jnp
from jax_neuronx import nki_call
import neuronxcc.nki.language as nl
from functools import partial
def nki_tensor_add_kernel(a_input, b_input, c_output):
    ix = nl.program_id(0) * 128 + nl.arange(128)[:, None]
    iy = nl.program_id(1) * 512 + nl.arange(512)[None, :]
    nl.store(c_output[ix, iy], value=nl.load(a_input[ix, iy]) + nl.load(b_input[ix, iy]))
def nki_add(a, b):
    return nki_call(nki_tensor_add_kernel, a, b, grid=(a.shape[0] // 128, a.shape[1] // 512), out_shape=jax.ShapeDtypeStruct(a.shape, dtype=a.dtype))
if __name__ == "__main__":
    seed_a, seed_b = jax.random.split(jax.random.PRNGKey(42))
    a = jax.random.uniform(seed_a, (256, 1024), dtype=jnp.bfloat16)
    b = jax.random.uniform(seed_b, (256, 1024), dtype=jnp.bfloat16)
    out = nki_add(a, b)
    print(out)
