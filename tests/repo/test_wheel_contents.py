"""What the wheel holds: the package, its types and its licence."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [path for kind in ("*.py", "*.pyi") for path in sorted((ROOT / "src").rglob(kind))]


def test_the_wheel_holds_the_package_its_types_and_its_licence(tmp_path):
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *options,
        "--wheel-dir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("suffice-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "suffice/py.typed" in names
    sources = {str(path.relative_to(ROOT / "src")) for path in FILES}
    assert sources <= names
    assert any(name.endswith("/LICENSE") for name in names)
    assert not [name for name in names if not name.startswith("suffice")]
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]
