"""What is read of the database for job files, and for what they say."""
