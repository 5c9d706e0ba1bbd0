"""What keeps a memory safe: secrets, unseen characters, injected instructions, data in prompts, private files."""
