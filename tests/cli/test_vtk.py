"""VTK, the library inside ParaView, reads what a run wrote: an independent reader of our frames."""
import struct
import sys
import xml.etree.ElementTree

from common import Case, main, run_json, stats

try:
    from vtkmodules.vtkFiltersCore import vtkMassProperties
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
except ImportError:
    print("VTK's Python modules are not installed (python3-vtk9)")
    sys.exit(77)


def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


class Vtk(Case):
    def setUp(self):
        super().setUp()
        self.run = self.run_scene("drop3d", "run", "--frames", 3, "--set", "output.particles=[vtp,ply,bgeo]",
                                  "--set", "output.fields=[J,density,stress,C]")
        self.rows = stats(self.run)

    def test_vtp(self):
        for row in self.rows:
            data = read(vtkXMLPolyDataReader(), self.run / f"particles_{int(row['frame']):04d}.vtp")
            count = int(row["particles"])
            self.assertEqual(data.GetNumberOfPoints(), count)
            self.assertEqual(data.GetNumberOfVerts(), count)
            arrays = {data.GetPointData().GetArrayName(i): data.GetPointData().GetArray(i)
                      for i in range(data.GetPointData().GetNumberOfArrays())}
            for name, components in (("v", 3), ("id", 1), ("pscale", 1), ("material", 1), ("J", 1), ("density", 1),
                                     ("C", 9)):
                self.assertIn(name, arrays)
                self.assertEqual(arrays[name].GetNumberOfComponents(), components, name)
                self.assertEqual(arrays[name].GetNumberOfTuples(), count, name)
            self.assertIn(arrays["stress"].GetNumberOfComponents(), (6, 9))
            ids = [arrays["id"].GetTuple1(i) for i in range(count)]
            self.assertEqual(len(set(ids)), count)
            self.assertEqual({arrays["material"].GetTuple1(i) for i in range(count)}, {0, 1})
            bounds = data.GetBounds()
            for axis, size in enumerate((1, 1, 0.5)):
                self.assertGreaterEqual(bounds[2 * axis], -1e-6)
                self.assertLessEqual(bounds[2 * axis + 1], size + 1e-6)
            # The fastest particle is the one stats.csv speaks of.
            fastest = max(sum(c * c for c in arrays["v"].GetTuple3(i)) for i in range(count)) ** 0.5
            self.assertAlmostEqual(fastest, float(row["max_speed"]), delta=1e-3 * fastest)

    def test_formats_agree(self):
        one = read(vtkXMLPolyDataReader(), self.run / "particles_0003.vtp")
        two = read(vtkPLYReader(), self.run / "particles_0003.ply")
        count = one.GetNumberOfPoints()
        self.assertEqual(two.GetNumberOfPoints(), count)
        for i in range(0, count, 37):
            for a, b in zip(one.GetPoint(i), two.GetPoint(i)):
                self.assertAlmostEqual(a, b, places=6)
        # The head of a .bgeo (Houdini classic): magic, 'V', version 5, number of points.
        head = (self.run / "particles_0003.bgeo").read_bytes()[:13]
        self.assertEqual((head[:5], *struct.unpack(">ii", head[5:13])), (b"BgeoV", 5, count))

    def test_surface(self):
        run = self.run_scene("drop3d", "surface", "--frames", 2, "--set", "output.surface=[vtp,ply]")
        root = xml.etree.ElementTree.parse(run / "surface.pvd").getroot()
        listed = [(e.get("file"), float(e.get("timestep"))) for e in root.iter("DataSet")]
        self.assertEqual([name for name, _ in listed], [f"surface_{i:04d}.vtp" for i in range(3)])
        for (name, time), row in zip(listed, stats(run)):
            self.assertAlmostEqual(time, float(row["time"]), places=9)
            data, other = read(vtkXMLPolyDataReader(), run / name), read(vtkPLYReader(), run / name.replace("vtp", "ply"))
            self.assertGreater(data.GetNumberOfPolys(), 100)
            self.assertEqual(data.GetNumberOfPolys(), other.GetNumberOfPolys())
            self.assertEqual(data.GetNumberOfPoints(), other.GetNumberOfPoints())
            for a, b in zip(data.GetBounds(), other.GetBounds()):
                self.assertAlmostEqual(a, b, places=6)
            mass = vtkMassProperties()
            mass.SetInputData(data)
            # The water that it is around: 0.4 x 0.5 x 0.5.
            self.assertAlmostEqual(mass.GetVolume(), 0.1, delta=0.01)
            self.assertEqual(data.GetPointData().GetNormals().GetName(), "N")
            self.assertEqual(data.GetPointData().GetVectors().GetName(), "v")

    def test_pvd(self):
        root = xml.etree.ElementTree.parse(self.run / "particles.pvd").getroot()
        listed = [(e.get("file"), float(e.get("timestep"))) for e in root.iter("DataSet")]
        self.assertEqual([name for name, _ in listed], [f"particles_{int(r['frame']):04d}.vtp" for r in self.rows])
        for (_, time), row in zip(listed, self.rows):
            self.assertAlmostEqual(time, float(row["time"]), places=9)
        self.assertEqual(run_json(self.run)["frames"], 3)


main()
