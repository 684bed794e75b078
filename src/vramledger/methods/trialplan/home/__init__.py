"""Copies of what trials have recorded, on another disk or another machine, as it goes."""
