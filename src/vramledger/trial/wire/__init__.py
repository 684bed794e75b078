"""HTTP/1.1 to an OpenAI-compatible server: bytes are stamped when they arrive and read when there is time."""
