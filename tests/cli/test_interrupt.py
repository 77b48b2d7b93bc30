"""Ctrl-C, SIGTERM and SIGHUP leave a checkpoint and a complete folder; a lost standard output is noticed."""
import os
import pty
import re
import signal
import subprocess
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

    def test_one_line_rewritten_on_a_terminal(self):
        try:
            leader, follower = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(f"no terminal to be had: {error}")
        process = subprocess.Popen([COMMAND, "run", SCENE, "-o", self.folder / "run", "--frames", "10"],
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
        self.assertEqual(process.wait(60), 0, process.stderr.read())
        process.stderr.close()
        os.close(leader)
        self.assertTrue(re.search(rb"\r\x1b\[Kframe \d+/10 ", shown), shown)
        self.assertEqual(shown.count(b"\n"), 1, shown)


main()
