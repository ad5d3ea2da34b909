"""What every reader needs: files as bytes and lines, the parts of a record, and the handling of bad records."""
