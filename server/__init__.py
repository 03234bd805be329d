"""The HTTP server. What every protocol shares is here; each protocol has a folder. Imports nothing by itself.

app, envelope, auth, health        the application, and what surrounds every request
bodies, strict_json, errors        bytes in, faults out
asking → planning → plan           what is asked, and what the engine needs for it
compiler, compile_worker           schemas compiled off the event loop
generation, gate, guarantee        one choice's life, and the last check of its calls
outbox, event_stream               streams: fan-in of choices, slow and vanished clients
admission, metrics, settings       load, counters, options
engine, engine_client, process     the engine, and the life of the server's process
"""
