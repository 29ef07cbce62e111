#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# schemas.sh: of `make nightly`. Every field of the manifests in deploy/ is one that its API has, of a type that it takes:
# Kubernetes' from the npm package kubernetes-models, Agones' from schemas/agones.d.ts. Needs npm's registry once.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
mkdir -p "${BUILD:-build}/manifest-tests"
cd "${BUILD:-build}/manifest-tests" || exit 1
command -v npm >/dev/null || { echo "skip: no npm here"; exit 0; }
cp "$root"/tests/program/schemas/* .
if [ ! -e node_modules ] || ! cmp -s package-lock.json node_modules/.lock; then
    npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || { echo "skip: npm's registry: $(tail -n 1 npm.log)"; exit 0; }
    cp package-lock.json node_modules/.lock
fi
node check.mjs "$root"/deploy/kubernetes/*.yaml "$root"/deploy/agones/*.yaml
