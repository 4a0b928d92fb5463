"""portaudit: audits a code base for what stands between CUDA and ROCm."""

__version__ = "0.1.0"
