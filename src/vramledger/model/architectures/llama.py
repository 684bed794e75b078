"""LlamaForCausalLM: the plain pre-norm decoder with grouped-query attention and a gated MLP."""

from vramledger.errors import BadInput
from vramledger.model.architectures.common import stored_dtype
from vramledger.model.cache import CacheLayer, FullAttention
from vramledger.model.config import Config
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.parts import attention, embedding, gated_mlp, head, norm
from vramledger.model.tensor import Tensor


def build(config: Config, model_id: str) -> Model:
    """A Llama-style decoder; ``head_dim`` defaults to hidden / heads as in its class."""
    text = _shape(config)
    tied = config.flag("tie_word_embeddings", default=False)
    return Model(
        id=model_id,
        architecture="LlamaForCausalLM",
        model_type=config.text("model_type"),
        kind=ModelKind.DECODER,
        dtype=stored_dtype(config),
        text=text,
        tensors=tuple(_tensors(config, text, tied)),
        cache_layers=tuple(
            CacheLayer(i, FullAttention(text.kv_heads, text.head_dim, text.head_dim))
            for i in range(text.layers)
        ),
        tied_embeddings=tied,
    )


def _shape(config: Config) -> TextShape:
    hidden = config.integer("hidden_size")
    heads = config.integer("num_attention_heads")
    if not config.has("head_dim") and hidden % heads:
        raise BadInput(
            f"{config.where}: 'hidden_size' ({hidden}) is not a multiple of "
            f"'num_attention_heads' ({heads}) and no 'head_dim' is given."
        )
    return TextShape(
        hidden=hidden,
        layers=config.integer("num_hidden_layers"),
        heads=heads,
        kv_heads=config.integer("num_key_value_heads", heads),
        head_dim=config.integer("head_dim", hidden // heads),
        intermediate=config.integer("intermediate_size"),
        vocab=config.integer("vocab_size"),
        max_positions=config.integer("max_position_embeddings", 2048),
    )


def _tensors(config: Config, text: TextShape, tied: bool) -> list[Tensor]:
    attention_bias = config.flag("attention_bias", default=False)
    mlp_bias = config.flag("mlp_bias", default=False)
    tensors = [embedding("model.embed_tokens", text.vocab, text.hidden)]
    for i in range(text.layers):
        prefix = f"model.layers.{i}."
        tensors += attention(
            f"{prefix}self_attn.",
            i,
            hidden=text.hidden,
            heads=text.heads,
            kv_heads=text.kv_heads,
            head_dim=text.head_dim,
            qkv_bias=attention_bias,
            out_bias=attention_bias,
        )
        tensors += gated_mlp(
            f"{prefix}mlp.", i, hidden=text.hidden, intermediate=text.intermediate, bias=mlp_bias
        )
        tensors += norm(f"{prefix}input_layernorm", text.hidden, layer=i)
        tensors += norm(f"{prefix}post_attention_layernorm", text.hidden, layer=i)
    tensors += norm("model.norm", text.hidden)
    if not tied:
        tensors += head("lm_head", text.vocab, text.hidden)
    return tensors
