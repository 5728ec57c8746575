"""Text to vectors. The default is the static table that ships inside; others come by config from Chroma's registry."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import replace

from backend.errors import CvError, UsageError
from backend.schemas.config import Config, Embedding
from backend.tree.extras import MINILM, require
from backend.tree.home import chosen, is_approved

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Embedder(Protocol):
    """``name`` says which space the vectors live in: vectors of two names are never mixed in a store."""

    @property
    def name(self) -> str:
        """Which space the vectors live in."""
        ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """A row for each text, of length 1 (or 0 where nothing in it is known). Raises ``CvError``."""
        ...


def embedder_name(embedding: Embedding) -> str:
    """The name of the embedder that ``embedding`` asks for, without loading it."""
    if embedding.name == "static":
        return "static-" + _static_version()
    if embedding.name == "minilm":
        return "minilm-windows"  # plain "minilm" was a chunk's first 256 word pieces
    if not embedding.options:
        return embedding.name
    return f"{embedding.name} {msgspec.json.encode(embedding.options, order='sorted').decode()}"


def load_embedder(embedding: Embedding, root: Path) -> Embedder:
    """The embedder that the config of ``root`` asks for.

    Raises ``CvError`` when its package, key or name is missing, or when nobody on this machine has chosen it.
    """
    if not is_approved(root, embedding):
        raise CvError(
            f"config.json: embedding.name: {embedding.name} came with the tree and may send documents elsewhere; "
            f"to use it on this machine: cv config set embedding.name {embedding.name}"
        )
    check_installed(embedding.name)
    name = embedder_name(embedding)
    return _Static(name) if embedding.name == "static" else _FromChroma(name, embedding)


def serving(config: Config, held: str, root: Path) -> Config:
    """``config`` with the embedder called ``held``, whose vectors the index has, instead of one whose vectors are being made.

    Where ``held`` can't be told any more (its name is all that is known), with the one that ships inside.
    """
    if not held or embedder_name(config.embedding) == held:
        return config
    candidates = [Embedding(), Embedding(name="minilm"), chosen(root, Embedding)]
    for embedding in candidates:
        if isinstance(embedding, Embedding) and embedder_name(embedding) == held:
            return replace(config, embedding=embedding)
    return replace(config, embedding=Embedding())


def load_held(config: Config, held: str, root: Path) -> Embedder:
    """The embedder whose vectors the index has, whatever the config asks for by now. Raises ``CvError`` as ``load_embedder``, and
    where it can't be had any more.
    """
    embedding = serving(config, held, root).embedding
    name = embedder_name(embedding)
    if held and name != held:
        raise CvError(
            f"the index's vectors are from {held}, which can't be used here any more; 'cv sync' makes new ones"
        )
    return load_embedder(embedding, root)


class Blank:
    """For chunks that come while the embedder ``name`` can't be had and another's vectors are still being made: ``length`` zeros
    each, which are like nothing.
    """

    def __init__(self, name: str, length: int) -> None:
        self.name, self._length = name, length

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """A row of zeros for each text."""
        import numpy as np

        return np.zeros((len(texts), self._length), np.float32)


class _Static:
    def __init__(self, name: str) -> None:
        from backend.freshness.static_model import StaticModel

        self.name = name
        self._model = StaticModel.load()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._model.embed(texts)


class _FromChroma:
    """An embedding function of Chroma's registry. Its own checks and downloads happen at the first ``embed``."""

    def __init__(self, name: str, embedding: Embedding) -> None:
        self.name = name
        self._function = _minilm() if embedding.name == "minilm" else chroma_function(embedding)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import numpy as np

        try:
            rows = np.asarray(self._function(list(texts)), dtype=np.float32)
        except CvError:
            raise
        except Exception as error:  # whatever a provider's client raises; named for the person
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise CvError(
                f"embedding.name: the embedder {self.name} failed ({reason}). Mend its settings, or go back to the "
                "one that ships inside: cv config set embedding.name static"
            ) from error
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))


def _minilm() -> Any:
    """all-MiniLM-L6-v2, made to read texts to their end. Its tokenizer is BERT's uncased one, as the static table's."""
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2
    from tokenizers import Tokenizer

    from backend.freshness.minilm import MiniLM
    from backend.freshness.static_model import MODEL_FOLDER

    return MiniLM(ONNXMiniLM_L6_V2(), Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json")))


def chroma_function(embedding: Embedding) -> Any:
    """Chroma's embedding function for ``embedding``; the default one (all-MiniLM-L6-v2) for ``static``, whose space it is."""
    from chromadb.utils import embedding_functions

    if embedding.name in ("static", "minilm"):
        return embedding_functions.DefaultEmbeddingFunction()
    registry = embedding_functions.known_embedding_functions
    if embedding.name not in registry:
        raise CvError(
            f'config.json: embedding.name: expected "static", "minilm" or one of Chroma\'s '
            f"({', '.join(sorted(registry))}), got {embedding.name!r}"
        )
    if embedding.api_key_env and not os.environ.get(embedding.api_key_env):
        raise CvError(
            f"config.json: embedding.api_key_env: the environment variable {embedding.api_key_env} is not set"
        )
    options = dict(embedding.options)
    if embedding.api_key_env:
        options["api_key_env_var"] = embedding.api_key_env
    try:
        return registry[embedding.name](**options)
    except Exception as error:  # a missing package or argument, in the provider's words
        raise CvError(f"config.json: embedding: {embedding.name}: {error}") from error


def check_name(name: str) -> None:
    """Raise ``UsageError`` unless ``name`` is an embedder that there is. Looks into Chroma's registry only where it must."""
    if name in ("static", "minilm"):
        return
    from chromadb.utils import embedding_functions

    known = sorted(embedding_functions.known_embedding_functions)
    if name not in known:
        raise UsageError(
            f'embedding.name: expected "static", "minilm" or one of Chroma\'s ({", ".join(known)}), got {name!r}'
        )


def check_installed(name: str) -> None:
    """Raise ``CvError``, with the line that installs it, where the embedder ``name`` needs a package that is not there."""
    if name == "minilm":
        try:
            require(MINILM)
        except CvError as error:
            raise CvError(f"embedding.name: minilm: {error}") from error


def _static_version() -> str:
    """The first letters of the table's checksum, from its provenance: another table is another space."""
    from importlib.resources import files

    provenance = msgspec.json.decode(
        files("backend.freshness").joinpath("model/PROVENANCE.json").read_bytes()
    )
    return str(provenance["sha256"]["table.npy"])[:8]
