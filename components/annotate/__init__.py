"""Annotate: a plan graph, edited and previewed."""
