/* Where there is no WebGL2: particles as dots on a plain canvas, fields as pictures. */
import type { Frame, Portrait } from "../source/source";
import { colorAt, parseColor } from "./colors";
import { fit2d, magnitudes } from "./painter";
import type { Camera, Coloring, Painter, Style } from "./painter";

export class CanvasPainter implements Painter {
  readonly kind = "canvas";
  private readonly context: CanvasRenderingContext2D;
  private portrait!: Portrait;
  private solids: Frame["solids"] = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d")!;
  }

  scene(p: Portrait): void {
    this.portrait = p;
    if (!p.colliders.length) this.solids = null;
  }

  world(x: number, y: number, camera: Camera): number[] {
    const { clientWidth: w, clientHeight: h } = this.canvas, s = fit2d(this.portrait, w, h, camera.zoom);
    return [camera.middle[0] + (x - w / 2) / s, camera.middle[1] - (y - h / 2) / s, camera.middle[2]];
  }

  draw(frame: Frame, coloring: Coloring, camera: Camera, style: Style): void {
    const c = this.context, { width, height } = this.canvas, p = this.portrait;
    const s = fit2d(p, width, height, camera.zoom);
    const px = (x: number) => width / 2 + (x - camera.middle[0]) * s;
    const py = (y: number) => height / 2 - (y - camera.middle[1]) * s;
    this.solids = frame.solids ?? this.solids;
    c.fillStyle = style.dark ? "#0b0f16" : "#eceff3";
    c.fillRect(0, 0, width, height);
    c.strokeStyle = "#4a5a70";
    c.strokeRect(px(p.origin[0]), py(p.origin[1] + p.size[1]), p.size[0] * s, p.size[1] * s);
    if (frame.grid) this.drawLattice(frame.grid.components === 1 ? frame.grid.values : magnitudes(frame.grid),
      frame.grid.size, (v) => [...colorAt(coloring.scale, (v - coloring.range[0]) / (coloring.range[1] - coloring.range[0])), 1],
      px(p.origin[0]), py(p.origin[1] + p.size[1]), p.size[0] * s, p.size[1] * s);
    this.drawParticles(frame, coloring, px, py, Math.max(1, 0.5 * p.dx * s));
    if (this.solids && p.dimension === 2)
      this.drawLattice(this.solids.values, this.solids.size, (v) => [0.4, 0.45, 0.5, v < 0 ? 1 : 0],
        px(p.origin[0]), py(p.origin[1] + p.size[1]), p.size[0] * s, p.size[1] * s);
  }

  private drawParticles(frame: Frame, coloring: Coloring, px: (x: number) => number, py: (y: number) => number,
                        size: number): void {
    const c = this.context, values = frame.color ? magnitudes(frame.color) : null, steps = 32;
    const colors = coloring.by && values
      ? Array.from({ length: steps }, (_, i) => colorAt(coloring.scale, i / (steps - 1)))
      : this.portrait.materials.map((m) => parseColor(m.color));
    const [low, high] = coloring.range;
    const kind = (i: number) => coloring.by && values
      ? Math.min(steps - 1, Math.max(0, Math.floor(((values[i] - low) / (high - low || 1)) * steps)))
      : frame.material ? frame.material[i] : 0;
    colors.forEach((rgb, k) => {
      c.fillStyle = `rgb(${rgb.map((v) => Math.round(v * 255)).join(",")})`;
      for (let i = 0; i < frame.particles; i++)
        if (kind(i) === k)
          c.fillRect(px(frame.positions[3 * i]) - size / 2, py(frame.positions[3 * i + 1]) - size / 2, size, size);
    });
  }

  private drawLattice(values: Float32Array, size: number[], color: (v: number) => number[],
                      x: number, y: number, w: number, h: number): void {
    const image = new ImageData(size[0], size[1]);
    for (let j = 0; j < size[1]; j++)
      for (let i = 0; i < size[0]; i++)
        image.data.set(color(values[j * size[0] + i]).map((v) => v * 255), 4 * ((size[1] - 1 - j) * size[0] + i));
    const picture = new OffscreenCanvas(size[0], size[1]);
    picture.getContext("2d")!.putImageData(image, 0, 0);
    this.context.drawImage(picture, x, y, w, h);
  }

  close(): void {}
}
