"""What a mirror is asked to do."""

from vramledger.frozen import frozen
from vramledger.methods.shadow.asked import ServerAsked


@frozen
class MirrorAsked:
    """A proxy in front of `a` on `host` and `port` (0 takes a free one), which also puts `share` (0..1) of the requests to `b`.

    `for_s` is how long, None until somebody ends it; `at_once` is the most requests to B at a time, beyond which none is drawn;
    `repeat` is the share of the drawn ones that A answers twice; `within` is half the interval that a full switch wants;
    `pass_keys` sends the keys of clients to B too; `grace_s` is how long answers under way may take at the end.
    """

    a: ServerAsked
    b: ServerAsked
    host: str = "127.0.0.1"
    port: int = 0
    share: float = 0.05
    seed: int = 0
    for_s: float | None = None
    at_once: int = 16
    repeat: float = 0.0
    threshold: float | None = None
    within: float = 0.01
    timeout_s: float = 300.0
    pass_keys: bool = False
    grace_s: float = 30.0
