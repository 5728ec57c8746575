#!/bin/sh
# Re-pin the dependencies: writes requirements.txt, -dev.txt, -minilm.txt and -mcp.txt from pyproject.toml, and their key lines.
# Needs uv (pip install uv) and Python 3.11 or later. `tools/lock.sh --upgrade` takes newer releases; without it pins are kept
# where they can be, and so are hashes: for a Python that is new in tools/wheels.py, take the `--hash` lines away first
# (sed -i -e '/--hash=/d' -e 's/ \\$//' requirements*.txt).
# The environment's own settings for indexes and links are put aside: the hashes must be those of the public index.
set -eu
cd "$(dirname "$0")/.."
unset UV_INDEX UV_DEFAULT_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_CONSTRAINT UV_OVERRIDE
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

pins() { uv pip compile --universal --python-version 3.11 --only-binary :all: --no-header --quiet "$@"; }

compile() { pins --generate-hashes --no-emit-index-url --no-annotate "$@"; }

# Only the hashes of wheels that a supported Python takes. Which file a hash belongs to stands in a pylock.toml of the same
# pins, with addresses, so it stays in the temporary folder.
slim() { # slim FILE
  pins "$1" --no-deps --no-config --format pylock.toml --output-file "$scratch/pylock.toml"
  python3 -I tools/wheels.py "$1" "$scratch/pylock.toml"
  rm "$scratch/pylock.toml"
}

# The other files stand on top of requirements.txt and leave out what it pins.
beyond() { # beyond NAME …
  name=$1
  shift
  compile --constraints requirements.txt $(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements.txt) \
    --output-file "requirements-$name.txt" "$@"
  slim "requirements-$name.txt"
}

key() { python3 -I backend/setup/environment.py --rekey "$1"; }

compile pyproject.toml "$@" --output-file requirements.txt
slim requirements.txt
key requirements.txt
beyond dev pyproject.toml --group dev "$@"
read -r _ _ base <requirements.txt
{ printf '# on top of requirements.txt, key: %s\n' "$base"; grep -v '^# ' requirements-dev.txt; } >requirements-dev.new
mv requirements-dev.new requirements-dev.txt
key requirements-dev.txt
# The extra `minilm` (--no-config: pyproject.toml's overrides would drop it again).
echo 'onnxruntime>=1.20' | beyond minilm - --no-config "$@"
# The extra `mcp`; its server over HTTP would need uvicorn, which the overrides leave out.
echo 'mcp>=2.3,<3' | beyond mcp - "$@"
