"""import, as it is typed."""

from pathlib import Path

from tests.cli.conftest import Type


def test_import_prints_a_job_file_and_lists_omitted_parts(tmp_path: Path, d0ctl: Type) -> None:
    (tmp_path / "s.sub").write_text("executable = /bin/true\nqueue\n")
    whole, partly = tmp_path / "whole.dag", tmp_path / "partly.dag"
    whole.write_text("JOB A s.sub\n")
    partly.write_text("JOB A s.sub\nABORT-DAG-ON A 1 RETURN 3\n")
    (tmp_path / "bad.dag").write_text("JOB\n")

    result = d0ctl("import", str(whole))
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == "job: whole\nstages:\n- name: jobs\n  lines:\n  - name: A\n    run: /bin/true\n"
    )
    result = d0ctl("import", str(partly), "-o", str(tmp_path / "x.yaml"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "left out: partly.dag:2: `RETURN 3` of `ABORT-DAG-ON`" in result.stderr
    assert d0ctl("validate", str(tmp_path / "x.yaml")).exit_code == 0
    assert d0ctl("import", str(whole), "-o", str(tmp_path / "x.yaml")).exit_code == 4
    assert d0ctl("import", str(tmp_path / "bad.dag")).exit_code == 2
    assert d0ctl("import", str(tmp_path / "none.dag")).exit_code == 2
    assert d0ctl("import", str(whole), "--from", "x").exit_code == 2
