"""Runs inside llama.cpp's environment: a GGUF with its weights rounded, every tensor stored in 16 bits or as it was in 32.

    quantize_gguf.py MODEL.gguf OUT.gguf BITS GROUP

Round to nearest, symmetric, a scale for each GROUP of inputs (0: each row), in the matrices of the layers; BITS 16 rounds nothing. What
differs between the files is the rounding alone: kernels and sizes are the same.
"""

import sys

import numpy as np
from gguf import GGUFReader, GGUFValueType, GGUFWriter
from gguf.quants import dequantize

_ARCHITECTURE = "general.architecture"


def rounded(weights: "np.ndarray", bits: int, group: int) -> "np.ndarray":
    """Weights as `bits` would hold them."""
    most = 2 ** (bits - 1) - 1
    grouped = weights.reshape(-1, group or weights.shape[1])
    scale = np.maximum(abs(grouped).max(axis=1, keepdims=True), 1e-8) / most
    near: np.ndarray = np.clip(np.rint(grouped / scale), -most - 1, most) * scale
    return near.reshape(weights.shape)


def main(source: str, out: str, bits: int, group: int) -> None:
    """Write the other file."""
    reader = GGUFReader(source)
    writer = GGUFWriter(out, reader.fields[_ARCHITECTURE].contents())
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in (_ARCHITECTURE, "general.file_type"):
            continue
        inner = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], inner)
    writer.add_file_type(1)  # mostly 16 bits
    for tensor in reader.tensors:
        weights = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if weights.ndim == 2 and bits < 16 and tensor.name.startswith("blk."):
            weights = rounded(weights, bits, group)
        writer.add_tensor(tensor.name, weights.astype(np.float16) if weights.ndim == 2 else weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
