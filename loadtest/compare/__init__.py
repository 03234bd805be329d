"""Strictcall beside vLLM's own server on the same machine: ``python -m loadtest.compare``."""
