/* Cloth, skins and strands, with the geometry that the viewer's page draws too (view/meshes.js). */
import { Meshes, RIBBON_VERTEX, SURFACE_VERTEX } from "../../../view/meshes.js";
import type { Frame, Links, Portrait } from "../source/source";
import { colorAt, parseColor } from "./colors";
import { Program, program, type GL } from "./gl";
import { magnitudes } from "./painter";
import type { Coloring } from "./painter";

const SHADES = 256;
const LEAST_WIDTH = 1.1; /* of strands to each side, pixels */

/* Colours of particles, three numbers each. */
function colorsOf(frame: Frame, p: Portrait, coloring: Coloring): Float32Array {
  const out = new Float32Array(frame.positions.length), [low, high] = coloring.range;
  const values = coloring.by && frame.color ? magnitudes(frame.color) : null;
  const table = values ? Array.from({ length: SHADES }, (_, i) => colorAt(coloring.scale, i / (SHADES - 1)))
    : p.materials.map((m) => parseColor(m.color));
  for (let i = 0; 3 * i < out.length; i++) {
    const t = values ? ((values[i] - low) / (high - low || 1)) * SHADES : frame.material ? frame.material[i] : 0;
    out.set(table[Math.min(Math.max(Math.floor(t), 0), table.length - 1)], 3 * i);
  }
  return out;
}

export class MeshPainter {
  private readonly meshes: Meshes;
  private readonly surface: Program;
  private readonly ribbon: Program;
  private links: Links | null = null;

  /* `fragment`: the light that falls on `x`, with the normal `n`, both seen from the eye. */
  constructor(gl: GL, fragment: string) {
    this.meshes = new Meshes(gl);
    this.surface = program(gl, SURFACE_VERTEX, fragment);
    this.ribbon = program(gl, RIBBON_VERTEX, fragment);
  }

  /* Particles that are no vertices; null: all. */
  get loose(): Uint32Array | null {
    return this.links && this.links.loose;
  }

  scene(p: Portrait): void {
    if (!p.meshes) this.links = null;
  }

  take(frame: Frame): void {
    this.links = frame.links ?? this.links;
  }

  draw(frame: Frame, p: Portrait, coloring: Coloring, view: number[], projection: number[], height: number): void {
    if (!this.links) return;
    this.meshes.fill({ positions: frame.positions, colours: colorsOf(frame, p, coloring), ...this.links });
    if (this.meshes.triangles) {
      this.surface.use().set("view", view).set("projection", projection).set("shade", 1);
      this.meshes.drawSurface();
    }
    if (!this.meshes.segments) return;
    /* In 2D the outline of what is filled is darker. */
    this.ribbon.use().set("view", view).set("projection", projection).set("shade", this.meshes.triangles ? 0.6 : 1)
      .set("radius", 0).set("least", LEAST_WIDTH).set("height", height);
    this.meshes.drawRibbons();
  }
}
