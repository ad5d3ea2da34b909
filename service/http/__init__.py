"""The HTTP service: the app, its routes and schemas, what every request passes, and the page."""
