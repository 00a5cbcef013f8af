"""The queue of events: an MQTT broker, and the thread that carries its messages to the disk."""
