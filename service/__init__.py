"""The product: the public client, the MCP server, and everything put together."""
