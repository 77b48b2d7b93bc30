/* Shaders of the 3D painter. Distances are along the view, in metres. */
import { SCALE_SHADER } from "./colors";

/* A particle as a square that faces the eye; the fragment shaders make a ball of it. */
export const BALL_VERTEX = `
layout(location = 0) in vec3 position;
layout(location = 1) in float material;
layout(location = 2) in float value;
uniform vec4 palette[16];
uniform mat4 view, projection;
uniform vec2 range;
uniform float radius, pixels, by_value, wanted, grain;
out vec3 tint;
out vec3 center;
out float own_radius;
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
  if (own.w > 1.5) tint *= 0.75 + 0.45 * noise(uint(gl_VertexID));
  center = (view * vec4(position, 1.0)).xyz;
  own_radius = own.w > 1.5 ? radius * grain : radius;
  bool liquid = own.w < 0.5;
  bool left_out = wanted > 0.5 ? !liquid : wanted > -0.5 && liquid;
  gl_Position = left_out ? vec4(2.0, 2.0, 2.0, 1.0) : projection * vec4(center, 1.0);
  gl_PointSize = pixels * own_radius / -center.z;
}`;

const BALL = `
in vec3 tint;
in vec3 center;
in float own_radius;
uniform mat4 projection;
vec3 ball_normal() {
  vec2 d = gl_PointCoord * 2.0 - 1.0;
  float r = dot(d, d);
  if (r > 1.0) discard;
  return vec3(d.x, -d.y, sqrt(1.0 - r));
}
float ball_depth(float z) {
  vec4 c = projection * vec4(0.0, 0.0, z, 1.0);
  return 0.5 + 0.5 * c.z / c.w;
}`;

const LIGHT = `
const vec3 SUN = normalize(vec3(-0.45, 0.85, 0.35));
vec3 sky(vec3 d, float dark) {
  float h = clamp(d.y * 0.5 + 0.5, 0.0, 1.0);
  vec3 night = mix(vec3(0.05, 0.07, 0.10), vec3(0.20, 0.28, 0.40), h);
  vec3 day = mix(vec3(0.80, 0.84, 0.89), vec3(0.93, 0.96, 1.0), h);
  vec3 c = mix(day, night, dark);
  return c + 0.9 * pow(max(dot(d, SUN), 0.0), 60.0);
}`;

export const BALL_SHADED = `${BALL}${LIGHT}
uniform mat4 view;
uniform float dark;
layout(location = 0) out vec4 color;
void main() {
  vec3 n = ball_normal();
  float z = center.z + own_radius * n.z;
  gl_FragDepth = ball_depth(z);
  vec3 world = transpose(mat3(view)) * n;
  float light = 0.42 + 0.25 * world.y + 0.5 * max(dot(world, SUN), 0.0);
  float shine = 0.12 * pow(max(dot(reflect(-SUN, world), transpose(mat3(view)) * vec3(0.0, 0.0, 1.0)), 0.0), 30.0);
  color = vec4(min(tint * light + shine, 1.0), -z);
}`;

/* Cloth, skins and strands; a little darker behind. */
export const MESH_SHADED = `${LIGHT}
in vec3 x, n, colour;
uniform mat4 view;
layout(location = 0) out vec4 color;
void main() {
  vec3 m = normalize(n);
  bool behind = dot(m, x) > 0.0;
  vec3 world = transpose(mat3(view)) * (behind ? -m : m), eye = transpose(mat3(view)) * normalize(-x);
  float light = 0.55 + 0.13 * world.y + 0.45 * max(dot(world, SUN), 0.0);
  float shine = 0.15 * pow(max(dot(reflect(-SUN, world), eye), 0.0), 24.0);
  color = vec4(min(colour * light * (behind ? 0.85 : 1.0) + shine, 1.0), -x.z);
}`;

export const BALL_DISTANCE = `${BALL}
out vec4 color;
void main() {
  vec3 n = ball_normal();
  float z = center.z + own_radius * n.z;
  gl_FragDepth = ball_depth(z);
  color = vec4(-z, 0.0, 0.0, 1.0);
}`;

/* Colour times thickness, and thickness, of liquid before what is opaque. */
export const BALL_THICKNESS = `${BALL}
uniform sampler2D opaque;
out vec4 color;
void main() {
  vec3 n = ball_normal();
  if (-center.z > texelFetch(opaque, ivec2(gl_FragCoord.xy * 2.0), 0).a) discard;
  float w = n.z * own_radius * 2.0;
  color = vec4(tint * w, w);
}`;

