"""Runs inside llama.cpp's environment: a tiny Llama of random weights with a given tokenizer, as one GGUF file.

    make_gguf.py TOKENIZER.json OUT.gguf

Keys and tensor names: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np

WIDTH, LAYERS, HEADS, KV_HEADS, FEED_FORWARD, CONTEXT = 64, 2, 4, 2, 128, 8192
CONTROL = ("<|unknown|>", "<|begin|>", "<|end|>")
TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"


def main(tokenizer: Path, out: Path) -> None:
    """Write the file."""
    told = json.loads(tokenizer.read_text())["model"]
    words = [word for word, _ in sorted(told["vocab"].items(), key=lambda entry: entry[1])]
    tokens = [*words, *CONTROL]
    writer = gguf.GGUFWriter(str(out), "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [gguf.TokenType.CONTROL if token in CONTROL else gguf.TokenType.NORMAL for token in tokens]
    )
    writer.add_token_merges(
        [merge if isinstance(merge, str) else " ".join(merge) for merge in told["merges"]]
    )
    writer.add_unk_token_id(tokens.index(CONTROL[0]))
    writer.add_bos_token_id(tokens.index(CONTROL[1]))
    writer.add_eos_token_id(tokens.index(CONTROL[2]))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    add_tensors(writer, len(tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_tensors(writer: gguf.GGUFWriter, tokens: int) -> None:
    """Random weights."""
    draw = np.random.default_rng(0)
    shapes = {"token_embd": (tokens, WIDTH), "output": (tokens, WIDTH)}
    kv = WIDTH // HEADS * KV_HEADS
    for layer in range(LAYERS):
        for name, shape in (
            ("attn_q", (WIDTH, WIDTH)),
            ("attn_k", (kv, WIDTH)),
            ("attn_v", (kv, WIDTH)),
            ("attn_output", (WIDTH, WIDTH)),
            ("ffn_gate", (FEED_FORWARD, WIDTH)),
            ("ffn_up", (FEED_FORWARD, WIDTH)),
            ("ffn_down", (WIDTH, FEED_FORWARD)),
        ):
            shapes[f"blk.{layer}.{name}"] = shape
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, np.float32))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for name, shape in shapes.items():
        weights = (draw.standard_normal(shape) * 0.05).astype(np.float16)
        writer.add_tensor(f"{name}.weight", weights)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
