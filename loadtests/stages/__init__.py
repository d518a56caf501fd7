"""What is measured: each stage takes a `Bench` of one size and gives plain values for JSON."""
