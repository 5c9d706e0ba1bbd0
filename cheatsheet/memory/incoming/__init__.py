"""What new words go through before they are kept: kinds and hooks of the user, cleaning, compression, quarantine."""
