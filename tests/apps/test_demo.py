"""The demo runs and says what it claims."""

from pathlib import Path

from taskalgebra.apps import demo


def test_the_demo_lists_16_optimal_tasks_and_ends_with_the_path_of_a_picture(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    demo.main()
    printed = capsys.readouterr().out
    assert "16 of 16 composed policies are optimal from every start." in printed
    assert printed.count("   optimal") == 16
    assert "NOT" not in printed
    assert printed.count("◆") >= 16
    assert "\x1b[" not in printed
    picture = Path(printed.strip().rsplit(": ", 1)[1])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == [picture.name]


def test_without_matplotlib_the_demo_says_how_to_get_a_picture(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    demo.main()
    assert capsys.readouterr().out.strip().endswith('pip install "taskalgebra[figures]"')
    assert not list(tmp_path.iterdir())
