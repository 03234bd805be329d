"""What deploys the server must agree with the server: ports, paths, variables, metric names. None of it can be run here
(no container engine, no cluster), so what can be wrong without being run is checked instead."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PORT = 8000


def documents(name: str) -> list[dict[str, Any]]:
    return [doc for doc in yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")) if doc is not None]


def kubernetes(kind: str) -> dict[str, Any]:
    (found,) = (doc for doc in documents("kubernetes/strictcall.yaml") if doc["kind"] == kind)
    return found


def container() -> dict[str, Any]:
    (only,) = kubernetes("Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(only)


@pytest.fixture(scope="module")
def routes() -> set[str]:
    from server.app import create_app

    return {path for route in create_app(Settings(), None).routes if (path := getattr(route, "path", None))}


def test_every_yaml_file_parses() -> None:
    files = sorted(path.relative_to(DEPLOY) for path in DEPLOY.rglob("*.y*ml"))
    assert len(files) >= 5
    for file in files:
        assert documents(str(file)), file


def test_the_dockerfile_lints() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    run = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def instruction(name: str) -> str:
    return re.findall(rf"^{name} (.*(?:\\\n.*)*)", DOCKERFILE, re.M)[-1].strip()


def test_the_image_starts_the_server_directly_and_not_as_root() -> None:
    assert json.loads(instruction("ENTRYPOINT")) == ["strictcall", "serve"]
    assert instruction("USER") == "10001"
    assert f"--uid {instruction('USER')}" in DOCKERFILE
    assert instruction("EXPOSE") == str(PORT) == re.findall(r"STRICTCALL_PORT=(\d+)", DOCKERFILE)[0]
    assert Settings.model_fields["port"].default == PORT


def test_a_change_of_the_source_leaves_the_dependency_layer() -> None:
    dependencies = DOCKERFILE.index("'.[gpu]'")
    for folder in ("schemas", "decoding", "server", "loadtest"):
        assert dependencies < DOCKERFILE.index(f"COPY {folder} {folder}")


def test_the_build_context_holds_all_that_is_copied() -> None:
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    sources = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M)
    for source in " ".join(sources).split():
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignore, source


def test_the_health_checks_ask_for_routes_that_exist(routes: set[str]) -> None:
    probes = [container()[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
    assert all(probe["port"] == "http" for probe in probes)
    compose = documents("compose.yaml")[0]["services"]["strictcall"]["healthcheck"]["test"]
    asked = {probe["path"] for probe in probes} | set(re.findall(r"/health/\w+", DOCKERFILE + " ".join(compose)))
    assert asked == {"/health/live", "/health/ready"}
    assert asked <= routes


def test_liveness_does_not_wait_for_the_model() -> None:
    assert container()["livenessProbe"]["httpGet"]["path"] == "/health/live"
    assert container()["readinessProbe"]["httpGet"]["path"] == "/health/ready"
    startup = container()["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 600, "a large model loads for minutes"


def test_the_pod_gets_a_gpu_and_no_root() -> None:
    resources = container()["resources"]
    assert resources["limits"]["nvidia.com/gpu"] == resources["requests"]["nvidia.com/gpu"] == 1
    spec = kubernetes("Deployment")["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert str(spec["securityContext"]["runAsUser"]) == instruction("USER")
    assert spec["terminationGracePeriodSeconds"] > Settings.model_fields["shutdown_grace"].default + 10
    mounts = {mount["mountPath"]: mount["name"] for mount in container()["volumeMounts"]}
    assert set(mounts) == {"/models", "/dev/shm"}
    assert set(mounts.values()) == {volume["name"] for volume in spec["volumes"]}


def test_ports_and_labels_of_the_service_meet_the_pod() -> None:
    service, deployment = kubernetes("Service"), kubernetes("Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"] == labels
    assert container()["ports"] == [{"name": "http", "containerPort": PORT}]
    assert service["spec"]["ports"] == [{"name": "http", "port": PORT, "targetPort": "http"}]
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(PORT)


def test_compose_reserves_a_gpu_and_mounts_files_that_exist() -> None:
    services = documents("compose.yaml")[0]["services"]
    strictcall = services["strictcall"]
    (device,) = strictcall["deploy"]["resources"]["reservations"]["devices"]
    assert device["driver"] == "nvidia"
    assert device["capabilities"] == ["gpu"]
    assert strictcall["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert (DEPLOY / strictcall["build"] / "Dockerfile").exists()
    for service in services.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert not source.startswith(".") or (DEPLOY / source).is_file(), source


def test_prometheus_scrapes_the_service_and_grafana_reads_prometheus(routes: set[str]) -> None:
    services = documents("compose.yaml")[0]["services"]
    (job,) = documents("prometheus/prometheus.yml")[0]["scrape_configs"]
    assert job["metrics_path"] in routes
    assert job["static_configs"] == [{"targets": [f"strictcall:{PORT}"]}]
    assert "strictcall" in services
    (source,) = documents("grafana/datasource.yml")[0]["datasources"]
    assert source["url"] == "http://prometheus:9090"
    assert any(volume.endswith(":/etc/prometheus/rules.yml:ro") for volume in services["prometheus"]["volumes"])
    assert documents("prometheus/prometheus.yml")[0]["rule_files"] == ["rules.yml"]


def test_rules_ask_for_metrics_and_jobs_that_exist() -> None:
    from server.metrics import Metrics

    known = {sample.name for family in Metrics().registry.collect() for sample in family.samples}
    known |= {f"{family.name}_total" for family in Metrics().registry.collect() if family.type == "counter"}
    rules = documents("prometheus/rules.yml")[0]["groups"][0]["rules"]
    assert rules
    for rule in rules:
        asked = set(re.findall(r"strictcall_\w+", rule["expr"]))
        assert asked <= known, rule["expr"]
        assert asked or 'job="strictcall"' in rule["expr"]


def test_variables_are_settings() -> None:
    """A misspelt STRICTCALL_ variable would be ignored in silence."""
    known = {f"STRICTCALL_{name.upper()}" for name in Settings.model_fields} | {"STRICTCALL_API_KEY"}
    files = [ROOT / "Dockerfile", *DEPLOY.rglob("*.y*ml")]
    used = {name for file in files for name in re.findall(r"STRICTCALL_[A-Z_]+", file.read_text(encoding="utf-8"))}
    assert {"STRICTCALL_HOST", "STRICTCALL_PORT"} <= used
    assert used <= known
