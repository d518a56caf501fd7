"""What a caller asks for: filters, words and phrases, points of history, strengths of evidence."""
