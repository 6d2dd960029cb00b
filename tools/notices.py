"""The licences of what the Python package's library is linked with: name, version and text of each crate, on stdout."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)


def linked(metadata):
    """The crates of registries below ns_python, without those of build scripts and tests."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    rest = [id for id, package in packages.items() if package["name"] == "ns_python"]
    seen = set()
    while rest:
        id = rest.pop()
        if id not in seen:
            seen.add(id)
            rest += [of["pkg"] for of in nodes[id]["deps"] if any(kind["kind"] is None for kind in of["dep_kinds"])]
    return sorted((packages[id] for id in seen if packages[id]["source"]), key=lambda package: (package["name"], package["version"]))


def main():
    printed = subprocess.run(["cargo", "metadata", "--locked", "--format-version=1"], cwd=ROOT, check=True, capture_output=True).stdout
    texts = {}
    for package in linked(json.loads(printed)):
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(file for file in folder.iterdir() if FILES.match(file.name) and file.is_file())
        text = "\n\n".join(file.read_text(encoding="utf-8", errors="replace").strip() for file in files) or f"Licence: {package['license']}"
        # Crates of one author have the same text.
        texts.setdefault(text, []).append(f"{package['name']} {package['version']} ({package['license']})")
    sys.stdout.write("neuronscope (Apache-2.0) is linked with these crates. The page has notices of its own in page/python/README.md.\n")
    for text, names in texts.items():
        sys.stdout.write(f"\n{'=' * 80}\n" + "\n".join(names) + f"\n\n{text}\n")


main()
