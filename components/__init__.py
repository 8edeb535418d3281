"""Reusable pieces of the app; `components.figures` serves notebooks too and knows no screen."""
