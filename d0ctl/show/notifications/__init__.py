"""The texts of mail and notifications, and the list of waiting ones."""
