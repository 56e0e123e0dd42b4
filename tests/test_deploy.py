"""The files of deploy/ are valid: they fit Ray's schema and the options of the command."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from commands import command

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
if not DEPLOY.is_dir():
    pytest.skip("only in a checkout", allow_module_level=True)


def calls(text: str) -> list[list[str]]:
    """The commands in a text."""
    found = re.findall(r"\bcappunc ((?:fix|archive) [^\n'\"]*)", text)
    return [shlex.split(re.split(r" [<>|] ", call)[0]) for call in found]


@pytest.mark.parametrize(
    "path", sorted(path for path in DEPLOY.iterdir() if path.is_file()), ids=lambda path: path.name
)
def test_the_commands_parse(path: Path) -> None:
    for call in calls(path.read_text("utf-8")):
        command(call[0]).make_context(call[0], call[1:])


def test_the_container_has_an_ordinary_user_and_known_extras() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert re.search(r"^USER cappunc$", text, re.MULTILINE)
    assert text.index("USER cappunc") > text.rindex("pip install")
    project = (DEPLOY.parent / "pyproject.toml").read_text("utf-8")
    for extras in re.findall(r"\.whl\)\[([\w,]+)\]", text):
        assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras.split(","))


def test_the_container_copies_what_the_wheel_needs() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    copied = {name for line in re.findall(r"^COPY (?!--)(.+) /src\S*$", text, re.MULTILINE) for name in line.split()}
    whole = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text("utf-8"))
    project, wheel = whole["project"], whole["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert copied == {
        "pyproject.toml",
        project["readme"],
        *project["license-files"],
        *(name.partition("/")[0] for name in wheel["only-include"]),
    }


@pytest.fixture
def ray_autoscaler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    pytest.importorskip("ray.autoscaler")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ray-aws.yaml", "ray-gcp.yaml"])
@pytest.mark.slow
@pytest.mark.usefixtures("ray_autoscaler")
def test_ray_accepts_the_cluster(name: str) -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config  # type: ignore[import-not-found]

    whole = prepare_config(loaded(name))
    validate_config(whole)
    assert whole["head_node_type"] in whole["available_node_types"]
    assert "--entrypoint=" in whole["docker"]["run_options"]
    with pytest.raises(Exception, match="no_such_field"):
        validate_config({**whole, "no_such_field": 1})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.usefixtures("ray_autoscaler")
def test_ray_accepts_the_groups_of_kuberay() -> None:
    from ray.autoscaler._private.kuberay.autoscaling_config import (  # type: ignore[import-not-found]
        _derive_autoscaling_config_from_ray_cr,
    )

    spec = loaded("kuberay.yaml")["spec"]["rayClusterSpec"]
    cluster = {"metadata": {"name": "cappunc", "namespace": "default"}, "spec": spec}
    config = _derive_autoscaling_config_from_ray_cr(cluster)
    types = config["available_node_types"]
    assert types["engines"]["resources"]["CPU"] == 4
    assert types["engines"]["max_workers"] == 50
    assert types[config["head_node_type"]]["resources"]["CPU"] == 0


def loaded(name: str) -> Any:
    import yaml

    return yaml.safe_load((DEPLOY / name).read_text("utf-8"))
