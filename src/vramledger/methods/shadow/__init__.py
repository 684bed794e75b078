"""The same prompts to two servers: how far the answers agree, with intervals, above what one server differs from itself."""
