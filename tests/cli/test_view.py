"""spate view (SPATE_VIEWER): who may connect, what frames hold, the pace of requests, tools, folders, threads that
end, and everything that a viewer should not do. Sockets and a small WebSocket of our own: the standard library only."""
import base64
import ctypes
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import time
import unittest

from common import COMMAND, SANITIZED, SCENES, Case, main, run_json, spate

RUNNING, PAUSED, FAILED, ENDED = range(4)
PARTICLES, SCALAR, GROUP, GRID, SURFACE, POSES, QUANTITIES, SOLID, MESH = range(1, 10)

POOL = """
spate: 1
name: pool
dimension: 2
domain: {size: [1, 1], dx: 0.05}
duration: 0.4
fps: 20
solver: {type: flip}
materials: {water: {model: liquid, density: 1000}}
bodies: [{name: pool, material: water, shape: {box: {min: [0, 0], max: [1, 0.4]}}}]
"""
# One that does not end while somebody waits for its next frame.
LONG = POOL.replace("duration: 0.4", "duration: 1000")
PLUME = """
spate: 1
name: plume
dimension: 3
domain: {size: [0.4, 0.6, 0.4], dx: 0.05}
duration: 0.4
fps: 10
solver: {type: smoke}
materials: {smoke: {model: gas, temperature: 80}}
sources: [{material: smoke, velocity: [0, 0.4, 0], shape: {sphere: {center: [0.2, 0.1, 0.2], radius: 0.08}}}]
colliders: [{name: ball, shape: {sphere: {center: [0.2, 0.4, 0.2], radius: 0.08}}}]
output: {checkpoint: 0}
"""
# A grain before the cloth and the strands, so that places are not numbers in a body.
CLOTH = """
spate: 1
name: cloth
gravity: [0, 0, 0]
dimension: 3
domain: {size: [1, 1, 1], dx: 0.125}
duration: 0.1
fps: 20
solver: {type: mpm}
materials:
  sand: {model: sand, density: 1500, young_modulus: 1.0e5, poisson: 0.3}
  cotton: {model: neo_hookean, density: 300, young_modulus: 1.0e4, poisson: 0.3}
bodies:
  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.125, 0.125, 0.125]}}}
  - {name: cloth, material: cotton, cloth: {corner: [0.3, 0.5, 0.3], along: [0.4, 0, 0], across: [0, 0, 0.4], spacing: 0.1, thickness: 0.002}}
  - {name: hair, material: cotton, strands: {root: [0.3, 0.9, 0.5], direction: [0, -0.2, 0], row: [0.2, 0, 0], count: 3, spacing: 0.05, radius: 0.01}}
output: {checkpoint: 0}
"""


TIMEOUT = 60  # seconds that nothing here takes


class Closed(Exception):
    """The other side has ended the connection."""


