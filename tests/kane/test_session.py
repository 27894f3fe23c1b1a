"""Sessions of the dialect: commands, answers, mistakes that change nothing, files; once through a
real terminal."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bellcrank.core.errors import ModelError
from bellcrank.kane.autolev import AutolevSession, ScriptFiles, run_script

DECKS = Path(__file__).parents[2] / "examples" / "decks"
START = [
    "DOF(2)",
    "FRAMES(A,B)",
    "SIMPROT(N,A,3,PHI1)",
    "SIMPROT(A,B,3,PHI2)",
    "PHI1'=U1",
    "PHI2'=U2",
    "CONST(LA,LB,G)",
    "POINTS(Q,R)",
    "MASSLESS(Q,R)",
]


def session_of(lines, folder="."):
    s = AutolevSession(ScriptFiles(folder))
    for line in lines:
        s.run_line(line)
    return s


@pytest.fixture
def session(tmp_path):
    return session_of(START, tmp_path)


def refused(session, line, *words):
    """Entering the line is rejected with these words, and nothing changes."""
    before, symbols = session.listing(), dict(session.workspace.symbols)
    with pytest.raises(ModelError) as caught:
        session.run_line(line)
    for word in words:
        assert word in str(caught.value)
    assert session.listing() == before
    assert session.workspace.symbols == symbols


# ---- mistakes


def test_missing_quantities_are_all_named_with_the_way_to_give_them(session):
    refused(
        session,
        "V2PTS(N,A,ASTAR,R)",
        "VASTARN=vector",
        "WAN=vector",
        "U1*N3 would fit",
        "PASTARR=vector",
    )
    refused(session, "FRSTAR", "VASTARN", "AASTARN=DERIV(VASTARN,T,N)", "ALFBN=DERIV(WBN,T,N)")
    refused(session, "PANGVEL(B)", "WBN=vector")
    refused(session, "KANE", "KANE needs FR and FRSTAR first")
    refused(session, "CODE(X)", "KANE first")
    refused(session, "DIRCOS(N,C)", "there is no frame C")
    refused(session, "EXPRESS(WAN,N)", "the angular velocity of A in N")


def test_a_coordinate_without_its_equation_is_named(tmp_path):
    s = session_of(["DOF(1)", "FRAMES(A)", "SIMPROT(N,A,3,PHI)"], tmp_path)
    refused(s, "WAN=PHI'*N3", "PHI'=formula")
    s.run_line("PHI'=U1")
    assert s.run_line("WAN=PHI'*N3") == ["WAN=U1*N3"]


def test_redefinition_shows_the_earlier_definition(session):
    session.run_line("WAN=PHI1'*N3")
    refused(session, "WAN=U2*N3", "already defined", "WAN=U1*N3")
    refused(session, "WNA=-U1*N3", "already defined", "WAN=U1*N3")
    refused(session, "PHI1'=U2", "already defined", "PHI1'=U1")
    refused(session, "FRAMES(C,A)", "A is already defined", "FRAMES(A,B)")
    refused(session, "CONST(M,LA)", "LA is already defined", "CONST(LA,LB,G)")
    refused(
        session,
        "SIMPROT(N,B,3,PHI1)",
        "the orientation of B in N is already defined",
        "cos(PHI1 + PHI2)",
    )
    refused(session, "DOF(3)", "DOF(2)")
    session.run_line("FORCE(ASTAR)=G*MASSA*N1")
    refused(session, "FORCE(ASTAR)=0*N1", "already defined", "FORCE(ASTAR)=G*MASSA*N1")


def test_unknown_names_suggest_near_ones(session):
    refused(session, "VASTARN=U1*LAA*A2", "'LAA' is not known", "'LA'")
    refused(session, "FRMAES(C)", "'FRAMES'")
    refused(session, "POINT(P)", "'POINTS'")
    refused(session, "MASSLESS(ASTR)", "'ASTAR'")
    refused(session, "WCN=U1*N3", "WCN cannot name a vector", "Did you mean 'W")
    session.run_line("TORQUE(N/A)=TAA*A3")
    assert any("TAA is not declared yet" in h for h in session.hints)


def test_undeclared_force_quantities_stop_fr(session):
    for line in ("WAN=U1*N3", "CONTROLS(DRIVE)", "TORQUE(N/A)=DRVE*A3"):
        session.run_line(line)
    refused(
        session, "FR", "DRVE, used in TORQUE(N/A), is not declared", "CONTROLS(DRVE)", "'DRIVE'"
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("SIMPROT(N,A,3", "'(' is never closed"),
        ("SIMPROT(N,A,4,X)", "must be a whole number from 1 to 3"),
        ("SIMPROT(N,A)", "SIMPROT(F,G,axis,angle)"),
        ("DOF(x)", "whole number"),
        ("=3", "a line begins with"),
        ("X=", "nothing stands on the right"),
        ("X=3+", "ends too early"),
        ("VRN=LA", "is a scalar; a vector is needed"),
        ("VRN=A1*A2", "dot(a, b) or cross(a, b)"),
        ("VRN=LA+A1", "cannot be added"),
        ("PHI1'", "a derivative '='"),
        ("LA'=U1", "LA is a constant"),
        ("CONST(1A)", "cannot be a name"),
        ("CONST(Z3)", "intermediate symbols"),
        ("TORQUE(A)=U5*A3", "'U5' is not known"),
        ("Y'=U1^2", "not linear in the generalized speeds"),
        ("CONST(A1)", "A1 is already defined: a unit vector of A"),
        ("FRAMES(U)", "U1 is already defined"),
        ("FRAMES(Z)", "Z is already defined"),
        ("X=é", "unexpected character"),
        ("X=LA/0", "division by zero"),
        ("X=IA(7,7)", "Inertia scalars of A"),
        ("DIRCOS(N,A,1,2,3)", "the form is"),
        ("UNITS(LA)", "pairs"),
        ("AUTOZ(MAYBE)", "ON or OFF"),
        ("FORCE(ASTAR)=G", "needs a vector"),
        ("FORCE(ASTAR/ASTAR)=G*N1", "nothing on itself"),
        ("TORQUE=3", "TORQUE is a command"),
        ("DOF=3", "DOF is a command"),
        ("X=WHERE(1,2,3)", "not a function of the dialect"),
        ("ADD(WAN,WBN)", "X=ADD(V1,V2,..)"),
    ],
)
def test_malformed_lines_are_refused_and_change_nothing(session, line, words):
    refused(session, line, words)


def test_a_definition_by_itself_is_refused(session):
    session.run_line("CONTROLS(TA)")
    refused(session, "TA=2*TA", "defined by itself")


def test_a_velocity_that_is_not_linear_in_the_speeds_is_refused(session):
    session.run_line("VASTARN=U1^2*LA*A2")
    refused(session, "PVEL(ASTAR)", "the velocity of ASTAR is not linear in the generalized speeds")


def test_a_wrong_angular_velocity_is_told(session):
    session.run_line("WAN=U1*N1")
    assert any("WAN contradicts the orientation" in n and "U1*N3" in n for n in session.notes)


def test_slips_of_the_pen_are_told(session):
    """The misprints of the report: PHI1*LA*A2 for a velocity, LA*U1*A2 in an acceleration."""
    for line in ("WAN=PHI1'*N3", "VASTARN=PHI1*LA*A2"):
        session.run_line(line)
    assert any("VASTARN holds no generalized speed" in n for n in session.notes)
    other = session_of([*START, "WAN=PHI1'*N3", "VASTARN=PHI1'*LA*A2"])
    assert other.notes == []
    other.run_line("AASTARN=-LA*U1*U1*A1+LA*U1*A2")
    assert any(
        "AASTARN is not the derivative of VASTARN, which is LA*U1'*A2-LA*U1^2*A1" in n
        for n in other.notes
    )
    right = session_of(
        [*START, "WAN=PHI1'*N3", "VASTARN=PHI1'*LA*A2", "AASTARN=LA*U1'*A2-LA*U1^2*A1"]
    )
    assert right.notes == []
    assert right.workspace.d.scalars.intermediate == []


def test_a_contradicting_acceleration_is_found_by_the_mass_matrix(tmp_path):
    text = (DECKS / "double_pendulum.al").read_text()
    wrong = text.replace("ABSTARN=DERIV(VBSTARN,T,N)", "ABSTARN=LB*U1'*B2")
    with pytest.raises(
        ModelError, match=r"acceleration of BSTAR in N, .*, is not the derivative of its velocity"
    ):
        run_script(wrong, "wrong.al", ScriptFiles(tmp_path))


def test_a_faulty_script_stops_with_its_line_and_writes_nothing(tmp_path):
    text = (DECKS / "double_pendulum.al").read_text() + "RECORD(kept)\nSAVE(kept)\nEXPRES(WBN,N)\n"
    with pytest.raises(ModelError) as caught:
        run_script(text, "s.al", ScriptFiles(tmp_path, at_once=False))
    line = text.splitlines().index("EXPRES(WBN,N)") + 1
    assert f"s.al, line {line}: EXPRES(WBN,N)" in str(caught.value)
    assert "'EXPRESS'" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_files_wait_until_the_script_is_read(tmp_path):
    files = ScriptFiles(tmp_path, at_once=False)
    run_script((DECKS / "double_pendulum.al").read_text() + "RECORD(kept)\n", "s.al", files)
    assert list(tmp_path.iterdir()) == []
    files.write_pending()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["SLINGER.FOR", "kept.al"]


# ---- files


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/../../x", "~/x", "x;y", "", "C:x", "a\\b", "x" * 200]
)
@pytest.mark.parametrize("command", ["RECORD", "SAVE", "EXEC", "LOAD"])
def test_a_script_cannot_leave_its_folder(session, command, name):
    with pytest.raises(ModelError):
        session.run_line(f"{command}({name})")


def test_links_out_of_the_folder_are_not_followed(session, tmp_path):
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    (tmp_path / "link").symlink_to(outside)
    with pytest.raises(ModelError, match="leads out"):
        session.run_line("RECORD(link/x)")


def test_record_and_exec_repeat_the_entries(session, tmp_path):
    session.run_line("WAN=PHI1'*N3")
    session.run_line("RECORD(mine)")
    other = AutolevSession(ScriptFiles(tmp_path))
    other.run_line("EXEC(mine)")
    assert other.listing() == session.listing()


def test_exec_of_a_faulty_file_changes_nothing(session, tmp_path):
    (tmp_path / "bad.al").write_text("CONST(K)\nNOTHING(K)\n")
    refused(session, "EXEC(bad)", "bad.al, line 2: NOTHING(K)")


def test_exec_within_itself_ends(session, tmp_path):
    (tmp_path / "loop.al").write_text("EXEC(loop)\n")
    refused(session, "EXEC(loop)", "deeper")


def test_save_and_load_restore_the_whole_workspace(tmp_path):
    first = run_script((DECKS / "double_pendulum.al").read_text(), "s", ScriptFiles(tmp_path))
    first.run_line("SAVE(work)")
    assert {"work.sav", "work.wrk"} <= {p.name for p in tmp_path.iterdir()}
    second = AutolevSession(ScriptFiles(tmp_path))
    second.run_line("CONST(OLD)")
    second.run_line("LOAD(work)")
    assert "OLD" not in second.workspace.symbols
    assert [e.text for e in second.entries] == [e.text for e in first.entries]
    assert second.run_line("F2") == first.run_line("F2") != []


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": "other"}', '{"format": 1, "lines": 2}', "[" * 100_000]
)
def test_a_file_that_save_did_not_write_is_refused(session, tmp_path, text):
    (tmp_path / "odd.sav").write_text(text)
    refused(session, "LOAD(odd)", "not a workspace")


# ---- the rest of the dialect


def test_bare_units_lists_what_has_none(session):
    session.run_line("UNITS(LA,M,MASS,KG,INERTIA,KG*M^2,T,S,ENERGY,J)")
    (answer,) = session.run_line("UNITS")
    assert "LB" in answer and "LA" not in answer and "MASSA" not in answer and "IA" not in answer


def test_help_what_and_forms(session):
    assert "V2PTS(G,H,X,Y)" in session.run_line("HELP V2PTS")[0]
    assert "'EXPRESS'" in session.run_line("HELP EXPRES")[0]
    assert {"DOF", "FRSTAR", "EPDOTS", "SAVE"} <= set(" ".join(session.run_line("WHAT")).split())
    assert any("W[A][F]" in line for line in session.run_line("FORMS"))


def test_names_are_not_case_distinct(tmp_path):
    s = session_of(["dof(1)", "frames(a)", "simprot(n,a,3,phi)", "phi'=u1"], tmp_path)
    assert s.run_line("wan=Phi'*n3") == ["WAN=U1*N3"]


def test_explicit_direction_cosines_and_partial_derivatives(tmp_path):
    s = session_of(["AUTOZ(OFF)", "DOF(1)", "FRAMES(A)", "CONST(L)"], tmp_path)
    s.run_line("DIRCOS(N,A,COS(PHI),-SIN(PHI),0,SIN(PHI),COS(PHI),0,0,0,1)")
    s.run_line("PHI'=U1")
    s.run_line("WAN=U1*N3")
    s.run_line("POINTS(Q)")
    s.run_line("PQASTAR=L*A1")
    assert s.run_line("VASTARN=DERIV(PQASTAR,T,N)") == ["VASTARN=L*U1*A2"]
    assert s.run_line("VQN=DERIV(PQASTAR,PHI,N)") == ["VQN=-L*SIN(PHI)*N1+L*COS(PHI)*N2"]


def test_prescribed_motion_and_auxiliary_speed_reach_their_files(tmp_path):
    """A mass on a vertical rod moved by X = B SIN(W T): the rod pushes sideways with M X''."""
    text = """
    AUTOZ(OFF)
    DOF(1)
    CONST(B,W,G,K)
    SPECIFIED(X)
    X=B*SIN(W*T)
    AUXILIARY(U2,FX)
    POINTS(O,P)
    MASSLESS(O)
    Y'=U1
    VPN=X'*N1+U1*N2+U2*N1
    APN=DERIV(VPN,T,N)
    FORCE(P)=(FX)*N1-(MASSP*G+K*Y)*N2
    FRSTAR
    FR
    KANE
    """
    from bellcrank.kane.autolev import simulate_autolev_program

    plan = run_script(text, "s", ScriptFiles(tmp_path)).program_layout("ROD")
    assert [f.suffix for f in plan.files if f.suffix[:2] in ("SP", "AU")] == ["SP1", "AU1"]
    o = simulate_autolev_program(plan, "0.2 3 9.81 5\n2\n0\n0\n", "in", 1.0, 0.1, backend="python")
    t = o.run.time
    import numpy as np

    np.testing.assert_allclose(o.run["X"], 0.2 * np.sin(3 * t), rtol=1e-12)
    np.testing.assert_allclose(o.run["FX"], -2 * 0.2 * 9 * np.sin(3 * t), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        o.run["Y"], (np.cos(np.sqrt(2.5) * t) - 1) * 2 * 9.81 / 5, rtol=1e-6, atol=1e-9
    )


@pytest.mark.campaign
def test_twenty_links_are_derived():
    """What AUTOLEV aims at: about twenty bodies."""
    n = 20
    letters = [chr(ord("A") + i) for i in range(n + 3) if chr(ord("A") + i) not in "NTU"][:n]
    lines = [f"DOF({n})", f"FRAMES({','.join(letters)})", "CONST(LEN,GRAV)"]
    lines += [
        f"POINTS({','.join(f'J{x}' for x in letters)})",
        f"MASSLESS({','.join(f'J{x}' for x in letters)})",
    ]
    lines.append(f"PRINCIPAL({','.join(letters)})")
    for i, x in enumerate(letters, 1):
        lines += [
            f"SIMPROT(N,{x},3,PHI{i})",
            f"PHI{i}'=U{i}",
            f"W{x}N=U{i}*N3",
            f"ALF{x}N=U{i}'*N3",
        ]
    joint = f"J{letters[0]}"
    lines.append(f"V{joint}N=0*N1")
    for i, x in enumerate(letters):
        lines += [
            f"P{joint}{x}STAR=LEN*{x}1",
            f"V2PTS(N,{x},{joint},{x}STAR)",
            f"A{x}STARN=DERIV(V{x}STARN,T,N)",
        ]
        lines.append(f"FORCE({x}STAR)=GRAV*MASS{x}*N1")
        if i + 1 < n:
            after = f"J{letters[i + 1]}"
            lines += [f"P{joint}{after}=2*LEN*{x}1", f"V2PTS(N,{x},{joint},{after})"]
            joint = after
    s = session_of([*lines, "FRSTAR", "FR"])
    assert len(s.run_line("KANE")) == n


def test_a_declared_name_is_defined_once():
    s = session_of(["DOF(1)", "VAR(X)", "X=2"])
    with pytest.raises(ModelError, match="X is already defined: X=2"):
        s.run_line("X=3")


# ---- a real terminal


class Terminal:
    """A session in a pseudo-terminal."""

    def __init__(self, folder):
        pty = pytest.importorskip("pty")  # not on Windows
        self.master, slave = pty.openpty()
        env = {**os.environ, "BELLCRANK_HISTORY": str(folder / "history"), "TERM": "dumb"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bellcrank", "kane"],
            cwd=folder,
            env=env,
            pass_fds=(slave,),
            preexec_fn=lambda: (
                os.login_tty(slave),
                signal.signal(signal.SIGINT, signal.SIG_DFL),
            ),  # Ctrl-C may be ignored here
        )
        os.close(slave)

    def expect(self, pattern, seconds=30):
        """Reads until a pattern appears."""
        seen, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, seen, re.DOTALL):
                return seen
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                try:
                    piece = os.read(self.master, 4096).decode()
                except OSError:
                    piece = ""
                if not piece:
                    break
                seen += piece
        assert re.search(pattern, seen, re.DOTALL), f"{pattern!r} did not appear in {seen!r}"
        return seen

    def send(self, line, pattern):
        os.write(self.master, line.encode() + b"\n")
        return self.expect(pattern)

    def interrupt(self, pattern):
        """Ctrl-C; one that comes just before Python waits for keys is heard with the next one."""
        for _ in range(10):
            os.write(self.master, b"\x03")
            with suppress(AssertionError):
                return self.expect(pattern, seconds=1)
        raise AssertionError("an interrupt was not heard")

    def close(self):
        os.close(self.master)
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()


def test_a_session_at_a_terminal(tmp_path):
    terminal = Terminal(tmp_path)
    try:
        assert "HELP explains" in terminal.expect(r"\(1\) $")
        terminal.send("DOF(2)", r"\(2\) $")
        terminal.send("FRAMES(A,B)", r"\(3\) $")
        terminal.send(
            "SIMPROT(N,A,3,PHI1)", r"-> \(4\) DIRCOS\(N,A,COS\(PHI1\),-SIN\(PHI1\),0.*\(5\) $"
        )
        assert "'FRAMES'" in terminal.send("FRMES(C)", r"\?\? there is no command FRMES.*\(5\) $")
        terminal.send("PHI1'=U1", r"\(6\) $")
        terminal.send("WAN=PHI1'*N3", r"-> \(7\) WAN=U1\*N3\s+\(8\) $")
        terminal.send("WAN=U2*N3", r"\?\? WAN is already defined: WAN=U1\*N3\s+\(8\) $")
        terminal.send(
            "V2PTS(N,A,ASTAR,BSTAR)", r"VASTARN=vector[\s\S]*PASTARBSTAR=vector\s+\(8\) $"
        )
        os.write(terminal.master, b"CONST(")
        terminal.expect(
            r"CONST\($"
        )  # read: an interrupt throws away what is typed, and the library would wait for it
        terminal.interrupt(r"\(8\) $")  # Ctrl-C gives up a line
        terminal.send("SAVE(half)", r"5 entries in half.sav.*\(8\) $")
        terminal.send("CLEAR", r"empty\s+\(1\) $")
        terminal.send("LOAD(half)", r"entries from half.sav\s+\(8\) $")
        assert "WAN=U1*N3" in terminal.send("LIST", r"-> \(7\) WAN=U1\*N3\s+\(8\) $")
        terminal.send("\x1b[A\x1b[A\x1b[A", r"\(1\) $")  # history: three lines up is CLEAR
        os.write(terminal.master, b"QUIT\n")
        terminal.process.wait(timeout=30)
        assert terminal.process.returncode == 0
    finally:
        terminal.close()
    assert "SIMPROT(N,A,3,PHI1)" in (tmp_path / "history").read_text()
    assert (tmp_path / "half.sav").exists()


def test_a_fault_of_the_program_does_not_end_the_session(tmp_path, monkeypatch):
    from bellcrank.kane.autolev import commands
    from bellcrank.kane.autolev.console import run_dialogue

    def broken(workspace, args):
        workspace.symbols["HALF"] = None
        raise RuntimeError("broken")

    monkeypatch.setitem(commands.TABLE, "DOF", commands.AutolevCommand(broken, 1, 1))
    session, said = AutolevSession(ScriptFiles(tmp_path)), []
    lines = iter(["DOF(1)", "CONST(K)", "QUIT"])
    run_dialogue(session, lambda prompt: next(lines), said.append)
    assert "RuntimeError: broken" in said[0] and "Please report" in said[0]
    assert [e.text for e in session.entries] == ["CONST(K)"]
    assert "HALF" not in session.workspace.symbols
