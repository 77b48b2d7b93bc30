/*
 * 2D by WebGL2. Liquids and soft solids are sums of smooth bumps, one a particle, drawn where the
 * sum passes a threshold; grains are discs; smoke and other fields are pictures; colliders are their
 * distance.
 */
import type { Frame, Portrait } from "../source/source";
import { parseColor, SCALE_SHADER, stopsOf } from "./colors";
import { drawWhole, Lattice, Points, program, Program, Target, WHOLE, type GL } from "./gl";
import { fit2d, hasLook, magnitudes, paletteOf } from "./painter";
import { MeshPainter } from "./meshes";
import type { Camera, Coloring, Painter, Style } from "./painter";

const PARTICLE = `
layout(location = 0) in vec3 position;
layout(location = 1) in float material;
layout(location = 2) in float value;
uniform vec4 palette[16];
uniform vec2 middle, scale, range;
uniform float size, by_value, wanted;
out vec3 tint;
${SCALE_SHADER}
float noise(uint n) {
  n = (n << 13u) ^ n;
  n = n * (n * n * 15731u + 789221u) + 1376312589u;
  return float(n & 0xffffu) / 65535.0;
}
void main() {
  vec4 own = palette[int(material)];
  float t = (value - range.x) / max(range.y - range.x, 1e-20);
  tint = by_value > 0.5 ? scale_color(t) : own.rgb;
  if (by_value < 0.5 && own.w < 0.5) tint = mix(tint, vec3(0.93, 0.98, 1.0), 0.55 * smoothstep(0.35, 1.3, t));
  if (own.w > 1.5) tint *= 0.78 + 0.4 * noise(uint(gl_VertexID));
  bool out_of_pass = wanted >= 0.0 && abs(own.w - wanted) > 0.5;
  gl_Position = out_of_pass ? vec4(2.0) : vec4((position.xy - middle) * scale, 0.0, 1.0);
  gl_PointSize = size;
}`;

const BUMP = `
in vec3 tint;
out vec4 color;
void main() {
  vec2 d = gl_PointCoord * 2.0 - 1.0;
  float w = max(1.0 - dot(d, d), 0.0);
  w *= w;
  color = vec4(tint * w, w);
}`;

const GRAIN = `
in vec3 tint;
out vec4 color;
void main() {
  vec2 d = gl_PointCoord * 2.0 - 1.0;
  float r = dot(d, d), edge = fwidth(r);
  float light = 0.82 + 0.28 * clamp(dot(normalize(vec3(-d.x, d.y, 1.2)) , vec3(-0.35, 0.75, 0.55)), 0.0, 1.0);
  float a = 1.0 - smoothstep(1.0 - edge, 1.0, r);
  color = vec4(tint * light * a, a);
}`;

/* From the sum of bumps to a body with an edge, lit from above. */
const BODY = `
in vec2 uv;
uniform sampler2D sum;
uniform vec2 texel, low, high;
uniform float threshold, full, clear;
out vec4 color;
float height(vec2 at) { return 1.0 - exp(-2.2 * texture(sum, at).a / full); }
void main() {
  if (any(lessThan(uv, low)) || any(greaterThan(uv, high))) discard;
  vec4 s = texture(sum, uv);
  float edge = max(fwidth(s.a), 0.04);
  float a = smoothstep(threshold - edge, threshold + edge, s.a);
  if (a <= 0.0) discard;
  vec3 tint = s.rgb / max(s.a, 1e-4);
  vec2 slope = vec2(height(uv + vec2(texel.x, 0.0)) - height(uv - vec2(texel.x, 0.0)),
                    height(uv + vec2(0.0, texel.y)) - height(uv - vec2(0.0, texel.y)));
  vec3 n = normalize(vec3(-slope * 2.2, 0.35));
  vec3 sun = normalize(vec3(-0.35, 0.8, 0.55));
  float light = max(dot(n, sun), 0.0);
  float shine = pow(max(dot(reflect(-sun, n), vec3(0.0, 0.0, 1.0)), 0.0), 24.0);
  float deep = smoothstep(0.25, 1.0, s.a / full);
  vec3 body = clear > 0.5
    ? mix(tint * 1.25 + 0.10, tint * 0.92, deep) * (0.80 + 0.30 * light) + 0.55 * shine
    : tint * (0.55 + 0.55 * light) + 0.18 * shine;
  color = vec4(min(body, 1.0) * a, a);
}`;

