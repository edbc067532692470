"""Command lines as people paste them."""

import pytest

from vdiag.logs import argv


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("vllm serve m --tensor-parallel-size 8 \\", {"tensor_parallel_size": 8}),
        ("-tp 8 -dp=2", {"tensor_parallel_size": 8, "data_parallel_size": 2}),
        (
            "--gpu-memory-utilization=0.9 --enforce-eager",
            {"gpu_memory_utilization": 0.9, "enforce_eager": True},
        ),
        ("--no-async-scheduling --port 1", {"async_scheduling": False, "port": 1}),
        (
            """--kv-transfer-config '{"kv_role": "both"}'""",
            {"kv_transfer_config": '{"kv_role": "both"}'},
        ),
        ('--hf-overrides "{a: 1}"', {"hf_overrides": "{a: 1}"}),
        ("--port 8000 | tee log --x 1", {"port": 8000}),
        ("--port 8000 2>&1 > server.log --x", {"port": 8000}),
        ("plain words, and a 'quote left open", {}),
        ("--a b c --d", {"a": "b", "d": True}),
    ],
)
def test_options_are_read_and_nothing_else(text, options):
    """Names have underscores, numbers are numbers, quotes are taken off."""
    assert argv.parse(text) == options
