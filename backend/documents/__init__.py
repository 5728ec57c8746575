"""Reading a document: one Markdown file's bytes in, a ``Document`` out; nothing ever raises."""
