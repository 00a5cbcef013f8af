"""The chain of binaries: run it, or resume it in the middle."""
