"""What people read: digest and findings as text, Markdown and HTML. Nothing is decided here."""
