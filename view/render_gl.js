// Pictures by WebGL2. Particles go to the graphics card as they came, 16 bits a number.
import * as shaders from './shaders.js';
import {mapColour} from './colours.js';
import {Meshes} from './meshes.js';
import {add, dot, lookAt, multiply, normal, orthographic, place, scale, sub} from './math.js';

// Looks: 0 a clear surface, 1 a skin, 2 grains, 3 smoke; 4 vertices of meshes. Finishes: 0 matt, 1 gloss, 2 jelly, 3 metal.
const SHADOWS = 1024, LIQUID = 1, OPAQUE = 2 | 4, ALL = 15, VERTICES = 16;
const linear = c => c.map(x => Math.pow(x, 2.2));

// The inverse of a rotation with a translation.
function rigidInverse(m) {
  const out = new Float32Array([m[0], m[4], m[8], 0, m[1], m[5], m[9], 0, m[2], m[6], m[10], 0, 0, 0, 0, 1]);
  for (let r = 0; r < 3; r++) out[12 + r] = -(out[r] * m[12] + out[4 + r] * m[13] + out[8 + r] * m[14]);
  return out;
}
// 1, 2 or 5 times a power of ten: a round number of cells across the domain.
export function roundLength(x) {
  const ten = Math.pow(10, Math.floor(Math.log10(x))), m = x / ten;
  return ten * (m < 2 ? 1 : m < 5 ? 2 : 5);
}

