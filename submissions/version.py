"""The version that a result's signature names."""

VERSION = "0.1.0"
