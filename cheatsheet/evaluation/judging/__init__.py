"""What an answer says, and whether that is right: one module for each kind of answer."""
