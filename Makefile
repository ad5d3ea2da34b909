# Everything needs only Python 3.11 or newer and make: `make serve` and `make test` do all their own set-up.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEMO := indexes/built/demo

.PHONY: install serve test test-all chromium cluster cluster-stop test-cluster bench test-llm lint examples sbom clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Counterpoint needs Python 3.11 or newer; name one with: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[cluster,dev,lab,mcp]'
	touch $@

# An index is made anew when its corpus changes; a half-made one is never opened.
$(DEMO)/manifest.json: $(INSTALLED) indexes/demo/corpus.jsonl
	$(BIN)/counterpoint index build indexes/demo/corpus.jsonl --out $(DEMO) --overwrite --dense \
		--description 'summaries written for demonstration, not PubMed'

# Beside the demo, the libraries in the user's own data folder; others with: make serve LIBRARIES=/path/to/folder
LIBRARIES ?= $(or $(COUNTERPOINT_LIBRARIES),$(shell $(BIN)/python -c 'from retrieval.core.user_folders import find_user_folder; print(find_user_folder("data") or "libraries")'))
serve: $(DEMO)/manifest.json
	@mkdir -p "$(LIBRARIES)"
	$(BIN)/counterpoint serve --index $(DEMO) --libraries "$(LIBRARIES)" --port $(PORT)

# Modules beside each other, a core each, and no more than four: each loads the models for itself.
test: $(INSTALLED)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

# Every test but those that need a cluster or a language model, the slow ones and those in a browser too; none may be skipped
# without a reason that counts (tests/helpers/missing.py). Two processes: some tests start services of their own.
test-all: $(INSTALLED) chromium
	$(BIN)/python -m pytest -m 'not cluster and not llm' -n 2 --dist loadfile --skips-fail

chromium:
	@command -v chromium || command -v chromium-browser || \
		{ export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
		{ echo "The browser's tests need Chromium, which could not be installed here: install it (Debian: apt install chromium)."; exit 2; }

# Three real OpenSearch nodes on this machine, at ports 9200 to 9202 (docs/cluster.md); needs Maven once, to fetch their jars.
cluster: $(INSTALLED)
	$(BIN)/python -m bench.cluster start

cluster-stop: $(INSTALLED)
	$(BIN)/python -m bench.cluster stop

# Against three nodes of their own, at ports 9270 to 9272, started and stopped by the tests.
test-cluster: $(INSTALLED)
	$(BIN)/python -m pytest -m cluster tests/cluster --timeout 1200

# Speed and memory of a service over the index named (make bench INDEX=/path/to/index); more with BENCH="--asked 20 …".
INDEX ?= $(DEMO)
bench: $(DEMO)/manifest.json
	$(BIN)/python -m bench --index $(INDEX) $(BENCH)

# What talks to a language model, with a real one: any server of chat completions whose address COUNTERPOINT_TEST_LLM gives.
test-llm: $(INSTALLED)
	$(BIN)/python -m pytest -m llm -n 0 -rs

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if [ -x $(BIN)/hadolint ]; then set -x; $(BIN)/hadolint Dockerfile; else echo "no hadolint for this machine: Dockerfile not looked at"; fi

# The answers that the API's description shows (/docs, openapi.json), from the demo index and the shipped models.
examples: $(DEMO)/manifest.json
	$(BIN)/python -m tests.helpers.api_examples $(DEMO)

# Every installed package with its version and licence (docs/licences.md). The tool stays in an environment of its own.
sbom: $(INSTALLED)
	$(PYTHON) -m venv build/sbom
	build/sbom/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	build/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-file build/sbom.json $(BIN)/python

clean:
	rm -rf $(VENV) indexes/built build *.egg-info
