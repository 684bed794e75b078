"""What names the content of a block: its tokens and all before them.

vLLM hashes a chain of token blocks. Here a block's name is the identity that the workload gives its
prefix, with the salt that keeps tenants apart; a block that nobody shares is named after its request.
"""

from vramledger.simulate.request import Request

Key = tuple[int, int, int]  # (group, salt or owner, identity), private blocks with owner < 0


def block_key(request: Request, index: int, group: int) -> Key:
    """The name of the content of block `index` of a request in one KV cache group."""
    prefix = request.arrival.prefix
    if index < len(prefix):
        return (group, request.arrival.salt, prefix[index])
    return (group, -1 - request.rank, index)


def spread_prefix(identities: tuple[int, ...], recorded: int, block_size: int) -> tuple[int, ...]:
    """Identities of recorded prefix blocks as identities of the engine's smaller blocks.

    Args:
        identities: one for each recorded block, a chain from the start.
        recorded: tokens of a recorded block, a multiple of `block_size`.
        block_size: tokens of an engine's block.
    """
    pieces = recorded // block_size
    return tuple(identity * pieces + piece for identity in identities for piece in range(pieces))
