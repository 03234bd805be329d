"""What runs inside vLLM, by its own extension points; nothing is imported here, since all but ``free_text`` needs vLLM.

* the engine's options: ``arguments``; several API processes in front of one core: ``shared_core``
* grammars: ``grammar_backend``, its ``matcher_cache``, and kept masks of free text: ``free_text``
* jump-forward: ``scheduler``, ``forced_tokens``; in the model runner ``known_tokens``, ``worker``, ``gpu_worker``
* a request on its way into vLLM: ``submitting``; a delta on its way out, in the server's process: ``output_socket``,
  ``outputs``, ``pieces``, ``logprobs``
* figures: ``counters``, ``latencies``; kernels: ``norms``
"""
