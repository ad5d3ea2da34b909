# The steps of `make install` and the demo index, in an image that runs without privileges on a read-only root.
FROM python:3.11.7-slim-bookworm AS build
# Debian keeps no old versions of a package, so a pinned one would soon not build; none of them reaches the image that serves.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends make gcc g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY pyproject.toml constraints.txt Makefile README.md LICENSE ./
COPY configs configs
COPY counterpoint counterpoint
COPY eval eval
COPY generation generation
COPY indexes indexes
COPY nli nli
COPY retrieval retrieval
COPY service service
RUN python -m venv .venv \
    && .venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check --constraint constraints.txt --editable ".[cluster,mcp]" \
    && .venv/bin/counterpoint index build indexes/demo/corpus.jsonl --out indexes/built/demo --overwrite --dense \
        --description 'summaries written for demonstration, not PubMed'

FROM python:3.11.7-slim-bookworm
RUN useradd --no-create-home --home-dir /tmp --shell /usr/sbin/nologin --uid 10001 counterpoint
# Owned by root: whoever gets into the service can change nothing of it.
COPY --from=build /app /app
# The demo, until a volume with an index of your own lies over it.
COPY --from=build /app/indexes/built/demo /index
# What is kept lies in /tmp, which is memory where the root is read-only: less of it than on a disk.
ENV COUNTERPOINT_INDEX=/index \
    COUNTERPOINT_CACHE_MB=128 \
    COUNTERPOINT_HOST=0.0.0.0 \
    COUNTERPOINT_PORT=8000 \
    COUNTERPOINT_LOG_FORMAT=json \
    COUNTERPOINT_FIRST_SCOPE=admin \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp
USER 10001:10001
WORKDIR /app
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --retries=3 \
    CMD ["/app/.venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["/app/.venv/bin/counterpoint"]
CMD ["serve"]
