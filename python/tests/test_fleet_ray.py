"""The fleet of examples/fleet/ray_fleet.py: Ray by its adapter, and the run is that of one process. Where Ray is, and only long."""

from __future__ import annotations

import importlib.util
import os

import pytest

if os.environ.get("ALIDADE_TEST_EFFORT") != "long":
    pytest.skip("long", allow_module_level=True)
ray = pytest.importorskip("ray")

from alidade import fleet  # noqa: E402
from conftest import ROOT  # noqa: E402
from fleet_systems import Maker  # noqa: E402
from test_fleet import HERE, RIVER, create, one_process, stored  # noqa: E402, F401


def test_ray_by_its_adapter(tmp_path, one_process):  # noqa: F811
    spec = importlib.util.spec_from_file_location("ray_fleet", ROOT / "examples" / "fleet" / "ray_fleet.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    path = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    ray.init(num_cpus=2, runtime_env={"env_vars": {"PYTHONPATH": path}}, include_dashboard=False)
    try:
        with create(tmp_path / "fleet") as run:
            fleet.explore(run, Maker(RIVER), example.RayExecutor(), workers=2, episodes=300)
    finally:
        ray.shutdown()
    assert stored(tmp_path / "fleet") == one_process(300)
