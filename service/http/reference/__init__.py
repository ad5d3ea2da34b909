"""The API's description as a page for people, made only from the one for programs (OpenAPI) and files of the package."""
