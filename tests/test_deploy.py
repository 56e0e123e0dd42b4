"""The files of deploy/ are valid: they fit Ray's schema and the options of the command."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
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
    found = re.findall(r"\bcappunc ((?:fix|archive|serve) [^\n'\"]*)", text)
    return [shlex.split(re.split(r" [<>|] ", call)[0]) for call in found]


@pytest.mark.parametrize(
    "path", sorted(path for path in DEPLOY.iterdir() if path.is_file()), ids=lambda path: path.name
)
def test_the_commands_parse(path: Path) -> None:
    for call in calls(path.read_text("utf-8")):
        command(call[0]).make_context(call[0], call[1:])


def test_the_container_has_an_ordinary_user_and_known_extras() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    for stage in text.split("\nFROM ")[2:]:
        assert re.search(r"^USER cappunc$", stage, re.MULTILINE)
        assert stage.index("USER cappunc") > stage.rindex("pip install")
    project = (DEPLOY.parent / "pyproject.toml").read_text("utf-8")
    for extras in re.findall(r"\.whl\)\[([\w,]+)\]", text):
        assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras.split(","))


def test_the_server_in_a_container_is_that_of_the_command() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    stage = text[text.index(" AS serve") :].partition("\nFROM ")[0]
    call = json.loads(re.findall(r"^CMD (.*)$", stage, re.MULTILINE)[0])
    command(call[0]).make_context(call[0], call[1:])
    yaml = pytest.importorskip("yaml")
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]["cappunc"]
    assert service["build"]["target"] == "serve"
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    # Other machines reach it only by a proxy of this one.
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "/run/secrets/token" in call
    assert service["secrets"] == ["token"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "cappunc-serve.service").read_text("utf-8")
    unit = tmp_path / "cappunc-serve.service"
    unit.write_text(text.replace("/usr/local/bin/cappunc", "/bin/true"), "utf-8")
    run = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert "cappunc-serve.service" not in run.stderr, run.stderr


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
