"""What texts for people are made of: styled spans, sheets of lines, signs and colours."""
