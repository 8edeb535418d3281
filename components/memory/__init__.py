"""Memory: what history says of a skill."""
