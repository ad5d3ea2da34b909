"""The API's description as a page for people, made from the one for programs (OpenAPI) and from files of the package alone."""
