"""What runs models: OpenVINO or ONNX Runtime, PyTorch, Hugging Face files, chat servers."""
