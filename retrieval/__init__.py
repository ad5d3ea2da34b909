"""Finding documents: the value types that everything else uses, BM25 on Lucene, the document store, reranking.

Nothing that is installed with Counterpoint may report its use. ONNX Runtime and OpenVINO do, from native code and from a process
of their own, and keep an id in the home folder. Every path to them leads through this package, so both are silenced here, before
their import, for this process and those that it starts.
"""

import os
import sys

# Read when ONNX Runtime is loaded; its own `disable_telemetry_events` comes too late and still lets it look up its host.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# OpenVINO has no switch, but goes without this package where it cannot be imported.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
# For the hub's own downloads, which users ask for by naming a model of it.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
