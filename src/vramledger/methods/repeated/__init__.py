"""One trial, repeated: what several runs of the same load say together, and two servers in turn."""
