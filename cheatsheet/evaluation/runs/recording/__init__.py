"""The recording of an arm: what its models said, by which its run is repeated byte for byte without them."""