export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext('webgl2', {antialias: false, alpha: false, powerPreference: 'high-performance'});
    if (!gl || !gl.getExtension('EXT_color_buffer_float')) throw new Error('no WebGL2 with float buffers');
    gl.getExtension('OES_texture_float_linear');
    this.gl = gl, this.canvas = canvas, this.programs = {}, this.solids = [], this.count = 0;
    this.buffers = {};
    this.empty = gl.createVertexArray();
    this.options = {draw: 'auto', solids: 'auto', mapped: false, range: [0, 1], signs: 0};
    this.frame = null;
    this.peak = [0, 0, 0, 0];
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  // ---- Programs, buffers, targets ----
  program(name) {
    if (this.programs[name]) return this.programs[name];
    const gl = this.gl, source = shaders[name], p = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, source.vertex], [gl.FRAGMENT_SHADER, source.fragment]]) {
      const s = gl.createShader(type);
      gl.shaderSource(s, shaders.HEAD + text);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(`${name}: ${gl.getShaderInfoLog(s)}`);
      gl.attachShader(p, s);
    }
    ['place', 'group', 'value', 'direction'].forEach((a, i) => gl.bindAttribLocation(p, i, a));
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(`${name}: ${gl.getProgramInfoLog(p)}`);
    const uniforms = {};
    for (let i = 0; i < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); i++) {
      const info = gl.getActiveUniform(p, i);
      uniforms[info.name] = {at: gl.getUniformLocation(p, info.name), type: info.type};
    }
    return this.programs[name] = {p, uniforms};
  }
  // Uses a program with these values; textures are [texture, target].
  use(name, values) {
    const gl = this.gl, {p, uniforms} = this.program(name);
    gl.useProgram(p);
    let unit = 0;
    for (const [key, {at, type}] of Object.entries(uniforms)) {
      const v = values[key] ?? this.common[key];
      if (v === undefined) continue;
      switch (type) {
      case gl.FLOAT: gl.uniform1f(at, v); break;
      case gl.FLOAT_VEC2: gl.uniform2fv(at, v); break;
      case gl.FLOAT_VEC3: gl.uniform3fv(at, v); break;
      case gl.FLOAT_VEC4: gl.uniform4fv(at, v); break;
      case gl.FLOAT_MAT4: gl.uniformMatrix4fv(at, false, v); break;
      case gl.INT: gl.uniform1i(at, v); break;
      default:
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.bindTexture(type === gl.SAMPLER_3D ? gl.TEXTURE_3D : gl.TEXTURE_2D, v);
        gl.uniform1i(at, unit++);
      }
    }
  }
  buffer(name, target, data) {
    const gl = this.gl, b = this.buffers[name] ??= gl.createBuffer();
    gl.bindBuffer(target, b);
    gl.bufferData(target, data, gl.DYNAMIC_DRAW);
    return b;
  }
  texture(format, type, internal, w, h, filter) {
    const gl = this.gl, t = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, t);
    gl.texImage2D(gl.TEXTURE_2D, 0, internal, w, h, 0, format, type, null);
    for (const [k, v] of [[gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, k, v);
    return t;
  }
  target(w, h, colours, depth) {
    const gl = this.gl, frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const made = colours.map(([format, type, internal, filter], i) => {
      const t = this.texture(format, type, internal, w, h, filter ?? gl.NEAREST);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + i, gl.TEXTURE_2D, t, 0);
      return t;
    });
    if (colours.length) gl.drawBuffers(made.map((_, i) => gl.COLOR_ATTACHMENT0 + i));
    else { gl.drawBuffers([gl.NONE]); gl.readBuffer(gl.NONE); }
    if (depth) gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depth, 0);
    return {frame, textures: made, depth, w, h};
  }
  depthTexture(w, h) {
    const gl = this.gl;
    return this.texture(gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, gl.DEPTH_COMPONENT24, w, h, gl.NEAREST);
  }
  release(t) {
    if (!t) return;
    t.textures.forEach(x => this.gl.deleteTexture(x));
    if (t.depth) this.gl.deleteTexture(t.depth);
    this.gl.deleteFramebuffer(t.frame);
  }
  resize(w, h) {
    if (this.w === w && this.h === h) return;
    const gl = this.gl, half = [Math.ceil(w / 2), Math.ceil(h / 2)];
    Object.values(this.targets ?? {}).forEach(t => this.release(t));
    this.w = w, this.h = h, this.canvas.width = w, this.canvas.height = h;
    const colour16 = [gl.RGBA, gl.HALF_FLOAT, gl.RGBA16F, gl.LINEAR], depth32 = [gl.RED, gl.FLOAT, gl.R32F];
    const bytes = [gl.RGBA, gl.UNSIGNED_BYTE, gl.RGBA8];
    this.targets = {
      scene: this.target(w, h, [colour16], this.depthTexture(w, h)),
      liquid: this.target(w, h, [depth32, bytes, bytes], this.depthTexture(w, h)),
      one: this.target(w, h, [depth32]), two: this.target(w, h, [depth32]),
      thick: this.target(half[0], half[1], [[gl.RED, gl.HALF_FLOAT, gl.R16F, gl.LINEAR]]),
      splat: this.target(w, h, [colour16]),
      smoke: this.target(half[0], half[1], [colour16]),
    };
    if (this.shadows) return;
    this.shadows = this.target(SHADOWS, SHADOWS, [], this.depthTexture(SHADOWS, SHADOWS));
    gl.bindTexture(gl.TEXTURE_2D, this.shadows.depth);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
  }
  bind(target, clear) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target ? target.frame : null);
    gl.viewport(0, 0, target ? target.w : this.w, target ? target.h : this.h);
    if (clear) { gl.depthMask(true); gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT); }
  }

  // ---- What is drawn ----
  setScene(hello, colourOf) {
    const gl = this.gl, groups = hello.groups.length ? hello.groups : [{material: 0, radius: hello.dx / 4}];
    const data = new Float32Array(8 * groups.length);
    groups.forEach((g, i) => {
      const m = hello.materials[g.material] ?? {look: 1, finish: 0};
      data.set([...colourOf(g), g.mesh ? 4 : m.look], 4 * i);
      data.set([g.radius, m.finish, 0, 0], 4 * (groups.length + i));
    });
    this.groups ??= this.texture(gl.RGBA, gl.FLOAT, gl.RGBA32F, 1, 1, gl.NEAREST);
    gl.bindTexture(gl.TEXTURE_2D, this.groups);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, groups.length, 2, 0, gl.RGBA, gl.FLOAT, data);
    this.hello = hello;
    this.radius = groups[0].radius;
    this.dyes = hello.materials.slice(0, 4).map((m, i) => linear(colourOf({material: i})));
    const water = groups.find(g => hello.materials[g.material]?.look === 0);
    this.water = linear(colourOf(water ?? groups[0]));
    this.looks = groups.reduce((bits, g) => g.mesh ? bits : bits | 1 << (hello.materials[g.material]?.look ?? 1), 0);
    this.groupColours = groups.map(g => linear(colourOf(g)));
    this.strandRadius = Math.max(0, ...groups.map(g => g.strand_radius ?? 0));
  }
  setSolids(solids) {
    const gl = this.gl;
    this.solids.forEach(s => { gl.deleteVertexArray(s.array); s.buffers.forEach(b => gl.deleteBuffer(b)); });
    const size = [...this.hello.size, 1].slice(0, 3), all = size[0] * size[1] * size[2];
    this.solids = solids.map(s => {
      const array = gl.createVertexArray(), buffers = [0, 1, 2].map(() => gl.createBuffer());
      gl.bindVertexArray(array);
      [[0, s.positions], [3, s.normals]].forEach(([at, data], i) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[i]);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
        gl.enableVertexAttribArray(at);
        gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 0, 0);
      });
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[2]);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, s.indices, gl.STATIC_DRAW);
      gl.bindVertexArray(null);
      const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
      for (let i = 0; i < s.positions.length; i++) { const a = i % 3; low[a] = Math.min(low[a], s.positions[i]); high[a] = Math.max(high[a], s.positions[i]); }
      const large = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]) > 0.3 * all;
      return {array, buffers, count: s.indices.length, collider: s.collider, large,
        color: linear(s.given ? s.color : [0.56, 0.60, 0.66])};
    });
  }
  attribute(at, buffer, size, type, normalised, stride, constant) {
    const gl = this.gl;
    if (!buffer) { gl.disableVertexAttribArray(at); gl.vertexAttrib1f(at, constant ?? 0); return; }
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, normalised, stride, 0);
  }
  setFrame(f) {
    const gl = this.gl;
    this.frame = f;
    this.count = f.particles?.count ?? 0;
    this.cloud ??= gl.createVertexArray();
    gl.bindVertexArray(this.cloud);
    if (f.particles) {
      const p = f.particles;
      this.attribute(0, this.buffer('place', gl.ARRAY_BUFFER, p.positions), p.axes, gl.UNSIGNED_SHORT, false, 2 * p.axes);
      this.attribute(1, f.group && this.buffer('group', gl.ARRAY_BUFFER, f.group.values), 1, gl.UNSIGNED_SHORT, false, 2);
      this.attribute(2, f.scalar && this.buffer('value', gl.ARRAY_BUFFER, f.scalar.values), 1, gl.UNSIGNED_SHORT, true, 2);
    }
    gl.bindVertexArray(null);
    this.meshFresh = true;
    if (f.surface) this.setSurface(f.surface);
    if (f.grid) this.setGrid(f.grid);
  }
  setSurface(s) {
    const gl = this.gl;
    this.skin ??= gl.createVertexArray();
    gl.bindVertexArray(this.skin);
    this.attribute(0, this.buffer('skin', gl.ARRAY_BUFFER, s.positions), 3, gl.UNSIGNED_SHORT, false, 8);
    this.attribute(3, this.buffer('normals', gl.ARRAY_BUFFER, s.normals), 3, gl.BYTE, true, 4);
    this.buffer('triangles', gl.ELEMENT_ARRAY_BUFFER, s.indices);
    gl.bindVertexArray(null);
  }
  setGrid(g) {
    const gl = this.gl, solid = g.size[2] > 1, target = solid ? gl.TEXTURE_3D : gl.TEXTURE_2D;
    const format = [gl.RED, gl.RG, gl.RGB, gl.RGBA][g.channels - 1], internal = [gl.R8, gl.RG8, gl.RGB8, gl.RGBA8][g.channels - 1];
    this.field ??= gl.createTexture();
    gl.bindTexture(target, this.field);
    if (solid) gl.texImage3D(target, 0, internal, ...g.size, 0, format, gl.UNSIGNED_BYTE, g.values);
    else gl.texImage2D(target, 0, internal, g.size[0], g.size[1], 0, format, gl.UNSIGNED_BYTE, g.values);
    for (const k of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(target, k, gl.LINEAR);
    for (const k of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R]) gl.texParameteri(target, k, gl.CLAMP_TO_EDGE);
    for (let c = 0; c < 4; c++) this.peak[c] = Math.max(0.995 * this.peak[c], g.high[c]);
  }

  // Places and colours of the vertices as numbers: normals and ribbons are made of them here.
  meshOf({particles: p, group, scalar, mesh}) {
    const positions = new Float32Array(3 * p.count), colours = new Float32Array(3 * p.count), {range: [low, high], signs, mapped} = this.options;
    const map = mapped && scalar && Array.from({length: 256}, (_, i) => linear(mapColour(i / 255, signs).map(c => c / 255)));
    const span = scalar ? (scalar.high - scalar.low) / 65535 : 0;
    for (let i = 0; i < p.count; i++) {
      for (let a = 0; a < p.axes; a++) positions[3 * i + a] = p.origin[a] + p.spacing[a] * p.positions[p.axes * i + a];
      const t = map ? (scalar.low + span * scalar.values[i] - low) / (high - low) : 0;
      colours.set(map ? map[Math.max(0, Math.min(255, 255 * t | 0))] : this.groupColours[group ? group.values[i] : 0], 3 * i);
    }
    return {positions, colours, triangles: mesh.triangles, segments: mesh.segments};
  }
  // `kind`: '', '_shadow' or '_flat'.
  drawMeshes(kind, height) {
    const f = this.frame;
    if (!f.mesh || this.options.draw !== 'auto') return;
    this.meshes ??= new Meshes(this.gl);
    if (this.meshFresh) this.meshes.fill(this.meshOf(f));
    this.meshFresh = false;
    // in 2D the outline of what is filled is darker
    if (this.meshes.triangles) { this.use(`skin${kind}`, {gloss: .12, shade: 1}); this.meshes.drawSurface(); }
    if (this.meshes.segments) { this.use(`strand${kind}`, {gloss: .5, shade: this.meshes.triangles ? .45 : 1, radius: this.strandRadius, least: .8, height}); this.meshes.drawRibbons(); }
  }
  // Vertices are particles too where the mesh is not drawn.
  vertices() { return this.frame.mesh && this.options.draw === 'auto' ? 0 : VERTICES; }

  // ---- Drawing ----
  particles(name, looks, more) {
    const gl = this.gl, p = this.frame.particles;
    if (!this.count) return;
    const mapped = this.options.mapped && this.frame.scalar ? 1 : 0, s = this.frame.scalar;
    const span = s ? s.high - s.low || 1 : 1, range = s ? this.options.range.map(x => (x - s.low) / span) : [0, 1];
    this.use(name, {origin: p.origin, spacing: p.spacing, groups: this.groups, looks, mapped, grow: 1, height: this.h, range,
      signs: this.options.signs, ...more});
    gl.bindVertexArray(this.cloud);
    gl.drawArrays(gl.POINTS, 0, this.count);
    gl.bindVertexArray(null);
  }
  drawSolids(name, glass, more) {
    const gl = this.gl;
    for (const s of this.solids) {
      const pose = this.frame.poses?.[s.collider], clear = this.options.solids === 'glass' || (s.large && !this.common.flat_picture);
      if (!pose?.present || this.options.solids === 'none' || (glass !== null && clear !== glass)) continue;
      this.use(name, {model: place(pose.rotation, pose.position), colour: [...s.color, clear && glass !== null ? 0.35 : 1], ...more});
      gl.bindVertexArray(s.array);
      gl.drawElements(gl.TRIANGLES, s.count, gl.UNSIGNED_INT, 0);
    }
    gl.bindVertexArray(null);
  }
  whole(name, values) {
    const gl = this.gl;
    this.use(name, values);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
  lines(points, colour, mode) {
    const gl = this.gl;
    this.wire ??= gl.createVertexArray();
    gl.bindVertexArray(this.wire);
    this.attribute(0, this.buffer('wire', gl.ARRAY_BUFFER, new Float32Array(points.flat())), 3, gl.FLOAT, false, 0);
    this.use('line', {colour});
    gl.drawArrays(mode ?? gl.LINES, 0, points.length);
    gl.bindVertexArray(null);
  }
  state(depth, blend) {
    const gl = this.gl;
    depth ? gl.enable(gl.DEPTH_TEST) : gl.disable(gl.DEPTH_TEST);
    gl.depthMask(!!depth);
    blend ? gl.enable(gl.BLEND) : gl.disable(gl.BLEND);
    if (blend === 'over') gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (blend === 'sum') gl.blendFunc(gl.ONE, gl.ONE);
  }
  draw(camera, w, h) {
    if (!this.frame || !this.hello) return;
    this.resize(w, h);
    camera.update(w / h);
    this.common = {view: camera.view, projection: camera.projection, both: camera.both};
    if (camera.flat) this.drawFlat(camera); else this.drawSolid(camera);
  }

  // ---- 3D ----
  drawSolid(camera) {
    const gl = this.gl, hello = this.hello, t = this.targets, size = hello.size, middle = add(hello.origin, scale(size, 0.5));
    const side = camera.frame(), sun = normal(add(add(scale(camera.up, 1), scale(side[0], 0.42)), scale(side[1], 0.30)));
    const reach = 0.62 * camera.extent, lamp = lookAt(add(middle, scale(sun, 2 * reach)), middle, side[0]);
    const light = orthographic(-reach, reach, -reach, reach, reach * 0.2, reach * 4), v = camera.view;
    const turn = d => [v[0] * d[0] + v[4] * d[1] + v[8] * d[2], v[1] * d[0] + v[5] * d[1] + v[9] * d[2], v[2] * d[0] + v[6] * d[1] + v[10] * d[2]];
    const eye = {view: camera.view, projection: camera.projection};
    const meshed = this.frame.surface && this.options.draw === 'auto';
    const wet = this.options.draw === 'auto' && !this.options.mapped && (this.looks & LIQUID) !== 0;
    const balls = (meshed || wet ? OPAQUE : ALL) | this.vertices();

    // the sun's view
    Object.assign(this.common, {view: lamp, projection: light});
    this.bind(this.shadows, true);
    this.state(true);
    this.particles('shadow', ALL | this.vertices(), {height: SHADOWS, grow: 1.2});
    this.drawMeshes('_shadow', SHADOWS);
    this.drawSolids('solid_shadow', false);
    Object.assign(this.common, eye, {sun: turn(sun), up: turn(camera.up), shadows: this.shadows.depth, bias: 2.2 * this.radius,
      shadow_strength: wet || meshed ? 0.6 : 0.85, to_light: multiply(multiply(light, lamp), rigidInverse(camera.view))});

    // what is opaque
    this.bind(t.scene, true);
    this.state(false);
    this.whole('background', {});
    this.drawFloor(camera, middle, side);
    this.state(true);
    this.particles('sphere', balls, {grow: meshed || wet || (this.looks & 4) ? 1.08 : 1.0});
    this.drawMeshes('', this.h);
    this.drawSolids('solid', false);
    this.drawBox(hello);
    this.state(true, 'over');
    gl.depthMask(false);
    this.drawSolids('solid', true);
    const smoke = this.frame.grid && this.frame.grid.size[2] > 1;
    if (meshed) this.drawMesh(); else if (wet) this.drawLiquid();
    if (smoke) this.drawSmoke(camera, sun);

    this.bind(null, false);
    this.state(false);
    this.whole('composite', {scene: t.scene.textures[0], scene_depth: t.scene.depth, depth: meshed ? t.liquid.textures[0] : t.one.textures[0],
      tint: t.liquid.textures[1], normals: t.liquid.textures[2], thick: t.thick.textures[0], smoke: t.smoke.textures[0],
      liquid: meshed || wet ? 1 : 0, has_normals: meshed ? 1 : 0, has_smoke: smoke ? 1 : 0, flat_picture: 0, extent: camera.extent,
      pixel: [1 / this.w, 1 / this.h], planes: [camera.near, camera.far]});
  }
  drawFloor(camera, middle, side) {
    const up = camera.up, size = this.hello.size, far = 7 * camera.extent;
    const below = Math.abs(dot(size, up)) / 2 * 1.002, base = sub(middle, scale(up, below));
    if (camera.pitch < 0) return;
    this.state(true, 'over');
    this.use('floor', {corner: sub(base, scale(add(side[0], side[1]), far / 2)), side_a: scale(side[0], far), side_b: scale(side[1], far),
      cell: roundLength(camera.extent / 18), fade: 1.5 * camera.extent, middle: [dot(base, side[0]), dot(base, side[1])]});
    this.gl.bindVertexArray(this.empty);
    this.gl.drawArrays(this.gl.TRIANGLE_STRIP, 0, 4);
  }
  drawBox(hello) {
    const corner = i => [0, 1, 2].map(a => hello.origin[a] + (i >> a & 1) * hello.size[a]), points = [];
    for (let i = 0; i < 8; i++) for (let a = 0; a < 3; a++) if (!(i >> a & 1)) points.push(corner(i), corner(i | 1 << a));
    this.state(true, 'over');
    this.gl.depthMask(false);
    this.lines(points, [0.55, 0.68, 0.8, 0.28]);
  }
  drawLiquid() {
    const t = this.targets, gl = this.gl, focal = this.h * this.common.projection[5] / 2, r = this.radius;
    this.bind(t.liquid, true);
    this.state(true);
    gl.drawBuffers([gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1, gl.NONE]);
    this.particles('liquid', LIQUID, {grow: 1.6});
    gl.drawBuffers([gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1, gl.COLOR_ATTACHMENT2]);
    this.state(false);
    let from = t.liquid.textures[0];
    for (let pass = 0; pass < 3; pass++)
      for (const [to, along] of [[t.two, [1 / this.w, 0]], [t.one, [0, 1 / this.h]]]) {
        this.bind(to, true);
        this.whole('smooth', {image: from, along, reach: (6 - pass) * r, focal});
        from = to.textures[0];
      }
    this.bind(t.thick, true);
    this.state(false, 'sum');
    this.particles('thickness', LIQUID, {grow: 1.2, height: this.h / 2});
  }
  drawMesh() {
    const t = this.targets, gl = this.gl, s = this.frame.surface;
    const draw = name => {
      this.use(name, {origin: s.origin, spacing: s.spacing, colour: this.water});
      gl.bindVertexArray(this.skin);
      gl.drawElements(gl.TRIANGLES, 3 * s.triangles, gl.UNSIGNED_INT, 0);
    };
    this.bind(t.liquid, true);
    this.state(true);
    draw('surface');
    this.bind(t.thick, true);
    this.state(false, 'sum');
    draw('surface_thickness');
  }
  smokeValues() {
    const g = this.frame.grid, mapped = this.options.mapped ? 1 : 0, top = Math.max(...this.peak.slice(0, g.channels), 1e-9);
    const dye = i => this.dyes[i] ?? [0.85, 0.85, 0.88];
    return {tops: g.high, lows: g.low, channels: g.channels, mapped, range: this.options.range, signs: this.options.signs, field: this.field,
      dye0: dye(0), dye1: dye(1), dye2: dye(2), dye3: dye(3), sigma: 1 / top};
  }
  drawSmoke(camera, sun) {
    const g = this.frame.grid, v = camera.view, t = Math.tan(camera.angle / 2), row = i => [v[i], v[4 + i], v[8 + i]];
    const size = g.size.map(n => n * g.spacing), low = sub(g.first, [g.spacing / 2, g.spacing / 2, g.spacing / 2]);
    const values = this.smokeValues();
    this.bind(this.targets.smoke, true);
    this.state(false);
    this.whole('volume', {...values, sigma: 15 * values.sigma / Math.max(...size), scene_depth: this.targets.scene.depth, from: camera.from,
      right: scale(row(0), t * camera.aspect), upward: scale(row(1), t), ahead: scale(row(2), -1), low, size, to_sun: sun, steps: 110, shift: camera.shift(),
      planes: [camera.near, camera.far]});
  }

  // ---- 2D ----
  drawFlat(camera) {
    const t = this.targets, hello = this.hello, [x0, y0] = hello.origin, [w, h] = hello.size, pixels = this.h / 2 / camera.window()[1];
    const corners = [[x0, y0, 0], [x0 + w, y0, 0], [x0 + w, y0 + h, 0], [x0, y0 + h, 0]], gl = this.gl;
    this.common.flat_picture = 1;
    this.bind(t.scene, true);
    this.state(false, 'over');
    this.whole('background', {});
    this.lines([corners[0], corners[1], corners[2], corners[0], corners[2], corners[3]], [0.035, 0.048, 0.062, 1], gl.TRIANGLES);
    this.drawGrid(hello);
    if (this.frame.grid) this.drawSheet();
    const wet = this.options.draw === 'auto' && (this.looks & LIQUID) !== 0;
    this.particles('disc', (wet ? OPAQUE : ALL) | this.vertices(), {pixels, grow: 1.25});
    this.drawMeshes('_flat', this.h);
    if (wet) {
      this.bind(t.splat, true);
      this.state(false, 'sum');
      this.particles('splat', LIQUID, {pixels, grow: 5});
      this.bind(t.scene, false);
      this.state(false, 'over');
      this.clip(camera, corners[0], corners[2]);
      this.whole('fill', {image: t.splat.textures[0], level: 1.35, mapped_picture: this.options.mapped ? 1 : 0, pixel: [1 / this.w, 1 / this.h]});
      gl.disable(gl.SCISSOR_TEST);
    }
    this.state(false, 'over');
    this.drawSolids('flat_solid', null);
    this.lines(corners, [0.45, 0.55, 0.65, 0.8], gl.LINE_LOOP);
    this.bind(null, false);
    this.state(false);
    this.whole('composite', {scene: t.scene.textures[0], scene_depth: t.scene.depth, depth: t.one.textures[0], tint: t.liquid.textures[1],
      normals: t.liquid.textures[2], thick: t.thick.textures[0], smoke: t.smoke.textures[0], shadows: this.shadows.depth,
      liquid: 0, has_normals: 0, has_smoke: 0, extent: 1, pixel: [0, 0], planes: [0.1, 1]});
  }
  // Nothing is drawn outside of a box: liquid ends at the domain's sides, however wide its particles are.
  clip(camera, low, high) {
    const gl = this.gl, m = camera.both, x = v => Math.round((m[0] * v + m[12] + 1) / 2 * this.w), y = v => Math.round((m[5] * v + m[13] + 1) / 2 * this.h);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x(low[0]), y(low[1]), Math.max(0, x(high[0]) - x(low[0])), Math.max(0, y(high[1]) - y(low[1])));
  }
  drawGrid(hello) {
    const cell = roundLength(Math.max(...hello.size) / 14), points = [], [x0, y0] = hello.origin, [w, h] = hello.size;
    for (let x = Math.ceil(x0 / cell) * cell; x < x0 + w; x += cell) points.push([x, y0, 0], [x, y0 + h, 0]);
    for (let y = Math.ceil(y0 / cell) * cell; y < y0 + h; y += cell) points.push([x0, y, 0], [x0 + w, y, 0]);
    if (points.length) this.lines(points, [0.35, 0.45, 0.55, 0.10]);
  }
  drawSheet() {
    const g = this.frame.grid, values = this.smokeValues();
    this.use('sheet', {...values, sigma: 3.2 * values.sigma, low: [g.first[0] - g.spacing / 2, g.first[1] - g.spacing / 2],
      size: [g.size[0] * g.spacing, g.size[1] * g.spacing]});
    this.gl.bindVertexArray(this.empty);
    this.gl.drawArrays(this.gl.TRIANGLE_STRIP, 0, 4);
  }
}
