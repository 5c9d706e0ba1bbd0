"""The three roles of Agentic Context Engineering (arXiv 2510.04618, section 3): Generator, Reflector, Curator."""
