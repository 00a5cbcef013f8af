"""What catches the attention of people who only watch."""
