"""What a memory is: bullets, experiences, the operations that change them, and where they are kept."""
