"""The page of a shadow comparison."""
