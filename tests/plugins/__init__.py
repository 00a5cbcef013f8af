"""Plug-ins: the example package, installed by pip, and packages with faults."""
