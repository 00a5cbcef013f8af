"""Connections of two nodes without the control host (docs/protocol.md)."""
