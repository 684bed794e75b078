"""Encoders of images and sound in front of a language model, one file a family.

vLLM shards most of them like text layers unless they run data-parallel; the split of each weight
here is the one of vLLM 0.33's default (``--mm-encoder-tp-mode weights``).
"""
