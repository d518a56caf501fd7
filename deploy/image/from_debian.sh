#!/usr/bin/env bash
# Builds and tests the image on a machine that reaches no image registry. debootstrap makes the base; Debian's buildah,
# podman and runc do the rest. Needs root, and apt to install missing packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# vfs and chroot ask least of the machine: no overlay of file systems, no name spaces. Nothing is taken from what earlier
# builds left, and nothing is left.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
store="--storage-driver vfs --root $folder/storage --runroot $folder/run"

timed() {
  local began=$SECONDS
  "${@:2}"
  printf '%s: %d s\n' "$1" $((SECONDS - began))
}

tools() {
  type buildah debootstrap podman runc >/dev/null 2>&1 && return
  { apt-get update -q && apt-get install -q --yes --no-install-recommends buildah debootstrap podman runc; } \
    >"$folder/apt.log" || { tail "$folder/apt.log" && return 1; }
}

timed manifests make image-checks .venv/.dev
timed tools tools
# shellcheck disable=SC2086  # options are words
timed base .venv/bin/python -m deploy.image.base buildah $store
mounts=$(.venv/bin/python -m deploy.image.mounts "$folder")
timed build make image BUILDER="buildah $store" ARGS="--isolation chroot --pull-never $mounts"
timed test make image-test RUNNER="podman $store --runtime runc"
