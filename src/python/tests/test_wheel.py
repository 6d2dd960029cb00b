"""What a wheel carries beside the library: the command, the page, the licences. Skipped where the package is a folder."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

import neuronscope

PACKAGE = pathlib.Path(neuronscope.__file__).parent


def test_the_command_is_the_command_line(cli):
    program = shutil.which("neuronscope", path=os.path.dirname(sys.executable))
    if program is None:
        pytest.skip("the package is not installed")
    told = subprocess.run([program, "models"], capture_output=True, text=True)
    assert told.returncode == 0 and told.stdout == cli("models")
    pathlib.Path("run.py").write_text("print(6 * 7)", encoding="utf-8")
    assert subprocess.run([program, "run", "run.py"], capture_output=True, text=True).stdout == "42\n"
    assert "Apache License" in (PACKAGE / "NOTICES.txt").read_text(encoding="utf-8")


def test_the_page_is_served_and_ctrl_c_ends_it():
    if not (PACKAGE / "page").is_dir():
        pytest.skip("the package is without the page")
    began = time.monotonic()
    server = subprocess.Popen([sys.executable, "-m", "neuronscope", "serve", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = re.search(r"http://[\d.:]+", server.stdout.readline())[0]
        page = urllib.request.urlopen(address).read().decode()
        assert "neuronscope" in page and time.monotonic() - began < 20
        # Every program of the page is there.
        for name in re.findall(r'[\w./-]+\.wasm', page):
            assert urllib.request.urlopen(f"{address}/{name.lstrip('./')}").read(4) == b"\0asm"
    finally:
        server.send_signal(signal.SIGINT)
    assert server.wait(10) != 0
