"""What a tensor is for, told from its name alone, where no configuration says it.

Patterns follow the names that published checkpoints use; the first that matches decides.
"""

import re
from typing import Final

from vramledger.model.tensor import Role

_ROLES: Final = tuple(
    (re.compile(pattern), role)
    for pattern, role in (
        (r"(^|\.)(mtp|nextn|eagle|medusa)", Role.DRAFT),
        (r"e_score_correction_bias|inv_freq|exp_probs_b|rope_freqs|expert_bias", Role.BUFFER),
        (r"projector|merger|embed_vision|embed_audio|connector|^mm\.", Role.PROJECTOR),
        (r"visual|vision|vit\.|image_|^v\.", Role.VISION),
        (r"audio|speech|^a\.", Role.AUDIO),
        (r"norm|(^|\.)ln_|layer_?norm|(^|\.)ln\.", Role.NORM),
        (r"embed_tokens|(^|\.)w[tp]e\.|word_embeddings|tok_embeddings|token_embd", Role.EMBEDDING),
        (r"position_embd|embed_positions|(^|\.)shared\.weight|token_types", Role.EMBEDDING),
        (r"embed_in|embeddings?\.weight", Role.EMBEDDING),
        (r"lm_head|embed_out|^output\.|(^|\.)output_layer\.|^head\.", Role.HEAD),
        (r"indexer", Role.INDEXER),
        (r"shared_expert|_shexp", Role.SHARED_EXPERT),
        (r"router|gate_inp|(mlp|moe|feed_forward|ffn)\.gate\.|gate\.wg", Role.ROUTER),
        (r"experts?\.|_exps|block_sparse_moe", Role.EXPERT),
        (r"mamba|ssm|conv1d|A_log|dt_bias|linear_attn|time_mix|shortconv", Role.STATE),
        (r"(^|\.)mixer\.|rg_lru|recurrent", Role.STATE),
        (r"attn|attention|[qkvo]_proj|query_key_value|(^|\.)w[qkvo]\.|sinks", Role.ATTENTION),
        (r"mlp|feed_forward|ffn|fc[12]|(up|down|gate)_proj|dense_|(^|\.)w[123]\.", Role.MLP),
    )
)
_LAYER: Final = re.compile(r"(?:^|\.)(?:layers?|h|blocks?|blk)\.(\d+)\.")


def role_of(name: str) -> Role:
    """The role that a tensor's name suggests; `Role.OTHER` where it suggests none."""
    return next((role for pattern, role in _ROLES if pattern.search(name)), Role.OTHER)


def layer_of(name: str) -> int | None:
    """The layer number in a tensor's name."""
    match = _LAYER.search(name)
    return int(match[1]) if match else None