const GROUND = `
in vec2 uv;
uniform vec2 low, high, pixels;
uniform vec3 outside, inside, line;
out vec4 color;
void main() {
  vec2 x = uv * pixels;
  vec2 d = max(low - x, x - high);
  float gap = max(d.x, d.y);
  float up = clamp((x.y - low.y) / max(high.y - low.y, 1.0), 0.0, 1.0);
  vec3 c = mix(outside, mix(inside, inside * 1.22, up), clamp(0.5 - gap, 0.0, 1.0));
  float border = clamp(1.5 - abs(gap - 1.0), 0.0, 1.0);
  color = vec4(mix(c, line, 0.8 * border), 1.0);
}`;

const SOLID = `
in vec2 uv;
uniform sampler2D distance_;
uniform vec2 from, step_;
uniform float pixel;
out vec4 color;
void main() {
  vec2 at = (uv - from) / step_;
  if (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, vec2(1.0)))) discard;
  float d = texture(distance_, at).r;
  float a = clamp(0.5 - d / pixel, 0.0, 1.0);
  if (a <= 0.0) discard;
  float rim = smoothstep(5.0, 0.0, -d / pixel);
  vec3 c = mix(vec3(0.29, 0.33, 0.39), vec3(0.62, 0.68, 0.76), rim);
  color = vec4(c * a, a);
}`;

const MESH = `
in vec3 x, n, colour;
uniform float shade;
out vec4 color;
void main() { color = vec4(shade * colour, 1.0); }`;

/* A field of the grid, smoother than its cells: four samples with cubic weights. */
const FIELD = `
in vec2 uv;
uniform sampler2D field;
uniform vec2 from, step_, cells, range;
uniform float smoke;
uniform vec3 dye;
out vec4 color;
${SCALE_SHADER}
float cubic(vec2 at) {
  vec2 x = at * cells - 0.5, i = floor(x), f = x - i;
  vec2 w0 = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0, w3 = f * f * f / 6.0;
  vec2 w1 = 2.0 / 3.0 - f * f * (1.0 - 0.5 * f), w2 = 1.0 - w0 - w1 - w3;
  vec2 a = (i - 0.5 + w1 / (w0 + w1)) / cells, b = (i + 1.5 + w3 / (w2 + w3)) / cells;
  vec2 g = w2 + w3;
  return mix(mix(texture(field, a).r, texture(field, vec2(b.x, a.y)).r, g.x),
             mix(texture(field, vec2(a.x, b.y)).r, texture(field, b).r, g.x), g.y);
}
void main() {
  vec2 at = (uv - from) / step_;
  if (any(lessThan(at, vec2(0.0))) || any(greaterThan(at, vec2(1.0)))) discard;
  float v = cubic(at);
  float t = (v - range.x) / max(range.y - range.x, 1e-20);
  if (smoke < 0.5) { color = vec4(scale_color(t), 1.0); return; }
  vec2 e = 1.0 / cells;
  vec2 slope = vec2(cubic(at + vec2(e.x, 0.0)) - cubic(at - vec2(e.x, 0.0)),
                    cubic(at + vec2(0.0, e.y)) - cubic(at - vec2(0.0, e.y))) / max(range.y, 1e-6);
  float light = 0.78 + 0.5 * clamp(dot(-slope, normalize(vec2(-0.5, 0.9))), -0.6, 0.8);
  float a = 1.0 - exp(-2.6 * max(t, 0.0));
  color = vec4(mix(dye * 0.75, dye, light) * light * a, a);
}`;

const BUMP_RADIUS = 1.15; /* of a particle, in cells */
const THRESHOLD = 0.5; /* of the sum of bumps */

