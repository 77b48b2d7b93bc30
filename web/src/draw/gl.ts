/* The few things of WebGL2 that the painters need, each by a short name. */

export type GL = WebGL2RenderingContext;

function compile(gl: GL, vertex: string, fragment: string): WebGLProgram {
  const head = "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler3D;\n";
  const p = gl.createProgram()!;
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const s = gl.createShader(type)!;
    gl.shaderSource(s, head + text);
    gl.compileShader(s);
    if (!gl.getShaderParameter(s, gl.COMPILE_STATUS) && !gl.isContextLost())
      throw new Error(gl.getShaderInfoLog(s) ?? "a shader does not compile");
    gl.attachShader(p, s);
  }
  gl.linkProgram(p);
  if (!gl.getProgramParameter(p, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(gl.getProgramInfoLog(p) ?? "a program does not link");
  return p;
}

/* A program that is compiled when it is used first: most scenes need few of them. */
export function program(gl: GL, vertex: string, fragment: string): Program {
  return new Program(gl, vertex, fragment);
}

export class Program {
  private readonly places = new Map<string, WebGLUniformLocation | null>();
  private id: WebGLProgram | null = null;
  private units = 0;
  constructor(private readonly gl: GL, private readonly vertex: string, private readonly fragment: string) {}

  use(): this {
    this.id ??= compile(this.gl, this.vertex, this.fragment);
    this.gl.useProgram(this.id);
    this.units = 0;
    return this;
  }

  private place(name: string): WebGLUniformLocation | null {
    if (!this.places.has(name)) this.places.set(name, this.gl.getUniformLocation(this.id!, name));
    return this.places.get(name)!;
  }

  /* A number, a vector of two to four, or a matrix of sixteen. */
  set(name: string, v: number | ArrayLike<number>): this {
    const gl = this.gl, at = this.place(name);
    if (typeof v === "number") gl.uniform1f(at, v);
    else if (v.length === 2) gl.uniform2f(at, v[0], v[1]);
    else if (v.length === 3) gl.uniform3f(at, v[0], v[1], v[2]);
    else if (v.length === 4) gl.uniform4f(at, v[0], v[1], v[2], v[3]);
    else gl.uniformMatrix4fv(at, false, Float32Array.from(v));
    return this;
  }

  integer(name: string, v: number): this {
    this.gl.uniform1i(this.place(name), v);
    return this;
  }

  colors(name: string, v: Float32Array): this {
    this.gl.uniform4fv(this.place(name), v);
    return this;
  }

  texture(name: string, t: WebGLTexture | null, target: number = this.gl.TEXTURE_2D): this {
    const gl = this.gl;
    gl.activeTexture(gl.TEXTURE0 + this.units);
    gl.bindTexture(target, t);
    gl.uniform1i(this.place(name), this.units++);
    return this;
  }
}

/* A texture that is drawn to, of the size asked for last. */
export class Target {
  readonly texture: WebGLTexture;
  private readonly frame: WebGLFramebuffer;
  private readonly depth: WebGLRenderbuffer | null;
  width = 0;
  height = 0;

  constructor(private readonly gl: GL, private readonly format: number, withDepth = false,
              private readonly filter: number = gl.LINEAR) {
    this.texture = gl.createTexture()!;
    this.frame = gl.createFramebuffer()!;
    this.depth = withDepth ? gl.createRenderbuffer() : null;
  }

  begin(width: number, height: number, clear: number[] = [0, 0, 0, 0]): void {
    const gl = this.gl;
    if (width !== this.width || height !== this.height) this.resize(width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.viewport(0, 0, width, height);
    gl.clearColor(clear[0], clear[1], clear[2], clear[3]);
    gl.clear(gl.COLOR_BUFFER_BIT | (this.depth ? gl.DEPTH_BUFFER_BIT : 0));
  }

  private resize(width: number, height: number): void {
    const gl = this.gl;
    this.width = width, this.height = height;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    const [layout, type] = layoutOf(gl, this.format);
    gl.texImage2D(gl.TEXTURE_2D, 0, this.format, width, height, 0, layout, type, null);
    smooth(gl, gl.TEXTURE_2D, this.filter);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    if (!this.depth) return;
    gl.bindRenderbuffer(gl.RENDERBUFFER, this.depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, this.depth);
  }
}

function layoutOf(gl: GL, format: number): [number, number] {
  if (format === gl.RGBA16F) return [gl.RGBA, gl.HALF_FLOAT];
  if (format === gl.R16F) return [gl.RED, gl.HALF_FLOAT];
  if (format === gl.R32F) return [gl.RED, gl.FLOAT];
  return [gl.RGBA, gl.UNSIGNED_BYTE];
}

function smooth(gl: GL, target: number, filter: number): void {
  gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(target, gl.TEXTURE_MAG_FILTER, filter);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R])
    gl.texParameteri(target, side, gl.CLAMP_TO_EDGE);
}

