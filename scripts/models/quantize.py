"""Smaller forms of a graph, as the tools that publish models on the hub make them."""

import logging

import onnx
from onnx import TensorProto
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

BLOCK = 32
# It names each node that it looks at.
logging.getLogger("onnxruntime.quantization.matmul_nbits_quantizer").setLevel(logging.WARNING)


def to_int8(source, target):
    """Dynamic: matrices in int8 ahead of time, activations as they come."""
    # Types can't be inferred through nodes that are ONNX Runtime's own.
    options = {"DefaultTensorType": TensorProto.FLOAT}
    quantize_dynamic(source, target, weight_type=QuantType.QInt8, extra_options=options)


def to_int4(source, target):
    """Matrix products as MatMulNBits in blocks of 32; embeddings stay as they are."""
    quantizer = MatMulNBitsQuantizer(onnx.load(str(source)), block_size=BLOCK, is_symmetric=True, bits=4)
    quantizer.process()
    quantizer.model.save_model_to_file(str(target), use_external_data_format=False)
