"""The Kubernetes manifest of docs/scale.md is well-formed, and its parts find each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

MANIFEST = Path(__file__).parents[2] / "docs" / "deploy" / "dask.yaml"
KINDS = {"Deployment": "apps/v1", "Service": "v1", "NetworkPolicy": "networking.k8s.io/v1"}


@pytest.fixture(scope="module")
def parts() -> dict[tuple[str, str], dict[str, Any]]:
    made = list(yaml.safe_load_all(MANIFEST.read_text("utf-8")))
    assert {part["kind"]: part["apiVersion"] for part in made} == KINDS
    return {(part["kind"], part["metadata"]["name"]): part["spec"] for part in made}


def containers(parts: dict[tuple[str, str], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    found = {}
    for (kind, name), spec in parts.items():
        if kind == "Deployment":
            assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
            [container] = spec["template"]["spec"]["containers"]
            found[name] = container
    return found


def test_the_service_leads_to_the_scheduler_and_workers_use_its_name(parts: Any) -> None:
    service = parts["Service", "untaken-scheduler"]
    scheduler, worker = (containers(parts)[f"untaken-{part}"] for part in ("scheduler", "worker"))
    assert service["selector"] == parts["Deployment", "untaken-scheduler"]["selector"]["matchLabels"]
    [port] = service["ports"]
    assert port["targetPort"] in {each["name"] for each in scheduler["ports"]}
    assert f"tcp://untaken-scheduler:{port['port']}" in worker["command"]
    assert all(isinstance(word, str) for each in (scheduler, worker) for word in each["command"])


def test_no_container_runs_as_root_or_without_a_limit_of_memory(parts: Any) -> None:
    for container in containers(parts).values():
        assert container["securityContext"]["runAsNonRoot"]
        assert container["resources"]["limits"]["memory"]
