"""The runner of the programs of tests: it ends a test that spins, and says so."""
import os
import subprocess

# What Criterion does: each test is a process, and one that is killed is a crash.
PROGRAM = """#!/bin/bash
(while :; do :; done) &
wait $! || crashed=1
passed=$((2 - ${crashed:-0}))
echo "[====] Synthesis: Tested: 2 | Passing: $passed | Failing: 0 | Crashing: ${crashed:-0}"
exit ${crashed:-0}
"""


def test_a_test_that_spins_is_ended_once_and_told(tmp_path):
    program = tmp_path / "test_spinning"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    done = subprocess.run(["tests/run.sh", program], text=True, capture_output=True, timeout=60,
                          env={**os.environ, "LOOK_SECONDS": "0.2", "SPIN_SECONDS": "1"})
    assert done.returncode == 1
    assert done.stdout.count("a test was ended: it took 1 s of a processor") == 1, done.stdout
    assert done.stdout.endswith("1 passed, 1 failed\n"), done.stdout
