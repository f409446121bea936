"""The programs of the documents, the notebook and the examples run."""

import importlib.util
import json
import re

import surmise


def run_blocks(text):
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    namespace = {"surmise": surmise}
    for block in blocks:
        exec(compile(block, "document", "exec"), namespace)
    return len(blocks)


def test_programs_of_the_documents_run(root):
    assert run_blocks((root / "docs/python.md").read_text()) >= 6
    assert run_blocks((root / "crates/python/README.md").read_text()) == 1


def test_the_notebook_runs(root):
    notebook = json.loads((root / "docs/python.ipynb").read_text())
    namespace, run = {}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "notebook", "exec"), namespace)
            run += 1
    assert run >= 5


def test_the_example_learns(root, capsys):
    spec = importlib.util.spec_from_file_location("reinforce", root / "crates/python/examples/reinforce.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    before = surmise.Game("kuhn-poker").rate("uniform").nash_conv
    assert module.main("kuhn-poker", "400") < before
    assert "NashConv" in capsys.readouterr().out


def test_the_starter_plays(root, capsys):
    """The player that `surmise new player --package` writes."""
    text = (root / "crates/surmise/starters/player.py").read_text()
    text = text.replace("{{name}}", "starter").replace("{{class}}", "Starter")
    exec(compile(text, "starter.py", "exec"), {"__name__": "__main__"})
    assert "xplayer" in capsys.readouterr().out
