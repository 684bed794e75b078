"""The generated parts of the documents, one module a kind of part."""
