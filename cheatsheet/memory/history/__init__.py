"""The journal and what can be read from it: any past state, who is to blame for a bullet, the way back."""
