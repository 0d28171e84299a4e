"""hitl: a coding assistant for the terminal in which nothing happens that its user did not allow."""
