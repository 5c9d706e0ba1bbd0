"""What the context is made from: one file for each part of the world, each returning sections and notes."""
