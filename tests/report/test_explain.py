"""A rule explained in full."""

import io
import re

from vdiag.report import explain
from vdiag.rules.schema import Diagnosis, Symptom

RULE = Diagnosis.model_validate(
    {
        "id": "fi-test",
        "title": "A kernel faults",
        "family": "collective",
        "severity": "run",
        "ceiling": "probable",
        "signature": [{"event": "cuda.launch_failure"}],
        "summary": "s",
        "quick_conclusion": "It is the kernel.\n\nRoll back.",
        "applies_to": "vLLM 0.25 to 0.33.",
        "fix": [
            {
                "id": "trtllm",
                "kind": "workaround",
                "text": "Use trtllm",
                "command": "export VLLM_FLASHINFER_ALLREDUCE_BACKEND=trtllm",
                "where": "the unit",
                "when": [
                    {
                        "when": {"fact": "parallel.multi_node", "test": {"equals": False}},
                        "text": "the TP group stands on one node",
                    }
                ],
                "cost": "3-5 %",
                "verify": "backend=trtllm is printed",
            }
        ],
        "caveats": {"does_not_prove": "which kernel", "not_established": "why HiSparse"},
        "scenario": "Eight GPUs.",
        "original_error_text": '(Worker_TP5) ERROR\n  File "x.py"\nCUDA error\x1b[0m',
        "cause": "A barrier.",
        "what_to_check": ["the backend line", "the version"],
        "steps": ["export it", "restart"],
        "verification": {
            "text": "Run the load again.",
            "must_appear": [
                {
                    "text": "backend=trtllm",
                    "when": {"fact": "allreduce.backend", "test": {"equals": "trtllm"}},
                }
            ],
            "at_least": "time-to-crash",
        },
        "references": [{"ref": "flashinfer-ai/flashinfer#3385", "note": "the barrier"}],
    }
)
SYMPTOM = Symptom.model_validate(
    {
        "id": "sym-rpc-timeout",
        "title": "Call timed out",
        "order": 5,
        "fatal": True,
        "severity": "run",
        "signature": [{"event": "rpc.timeout"}],
        "summary": "s",
        "proves": "nothing came for 300 s",
        "does_not_prove": "a network fault",
        "next_step": "look 300 s earlier",
        "next_command": "py-spy dump --pid PID",
        "source": "multiproc_executor.py",
    }
)


def text(rule: Diagnosis | Symptom, width: int = 80) -> str:
    """Render a rule."""
    stream = io.StringIO()
    explain.render(rule, width=width, color=False, stream=stream)
    return stream.getvalue()


def test_ten_sections_in_order() -> None:
    """The ten sections stand in the field report's order, references after them."""
    heads = re.findall(r"^([A-Z][A-Za-z ]+)$", text(RULE), re.MULTILINE)

    assert heads == [
        "A kernel faults",
        "Quick conclusion",
        "Applies to",
        "Fix",
        "Caveats",
        "Scenario",
        "Original error text",
        "Cause",
        "What to check",
        "Steps",
        "Verification",
        "References",
    ]


def test_error_text_is_verbatim() -> None:
    """The original error text keeps its lines and indentation, hidden characters shown."""
    assert '  (Worker_TP5) ERROR\n    File "x.py"\n  CUDA error\\x1b[0m\n' in text(RULE)


def test_conditions_of_a_remedy() -> None:
    """A remedy shows its command and where it applies."""
    made = text(RULE)

    assert "     export VLLM_FLASHINFER_ALLREDUCE_BACKEND=trtllm\n" in made
    assert "Applies where: the TP group stands on one node." in made


def test_a_remedy_without_a_log_names_no_figures() -> None:
    """The form for logs that lack a figure is the one that is explained."""
    remedy = RULE.fix[0].model_copy(
        update={
            "text": "Use {n} GPUs",
            "text_otherwise": "Use more GPUs",
            "command": "vllm serve -tp {n}",
            "command_otherwise": "vllm serve -tp N",
        }
    )
    made = text(RULE.model_copy(update={"fix": [remedy]}))

    assert "Use more GPUs" in made
    assert "vllm serve -tp N" in made
    assert "{n}" not in made


def test_width() -> None:
    """Prose keeps to the width and to 100 columns."""
    assert max(map(len, text(RULE, 60).splitlines())) <= 60
    assert max(map(len, text(RULE, 300).splitlines())) <= 100


def test_symptom() -> None:
    """A symptom says what it proves, what it does not, and what to do next."""
    made = text(SYMPTOM)

    assert made.index("Proves\n") < made.index("Does not prove\n") < made.index("Next step\n")
    assert "py-spy dump --pid PID" in made
