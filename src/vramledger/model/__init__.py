"""Models: configurations and file headers become a `Model` of tensors and cache layers."""
