"""The drop-box: what is read, rejected and bounded."""