/* Numbers on a lattice as a texture of halves, which every device filters. */
export class Lattice {
  readonly texture: WebGLTexture;
  readonly target: number;
  constructor(private readonly gl: GL, readonly dimension: 2 | 3) {
    this.texture = gl.createTexture()!;
    this.target = dimension === 3 ? gl.TEXTURE_3D : gl.TEXTURE_2D;
  }

  fill(values: Float32Array, size: number[]): void {
    const gl = this.gl;
    gl.bindTexture(this.target, this.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    if (this.dimension === 3)
      gl.texImage3D(gl.TEXTURE_3D, 0, gl.R16F, size[0], size[1], size[2], 0, gl.RED, gl.FLOAT, values);
    else gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16F, size[0], size[1], 0, gl.RED, gl.FLOAT, values);
    smooth(gl, this.target, gl.LINEAR);
  }
}

/* Particles on the device: places, materials, and the number they are coloured by. */
export class Points {
  private readonly array: WebGLVertexArrayObject;
  private readonly buffers: WebGLBuffer[];
  private readonly rooms = [0, 0, 0];
  private readonly order: WebGLBuffer;
  private chosen: Uint32Array | null = null;
  count = 0;

  constructor(private readonly gl: GL) {
    this.array = gl.createVertexArray()!;
    this.buffers = [0, 1, 2].map(() => gl.createBuffer()!);
    this.order = gl.createBuffer()!;
    gl.bindVertexArray(this.array);
    [3, 1, 1].forEach((components, i) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
      gl.vertexAttribPointer(i, components, gl.FLOAT, false, 0, 0);
    });
    gl.bindVertexArray(null);
  }

  fill(positions: Float32Array, material: Float32Array | null, value: Float32Array | null): void {
    const gl = this.gl;
    this.count = positions.length / 3;
    gl.bindVertexArray(this.array);
    [positions, material, value].forEach((data, i) => {
      if (!data) return gl.disableVertexAttribArray(i);
      gl.enableVertexAttribArray(i);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
      if (data.byteLength > this.rooms[i] || data.byteLength < this.rooms[i] / 4) {
        this.rooms[i] = Math.ceil(data.byteLength * 1.25);
        gl.bufferData(gl.ARRAY_BUFFER, this.rooms[i], gl.DYNAMIC_DRAW);
      }
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
    });
    if (!material) gl.vertexAttrib1f(1, 0);
    if (!value) gl.vertexAttrib1f(2, 0);
    gl.bindVertexArray(null);
  }

  /* Those that are drawn; null: all. */
  choose(which: Uint32Array | null): void {
    const gl = this.gl;
    if (which && which !== this.chosen) {
      gl.bindVertexArray(this.array);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, which, gl.DYNAMIC_DRAW);
      gl.bindVertexArray(null);
    }
    this.chosen = which;
  }

  draw(): void {
    const gl = this.gl, count = this.chosen ? this.chosen.length : this.count;
    if (!count) return;
    gl.bindVertexArray(this.array);
    if (this.chosen) gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(gl.POINTS, 0, count);
    gl.bindVertexArray(null);
  }
}

/* One triangle that covers everything; `uv` is 0 to 1. */
export const WHOLE = `
out vec2 uv;
void main() {
  uv = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
}`;

export function drawWhole(gl: GL): void {
  gl.drawArrays(gl.TRIANGLES, 0, 3);
}
