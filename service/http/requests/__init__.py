"""What every request passes and every route uses: keys and limits, problems, the forms of a response, streams."""
