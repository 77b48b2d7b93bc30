"""Ctrl-C, SIGTERM and SIGHUP leave a checkpoint and a complete folder; a lost standard output is noticed."""
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import time

from common import COMMAND, Case, SCENES, main, run_json

SCENE = SCENES / "drop2d.yaml"


class Interrupt(Case):
    def check_signal(self, number):
        folder = self.folder / "stopped"
        whole = self.run_scene("drop2d", "whole", "--set", "fps=100", "--frames", 30)
        process = subprocess.Popen([COMMAND, "run", SCENE, "-o", folder, "--set", "fps=100", "--frames", "30"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (folder / "particles_0003.vtp").exists():
            time.sleep(0.005)
        process.send_signal(number)
        _, message = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, message)
        self.assertTrue((folder / "checkpoint.spate").exists())
        self.assertIn("--resume", message)
        self.assert_complete(folder, 130)
        self.assertLess(run_json(folder)["frames"], 30)
        self.run_scene("drop2d", "stopped", "--set", "fps=100", "--frames", 30, "--resume")
        self.assert_same_run(whole, folder)

    def test_ctrl_c(self):
        self.check_signal(signal.SIGINT)

    def test_terminate(self):
        self.check_signal(signal.SIGTERM)

    def test_terminal_closes(self):
        self.check_signal(signal.SIGHUP)

    def test_nohup(self):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGHUP, signal.SIG_DFL)
        process = subprocess.Popen([COMMAND, "run", SCENE, "-o", self.folder / "run", "--frames", "10", "--quiet"],
                                   stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (self.folder / "run" / "particles_0001.vtp").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGHUP)
        _, message = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, message)


class Output(Case):
    def check_lost(self, **how):
        folder = self.folder / "run"
        result = subprocess.run([COMMAND, "run", SCENE, "-o", folder, "--frames", "3"], stderr=subprocess.PIPE,
                                text=True, timeout=60, **how)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("standard output", result.stderr)
        self.assert_complete(folder, 0)
        self.assertEqual(run_json(folder)["frames"], 3)

    def test_reader_of_a_pipe_went_away(self):
        reading, writing = os.pipe()
        os.close(reading)
        self.check_lost(stdout=writing)
        os.close(writing)

    def test_closed(self):
        self.check_lost(preexec_fn=lambda: os.close(1))

    def test_full(self):
        with open("/dev/full", "w") as full:
            self.check_lost(stdout=full)

    def test_plain_lines_when_not_a_terminal(self):
        result = subprocess.run([COMMAND, "run", SCENE, "-o", self.folder / "run", "--frames", "3"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("\r", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^frame 3/3  t [\d.]+ s  .* particles  .* steps/s")

    def lines_on_a_terminal(self, columns, *words, resize=None):
        """What a run writes to a terminal: every state of the line, and the lines that stay. With
        `resize` the terminal gets another width after the first state."""
        try:
            leader, follower = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(f"no terminal to be had: {error}")
        self.addCleanup(os.close, leader)

        def set_width(width):
            fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))
        set_width(columns)
        process = subprocess.Popen([COMMAND, "run", SCENE, "-o", self.folder / "run", "--force", *words],
                                   stdout=follower, stderr=subprocess.PIPE)
        os.close(follower)
        shown = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            if resize and b"left" in shown:
                set_width(resize)
        self.assertEqual(process.wait(60), 0, process.stderr.read())
        process.stderr.close()
        states = [part.split(b"\n")[0].decode() for part in shown.split(b"\r\x1b[K")]
        return [s for s in states if "%" in s], shown

    def test_one_line_rewritten_on_a_terminal(self):
        states, shown = self.lines_on_a_terminal(80, "--frames", "10")
        self.assertTrue(states, shown)
        self.assertRegex(states[0], r"^ *\d+% \[=*>? *\]  frame \d+/10 ")
        self.assertEqual(shown.count(b"\n"), 1, shown)

    def test_the_line_is_as_wide_as_the_terminal(self):
        for columns, words in ((20, ()), (40, ("%", "[", "frame ", " left")), (80, ("%", "[", "frame ", "particles", "dt ", "left")),
                               (200, ("%", "[", "frame ", "particles", "dt ", "left"))):
            states, shown = self.lines_on_a_terminal(columns, "--frames", "10")
            self.assertTrue(states, shown)
            for state in states:
                self.assertLess(len(state), columns, state)
            for word in words:
                self.assertIn(word, states[-1])

    def test_the_line_follows_the_terminal(self):
        states, shown = self.lines_on_a_terminal(120, "--set", "domain.dx=0.02", "--frames", "20", resize=40)
        self.assertGreater(len(states[0]), 60)
        self.assertLess(len(states[-1]), 40)


main()
