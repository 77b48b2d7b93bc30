"""The smallest program in Python: a drop falls, and its height is read. Needs libspate only.

    python3 smallest.py /where/is/libspate.so
"""
import ctypes
import sys

lib = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libspate.so")
lib.spate_message.restype = ctypes.c_char_p
lib.spate_simulation_time.restype = ctypes.c_double

SCENE = b"""
spate: 1
dimension: 2
domain: {size: [1, 1], dx: 0.05}
materials: {water: {model: liquid, density: 1000, bulk_modulus: 1.0e5}}
bodies: [{material: water, shape: {sphere: {center: [0.5, 0.7], radius: 0.1}}}]
"""


class Reading(ctypes.Structure):
    """spate_reading of spate/drive.h."""
    _fields_ = [("cookie", ctypes.c_uint32), ("attribute", ctypes.c_char_p), ("type", ctypes.c_int),
                ("order", ctypes.c_int), ("values", ctypes.c_void_p), ("capacity", ctypes.c_size_t),
                ("components", ctypes.c_int), ("particles", ctypes.c_int64), ("origin", ctypes.c_double * 3),
                ("spacing", ctypes.c_double * 3)]


lib.spate_default_reading.restype = Reading
context, scene, simulation = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()


def check(status):
    if status:
        sys.exit(lib.spate_message(context).decode())


check(lib.spate_open(None, ctypes.byref(context)))
check(lib.spate_scene_parse(context, SCENE, ctypes.c_size_t(len(SCENE)), b"drop", b".", None, 0, ctypes.byref(scene)))
check(lib.spate_simulation_create(scene, ctypes.byref(simulation)))
while lib.spate_simulation_time(simulation) < 0.1:
    check(lib.spate_simulation_step(simulation, ctypes.c_double(0.1)))

reading = lib.spate_default_reading()
check(lib.spate_simulation_read(simulation, ctypes.byref(reading)))  # how many there are
positions = (ctypes.c_float * (reading.particles * reading.components))()
reading.values, reading.capacity = ctypes.addressof(positions), len(positions)
check(lib.spate_simulation_read(simulation, ctypes.byref(reading)))
print(f"{reading.particles} particles, mean height {sum(positions[1::3]) / reading.particles:.3f}")
lib.spate_simulation_free(simulation), lib.spate_scene_free(scene), lib.spate_close(context)
