"""A notebook with results, executed, and its page opened in a browser."""

import os
import pathlib
import shutil
import subprocess

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")

NOTEBOOK = pathlib.Path(__file__).resolve().parents[3] / "examples/neuronscope.ipynb"


@pytest.fixture
def executed(folder):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is kept without results"
    return nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()


def outputs(notebook, kind):
    return [output["data"][kind] for cell in notebook.cells for output in cell.get("outputs", ()) if kind in output.get("data", {})]


def test_results_are_pages_in_a_notebook(executed, folder):
    pages = outputs(executed, "text/html")
    assert len(pages) == 2 and all(page.startswith("<iframe sandbox") for page in pages)
    assert "bert-base-uncased" in pages[0] and "aten__addmm" in pages[1]
    # Nothing is fetched: a notebook that somebody is sent opens offline.
    assert not any(f'src=&quot;{scheme}' in page for page in pages for scheme in ("http:", "https:"))


def test_the_page_of_a_notebook_opens_without_an_error(executed, folder):
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        pytest.skip("there is no Chromium; CHROMIUM names one")
    html, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(executed)
    page = folder / "notebook.html"
    page.write_text(f"<!doctype html><html lang=en><title>notebook</title>{html}</html>", encoding="utf-8")
    broken = folder / "broken.html"
    broken.write_text("<iframe sandbox='allow-scripts' srcdoc='&lt;script&gt;missing()&lt;/script&gt;'></iframe>", encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'browser'}", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000"]
    opened = lambda path: subprocess.run([browser, *flags, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=120)  # noqa: E731
    assert "CONSOLE" in opened(broken).stderr, "an error of a page in a frame is seen"
    done = opened(page)
    assert done.stdout.count("<iframe") == 2, done.stderr
    assert "CONSOLE" not in done.stderr, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
