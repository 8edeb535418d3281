"""What the command line, the report, the pages and the figures write the same way."""
