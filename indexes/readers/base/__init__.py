"""What every reader needs: files as bytes and lines, the parts of a record, and what becomes of a bad one."""
