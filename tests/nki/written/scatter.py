import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt


@nki.jit
def write_rows(table: nt.mutable_tensor, rows: nt.tensor, values: nt.tensor):
    """Rows of values written where the numbers of rows say."""
    i_p, i_f = nl.arange(128)[:, None], nl.arange(128)[None, :]
    for tile in nl.affine_range(2):
        number = nl.load(rows[tile * 128 + i_p, nl.arange(1)[None, :]])
        value = nl.load(values[tile * 128 + i_p, i_f])
        nl.store(table[number[i_p, 0], i_f], value=value)
    return table


write_rows(np.zeros((1000, 128), np.float32), np.zeros((256, 1), np.int32), np.zeros((256, 128), np.float32))
