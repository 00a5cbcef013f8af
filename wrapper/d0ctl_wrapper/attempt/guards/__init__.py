"""Guards over a running binary: limits, looping, disk, load, logs."""
