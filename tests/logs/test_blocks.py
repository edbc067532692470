"""Blocks: what is one message."""

from vdiag.logs import grammar
from vdiag.logs.blocks import Assembler, Place


def blocks_of(text):
    """Assemble the lines of a text; return the blocks in order of their first line."""
    assembler = Assembler()
    seen = {}
    for number, line in enumerate(text.split("\n"), start=1):
        for piece in grammar.read(line):
            block, _ = assembler.feed(piece, Place("log", number, number))
            if block is not None:
                seen.setdefault(block.id, block)
    return list(seen.values())


def logged(process, *lines, place="x.py:1", cr=True):
    """Return the lines of one logged record, as vLLM's formatter writes them."""
    prefix = f"({process} pid={abs(hash(process)) % 1000}) ERROR 12-01 10:00:00 [{place}] "
    glue = "\r\n" if cr else "\n"
    return glue.join(prefix + line for line in lines)


TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/opt/venv/site-packages/vllm/v1/executor/multiproc_executor.py", line 9, in run',
    "    work()",
    '  File "/opt/venv/site-packages/torch/cuda/streams.py", line 254, in synchronize',
    "    super().synchronize()",
    "torch.AcceleratorError: CUDA error: unspecified launch failure",
    "CUDA kernel errors might be asynchronously reported",
)


def test_a_traceback_printed_twice_in_one_record_counts_once():
    """WorkerProc prints its traceback twice in one record; that is one block."""
    text = logged("Worker_TP1", "WorkerProc hit an exception.", *TRACEBACK, *TRACEBACK, "")

    (block,) = blocks_of(text)

    assert block.key == ("AcceleratorError", "CUDA error: unspecified launch failure")
    assert len(block.raised) == 1


def test_two_records_of_one_place_are_two_blocks():
    """The API server logs one record for every open stream, all from one line of code."""
    record = logged("APIServer", "Error in completion stream generator.", *TRACEBACK)

    assert len(blocks_of(record + "\n" + record)) == 2


def test_two_records_are_told_apart_without_carriage_returns():
    """Journald drops carriage returns; a repeated first line begins a new record."""
    record = logged("APIServer", "Error in completion stream generator.", *TRACEBACK, cr=False)

    assert len(blocks_of(record + "\n" + record)) == 2


def test_records_of_interleaved_workers_are_kept_apart():
    """Eight workers that fail at once interleave line by line."""
    records = [
        logged(f"Worker_TP{rank}", "WorkerProc hit an exception.", *TRACEBACK).split("\n")
        for rank in range(8)
    ]
    mixed = "\n".join(line for lines in zip(*records, strict=True) for line in lines)

    blocks = blocks_of(mixed)

    assert len(blocks) == 8
    assert {block.first.process for block in blocks} == {f"Worker_TP{r}" for r in range(8)}
    assert {block.key for block in blocks} == {
        ("AcceleratorError", "CUDA error: unspecified launch failure")
    }


def test_the_frame_is_the_deepest_one_in_vllm():
    """A frame inside torch says nothing about whose call it was."""
    (block,) = blocks_of(logged("Worker", "WorkerProc hit an exception.", *TRACEBACK))

    assert str(block.last.frame) == "vllm/v1/executor/multiproc_executor.py:run"


def test_a_chain_keeps_every_exception_and_ends_in_the_last():
    """A block's key is its last exception; the ones before are its causes."""
    text = logged(
        "EngineCore",
        "EngineCore encountered a fatal error.",
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        "    raise",
        "TimeoutError",
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        "Traceback (most recent call last):",
        '  File "b.py", line 2, in g',
        "    raise",
        "TimeoutError: RPC call to sample_tokens timed out.",
    )

    (block,) = blocks_of(text)

    assert [one.type for one in block.raised] == ["TimeoutError", "TimeoutError"]
    assert block.raised[0].cause == "direct cause"
    assert block.key == ("TimeoutError", "RPC call to sample_tokens timed out.")


def test_an_unprefixed_traceback_is_a_block_without_a_process():
    """From 0.31 unlogged tracebacks carry no prefix; they belong to nobody."""
    (block,) = blocks_of("\n".join(TRACEBACK))

    assert block.raw
    assert block.first.process is None
    assert block.key == ("AcceleratorError", "CUDA error: unspecified launch failure")


def test_a_record_between_the_lines_of_an_unprefixed_traceback_does_not_end_it():
    """Another process may log in the middle of an unlogged traceback."""
    lines = list(TRACEBACK)
    lines.insert(3, "(APIServer pid=9) ERROR 12-01 10:00:00 [serving.py:1] Something else")

    blocks = blocks_of("\n".join(lines))

    raw = next(block for block in blocks if block.raw)
    assert raw.key == ("AcceleratorError", "CUDA error: unspecified launch failure")
    assert [str(frame) for frame in raw.last.frames] == [
        "vllm/v1/executor/multiproc_executor.py:run",
        "torch/cuda/streams.py:synchronize",
    ]


def test_a_pydantic_error_is_read_to_its_inner_text():
    """A validation error's first line only counts; what is wrong stands below it."""
    text = "\n".join(
        [
            "Traceback (most recent call last):",
            '  File "a.py", line 1, in f',
            "    x()",
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig",
            "  Value error, User-specified max_model_len (8192) is too large. [type=value_error, "
            "input_value=ArgsKwargs(()), input_type=ArgsKwargs]",
            "    For further information visit https://errors.pydantic.dev/",
        ]
    )

    (block,) = blocks_of(text)

    assert block.last.useful_text == (
        "1 validation error for ModelConfig: User-specified max_model_len (8192) is too large."
    )


def test_an_exception_group_is_read_to_its_last_member():
    """Lines of an exception group stand behind bars."""
    text = "\n".join(
        [
            "  + Exception Group Traceback (most recent call last):",
            '  |   File "/opt/vllm/vllm/a.py", line 1, in f',
            "  |     x()",
            "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
            "  +-+---------------- 1 ----------------",
            "    | Traceback (most recent call last):",
            '    |   File "/opt/vllm/vllm/b.py", line 2, in g',
            "    |     y()",
            "    | ValueError: the inner reason",
            "    +------------------------------------",
        ]
    )

    blocks = blocks_of(text)

    assert ("ValueError", "the inner reason") in [
        (one.type, one.text) for block in blocks for one in block.raised
    ]
