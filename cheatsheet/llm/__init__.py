"""Language models behind one protocol; every real call is routed by LiteLLM."""
