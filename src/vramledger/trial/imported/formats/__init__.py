"""One module a format of another load generator; `trial.imported.registry` lists them."""
