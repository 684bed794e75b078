"""The OpenAI API as vLLM speaks it: what a body asks, what an answer looks like, what is refused."""
