"""What-If-Not: causal planning in the simulator."""