class Socket:
    """A WebSocket that says and hears whole messages, and can misbehave."""
    opened = []

    @classmethod
    def open_ones(cls):
        return [s for s in cls.opened if s.status == 101 and s.socket.fileno() >= 0]

    def hear_the_end(self):
        """Until the other side closes the connection."""
        try:
            while True:
                self.hear()
        except (Closed, OSError):
            pass

    def __init__(self, address, **headers):
        host, port, self.token = re.fullmatch(r"http://([^:]+):(\d+)/(\w+)/", address).groups()
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Socket.opened.append(self)
        given = {"Host": f"{host}:{port}", "Upgrade": "websocket", "Connection": "Upgrade",
                 "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version": "13", **headers}
        lines = [f"GET /{self.token}/live HTTP/1.1", *(f"{k}: {v}" for k, v in given.items()), "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            piece = self.socket.recv(1)
            if not piece:
                break
            head += piece
        self.status = int(head.split()[1]) if head else 0

    def bytes(self, count):
        out = bytearray()
        while len(out) < count:
            piece = self.socket.recv(min(count - len(out), 1 << 20))
            if not piece:
                raise Closed
            out += piece
        return bytes(out)

    def say(self, words, opcode=1, last=True):
        data = words.encode() if isinstance(words, str) else words
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        mask = os.urandom(4)
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        self.socket.sendall(bytes([(0x80 if last else 0) | opcode]) + size + mask + body)

    def hear(self):
        """The next message: a dict from JSON, or (head, sections) of a binary one. Pings are none."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            first, second = self.bytes(2)
            length = second & 127
            if length >= 126:
                length = int.from_bytes(self.bytes(2 if length == 126 else 8), "big")
            data, opcode = self.bytes(length), first & 15
            if opcode == 8:
                self.code = int.from_bytes(data[:2], "big")
                self.say(data[:2], 8)  # as a browser answers
                raise Closed
            if opcode == 9:
                self.say(data, 10)
            elif opcode == 1:
                return json.loads(data)
            elif opcode == 2:
                return unpack(data)
        raise TimeoutError("nothing is said")

    def hear_kind(self, kind):
        """The next text of a kind; what comes before is passed over."""
        while True:
            message = self.hear()
            if isinstance(message, dict) and message["kind"] == kind:
                return message

    def frame(self, ask=True):
        """Asks for a frame and waits for it."""
        if ask:
            self.say("frame")
        while True:
            message = self.hear()
            if not isinstance(message, dict) and message[0]["magic"] == b"SPF1":
                return message

    def frame_when(self, condition):
        for _ in range(5000):
            head, sections = self.frame()
            if condition(head):
                return head, sections
        raise AssertionError("it never came to that")

    def close(self):
        self.socket.close()


def unpack(data):
    names = ("magic", "sections", "time", "number", "state", "pace", "rate", "index")
    head = dict(zip(names, struct.unpack_from("<4sIdQIffI", data)))
    sections, at = [], 40
    for _ in range(head["sections"]):
        kind, _, length = struct.unpack_from("<IIQ", data, at)
        sections.append((kind, data[at + 16:at + 16 + length]))
        at += 16 + (length + 7) // 8 * 8
    assert at == len(data), (at, len(data))
    head["bytes"] = len(data)
    return head, sections


def section(sections, kind):
    return next((data for k, data in sections if k == kind), None)


def particles(sections):
    """Positions as the numbers of 16 bits that were sent, with origin and spacing."""
    data = section(sections, PARTICLES)
    count, axes = struct.unpack_from("<II", data)
    where = struct.unpack_from("<6d", data, 8)
    numbers = struct.unpack_from(f"<{count * axes}H", data, 56)
    assert len(data) == 56 + 2 * count * axes
    return [numbers[i:i + axes] for i in range(0, len(numbers), axes)], where[:3], where[3:]


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([COMMAND, "view", "--no-open", *map(str, words)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(self.process.communicate()[1])
        self.host, self.port, self.token = re.fullmatch(r"http://([^:]+):(\d+)/(\w+)/", self.address).groups()

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def join(self, **headers):
        """A viewer who has been greeted."""
        viewer = Socket(self.address, **headers)
        viewer.hello = viewer.hear()
        viewer.parts = viewer.hear()
        return viewer

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.host, int(self.port), timeout=TIMEOUT)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def end(self, number=signal.SIGINT):
        """Ends it as Ctrl-C does; returns its exit code and what it said."""
        self.process.send_signal(number)
        for viewer in Socket.open_ones():
            viewer.hear_the_end()
        said = self.process.communicate(timeout=TIMEOUT)[1]
        return self.process.returncode, said


class View(Case):
    def serve(self, scene=POOL, *words):
        path = scene
        if isinstance(scene, str):
            path = self.folder / "scene.yaml"
            path.write_text(scene)
        return self.started(Server(path, *words))

    def started(self, server):
        self.addCleanup(self.stop, server.process)
        return server

    @staticmethod
    def stop(process):
        while Socket.opened:
            Socket.opened.pop().close()
        if process.poll() is None:
            process.kill()
        process.communicate()

    def assert_ends(self, server, code=0):
        got, said = server.end()
        self.assertEqual(got, code, said)
        self.assertNotIn("Sanitizer", said)

    # ---- who may connect ----
    def test_only_who_knows_the_address(self):
        server = self.serve(POOL, "--paused")
        page, own = f"/{server.token}/", f"{server.host}:{server.port}"
        self.assertEqual(server.host, "127.0.0.1")
        status, headers, body = server.get(page)
        self.assertEqual(status, 200)
        self.assertIn(b"<canvas", body)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        for name in ("main.js", "viewer.css", "protocol.js"):
            self.assertEqual(server.get(page + name)[0], 200, name)
        self.assertEqual(server.get(page, "HEAD")[0], 200)
        wrong = server.token[:-1] + ("0" if server.token[-1] != "0" else "1")
        for path in ("/", "/index.html", "/main.js", "/live", f"/{wrong}/", f"/{server.token}", "//", f"/{server.token.upper()}x/"):
            self.assertEqual(server.get(path)[0], 403, path)
        for host in ("evil.example", f"evil.example:{server.port}", f"127.0.0.1.evil.example:{server.port}", f"127.0.0.1:{int(server.port) ^ 1}", ""):
            self.assertEqual(server.get(page, Host=host)[0], 403, host)
            self.assertEqual(Socket(server.address, Host=host).status, 403, host)
        for origin in ("http://evil.example", "null", f"https://{own}", f"http://localhost:{server.port}"):
            self.assertEqual(server.get(page, Origin=origin)[0], 403, origin)
            self.assertEqual(Socket(server.address, Origin=origin).status, 403, origin)
        self.assertEqual(Socket(server.address, Origin=f"http://{own}").status, 101)
        for host in (f"localhost:{server.port}", own):
            self.assertEqual(server.get(page, Host=host)[0], 200, host)
        self.assert_ends(server)

    def test_nothing_from_the_disk(self):
        server = self.serve(POOL, "--paused")
        page = f"/{server.token}/"
        (self.folder / "secret").write_text("secret")
        for path in ("../../../../etc/passwd", "..%2f..%2f..%2fetc/passwd", "%2e%2e/secret", "/etc/passwd", f"{self.folder}/secret",
                     "scene.yaml", "secret", "....//secret", "main.js/", "./main.js/../../secret", "page.c"):
            status, _, body = server.get(page + path)
            self.assertIn(status, (403, 404, 400), path)
            self.assertNotIn(b"root:", body)
            self.assertNotEqual(body, b"secret")
        for method in ("POST", "PUT", "DELETE", "PROPFIND", "OPTIONS"):
            self.assertIn(server.get(page + "main.js", method)[0], (403, 405, 400), method)
        self.assertEqual(server.get(page + "live")[0], 426)
        self.assert_ends(server)

    # ---- frames ----
    @unittest.skipIf(SANITIZED, "an instrumented library cannot be loaded into a plain Python")
    def test_frames_are_the_simulation(self):
        """Positions and an attribute, step by step, against a simulation of our own through the library."""
        server = self.serve(POOL, "--paused")
        viewer = server.join()
        self.assertEqual((viewer.hello["mode"], viewer.hello["dimension"], viewer.hello["order"]), ("live", 2, "stored"))
        viewer.say("colour v_y")
        simulation = Simulation(self.folder / "scene.yaml")
        for steps in (0, 1, 7):
            if steps:
                viewer.say(f"step {steps - simulation.steps}")
                simulation.step_to(steps)
            head, sections = viewer.frame_when(lambda h: h["number"] == steps and h["state"] == PAUSED)
            self.assertEqual(head["time"], simulation.time())
            sent, origin, spacing = particles(sections)
            self.assertEqual([list(p) for p in sent], [p[:2] for p in simulation.read("P", ctypes.c_uint16, 3, 3)])
            exact = simulation.read("P", ctypes.c_double, 1, 3)
            self.assertEqual(len(sent), len(exact))
            for place, x in zip(sent, exact):
                for a in range(2):
                    self.assertLessEqual(abs(origin[a] + spacing[a] * place[a] - x[a]), 0.501 * spacing[a])
            self.assert_scalar(sections, [v[1] for v in simulation.read("v", ctypes.c_float, 0, 3)])
        simulation.close()
        self.assert_ends(server)

    def assert_scalar(self, sections, exact):
        data = section(sections, SCALAR)
        count, _, low, high = struct.unpack_from("<IIff", data)
        self.assertEqual((count, low, high), (len(exact), min(exact), max(exact)))
        for q, x in zip(struct.unpack_from(f"<{count}H", data, 16), exact):
            self.assertLessEqual(abs(low + (high - low) * q / 65535 - x), (high - low) / 65535 + 1e-7)

    def test_smoke_comes_as_a_grid(self):
        server = self.serve(PLUME)
        viewer = server.join()
        self.assertEqual(viewer.hello["colliders"], ["ball"])
        solid = section(viewer.parts[1], SOLID)
        _, vertices, triangles, _ = struct.unpack_from("<4I", solid)
        self.assertGreater(triangles, 50)
        _, sections = viewer.frame_when(lambda h: h["time"] > 0.2)
        data = section(sections, GRID)
        *size, channels = struct.unpack_from("<4I", data)
        self.assertEqual((size, channels), ([8, 12, 8], 1))
        self.assertEqual(len(data), 80 + 8 * 12 * 8)
        low, high = struct.unpack_from("<f", data, 48)[0], struct.unpack_from("<f", data, 64)[0]
        self.assertTrue(low <= 0 < high)
        values = data[80:]
        self.assertEqual(max(values), 255)
        present, *place = struct.unpack_from("<8f", section(sections, POSES))
        self.assertEqual(present, 1)
        self.assertEqual(place[3:], [0, 0, 0, 1])
        for v in range(vertices):  # on the sphere
            x = struct.unpack_from("<3f", solid, 32 + 12 * v)
            self.assertAlmostEqual(sum((a + p - c) ** 2 for a, p, c in zip(x, place, (0.2, 0.4, 0.2))) ** 0.5, 0.08, delta=0.002)
        viewer.say("colour temperature")
        viewer.frame()
        self.assert_ends(server)

    def test_frames_wait_to_be_asked_for(self):
        server = self.serve(LONG, "--speed", 0.2)
        viewer = server.join()
        head, _ = viewer.frame()
        self.assertFalse(select.select([viewer.socket], [], [], 0.3)[0], "a frame that nobody asked for")
        for _ in range(5):
            viewer.say("frame")  # five wishes, one frame
        self.assertGreater(viewer.frame(ask=False)[0]["number"], head["number"])
        viewer.say("pause")
        viewer.frame_when(lambda h: h["state"] == PAUSED)
        viewer.say("frame")  # nothing has changed since: it waits
        self.assertFalse(select.select([viewer.socket], [], [], 0.3)[0])
        viewer.say("step 1")
        self.assertFalse(viewer.frame(ask=False) is None)
        self.assert_ends(server)

    # ---- taking part ----
    def test_pause_step_resume_end(self):
        server = self.serve(POOL, "--paused")
        viewer = server.join()
        self.assertEqual(viewer.frame()[0]["number"], 0)
        viewer.say("step 3")
        self.assertEqual(viewer.frame_when(lambda h: h["state"] == PAUSED)[0]["number"], 3)
        viewer.say("speed 0")
        viewer.say("resume")
        head, _ = viewer.frame_when(lambda h: h["state"] == ENDED)
        self.assertAlmostEqual(head["time"], 0.4, places=9)
        viewer.say("resume")
        self.assertGreater(viewer.frame_when(lambda h: h["time"] > 0.45)[0]["number"], head["number"])
        viewer.say("pause")
        viewer.say("reset")
        self.assertEqual(viewer.frame_when(lambda h: h["time"] == 0)[0]["number"], 0)
        viewer.say("stop")
        viewer.hear_the_end()
        self.assertEqual(server.process.wait(60), 0)

    def test_tools_change_the_run_and_can_be_run_again(self):
        """Every tool; then `spate run` of the recording passes through the same states, bit for bit."""
        record = self.folder / "play.yaml"
        server = self.serve(POOL, "--paused", "--speed", 0, "--record", record)
        viewer = server.join()
        count = len(particles(viewer.frame()[1])[0])

        def after(steps, *words):
            for w in words:
                viewer.say(w)
            viewer.say(f"step {steps}")
            before = after.number
            after.number += steps
            return viewer.frame_when(lambda h: h["number"] == before + steps and h["state"] == PAUSED)[1]
        after.number = 0
        viewer.say("colour speed")
        calm = struct.unpack_from("<f", section(after(2), SCALAR), 12)[0]
        stirred = struct.unpack_from("<f", section(after(2, "stir 0.5 0.2 0 2 0 0 0.1"), SCALAR), 12)[0]
        self.assertGreater(stirred, calm + 0.5)
        after(2, "release", "pull 0.2 0.5 0 0.1")
        after(2, "release", "blast 0.5 0.1 0 0.1")
        more = len(particles(after(6, "pour 0.5 0.8 0 0.1 0"))[0])
        self.assertGreater(more, count)
        poses = section(after(4, "release", "ball 0.3 0.8 0 0.08", "tilt 2 -9 0"), POSES)
        self.assertEqual(len(poses), 32)
        self.assertLess(struct.unpack_from("<8f", poses)[2], 0.8)
        viewer.say("resume")
        viewer.frame_when(lambda h: h["state"] == ENDED)
        viewer.say("save")
        saved = viewer.hear_kind("recording")
        viewer.say("stop")
        viewer.hear_the_end()
        self.assertEqual(server.process.wait(60), 0, server.process.stderr.read())
        self.assertEqual(record.read_text(), saved["scene"])
        run = self.run_scene(record, "again")
        self.assertEqual(run_json(run)["state_hash"], saved["hash"])
        # Without what was done it is another run.
        plain = self.run_scene(self.folder / "scene.yaml", "plain")
        self.assertNotEqual(run_json(plain)["state_hash"], saved["hash"])

    def test_picking_plots_and_mistakes(self):
        server = self.serve(POOL, "--paused")
        viewer = server.join()
        viewer.say("pick 0.5 0.2 0")
        picked = viewer.hear_kind("picked")
        x = picked["values"]["P"]
        self.assertTrue(abs(x[0] - 0.5) < 0.03 and abs(x[1] - 0.2) < 0.03, x)
        self.assertEqual(picked["values"]["id"], [picked["id"]])
        viewer.say(f"values {picked['id']}")
        self.assertEqual(viewer.hear_kind("picked")["values"]["P"], x)
        viewer.say("plot mass particles")
        _, sections = viewer.frame()
        mass, number = struct.unpack("<2d", section(sections, QUANTITIES))
        self.assertAlmostEqual(mass, 400, delta=1)
        self.assertEqual(number, len(particles(sections)[0]))
        for words, told in (("colour nonsense", "nonsense"), ("plot nonsense", "nonsense"), ("values 99999999", "gone"),
                            ("seek 3", "live"), ("step 0", "0 steps"), ("pour 0 0 0 1 7", "no material 7"), ("speed -1", "below 0")):
            viewer.say(words)
            self.assertIn(told, viewer.hear_kind("notice")["text"])
        self.assert_ends(server)

    def test_a_run_that_fails_stays_in_view(self):
        server = self.serve(POOL.replace("duration: 0.4", "duration: 4"), "--set", "solver.max_steps=5", "--speed", 0)
        viewer = server.join()
        viewer.frame_when(lambda h: h["state"] in (FAILED, ENDED, PAUSED) or h["number"] > 40)
        viewer.say("reset")
        viewer.frame()
        server.end()

    # ---- folders ----
    def test_folder(self):
        run = self.run_scene("drop2d", "run", "--frames", 4)
        server = self.serve(run)
        viewer = server.join()
        self.assertEqual((viewer.hello["mode"], viewer.hello["frames"]), ("folder", 5))
        times = []
        for index in (0, 3, 1, 4, 99):
            viewer.say(f"seek {index}")
            head, sections = viewer.frame_when(lambda h: h["index"] == min(index, 4))
            times.append(head["time"])
            sent, origin, spacing = particles(sections)
            exact = vtp_positions(run / f"particles_{min(index, 4):04d}.vtp")
            self.assertEqual(len(sent), len(exact))
            for place, x in zip(sent, exact):
                for a in range(2):
                    self.assertLessEqual(abs(origin[a] + spacing[a] * place[a] - x[a]), 0.501 * spacing[a])
            if index == 4:
                break
        self.assertEqual(times, sorted(times[:1]) + [times[1], times[2], times[3]])
        self.assertTrue(times[0] < times[2] < times[1] < times[3])
        viewer.say("colour speed")
        self.assertIsNotNone(section(viewer.frame()[1], SCALAR))
        viewer.say("plot kinetic_energy")
        series = viewer.hear_kind("series")
        self.assertEqual((len(series["time"]), len(series["series"]["kinetic_energy"])), (5, 5))
        viewer.say("pick 0.5 0.5 0")
        self.assertIn("v", viewer.hear_kind("picked")["values"])
        for words in ("pause", "stir 0 0 0 0 0 0 1", "reset"):
            viewer.say(words)
            self.assertIn("frames of a run", viewer.hear_kind("notice")["text"])
        # New frames are found while a run writes them.
        (run / "particles_0005.vtp").write_bytes((run / "particles_0004.vtp").read_bytes())
        self.assertEqual(viewer.hear_kind("timeline")["frames"], 6)
        # A frame that is damaged is told, and the viewer lives on.
        (run / "particles_0002.vtp").write_bytes(b"not a frame")
        viewer.say("seek 2")
        viewer.say("frame")
        self.assertIn("particles_0002.vtp", viewer.hear_kind("notice")["text"])
        viewer.say("seek 0")
        viewer.frame()
        self.assert_ends(server)

    def assert_meshes(self, sections):
        """Triangles as large as their cloth, segments as long as their strands."""
        places, origin, spacing = particles(sections)
        x = [[origin[a] + spacing[a] * p[a] for a in range(3)] for p in places]
        data = section(sections, MESH)
        triangles, segments = struct.unpack_from("<II", data)
        corners = struct.unpack_from(f"<{3 * triangles + 2 * segments}I", data, 8)
        self.assertEqual(len(data), 8 + 4 * len(corners))
        area = 0
        for t in range(0, 3 * triangles, 3):
            a, b, c = (x[i] for i in corners[t:t + 3])
            u, v = [q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)]
            area += 0.5 * sum((u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2]) ** 2 for i in range(3)) ** 0.5
        self.assertAlmostEqual(area, 0.16, delta=0.002)
        ends = corners[3 * triangles:]
        length = sum(sum((p - q) ** 2 for p, q in zip(x[ends[i]], x[ends[i + 1]])) ** 0.5 for i in range(0, len(ends), 2))
        self.assertAlmostEqual(length, 0.6, delta=0.01)

    def test_a_run_made_anew_of_another_scene(self):
        run = self.run_scene(self.write(POOL), "run", "--frames", 2)
        server = self.serve(run)
        viewer = server.join()
        viewer.frame()
        self.assertEqual((viewer.hello["name"], viewer.hello["grid"]), ("pool", False))
        self.run_scene(self.write(PLUME), "run", "--frames", 2, "--force")
        hello = viewer.hear_kind("hello")
        self.assertEqual((hello["name"], hello["grid"], hello["colliders"]), ("plume", True, ["ball"]))
        self.assertIsNotNone(section(viewer.hear()[1], SOLID))
        self.assertIsNotNone(section(viewer.frame()[1], GRID))
        self.assert_ends(server)

    def test_meshes_are_told_live_and_of_a_folder(self):
        path = self.write(CLOTH)
        server = self.serve(path, "--speed", 0)
        viewer = server.join()
        self.assertEqual([g.get("mesh", False) for g in viewer.hello["groups"]], [False, True, True])
        self.assert_meshes(viewer.frame_when(lambda h: h["state"] == ENDED)[1])
        self.assert_ends(server)
        server = self.serve(self.run_scene(path, "cloth"))
        viewer = server.join()
        viewer.say("seek 2")
        self.assert_meshes(viewer.frame_when(lambda h: h["index"] == 2)[1])
        self.assert_ends(server)

    def test_folder_of_smoke_and_of_surfaces(self):
        run = self.run_scene(self.write(PLUME), "plume", "--frames", 2)
        server = self.serve(run)
        viewer = server.join()
        viewer.say("seek 2")
        _, sections = viewer.frame_when(lambda h: h["index"] == 2)
        *size, channels = struct.unpack_from("<4I", section(sections, GRID))
        self.assertEqual((size, channels), ([8, 12, 8], 1))
        self.assert_ends(server)
        drop = POOL.replace("dimension: 2", "dimension: 3").replace("[1, 1]", "[0.4, 0.4, 0.4]")
        drop = drop.replace("box: {min: [0, 0], max: [1, 0.4]}", "sphere: {center: [0.2, 0.2, 0.2], radius: 0.1}")
        run = self.run_scene(self.write(drop + "output: {surface: ply}\n"), "drop", "--frames", 1)
        server = self.serve(run)
        _, sections = server.join().frame()
        data = section(sections, SURFACE)
        vertices, triangles = struct.unpack_from("<II", data)
        self.assertEqual(len(data), 56 + 12 * vertices + 12 * triangles)
        self.assertGreater(triangles, 20)
        self.assertLess(max(struct.unpack_from(f"<{3 * triangles}I", data, 56 + 12 * vertices)), vertices)
        self.assert_ends(server)

    def write(self, scene):
        path = self.folder / f"scene{len(list(self.folder.iterdir()))}.yaml"
        path.write_text(scene)
        return path

    # ---- trouble ----
    def test_malformed_messages_end_only_their_sender(self):
        server = self.serve(LONG, "--speed", 0.1)
        good = server.join()
        for what in (lambda s: s.say("nonsense"), lambda s: s.say("stir 1 2"), lambda s: s.say("x" * 600), lambda s: s.say(b"\xff\x00", 2),
                     lambda s: s.say("fra", last=False), lambda s: s.say("step nan"), lambda s: s.say(b"", 1),
                     lambda s: s.socket.sendall(b"\x81\xff" + b"\x7f" + b"\xff" * 7 + b"abcd"),
                     lambda s: s.socket.sendall(os.urandom(200)), lambda s: s.socket.sendall(b"\xf1\x85abcdefghi")):
            bad = server.join()
            try:
                what(bad)
                bad.socket.shutdown(socket.SHUT_WR)
                with self.assertRaises((Closed, ConnectionError)):
                    for _ in range(100):
                        bad.hear()
            except OSError:
                pass
            bad.close()
            self.assertEqual(good.frame()[0]["magic"], b"SPF1")
        # What is no HTTP at all.
        for junk in (b"\x00\x01\x02", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 20000, b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"):
            with socket.create_connection((server.host, int(server.port)), timeout=TIMEOUT) as s:
                try:
                    s.sendall(junk)
                    s.shutdown(socket.SHUT_WR)
                    s.recv(100)
                except OSError:
                    pass  # it has hung up already
            # Each time: who leaves the server's pings unanswered for half a minute is hung up on.
            self.assertEqual(good.frame()[0]["magic"], b"SPF1")
        self.assert_ends(server)

    def test_who_does_not_read_stops_nobody(self):
        server = self.serve(POOL.replace("dx: 0.05", "dx: 0.01").replace("duration: 0.4", "duration: 100"), "--speed", 0)
        slow, good = server.join(), server.join()
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        begin = good.frame()[0]["number"]
        for _ in range(60):
            slow.say("frame")
            good.frame()
        self.assertGreater(good.frame()[0]["number"], begin + 20)
        slow.close()
        self.assert_ends(server)

    def test_a_thousand_connections(self):
        server = self.serve(LONG, "--speed", 0.1)
        good = server.join()
        before = server.threads()
        many, refused = [], 0
        for _ in range(1000 if not SANITIZED else 60):
            s = Socket(server.address)
            if s.status == 101:
                self.assertEqual(s.hear()["kind"], "hello")  # it has its place
                many.append(s)
            else:
                self.assertEqual(s.status, 503)
                s.close()
                refused += 1
        self.assertEqual(len(many), 7)  # eight with the first
        self.assertGreater(refused, 50)
        self.assertEqual(good.frame()[0]["magic"], b"SPF1")
        self.assertLessEqual(server.threads(), before + 7)
        for s in many:
            s.close()
        for _ in range(100):  # their places are free again
            again = Socket(server.address)
            if again.status == 101:
                break
            time.sleep(0.05)
        self.assertEqual(again.status, 101)
        self.assertEqual(again.hear()["kind"], "hello")
        # Connections that say nothing leave those who are there alone.
        silent = [socket.create_connection((server.host, int(server.port)), timeout=TIMEOUT) for _ in range(100)]
        self.assertEqual(good.frame()[0]["magic"], b"SPF1")
        for s in silent:
            s.close()
        self.assert_ends(server)

    def test_two_browsers_and_one_that_closes(self):
        server = self.serve(LONG, "--speed", 0.2)
        a, b = server.join(), server.join()
        a.say("stir 0.5 0.2 0 1 0 0 0.1")
        b.say("colour speed")
        self.assertIsNone(section(a.frame()[1], SCALAR))
        self.assertIsNotNone(section(b.frame_when(lambda h: h["number"] > 0)[1], SCALAR))
        a.say("pour 0.5 0.8 0 0.1 0")
        a.frame()
        a.close()  # what it held is let go
        b.frame()
        deadline = time.time() + 60
        while time.time() < deadline:
            b.say("save")
            events = b.hear_kind("recording")["scene"]
            if 'remove: "viewer stir 0"' in events and 'remove: "viewer pour 0"' in events:
                break
        self.assertIn('remove: "viewer stir 0"', events)
        self.assertIn('remove: "viewer pour 0"', events)
        self.assert_ends(server)

    def test_signals_end_it_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = self.serve(POOL)
            viewer = server.join()
            viewer.frame()
            code, said = server.end(number)
            self.assertEqual(code, 0, said)
            self.assertEqual(viewer.code, 1001)  # told, and not just left

    def test_mistakes_on_the_command_line(self):
        scene = self.write(POOL)
        first = self.started(Server(scene, "--paused"))
        for words, code, told in (
                ((scene, "--port", first.port), 5, "cannot listen on"), ((self.folder, "--paused"), 2, "--paused is for a scene"),
                ((self.folder,), 2, "run.scene.yaml"), ((self.folder / "none.yaml",), 2, "none.yaml"),
                ((scene, "--port", "70000"), 2, "0 to 65535"), ((scene, "--listen", "not an address"), 5, "cannot listen on")):
            result = spate("view", "--no-open", *words)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(told, result.stderr)
        self.assertEqual(first.end()[0], 0)


class Reading(ctypes.Structure):
    _fields_ = [("cookie", ctypes.c_uint32), ("attribute", ctypes.c_char_p), ("type", ctypes.c_int), ("order", ctypes.c_int),
                ("values", ctypes.c_void_p), ("capacity", ctypes.c_size_t), ("components", ctypes.c_int),
                ("particles", ctypes.c_int64), ("origin", ctypes.c_double * 3), ("spacing", ctypes.c_double * 3)]


class Simulation:
    """The same scene, stepped by the library itself."""

    def __init__(self, path):
        root = pathlib.Path(COMMAND).resolve().parent
        self.library = ctypes.CDLL(os.environ.get("SPATE_LIBRARY", str(root / "libspate.so")))
        self.library.spate_default_reading.restype = Reading
        self.library.spate_simulation_time.restype = ctypes.c_double
        self.context, self.scene, self.simulation = (ctypes.c_void_p() for _ in range(3))
        self.call("spate_open", None, ctypes.byref(self.context))
        self.call("spate_scene_load", self.context, str(path).encode(), None, 0, ctypes.byref(self.scene))
        self.call("spate_simulation_create", self.scene, ctypes.byref(self.simulation))
        self.call("spate_simulation_record", self.simulation)  # steps end at frames, as the viewer's do
        self.steps = 0

    def call(self, name, *words):
        status = getattr(self.library, name)(*words)
        assert status == 0, (name, status)

    def step_to(self, steps):
        while self.steps < steps:
            self.call("spate_simulation_step", self.simulation, ctypes.c_double(1e30))
            self.steps += 1

    def time(self):
        return self.library.spate_simulation_time(self.simulation)

    def read(self, attribute, kind, number, components):
        r = self.library.spate_default_reading()
        r.attribute, r.type, r.order = attribute.encode(), number, 1
        self.call("spate_simulation_read", self.simulation, ctypes.byref(r))
        values = (kind * (r.particles * components))()
        r.values, r.capacity = ctypes.cast(values, ctypes.c_void_p), len(values)
        self.call("spate_simulation_read", self.simulation, ctypes.byref(r))
        flat = list(values)
        return [flat[i:i + components] for i in range(0, len(flat), components)]

    def close(self):
        self.library.spate_simulation_free(self.simulation)
        self.library.spate_scene_free(self.scene)
        self.library.spate_close(self.context)


def vtp_positions(path):
    """The first array of a frame: its points."""
    data = path.read_bytes()
    start = data.index(b"_", data.index(b"<AppendedData")) + 1
    length = struct.unpack_from("<Q", data, start)[0]
    numbers = struct.unpack_from(f"<{length // 4}f", data, start + 8)
    return [numbers[i:i + 3] for i in range(0, len(numbers), 3)]


if __name__ == "__main__":
    main()
