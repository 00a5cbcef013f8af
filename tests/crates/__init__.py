"""RO-Crates that d0ctl writes, checked by the public validator (`make crates`)."""
