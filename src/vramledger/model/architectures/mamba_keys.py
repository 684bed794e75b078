"""Mamba-2 mixers of hybrids whose keys begin with ``mamba_`` (Bamba, Falcon-H1, Granite 4)."""

from vramledger.errors import BadInput
from vramledger.model.blocks.mamba2 import Mamba2
from vramledger.model.config import Config


def read_mamba2(
    config: Config,
    *,
    width: int,
    width_key: str,
    gated_norm: bool = True,
    out_bias: bool | None = None,
) -> Mamba2:
    """The mixer; ``mamba_d_head`` "auto" shares `width`, which `width_key` gave, among the heads.

    Raises:
        BadInput: heads times their width is not the mixer's width.
    """
    heads = config.integer("mamba_n_heads", 128)
    head_dim = (
        width // heads
        if config.raw("mamba_d_head") in (None, "auto")
        else config.integer("mamba_d_head")
    )
    if heads * head_dim != width:
        raise BadInput(
            f"{config.where}: 'mamba_n_heads' ({heads}) times 'mamba_d_head' ({head_dim}) is not "
            f"the mixer's width {width} from {width_key}; correct one of them."
        )
    return Mamba2(
        heads=heads,
        head_dim=head_dim,
        groups=config.integer("mamba_n_groups", 1),
        state=config.integer("mamba_d_state", 256),
        kernel=config.integer("mamba_d_conv", 4),
        bias=config.flag("mamba_proj_bias", default=False),
        conv_bias=config.flag("mamba_conv_bias", default=True),
        out_bias=out_bias,
        gated_norm=gated_norm,
        name="mamba.",
    )


def expanded_mamba2(config: Config, hidden: int) -> Mamba2:
    """The mixer of classes whose width is ``mamba_expand`` times the hidden size."""
    width = config.integer("mamba_expand", 2) * hidden
    return read_mamba2(config, width=width, width_key="'mamba_expand' x 'hidden_size'")
