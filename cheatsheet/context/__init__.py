"""What goes into a prompt: sections, and the compiler that fits them into a token budget."""
