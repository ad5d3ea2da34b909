"""The product: the public client, the MCP server, and the assembly of all parts."""
