"""The page of a simulated run: ``vram simulate --html``."""
