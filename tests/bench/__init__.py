"""What performance promises, measured: `python -m tests.bench`. It prints and judges nothing."""
