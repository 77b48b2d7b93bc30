/*
 * 3D by WebGL2: floor and colliders by rays, grains and solids as balls, liquid as a surface in
 * screen space (distances of balls, smoothed; thickness; refraction), smoke by rays through its
 * density.
 */
import type { Frame, Portrait } from "../source/source";
import { parseColor, stopsOf } from "./colors";
import { drawWhole, Lattice, Points, program, Program, Target, WHOLE, type GL } from "./gl";
import { lookAt, perspective, type Vec3, type View } from "./matrix";
import { hasLook, magnitudes, paletteOf } from "./painter";
import { MeshPainter } from "./meshes";
import type { Camera, Coloring, Painter, Style } from "./painter";
import * as shaders from "./shaders3d";

const TANGENT = 0.36; /* of half the vertical angle of view */
const FAR = 1e4;
const LIQUID_RADIUS = 0.5; /* of a particle, in cells */
const GRAIN_SHARE = 0.62; /* of that */

export class Painter3D implements Painter {
  readonly kind = "webgl";
  private readonly gl: GL;
  private readonly ball: Program;
  private readonly distance: Program;
  private readonly thick: Program;
  private readonly shade: Program;
  private readonly stage: Program;
  private readonly smooth: Program;
  private readonly liquid: Program;
  private readonly smoke: Program;
  private readonly opaque: Target;
  private readonly near: Target;
  private readonly blurred: Target;
  private readonly thickness: Target;
  private readonly shadow: Target;
  private readonly points: Points;
  private readonly meshes: MeshPainter;
  private readonly solids: Lattice;
  private readonly grid: Lattice;
  private portrait!: Portrait;
  private palette = new Float32Array(64);
  private solidsShape: { low: number[]; high: number[] } | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, preserveDrawingBuffer: true });
    if (!gl || !gl.getExtension("EXT_color_buffer_float")) throw new Error("no WebGL2 with float targets");
    this.gl = gl;
    this.ball = program(gl, shaders.BALL_VERTEX, shaders.BALL_SHADED);
    this.distance = program(gl, shaders.BALL_VERTEX, shaders.BALL_DISTANCE);
    this.thick = program(gl, shaders.BALL_VERTEX, shaders.BALL_THICKNESS);
    this.shade = program(gl, shaders.SHADOW_VERTEX, shaders.SHADOW);
    this.stage = program(gl, WHOLE, shaders.STAGE);
    this.smooth = program(gl, WHOLE, shaders.SMOOTH);
    this.liquid = program(gl, WHOLE, shaders.LIQUID);
    this.smoke = program(gl, WHOLE, shaders.SMOKE);
    this.opaque = new Target(gl, gl.RGBA16F, true);
    this.near = new Target(gl, gl.R32F, true, gl.NEAREST);
    this.blurred = new Target(gl, gl.R32F, false, gl.NEAREST);
    this.thickness = new Target(gl, gl.RGBA16F);
    this.shadow = new Target(gl, gl.R16F);
    this.points = new Points(gl);
    this.meshes = new MeshPainter(gl, shaders.MESH_SHADED);
    this.solids = new Lattice(gl, 3);
    this.grid = new Lattice(gl, 3);
    this.solids.fill(new Float32Array(1), [1, 1, 1]);
  }

  scene(p: Portrait): void {
    this.portrait = p;
    this.palette = paletteOf(p, parseColor);
    this.meshes.scene(p);
    if (!p.colliders.length) this.solidsShape = null;
  }

  private view(camera: Camera): View & { reach: number } {
    const p = this.portrait, half = 0.5 * Math.hypot(...p.size);
    const aspect = this.canvas.width / this.canvas.height;
    const reach = (half * 1.06) / (TANGENT * Math.min(1, aspect)) / camera.zoom;
    const c = Math.cos(camera.pitch), m = camera.middle as Vec3;
    const eye: Vec3 = [m[0] + reach * c * Math.sin(camera.yaw), m[1] + reach * Math.sin(camera.pitch),
      m[2] + reach * c * Math.cos(camera.yaw)];
    eye[1] = Math.max(eye[1], p.origin[1] + 0.02 * half);
    return { ...lookAt(eye, m), reach };
  }

  world(x: number, y: number, camera: Camera): number[] {
    const v = this.view(camera), { clientWidth: w, clientHeight: h } = this.canvas;
    const across = ((x / w) * 2 - 1) * TANGENT * (w / h) * v.reach, up = (1 - (y / h) * 2) * TANGENT * v.reach;
    return camera.middle.map((m, a) => m + v.right[a] * across + v.up[a] * up);
  }

  draw(frame: Frame, coloring: Coloring, camera: Camera, style: Style): void {
    const gl = this.gl, v = this.view(camera), { width, height } = this.canvas;
    const aspect = width / height;
    const pass: Pass = {
      v, coloring, dark: style.dark ? 0.86 : 0, tangent: [TANGENT * aspect, TANGENT],
      projection: perspective(TANGENT, aspect, v.reach * 0.05, v.reach * 12),
    };
    if (frame.solids) this.takeSolids(frame);
    this.points.fill(frame.positions, frame.material, frame.color ? magnitudes(frame.color) : null);
    this.meshes.take(frame);
    this.points.choose(null); /* vertices too throw shadows */
    this.drawShadow();
    if (!style.points) this.points.choose(this.meshes.loose);
    this.drawOpaque(pass, style.points);
    if (!style.points) this.meshes.draw(frame, this.portrait, coloring, v.matrix, pass.projection, height);
    if (this.portrait.on_grid && frame.grid) this.drawSmoke(frame, pass);
    else this.drawLiquid(pass, !style.points && hasLook(this.portrait, "surface"));
    gl.disable(gl.DEPTH_TEST);
  }

  private takeSolids(frame: Frame): void {
    const s = frame.solids!;
    this.solids.fill(s.values, s.size);
    this.solidsShape = {
      low: s.first.map((f) => f - s.spacing / 2), high: s.first.map((f, a) => f + (s.size[a] - 0.5) * s.spacing),
    };
  }

  private drawShadow(): void {
    const gl = this.gl, p = this.portrait, size = 256;
    this.shadow.begin(size, size);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    const cells = size / 2 / Math.max(p.size[0], p.size[2]);
    const per = Math.max(p.dx * cells * 3, 3);
    this.shade.use().set("middle", [p.origin[0] + p.size[0] / 2, p.origin[2] + p.size[2] / 2])
      .set("scale", [1 / p.size[0], 1 / p.size[2]]).set("size", per).set("amount", 0.022 * Math.min(1, 9 / (per * per)) * 4);
    this.points.draw();
    gl.disable(gl.BLEND);
  }

  private drawOpaque(pass: Pass, all: boolean): void {
    const gl = this.gl, p = this.portrait, { width, height } = this.canvas, s = this.solidsShape;
    this.opaque.begin(width, height);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    const high = p.origin.map((o, a) => o + p.size[a]);
    this.rays(this.stage.use(), pass).set("low", p.origin).set("high", high).set("projection", pass.projection)
      .texture("shadow", this.shadow.texture).texture("solid", this.solids.texture, gl.TEXTURE_3D)
      .set("has_solid", s ? 1 : 0).set("solid_low", s?.low ?? [0, 0, 0]).set("solid_high", s?.high ?? [1, 1, 1])
      .set("dark", pass.dark).set("pixel", (2 * TANGENT) / height);
    drawWhole(gl);
    this.balls(this.ball, pass, height, 0.5, all ? -1 : 0).set("dark", pass.dark);
    this.points.draw();
  }

  private rays(p: Program, { v, tangent }: Pass): Program {
    return p.set("eye", v.eye).set("right", v.right).set("up", v.up).set("back", v.back).set("tangent", tangent);
  }

  /* wanted: 1 liquids, 0 all others, -1 all. */
  private balls(p: Program, { v, coloring, projection }: Pass, height: number, cells: number, wanted: number): Program {
    return p.use().colors("palette", this.palette).colors("stops", stopsOf(coloring.scale)).set("range", coloring.range)
      .set("view", v.matrix).set("projection", projection).set("radius", cells * this.portrait.dx)
      .set("pixels", height / TANGENT).set("by_value", coloring.by ? 1 : 0).set("wanted", wanted).set("grain", GRAIN_SHARE);
  }

  private drawLiquid(pass: Pass, there: boolean): void {
    const gl = this.gl, { width, height } = this.canvas;
    this.near.begin(width, height, [FAR, 0, 0, 0]);
    if (there) {
      gl.enable(gl.DEPTH_TEST);
      this.balls(this.distance, pass, height, LIQUID_RADIUS, 1);
      this.points.draw();
      this.smoothDistances(width, height);
    }
    gl.disable(gl.DEPTH_TEST);
    const w = Math.ceil(width / 2), h = Math.ceil(height / 2);
    this.thickness.begin(w, h);
    if (there) {
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE);
      this.balls(this.thick, pass, h, LIQUID_RADIUS, 1).texture("opaque", this.opaque.texture);
      this.points.draw();
      gl.disable(gl.BLEND);
    }
    this.screen();
    const p = this.portrait;
    this.rays(this.liquid.use(), pass).texture("opaque", this.opaque.texture).texture("distances", this.near.texture)
      .texture("thickness", this.thickness.texture).set("texel", [2 / width, 2 / height]).set("dark", pass.dark)
      .set("depth_scale", 2.2 * Math.cbrt(p.size[0] * p.size[1] * p.size[2])).set("by_value", pass.coloring.by ? 1 : 0);
    drawWhole(gl);
  }

  private smoothDistances(width: number, height: number): void {
    const world = (2.2 * this.portrait.dx * height) / (2 * TANGENT);
    for (let i = 0; i < 2; i++) {
      this.blur(this.near, this.blurred, [1 / width, 0], world, width, height);
      this.blur(this.blurred, this.near, [0, 1 / height], world, width, height);
    }
  }

  private blur(from: Target, to: Target, along: number[], world: number, width: number, height: number): void {
    const gl = this.gl;
    gl.disable(gl.DEPTH_TEST);
    to.begin(width, height, [FAR, 0, 0, 0]);
    this.smooth.use().texture("distances", from.texture).set("along", along).set("radius", 40)
      .set("world", world).set("cell", this.portrait.dx);
    drawWhole(gl);
  }

  private drawSmoke(frame: Frame, pass: Pass): void {
    const gl = this.gl, g = frame.grid!, p = this.portrait;
    gl.disable(gl.DEPTH_TEST);
    this.grid.fill(g.components === 1 ? g.values : magnitudes(g), g.size);
    this.screen();
    const low = g.first.map((f) => f - p.dx / 2), high = low.map((l, a) => l + g.size[a] * p.dx);
    const dye = p.materials.length ? parseColor(p.materials[0].color) : [0.9, 0.9, 0.9];
    this.rays(this.smoke.use(), pass).texture("opaque", this.opaque.texture)
      .texture("density", this.grid.texture, gl.TEXTURE_3D).set("low", low).set("high", high)
      .set("range", pass.coloring.range).set("dye", dye.map((c) => 0.4 + 0.6 * c)).set("steps", 72)
      .set("by_value", pass.coloring.by ? 1 : 0).colors("stops", stopsOf(pass.coloring.scale));
    drawWhole(gl);
  }

  private screen(): void {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
  }

  close(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

interface Pass {
  v: View & { reach: number };
  coloring: Coloring;
  projection: number[];
  tangent: number[];
  dark: number;
}