/* A shadow seen from above. */
export const SHADOW_VERTEX = `
layout(location = 0) in vec3 position;
uniform vec2 middle, scale;
uniform float size;
void main() {
  gl_Position = vec4((position.xz - middle) * scale, 0.0, 1.0);
  gl_PointSize = size;
}`;
export const SHADOW = `
uniform float amount;
out vec4 color;
void main() {
  vec2 d = gl_PointCoord * 2.0 - 1.0;
  float w = max(1.0 - dot(d, d), 0.0);
  color = vec4(amount * w);
}`;

/* Floor, edges of the domain and colliders, by rays. */
export const STAGE = `${LIGHT}
in vec2 uv;
uniform vec3 eye, right, up, back, low, high;
uniform vec2 tangent;
uniform mat4 projection;
uniform sampler2D shadow;
uniform sampler3D solid;
uniform float has_solid, dark, pixel;
uniform vec3 solid_low, solid_high;
layout(location = 0) out vec4 color;
vec2 box(vec3 o, vec3 d, vec3 a, vec3 b) {
  vec3 t0 = (a - o) / d, t1 = (b - o) / d, n = min(t0, t1), f = max(t0, t1);
  return vec2(max(max(n.x, n.y), n.z), min(min(f.x, f.y), f.z));
}
float distance_at(vec3 x) { return texture(solid, (x - solid_low) / (solid_high - solid_low)).r; }
float edge_of(vec2 x, float width) {
  vec2 a = abs(x - low.xz), b = abs(x - high.xz);
  vec2 inside = step(low.xz - width, x) * step(x, high.xz + width);
  float m = min(min(a.x, b.x), min(a.y, b.y));
  return inside.x * inside.y * (1.0 - smoothstep(0.5 * width, width, m));
}
void main() {
  vec2 s = (uv * 2.0 - 1.0) * tangent;
  vec3 d = normalize(right * s.x + up * s.y - back);
  vec3 c = sky(d, dark);
  float far = 1e4, t = far;
  if (d.y < 0.0) {
    float f = (low.y - eye.y) / d.y;
    vec3 x = eye + f * d;
    vec3 middle = 0.5 * (low + high);
    float extent = length(high.xz - low.xz);
    float fade = exp(-1.1 * max(length(x.xz - middle.xz) / extent - 0.55, 0.0));
    vec3 ground = mix(vec3(0.86, 0.88, 0.91), vec3(0.105, 0.13, 0.17), dark);
    vec2 at = (x.xz - low.xz) / (high.xz - low.xz) * 0.5 + 0.25;
    float shade = exp(-texture(shadow, at).r);
    ground *= mix(1.0, shade, 0.75);
    ground = mix(ground, mix(vec3(0.55, 0.6, 0.68), vec3(0.3, 0.38, 0.5), dark), 0.7 * edge_of(x.xz, pixel * f * 1.6));
    c = mix(c, ground, fade);
    t = f;
  }
  if (has_solid > 0.5) {
    vec2 hit = box(eye, d, solid_low, solid_high);
    float at = max(hit.x, 0.0);
    vec3 cell = (solid_high - solid_low) / vec3(textureSize(solid, 0));
    float least = 0.15 * min(cell.x, min(cell.y, cell.z));
    for (int i = 0; i < 96 && at < hit.y; i++) {
      float g = distance_at(eye + at * d);
      if (g < least) break;
      at += g * 0.9 + least;
    }
    if (at < hit.y && at < t) {
      vec3 x = eye + at * d, e = vec3(cell.x, 0.0, 0.0);
      vec3 n = normalize(vec3(distance_at(x + e.xyy) - distance_at(x - e.xyy),
                              distance_at(x + e.yxy) - distance_at(x - e.yxy),
                              distance_at(x + e.yyx) - distance_at(x - e.yyx)) + 1e-6);
      c = vec3(0.52, 0.56, 0.62) * (0.35 + 0.22 * n.y + 0.55 * max(dot(n, SUN), 0.0));
      t = at;
    }
  }
  float z = t * dot(d, -back);
  vec4 clip = projection * vec4(0.0, 0.0, -z, 1.0);
  gl_FragDepth = t < far ? clamp(0.5 + 0.5 * clip.z / clip.w, 0.0, 1.0) : 1.0;
  color = vec4(c, z);
}`;

/* Smooths distances over neighbours that belong to the same surface: a narrow-range filter, one
 * axis a pass. */
export const SMOOTH = `
in vec2 uv;
uniform sampler2D distances;
uniform vec2 along;
uniform float radius, world, cell;
out vec4 color;
void main() {
  float z = texture(distances, uv).r;
  color = vec4(z, 0.0, 0.0, 1.0);
  if (z > 9e3) return;
  float span = clamp(world / z, 2.0, radius);
  float sum = 0.0, all = 0.0, near = 0.8 * cell;
  for (int i = -14; i <= 14; i++) {
    float o = float(i) / 14.0;
    float s = texture(distances, uv + along * round(o * span)).r;
    if (s > z + 3.0 * near) continue;
    float w = exp(-3.0 * o * o);
    sum += w * max(s, z - 2.0 * near);
    all += w;
  }
  color.r = sum / all;
}`;

