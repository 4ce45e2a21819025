import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import earmark_worker

SOURCES = Path(earmark_worker.__file__).parent
FRAMEWORKS = ("livekit", "pipecat")
SERVER = (
    "django",
    "rest_framework",
    "psycopg",
    "tenants",
    "knowledge",
    "golden",
    "scopes",
    "voiceapi",
)


def _core_modules():
    found = pkgutil.walk_packages([str(SOURCES)], "earmark_worker.")
    names = [module.name for module in found if not module.name.endswith("__main__")]
    outside = re.compile(r"earmark_worker\.(adapters|livekit|pipecat)\b")
    return [name for name in names if not outside.match(name)]


def test_the_core_loads_no_voice_framework_and_nothing_of_the_server():
    modules = _core_modules()
    forbidden = (*FRAMEWORKS, *SERVER)
    program = (
        f"import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"print([name for name in {forbidden!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout.strip() == "[]"
    assert len(modules) > 25


def test_the_server_is_not_even_installed_beside_the_worker():
    assert importlib.util.find_spec("django") is None


def test_no_file_names_a_package_index():
    root = SOURCES.parents[1]
    files = [*root.glob("requirements/*"), root / "pyproject.toml", root / "Makefile"]
    text = "\n".join(path.read_text() for path in files)
    assert not re.search(r"index-url|://", text.replace("--no-emit-index-url", ""))


def test_every_locked_package_has_a_hash():
    root = SOURCES.parents[1]
    for lock in root.glob("requirements/*.txt"):
        packages = re.findall(r"^[\w.-]+(?:\[[\w,-]+\])?==[^\n]*", lock.read_text(), re.MULTILINE)
        assert packages
        assert all(package.endswith("\\") for package in packages), lock.name
