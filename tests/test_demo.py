"""The demo runs and says what it claims."""

from taskalgebra import demo


def test_the_demo_lists_16_optimal_tasks_and_draws_a_map(capsys):
    demo.main()
    printed = capsys.readouterr().out
    assert "16 of 16 composed policies are optimal from every start." in printed
    assert printed.count("   optimal") == 16
    assert "NOT" not in printed
    assert printed.count("◆") >= 16
    assert "\x1b[" not in printed