/* Liquid over the opaque picture: refraction, absorption, reflection. */
export const LIQUID = `${LIGHT}
in vec2 uv;
uniform sampler2D opaque, distances, thickness;
uniform vec2 tangent, texel;
uniform vec3 right, up, back;
uniform float dark, depth_scale, by_value;
out vec4 color;
vec3 place(vec2 at) {
  float z = texture(distances, at).r;
  return vec3((at * 2.0 - 1.0) * tangent * z, -z);
}
void main() {
  float z = texture(distances, uv).r;
  vec4 behind = texture(opaque, uv);
  color = vec4(behind.rgb, 1.0);
  if (z > 9e3 || z > behind.a) return;
  vec3 p = place(uv);
  vec3 dx = place(uv + vec2(texel.x, 0.0)) - p, dx2 = p - place(uv - vec2(texel.x, 0.0));
  vec3 dy = place(uv + vec2(0.0, texel.y)) - p, dy2 = p - place(uv - vec2(0.0, texel.y));
  if (abs(dx2.z) < abs(dx.z)) dx = dx2;
  if (abs(dy2.z) < abs(dy.z)) dy = dy2;
  vec3 n = normalize(cross(dx, dy));
  vec3 v = normalize(-p);
  vec4 through = texture(thickness, uv);
  float thick = through.a / depth_scale;
  vec3 tint = through.rgb / max(through.a, 1e-6);
  vec4 seen = texture(opaque, clamp(uv - n.xy * 0.06 * min(thick, 1.0), 0.001, 0.999));
  if (seen.a < z) seen = behind;
  vec3 absorb = (1.02 - tint) * 1.5 + 0.10;
  vec3 body = seen.rgb * exp(-absorb * thick * 1.8);
  mat3 world = mat3(right, up, back);
  float facing = max(dot(n, v), 0.0), light = 0.62 + 0.5 * max(dot(world * n, SUN), 0.0) + 0.12 * (world * n).y;
  float milky = 1.0 - exp(-1.6 * (thick + 0.4));
  body = mix(body, (tint * 1.05 + 0.07) * light, 0.82 * milky);
  if (by_value > 0.5) body = mix(body, tint * light, 0.9);
  vec3 r = world * reflect(-v, n);
  float fresnel = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
  vec3 reflected = sky(r, dark * 0.55);
  float shine = pow(max(dot(r, SUN), 0.0), 90.0);
  color = vec4(mix(body, reflected, clamp(fresnel, 0.0, 0.7)) + 0.6 * shine, 1.0);
}`;

/* Smoke by rays through its density. */
export const SMOKE = `${LIGHT}
in vec2 uv;
uniform sampler2D opaque;
uniform sampler3D density;
uniform vec3 eye, right, up, back, low, high, dye;
uniform vec2 tangent, range;
uniform float steps, by_value;
out vec4 color;
${SCALE_SHADER}
vec2 box(vec3 o, vec3 d) {
  vec3 t0 = (low - o) / d, t1 = (high - o) / d, n = min(t0, t1), f = max(t0, t1);
  return vec2(max(max(n.x, n.y), n.z), min(min(f.x, f.y), f.z));
}
float at(vec3 x) { return max(texture(density, (x - low) / (high - low)).r - range.x, 0.0) / max(range.y - range.x, 1e-20); }
void main() {
  vec4 behind = texture(opaque, uv);
  vec2 s = (uv * 2.0 - 1.0) * tangent;
  vec3 d = normalize(right * s.x + up * s.y - back);
  vec2 hit = box(eye, d);
  float near = max(hit.x, 0.0), far = min(hit.y, behind.a / max(dot(d, -back), 1e-3));
  vec3 sum = vec3(0.0);
  float clear = 1.0, extent = length(high - low);
  if (near < far) {
    float h = extent / steps;
    float jitter = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    for (float t = near + h * jitter; t < far && clear > 0.02; t += h) {
      vec3 x = eye + t * d;
      float q = at(x);
      if (q < 0.004) continue;
      float shade = 0.0;
      for (int k = 1; k <= 4; k++) shade += at(x + SUN * extent * 0.035 * float(k));
      float a = 1.0 - exp(-q * 13.0 * h / extent * 2.2);
      vec3 c = by_value > 0.5 ? scale_color(q) : dye;
      sum += clear * a * c * (0.30 + 0.85 * exp(-1.1 * shade));
      clear *= 1.0 - a;
    }
  }
  color = vec4(sum + clear * behind.rgb, 1.0);
}`;
