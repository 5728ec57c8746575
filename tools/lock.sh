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

compile pyproject.toml "$@" --output-file requirements.txt
compile pyproject.toml --group dev --constraints requirements.txt "$@" --output-file requirements-dev.txt
# The extra `minilm`, on top of requirements.txt (--no-config: pyproject.toml's overrides would drop it again).
echo 'onnxruntime>=1.20' |
  compile - --no-config --constraints requirements.txt "$@" --output-file requirements-minilm.txt
# The extra `mcp`; its server over HTTP would need uvicorn, which the overrides leave out.
echo 'mcp>=2.3,<3' | compile - --constraints requirements.txt "$@" --output-file requirements-mcp.txt
python3 -I backend/setup/environment.py --rekey requirements.txt requirements-dev.txt
