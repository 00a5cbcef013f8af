"""Boxes over a screen."""
