"""``python -m vramledger`` is ``vram``."""

from vramledger.cli.main import main

main()
