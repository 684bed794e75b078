"""How many tokens and sequences an engine holds at once."""

from math import inf

from vramledger.frozen import frozen


@frozen
class Capacity:
    """What the engine holds: each running request takes `fixed` and `per_token` of `total`."""

    sequences: int
    total: float = inf
    fixed: float = 0.0
    per_token: float = 0.0

    def held(self, tokens: float) -> float:
        """Requests of so many tokens each that fill the cache; inf where they take nothing of it."""
        need = self.fixed + self.per_token * tokens
        return self.total / need if need else inf
