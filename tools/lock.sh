#!/bin/sh
# Re-pin the dependencies: writes requirements.txt, -dev.txt, -minilm.txt and -mcp.txt from pyproject.toml, and their key lines.
# Needs uv (pip install uv). `tools/lock.sh --upgrade` takes newer releases; without it, pins are kept where they can be.
# The environment's own settings for indexes and links are put aside: the hashes must be those of the public index.
set -eu
cd "$(dirname "$0")/.."
unset UV_INDEX UV_DEFAULT_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_CONSTRAINT UV_OVERRIDE

compile() {
  uv pip compile --universal --python-version 3.11 --only-binary :all: --generate-hashes --no-emit-index-url --no-header \
    --no-annotate --quiet "$@"
}

# The other files stand on top of requirements.txt and leave out what it pins.
beyond() { # beyond NAME …
  name=$1
  shift
  compile --constraints requirements.txt $(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements.txt) \
    --output-file "requirements-$name.txt" "$@"
}

key() { python3 -I backend/setup/environment.py --rekey "$1"; }

compile pyproject.toml "$@" --output-file requirements.txt
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