export class Painter2D implements Painter {
  readonly kind = "webgl";
  private readonly gl: GL;
  private readonly bump: Program;
  private readonly grain: Program;
  private readonly body: Program;
  private readonly ground: Program;
  private readonly solid: Program;
  private readonly field: Program;
  private readonly sum: Target;
  private readonly points: Points;
  private readonly meshes: MeshPainter;
  private readonly solids: Lattice;
  private readonly grid: Lattice;
  private portrait!: Portrait;
  private palette = new Float32Array(64);
  private solidsShape: { size: number[]; first: number[]; spacing: number } | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, preserveDrawingBuffer: true });
    if (!gl || !gl.getExtension("EXT_color_buffer_float")) throw new Error("no WebGL2 with float targets");
    this.gl = gl;
    this.bump = program(gl, PARTICLE, BUMP);
    this.grain = program(gl, PARTICLE, GRAIN);
    this.body = program(gl, WHOLE, BODY);
    this.ground = program(gl, WHOLE, GROUND);
    this.solid = program(gl, WHOLE, SOLID);
    this.field = program(gl, WHOLE, FIELD);
    this.sum = new Target(gl, gl.RGBA16F);
    this.points = new Points(gl);
    this.meshes = new MeshPainter(gl, MESH);
    this.solids = new Lattice(gl, 2);
    this.grid = new Lattice(gl, 2);
  }

  scene(p: Portrait): void {
    this.portrait = p;
    this.palette = paletteOf(p, parseColor);
    this.meshes.scene(p);
    if (!p.colliders.length) this.solidsShape = null;
  }

  world(x: number, y: number, camera: Camera): number[] {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const s = fit2d(this.portrait, w, h, camera.zoom);
    return [camera.middle[0] + (x - w / 2) / s, camera.middle[1] - (y - h / 2) / s, 0];
  }

  draw(frame: Frame, coloring: Coloring, camera: Camera, style: Style): void {
    const gl = this.gl, { width, height } = this.canvas;
    const s = fit2d(this.portrait, width, height, camera.zoom);
    const scale = [(2 * s) / width, (2 * s) / height];
    if (frame.solids) {
      this.solids.fill(frame.solids.values, frame.solids.size);
      this.solidsShape = frame.solids;
    }
    this.points.fill(frame.positions, frame.material, frame.color ? magnitudes(frame.color) : null);
    this.meshes.take(frame);
    this.points.choose(style.points ? null : this.meshes.loose);
    gl.disable(gl.DEPTH_TEST);
    this.drawGround(camera, s, style);
    gl.enable(gl.BLEND);
    if (frame.grid) this.drawField(frame, coloring, camera, s);
    const pass = { camera, scale, s, coloring };
    if (style.points) this.drawGrains(pass, -1);
    else {
      if (hasLook(this.portrait, "skin")) this.drawBody(pass, 1);
      if (hasLook(this.portrait, "surface")) this.drawBody(pass, 0);
      if (hasLook(this.portrait, "grains")) this.drawGrains(pass, 2);
      this.drawMeshes(frame, pass);
    }
    if (this.solidsShape) this.drawSolids(camera, s);
    gl.disable(gl.BLEND);
  }

  private screen(): void {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
  }

  /* Where a box of the world is in the picture, both 0 to 1. */
  private rectangle(low: number[], size: number[], camera: Camera, s: number): { from: number[]; step: number[] } {
    const { width, height } = this.canvas;
    return {
      from: [0.5 + ((low[0] - camera.middle[0]) * s) / width, 0.5 + ((low[1] - camera.middle[1]) * s) / height],
      step: [(size[0] * s) / width, (size[1] * s) / height],
    };
  }

  private drawGround(camera: Camera, s: number, style: Style): void {
    const { width, height } = this.canvas, r = this.rectangle(this.portrait.origin, this.portrait.size, camera, s);
    this.screen();
    this.ground.use().set("pixels", [width, height])
      .set("low", [r.from[0] * width, r.from[1] * height])
      .set("high", [(r.from[0] + r.step[0]) * width, (r.from[1] + r.step[1]) * height])
      .set("outside", style.dark ? [0.043, 0.059, 0.086] : [0.925, 0.937, 0.953])
      .set("inside", style.dark ? [0.063, 0.086, 0.125] : [0.975, 0.98, 0.988])
      .set("line", style.dark ? [0.2, 0.26, 0.35] : [0.72, 0.76, 0.82]);
    drawWhole(this.gl);
  }

  private particles(p: Program, { camera, scale, coloring }: Pass, size: number, look: number): void {
    p.use().colors("palette", this.palette).colors("stops", stopsOf(coloring.scale))
      .set("middle", [camera.middle[0], camera.middle[1]]).set("scale", scale).set("range", coloring.range)
      .set("size", Math.max(size, 1.5)).set("by_value", coloring.by ? 1 : 0).set("wanted", look);
    this.points.draw();
  }

  private drawBody(pass: Pass, look: number): void {
    const gl = this.gl, { width, height } = this.canvas;
    const share = width > 900 ? 0.5 : 1;
    const w = Math.ceil(width * share), h = Math.ceil(height * share);
    this.sum.begin(w, h);
    gl.blendFunc(gl.ONE, gl.ONE);
    this.particles(this.bump, pass, 2 * BUMP_RADIUS * this.portrait.dx * pass.s * share, look);
    this.screen();
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const r = this.rectangle(this.portrait.origin, this.portrait.size, pass.camera, pass.s);
    const reach = Math.max(1, 0.35 * this.portrait.dx * pass.s * share);
    this.body.use().texture("sum", this.sum.texture).set("texel", [reach / w, reach / h])
      .set("low", r.from).set("high", [r.from[0] + r.step[0], r.from[1] + r.step[1]])
      .set("threshold", THRESHOLD).set("full", (4 * Math.PI * BUMP_RADIUS ** 2) / 3).set("clear", look === 0 ? 1 : 0);
    drawWhole(gl);
  }

  private drawGrains(pass: Pass, look: number): void {
    const gl = this.gl;
    this.screen();
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.particles(this.grain, pass, 0.62 * this.portrait.dx * pass.s, look);
  }

  private drawMeshes(frame: Frame, { camera, scale, coloring }: Pass): void {
    const [x, y] = camera.middle, { width, height } = this.canvas;
    this.gl.viewport(0, 0, width, height);
    this.meshes.draw(frame, this.portrait, coloring, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, 0, 1],
      [scale[0], 0, 0, 0, 0, scale[1], 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], height);
  }

  private drawField(frame: Frame, coloring: Coloring, camera: Camera, s: number): void {
    const gl = this.gl, g = frame.grid!, p = this.portrait;
    this.screen();
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const values = g.components === 1 ? g.values : magnitudes(g);
    this.grid.fill(values, g.size);
    const r = this.rectangle(g.first.map((f) => f - p.dx / 2), g.size.map((n) => n * p.dx), camera, s);
    const dye = p.materials.length ? parseColor(p.materials[0].color) : [0.9, 0.9, 0.9];
    this.field.use().texture("field", this.grid.texture).set("from", r.from).set("step_", r.step)
      .set("cells", g.size.slice(0, 2)).set("range", coloring.range).colors("stops", stopsOf(coloring.scale))
      .set("smoke", coloring.by ? 0 : 1).set("dye", dye.map((c) => 0.35 + 0.65 * c));
    drawWhole(gl);
  }

  private drawSolids(camera: Camera, s: number): void {
    const gl = this.gl, l = this.solidsShape!;
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const r = this.rectangle(l.first.map((f) => f - l.spacing / 2), l.size.map((n) => n * l.spacing), camera, s);
    this.solid.use().texture("distance_", this.solids.texture).set("from", r.from).set("step_", r.step)
      .set("pixel", 1 / s);
    drawWhole(gl);
  }

  close(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

interface Pass {
  camera: Camera;
  scale: number[];
  s: number;
  coloring: Coloring;
}
