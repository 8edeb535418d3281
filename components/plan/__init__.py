"""The plan graph on a canvas, drawn and edited."""
