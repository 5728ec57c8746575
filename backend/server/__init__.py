"""The MCP server (``cv mcp``): the commands' answers as tools, over standard input and output. Only ``stdio.py`` knows
the SDK.
"""
