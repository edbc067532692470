"""Reading Python reprs without evaluating them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vdiag.logs.pyrepr import dig, flat, parse


def test_a_config_line_is_read_with_its_enums_and_calls():
    """The engine's config line holds strings, enums, calls and nested dicts."""
    text = (
        "model='/models/x', dtype=torch.bfloat16, tensor_parallel_size=8, enforce_eager=False, "
        "structured=Config(backend='auto', n=None), "
        "compilation_config={'cudagraph_mode': <CUDAGraphMode.FULL_AND_PIECEWISE: (2, 1)>, "
        "'pass_config': {'fuse_allreduce_rms': True}}"
    )

    value = parse(text)

    assert value["model"] == "/models/x"
    assert value["dtype"] == "torch.bfloat16"
    assert value["tensor_parallel_size"] == 8
    assert value["structured"] == {"__name__": "Config", "backend": "auto", "n": None}
    assert dig(value, ["compilation_config", "cudagraph_mode"]) == (
        True,
        "CUDAGraphMode.FULL_AND_PIECEWISE",
    )
    assert dig(value, ["compilation_config", "pass_config", "fuse_allreduce_rms"]) == (True, True)


def test_keys_inside_a_json_string_are_reached():
    """A --kv-transfer-config given as JSON stays a string in the args line."""
    value = parse(
        '{\'kv_transfer_config\': \'{"kv_connector":"HiSparseConnector",'
        '"kv_connector_extra_config":{"host_pool_gib":128}}\'}'
    )

    path = ["kv_transfer_config", "kv_connector_extra_config", "host_pool_gib"]
    assert dig(value, path) == (True, 128)
    assert "HiSparseConnector" in flat(value)


@pytest.mark.parametrize("end", range(0, 60, 3))
def test_a_cut_line_gives_what_was_read(end):
    """A line that was cut anywhere is read as far as it goes."""
    text = "{'model': '/models/x', 'tensor_parallel_size': 8, 'more': [1, 2]}"

    value = parse(text[:end])

    assert value is None or isinstance(value, dict | list | str | int)


def test_a_missing_path_is_not_found():
    """A key that is not there is told apart from one that holds None."""
    assert dig(parse("{'a': None}"), ["a"]) == (True, None)
    assert dig(parse("{'a': None}"), ["b"]) == (False, None)


@given(st.text(max_size=300))
def test_no_text_raises(text):
    """Whatever stands in a log, reading it raises nothing."""
    assert flat(parse(text)) is not None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_literals_are_read_as_python_reads_them(value):
    """A repr of plain values is read back, apart from escapes of control characters."""
    expected = value
    if "\\" in repr(value) or value in ({}, []):
        return
    if isinstance(expected, dict | list):
        assert parse(repr(expected)) == expected
