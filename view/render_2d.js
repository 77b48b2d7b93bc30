// Pictures without WebGL: particles as squares, nearer ones last; grids as an image of their middle layer.
import {colourOfGroup, mapColour} from './colours.js';
import {place} from './math.js';

export class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d', {alpha: false});
    this.options = {draw: 'auto', solids: 'auto', mapped: false, range: [0, 1], signs: 0};
    this.solids = [];
  }
  setScene(hello) { this.hello = hello; this.colours = hello.groups.map(g => colourOfGroup(hello, g).map(c => Math.round(255 * c))); }
  setSolids(solids) { this.solids = solids; }
  setFrame(frame) { this.frame = frame; }

  project(m, x, w, h) {
    const c = [0, 1, 3].map(r => m[r] * x[0] + m[4 + r] * x[1] + m[8 + r] * x[2] + m[12 + r]);
    return [(c[0] / c[2] * 0.5 + 0.5) * w, (0.5 - c[1] / c[2] * 0.5) * h, c[2]];
  }
  draw(camera, w, h) {
    const c = this.context, f = this.frame;
    if (!f || !this.hello) return;
    if (this.canvas.width !== w || this.canvas.height !== h) this.canvas.width = w, this.canvas.height = h;
    camera.update(w / h);
    c.fillStyle = '#10161e';
    c.fillRect(0, 0, w, h);
    if (f.grid) this.drawGrid(camera, w, h);
    if (f.particles) this.drawParticles(camera, w, h);
    if (this.options.solids !== 'none') this.drawSolids(camera, w, h);
    this.drawBox(camera, w, h);
  }
  drawParticles(camera, w, h) {
    const {particles: p, group, scalar} = this.frame, m = camera.both, c = this.context, flat = p.axes === 2;
    const order = [], x = [0, 0, 0], step = Math.ceil(p.count / 60000);
    for (let i = 0; i < p.count; i += step) {
      for (let a = 0; a < p.axes; a++) x[a] = p.origin[a] + p.spacing[a] * p.positions[p.axes * i + a];
      order.push([i, ...this.project(m, x, w, h)]);
    }
    if (!flat) order.sort((a, b) => b[3] - a[3]);
    const span = scalar ? scalar.high - scalar.low : 0, [low, high] = this.options.range;
    for (const [i, px, py, depth] of order) {
      const g = group ? group.values[i] : 0, r = this.hello.groups[g]?.radius ?? this.hello.dx / 4;
      const size = Math.max(1.5, 2 * r * h / innerHeight / camera.pixel(depth));
      const rgb = this.options.mapped && scalar ? mapColour((scalar.low + span * scalar.values[i] / 65535 - low) / (high - low), this.options.signs)
        : this.colours[g] ?? [180, 180, 180];
      const shade = flat ? 1 : 0.75 + 0.25 * (i * 7 % 16) / 16;
      c.fillStyle = `rgb(${rgb.map(v => v * shade | 0).join()})`;
      c.fillRect(px - size / 2, py - size / 2, size, size);
    }
  }
  drawGrid(camera, w, h) {
    const g = this.frame.grid, layer = (g.size[2] >> 1) * g.size[0] * g.size[1], image = new ImageData(g.size[0], g.size[1]);
    for (let j = 0; j < g.size[1]; j++)
      for (let i = 0; i < g.size[0]; i++) {
        const from = (layer + j * g.size[0] + i) * g.channels, to = 4 * ((g.size[1] - 1 - j) * g.size[0] + i);
        let sum = 0;
        for (let k = 0; k < g.channels; k++) sum += g.values[from + k];
        const value = g.low[0] + (g.high[0] - g.low[0]) * g.values[from] / 255, [low, high] = this.options.range;
        const rgb = this.options.mapped ? mapColour((value - low) / (high - low), this.options.signs) : [225, 230, 238];
        image.data.set([...rgb, this.options.mapped ? 255 : Math.min(255, 1.6 * sum)], to);
      }
    this.sheet ??= document.createElement('canvas');
    this.sheet.width = g.size[0], this.sheet.height = g.size[1];
    this.sheet.getContext('2d').putImageData(image, 0, 0);
    const half = g.spacing / 2, low = g.first.map(x => x - half);
    const a = this.project(camera.both, [low[0], low[1] + g.size[1] * g.spacing, camera.target[2]], w, h);
    const b = this.project(camera.both, [low[0] + g.size[0] * g.spacing, low[1], camera.target[2]], w, h);
    this.context.drawImage(this.sheet, a[0], a[1], b[0] - a[0], b[1] - a[1]);
  }
  drawSolids(camera, w, h) {
    const c = this.context;
    for (const s of this.solids) {
      const pose = this.frame.poses?.[s.collider];
      if (!pose?.present) continue;
      const m = place(pose.rotation, pose.position);
      c.strokeStyle = '#8b95a3';
      c.fillStyle = camera.flat ? '#8b95a3' : 'rgba(139, 149, 163, .08)';
      for (let t = 0; t < s.indices.length; t += 3) {
        c.beginPath();
        for (let k = 0; k < 3; k++) {
          const v = 3 * s.indices[t + k], p = s.positions;
          const x = [0, 1, 2].map(r => m[r] * p[v] + m[4 + r] * p[v + 1] + m[8 + r] * p[v + 2] + m[12 + r]), q = this.project(camera.both, x, w, h);
          k ? c.lineTo(q[0], q[1]) : c.moveTo(q[0], q[1]);
        }
        c.fill();
        if (camera.flat) c.stroke(); // no seams between triangles
      }
    }
  }
  drawBox(camera, w, h) {
    const hello = this.hello, c = this.context, dims = hello.dimension;
    const at = i => this.project(camera.both, [0, 1, 2].map(a => a < dims ? hello.origin[a] + (i >> a & 1) * hello.size[a] : 0), w, h);
    c.strokeStyle = 'rgba(150, 180, 210, .4)';
    c.beginPath();
    for (let i = 0; i < 1 << dims; i++)
      for (let a = 0; a < dims; a++)
        if (!(i >> a & 1)) { const p = at(i), q = at(i | 1 << a); c.moveTo(p[0], p[1]); c.lineTo(q[0], q[1]); }
    c.stroke();
  }
}
