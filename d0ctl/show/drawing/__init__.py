"""The elements of texts for people: styled spans, sheets of lines, signs and colours."""
