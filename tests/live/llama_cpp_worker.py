"""Runs inside llama.cpp's environment: its server in this process, until standard input ends.

    llama_cpp_worker.py MODEL.gguf CONTEXT SLOTS

The first line of output is the address. The KV pool is one for all slots, so that they take it from each other.
"""

import sys

import xllamacpp


def main(model: str, context: int, slots: int) -> None:
    """Serve."""
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.n_ctx = context
    settings.n_parallel = slots
    settings.kv_unified = True
    settings.cache_ram_mib = 0  # no prompts kept beside the pool
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.endpoint_metrics = settings.endpoint_props = settings.endpoint_slots = True
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = (
        1  # two spin on a shared machine
    )
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
