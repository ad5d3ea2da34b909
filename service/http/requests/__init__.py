"""What every request passes through and every route uses: keys and limits, problems, response formats, streams."""
