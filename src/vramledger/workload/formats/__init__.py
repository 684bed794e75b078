"""The log formats, one file each. A format is that file and its row in `registry.NAMES`."""
