# Every target does its own set-up; Node.js 20.19 or later with npm is all that a machine needs.
SHELL := /bin/sh
PORT ?= 8080
NODE ?= node

.DEFAULT_GOAL := help
.PHONY: help install build run gateway gateway-image package release release-check test check unit contract processes parity browser faults e2e memory manifests real-weights clients pictures mutants docs sizes bench bench-text soak format clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

node_modules/.package-lock.json: package.json npm-shrinkwrap.json
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

install: node_modules/.package-lock.json ## Install the dependencies

dist/.built: node_modules/.package-lock.json scripts/build.mjs tsconfig.build.json $(shell find runtime builder gateway templates -type f 2>/dev/null)
	npm run --silent build
	@touch $@

build: dist/.built ## Compile the tools and bundle the server

run: dist/.built ## Serve a model here: make run [MODEL=org/model] [PORT=8080], KEY from the environment
	@$(NODE) dist/builder/main.js serve $(if $(MODEL),$(MODEL),--demo) --port $(PORT)

gateway: dist/.built ## Put the bundled demo model behind the hosted interface: make gateway [ARGS='--catalog models.yaml']
	@$(NODE) dist/gateway/main.js serve --upstream process --port $(PORT) $(ARGS)

gateway-image: dist/.built ## Build an image of the gateway for clusters: make gateway-image [IMAGE=slipway/gateway:latest]
	@$(NODE) scripts/gateway-image.mjs $(IMAGE)

package: dist/.built ## Pack builder and gateway into a tarball for npm install -g
	@npm pack --ignore-scripts --silent

release-check: dist/.built ## Rehearse a release: package, runtime images, bills, checksums, signature; SIZES=write writes docs/sizes.md
	@$(NODE) scripts/release/release.mjs --rehearse $(if $(filter write,$(SIZES)),--write-sizes)

release: dist/.built ## Make a release below dist/release; RELEASE_KEY names the key that signs
	@$(NODE) scripts/release/release.mjs

test: dist/.built ## Run everything: check, unit, contract, processes, parity, browser, clients, faults, e2e, memory, manifests
	@$(NODE) scripts/test.mjs check unit contract processes parity browser clients faults e2e memory manifests real-weights

check: dist/.built ## Types, lint, format, unit and contract tests, generated documents; no Docker
	@$(NODE) scripts/test.mjs check unit contract

e2e: dist/.built ## Images and containers on a real Docker Engine, which is started where it may be
	@$(NODE) scripts/test.mjs e2e

memory: dist/.built ## Memory that was predicted beside what servers take; nothing else may run meanwhile
	@$(NODE) scripts/test.mjs memory

real-weights: dist/.built ## Real pretrained networks in every weight format, beside Python's answers: what packing costs
	@$(NODE) scripts/test.mjs real-weights

parity: dist/.built ## Answers beside those of the Python libraries, on the Node.js of images; on this one, one model of each head
	@$(NODE) scripts/test.mjs parity

browser: dist/.built ## The page that each model serves, in a real browser, for every task
	@$(NODE) scripts/test.mjs browser

faults: dist/.built ## Downloads that are killed, cut and starved of disk, and callers who leave at every step, by seeded schedules
	@$(NODE) scripts/test.mjs faults

manifests: dist/.built ## Manifests before a real API server of Kubernetes, which is built the first time (minutes)
	@$(NODE) scripts/test.mjs manifests

clients: dist/.built ## Published clients of other servers, as they are, against models of each task; needs PyPI and npm
	@$(NODE) scripts/clients/run.mjs

pictures: dist/.built ## Take the pictures of README.md again, from the real page and terminal
	@$(NODE) scripts/pictures.mjs
	@$(NODE) scripts/terminal-picture.mjs

mutants: dist/.built ## Plant faults and say which no test notices: make mutants [FILES='runtime/wire gateway/limits'] [EACH=4] [SEED=1]
	@$(NODE) scripts/mutants/run.mjs $(FILES)

unit contract processes: dist/.built
	@$(NODE) scripts/test.mjs $@

docs: dist/.built ## Write the generated documents and samples again
	@$(NODE) scripts/docs.mjs

sizes: dist/.built ## Write docs/package-sizes.md: tarball, server, pages; fails where one is beyond its limit
	@$(NODE) scripts/sizes/write.mjs

bench: dist/.built ## Measure sizes, memory, start and latency
	@$(NODE) scripts/packing/unpack.mjs
	@$(NODE) bench/all.mjs

bench-text: dist/.built ## Measure text models beside other servers: docs/benchmarks.md
	@$(NODE) scripts/packing/unpack.mjs
	@for family in embeddings classification generation; do $(NODE) bench/$$family.mjs || exit 1; done

soak: dist/.built ## 20,000 mixed and hostile requests; fails when memory grows or a process dies
	@$(NODE) scripts/packing/unpack.mjs
	@$(NODE) bench/soak.mjs

format: node_modules/.package-lock.json ## Format the sources
	@npm run --silent format

clean: ## Remove what builds have made
	rm -rf dist coverage bench/results .cache/fixtures
