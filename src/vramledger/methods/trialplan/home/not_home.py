"""That a copy is not where it should be."""


class NotHome(Exception):
    """A file is not at home; the text says why, without a full stop. Trials go on."""
