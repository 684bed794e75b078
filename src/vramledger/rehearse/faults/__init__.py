"""What goes wrong on purpose, one file a kind."""
