"""GGUF checkpoints: the metadata keys of llama.cpp as a model; one row an architecture."""
