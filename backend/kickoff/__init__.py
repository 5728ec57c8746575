"""Loop 1: from the words of a task to the files a person would load."""
