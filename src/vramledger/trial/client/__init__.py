"""The process that sends a load and keeps what became of it."""
