"""Faults at random moments, by schedules that a seed makes; docs/chaos.md says how to read it."""
