# The steps of `make install` and the demo index, in an image that runs without privileges.
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make gcc g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY pyproject.toml constraints.txt Makefile README.md LICENSE ./
COPY configs configs
COPY eval eval
COPY generation generation
COPY indexes indexes
COPY nli nli
COPY retrieval retrieval
COPY service service
RUN python -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --constraint constraints.txt --editable . \
    && .venv/bin/counterpoint index build indexes/demo/corpus.jsonl --out indexes/built/demo

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 counterpoint
COPY --from=build --chown=counterpoint /app /app
USER counterpoint
WORKDIR /app
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["/app/.venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["/app/.venv/bin/counterpoint", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["--index", "/app/indexes/built/demo"]
