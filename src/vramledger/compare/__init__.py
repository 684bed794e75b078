"""Two sides beside each other: what differs, whether an effect can be put down to it, and the effects."""
