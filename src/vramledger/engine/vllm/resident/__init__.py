"""What one rank holds of a model's weights: its share, as vLLM's kernels lay it out."""
