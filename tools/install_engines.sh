#!/usr/bin/env bash
# What the tests use and pip cannot install: PostgreSQL's server, Java for Spark, and Chromium for pages.
# Does nothing where they are there already. Without them their tests are skipped, with the reason.
set -euo pipefail

missing=()
compgen -G "/usr/lib/postgresql/*/bin/postgres" >/dev/null || command -v postgres >/dev/null || missing+=(postgresql)
command -v java >/dev/null || missing+=(openjdk-17-jre-headless)
command -v chromium >/dev/null || missing+=(chromium)
if [[ ${#missing[@]} -eq 0 ]]; then
    exit 0
fi
if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
    echo "Not installed: ${missing[*]}. Install them to run the tests that need them." >&2
    exit 0
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
