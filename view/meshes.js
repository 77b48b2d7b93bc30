// Bodies that are meshes, for the viewer's page and the playground: cloth and skins as surfaces with two sides, strands as
// ribbons that face the eye and are shaded as if they were round. Each page brings its own light as the fragment shader.

const OUT = 'uniform mat4 view, projection; out vec3 x, n, colour;';

// Vertex shaders: x and n of what is seen, in the eye's space, and its colour.
export const SURFACE_VERTEX = `
layout(location = 0) in vec3 place; layout(location = 1) in vec3 direction; layout(location = 2) in vec3 tint; ${OUT}
void main() { x = (view * vec4(place, 1.)).xyz; n = mat3(view) * direction; colour = tint; gl_Position = projection * vec4(x, 1.); }`;
// A ribbon is `radius` to each side, and at least `least` pixels of a picture that is `height` high.
export const RIBBON_VERTEX = `
layout(location = 0) in vec3 place; layout(location = 1) in vec3 to; layout(location = 2) in vec3 tint; ${OUT}
uniform float radius, least, height;
void main() {
  vec3 a = (view * vec4(place, 1.)).xyz, b = (view * vec4(to, 1.)).xyz, along = b - a;
  float end = float(gl_VertexID & 1), side = float(gl_VertexID >> 1) * 2. - 1.;
  bool flat_view = projection[3][3] == 1.;
  along /= max(length(along), 1e-20); x = mix(a, b, end);
  vec3 eye = flat_view ? vec3(0., 0., 1.) : normalize(-x), across = cross(along, eye);
  across /= max(length(across), 1e-6);
  float width = max(radius, least * 2. / (projection[1][1] * height) * (flat_view ? 1. : -x.z));
  x += width * (side * across + .4 * (end * 2. - 1.) * along);
  n = side * across + .6 * cross(across, along); colour = tint; gl_Position = projection * vec4(x, 1.);
}`;

// Of vertices, the sum of their triangles' normals: larger ones count more.
export function normalsOf(positions, triangles) {
  const out = new Float32Array(positions.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const i = 3 * triangles[t], j = 3 * triangles[t + 1], k = 3 * triangles[t + 2];
    const ux = positions[j] - positions[i], uy = positions[j + 1] - positions[i + 1], uz = positions[j + 2] - positions[i + 2];
    const vx = positions[k] - positions[i], vy = positions[k + 1] - positions[i + 1], vz = positions[k + 2] - positions[i + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    for (const v of [i, j, k]) out[v] += x, out[v + 1] += y, out[v + 2] += z;
  }
  return out;
}

// Both ends of segments and the colour at the first, nine numbers each.
function ribbonsOf({positions, colours, segments}) {
  const out = new Float32Array(4.5 * segments.length);
  for (let s = 0, to = 0; s < segments.length; s += 2, to += 9) {
    const a = 3 * segments[s], b = 3 * segments[s + 1];
    for (let c = 0; c < 3; c++) out[to + c] = positions[a + c], out[to + 3 + c] = positions[b + c], out[to + 6 + c] = colours[a + c];
  }
  return out;
}

// On the device. Positions and colours are three numbers a vertex; triangles and segments name vertices.
export class Meshes {
  constructor(gl) {
    this.gl = gl;
    this.surface = gl.createVertexArray();
    this.ribbons = gl.createVertexArray();
    this.buffers = Array.from({length: 5}, () => gl.createBuffer());
    this.triangles = this.segments = 0;
  }

  attributes(array, list) {
    const gl = this.gl;
    gl.bindVertexArray(array);
    for (const [at, buffer, data, stride, offset, divisor] of list) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
      if (data) gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, 3, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(at, divisor);
    }
  }

  // `mesh`: {positions, colours, triangles, segments}; null: there is none.
  fill(mesh) {
    const gl = this.gl;
    this.triangles = mesh?.triangles.length ?? 0, this.segments = (mesh?.segments.length ?? 0) / 2;
    if (this.triangles) {
      this.attributes(this.surface, [[0, 0, mesh.positions, 0, 0, 0], [1, 1, normalsOf(mesh.positions, mesh.triangles), 0, 0, 0],
        [2, 2, mesh.colours, 0, 0, 0]]);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[3]);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.DYNAMIC_DRAW);
    }
    if (this.segments)
      this.attributes(this.ribbons, [[0, 4, ribbonsOf(mesh), 36, 0, 1], [1, 4, null, 36, 12, 1], [2, 4, null, 36, 24, 1]]);
    gl.bindVertexArray(null);
  }

  drawSurface() {
    const gl = this.gl;
    gl.bindVertexArray(this.surface);
    gl.drawElements(gl.TRIANGLES, this.triangles, gl.UNSIGNED_INT, 0);
    gl.bindVertexArray(null);
  }
  drawRibbons() {
    const gl = this.gl;
    gl.bindVertexArray(this.ribbons);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.segments);
    gl.bindVertexArray(null);
  }
}
