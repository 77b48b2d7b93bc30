// The shaders. Colours are linear until the last pass.
import {RIBBON_VERTEX, SURFACE_VERTEX} from './meshes.js';

export const HEAD = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D; precision highp sampler3D; precision highp sampler2DShadow;
`;

// Colour maps: viridis (a polynomial fit of it), and blue - white - red where a value has two signs.
export const MAP = `
uniform vec2 range; uniform int signs;
vec3 map_colour(float t) {
  t = clamp(t, 0., 1.);
  if (signs == 1) return t < .5 ? mix(vec3(.10, .30, .75), vec3(.95), t * 2.) : mix(vec3(.95), vec3(.78, .12, .12), t * 2. - 1.);
  const vec3 c0 = vec3(.2777, .0054, .3341), c1 = vec3(.1051, 1.4046, 1.3846), c2 = vec3(-.3309, .2148, .0951),
    c3 = vec3(-4.6342, -5.7991, -19.3324), c4 = vec3(6.2283, 14.1799, 56.6906), c5 = vec3(4.7764, -13.7451, -65.3530),
    c6 = vec3(-5.4355, 4.6459, 26.3124);
  return c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * (c5 + t * c6)))));
}
vec3 to_linear(vec3 c) { return pow(c, vec3(2.2)); }
`;

// Light: a sun with shadows, and the sky.
const LIGHT = `
uniform vec3 sun, up; uniform sampler2DShadow shadows; uniform mat4 to_light; uniform float bias; uniform float shadow_strength;
vec3 sky(vec3 d) {
  float h = dot(d, up);
  vec3 c = h > 0. ? mix(vec3(.62, .70, .78), vec3(.16, .30, .52), pow(h, .6)) : mix(vec3(.62, .70, .78), vec3(.10, .12, .15), min(1., -3. * h));
  return c + vec3(6., 5.2, 4.2) * pow(max(dot(d, sun), 0.), 350.);
}
float lit(vec3 x, vec3 n) {
  vec3 s = (to_light * vec4(x + n * bias, 1.)).xyz * .5 + .5;
  if (any(lessThan(s, vec3(0.))) || any(greaterThan(s, vec3(1.)))) return 1.;
  float sum = 0.;
  for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++)
    sum += texture(shadows, vec3(s.xy + 1.3 * vec2(i, j) / 1024., s.z - .002));
  return mix(1., sum / 9., shadow_strength);
}
vec3 light(vec3 albedo, vec3 n, vec3 x, float gloss) {
  float l = lit(x, n), h = .5 + .5 * dot(n, up);
  vec3 v = normalize(-x), half_way = normalize(v + sun);
  vec3 ambient = mix(vec3(.13, .12, .115), vec3(.34, .39, .46), h);
  float shine = gloss * l * (.04 + .5 * pow(1. - max(dot(n, v), 0.), 5.)) ;
  return albedo * (ambient + 1.25 * l * max(dot(n, sun), 0.) * vec3(1., .95, .87))
    + gloss * l * .7 * pow(max(dot(n, half_way), 0.), 70.) + shine * sky(reflect(-v, n)) * .5;
}
`;

const PARTICLE = `
in vec3 place; in float group; in float value;
uniform vec3 origin, spacing; uniform mat4 view, projection; uniform sampler2D groups;
uniform float grow, height; uniform int looks, mapped;
out vec3 colour, centre; out float radius; flat out vec2 kind;
float chance(int i) { uint h = uint(i) * 747796405u + 2891336453u; h = ((h >> ((h >> 28u) + 4u)) ^ h) * 277803737u; return float((h >> 22u) ^ h & 1023u) / 1023.; }
`;
const PARTICLE_START = `
  vec4 a = texelFetch(groups, ivec2(int(group), 0), 0), b = texelFetch(groups, ivec2(int(group), 1), 0);
  int look = int(a.a + .5);
  radius = b.x * grow; kind = vec2(a.a, b.y);
  float own = fract(chance(gl_VertexID));
  colour = mapped == 1 ? map_colour((value - range.x) / max(range.y - range.x, 1e-9)) : a.rgb;
  if (look == 2) { radius *= .85 + .35 * own; if (mapped == 0) colour *= .72 + .5 * fract(own * 7.31); }
  colour = to_linear(clamp(colour, 0., 1.));
  vec3 x = origin + spacing * place;
  if (((1 << look) & looks) == 0) { gl_Position = vec4(2., 2., 2., 1.); gl_PointSize = 1.; return; }
`;

export const sphere = {
  vertex: MAP + PARTICLE + `void main() {` + PARTICLE_START + `
  centre = (view * vec4(x, 1.)).xyz;
  gl_Position = projection * vec4(centre, 1.);
  gl_PointSize = min(1.06 * radius * projection[1][1] * height / max(-centre.z, 1e-6), 512.) + 1.;
}`,
  fragment: LIGHT + `
in vec3 colour, centre; in float radius; flat in vec2 kind; uniform mat4 projection; out vec4 out_colour;
void main() {
  vec2 q = (gl_PointCoord * 2. - 1.) * vec2(1., -1.) * 1.06; float r = dot(q, q); if (r > 1.) discard;
  vec3 n = vec3(q, sqrt(1. - r)), x = centre + n * radius; vec4 c = projection * vec4(x, 1.);
  gl_FragDepth = c.z / c.w * .5 + .5;
  float gloss = kind.x == 2. ? .12 : kind.y == 0. ? .15 : kind.y == 3. ? 1.4 : .8;
  out_colour = vec4(light(colour, n, x, gloss), 1.);
}`};

export const shadow = {
  vertex: MAP + PARTICLE + `void main() {` + PARTICLE_START + `
  centre = x; gl_Position = projection * view * vec4(x, 1.);
  gl_PointSize = max(2., radius * projection[1][1] * height);
}`,
  fragment: `in vec3 colour, centre; in float radius; flat in vec2 kind; void main() { vec2 q = gl_PointCoord * 2. - 1.; if (dot(q, q) > 1.) discard; }`};

// Liquid as seen from the eye: how far, and of which colour.
export const liquid = {
  vertex: sphere.vertex,
  fragment: `
in vec3 colour, centre; in float radius; flat in vec2 kind; uniform mat4 projection;
layout(location = 0) out vec4 out_depth; layout(location = 1) out vec4 out_colour;
void main() {
  vec2 q = (gl_PointCoord * 2. - 1.) * vec2(1., -1.); float r = dot(q, q); if (r > 1.) discard;
  vec3 x = centre + vec3(q, sqrt(1. - r)) * radius; vec4 c = projection * vec4(x, 1.);
  gl_FragDepth = c.z / c.w * .5 + .5; out_depth = vec4(-x.z, 0., 0., 1.); out_colour = vec4(colour, 1.);
}`};
export const thickness = {
  vertex: sphere.vertex,
  fragment: `
in vec3 colour, centre; in float radius; flat in vec2 kind; out vec4 out_colour;
void main() { vec2 q = gl_PointCoord * 2. - 1.; float r = dot(q, q); if (r > 1.) discard; out_colour = vec4(radius * sqrt(1. - r), 0., 0., 1.); }`};

export const screen = `out vec2 uv; void main() { uv = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.; gl_Position = vec4(uv * 2. - 1., 0., 1.); }`;

// Bumps of single particles away, edges kept: neighbours count only where they are about as far.
export const smooth = {
  vertex: screen,
  fragment: `
in vec2 uv; uniform sampler2D image; uniform vec2 along; uniform float reach, focal; out vec4 out_depth;
void main() {
  float d = texture(image, uv).r; if (d <= 0.) { out_depth = vec4(0.); return; }
  float pixels = clamp(focal * reach / d, 1., 30.), sum = 0., weight = 0.;
  for (int i = -12; i <= 12; i++) {
    float t = float(i) / 12., e = texture(image, uv + along * t * pixels).r;
    float step_size = (e - d) / (.9 * reach), w = e > 0. ? exp(-3. * t * t) * exp(-step_size * step_size) : 0.;
    sum += w * e; weight += w;
  }
  out_depth = vec4(sum / max(weight, 1e-6), 0., 0., 1.);
}`};

// A surface that comes as a mesh: into the same buffers, with normals.
export const surface = {
  vertex: `
in vec3 place, direction; uniform vec3 origin, spacing; uniform mat4 view, projection; out vec3 x, n;
void main() { x = (view * vec4(origin + spacing * place, 1.)).xyz; n = mat3(view) * direction; gl_Position = projection * vec4(x, 1.); }`,
  fragment: `
in vec3 x, n; uniform vec3 colour;
layout(location = 0) out vec4 out_depth; layout(location = 1) out vec4 out_colour; layout(location = 2) out vec4 out_normal;
void main() { out_depth = vec4(-x.z, 0., 0., 1.); out_colour = vec4(colour, 1.);
  vec3 m = normalize(n); if (dot(m, x) > 0.) m = -m; out_normal = vec4(m * .5 + .5, 1.); }`};
export const surface_thickness = {
  vertex: surface.vertex,
  fragment: `in vec3 x, n; out vec4 out_colour; void main() { out_colour = vec4(gl_FrontFacing ? x.z : -x.z, 0., 0., 1.); }`};

export const solid = {
  vertex: `
in vec3 place, direction; uniform mat4 model, view, projection; out vec3 x, n;
void main() { x = (view * model * vec4(place, 1.)).xyz; n = mat3(view) * mat3(model) * direction; gl_Position = projection * vec4(x, 1.); }`,
  fragment: LIGHT + `
in vec3 x, n; uniform vec4 colour; out vec4 out_colour;
void main() {
  vec3 m = normalize(n), v = normalize(-x); if (dot(m, v) < 0.) m = -m;
  if (colour.a >= 1.) { out_colour = vec4(light(colour.rgb, m, x, .35), 1.); return; }
  float edge = pow(1. - abs(dot(m, v)), 2.5);
  out_colour = vec4(mix(colour.rgb, sky(reflect(-v, m)), .4) , colour.a * (.35 + 1.6 * edge));
}`};
export const solid_shadow = {vertex: solid.vertex, fragment: `in vec3 x, n; void main() {}`};
export const flat_solid = {vertex: solid.vertex,
  fragment: `in vec3 x, n; uniform vec4 colour; out vec4 out_colour; void main() { out_colour = colour; }`};

// Meshes: cloth is a little darker behind.
const MESH_SHADED = LIGHT + `
in vec3 x, n, colour; uniform float gloss; out vec4 out_colour;
void main() {
  vec3 m = normalize(n); bool behind = dot(m, x) > 0.;
  out_colour = vec4(light(behind ? .75 * colour : colour, behind ? -m : m, x, gloss), 1.);
}`;
const MESH_DARK = `in vec3 x, n, colour; void main() {}`, MESH_FLAT = `in vec3 x, n, colour; uniform float shade; out vec4 out_colour; void main() { out_colour = vec4(shade * colour, 1.); }`;
export const skin = {vertex: SURFACE_VERTEX, fragment: MESH_SHADED}, strand = {vertex: RIBBON_VERTEX, fragment: MESH_SHADED};
export const skin_shadow = {vertex: SURFACE_VERTEX, fragment: MESH_DARK}, strand_shadow = {vertex: RIBBON_VERTEX, fragment: MESH_DARK};
export const skin_flat = {vertex: SURFACE_VERTEX, fragment: MESH_FLAT}, strand_flat = {vertex: RIBBON_VERTEX, fragment: MESH_FLAT};

// The floor, with lines a `cell` apart, until it is lost in the distance.
export const floor = {
  vertex: `
uniform vec3 corner, side_a, side_b; uniform mat4 view, projection; out vec3 x; out vec2 at;
void main() { at = vec2(gl_VertexID & 1, gl_VertexID >> 1); vec3 w = corner + at.x * side_a + at.y * side_b;
  at = vec2(dot(w, normalize(side_a)), dot(w, normalize(side_b))); x = (view * vec4(w, 1.)).xyz; gl_Position = projection * vec4(x, 1.); }`,
  fragment: LIGHT + `
in vec3 x; in vec2 at; uniform float cell, fade; uniform vec2 middle; out vec4 out_colour;
float lines(vec2 p) { vec2 w = fwidth(p), g = abs(fract(p - .5) - .5) / max(w, 1e-6); return (1. - min(min(g.x, g.y), 1.)) * (1. - smoothstep(.15, .5, max(w.x, w.y))); }
void main() {
  float l = lit(x, up), g = max(.55 * lines(at / cell), lines(at / cell / 5.));
  vec3 c = mix(vec3(.030, .040, .052), vec3(.11, .14, .175), .65 * g) * (.35 + .85 * l);
  out_colour = vec4(c, exp(-pow(distance(at, middle) / fade, 2.)) * (1. - smoothstep(1.8, 2.3, distance(at, middle) / fade)));
}`};

export const line = {
  vertex: `in vec3 place; uniform mat4 both; void main() { gl_Position = both * vec4(place, 1.); }`,
  fragment: `uniform vec4 colour; out vec4 out_colour; void main() { out_colour = colour; }`};

export const background = {
  vertex: screen,
  fragment: `in vec2 uv; out vec4 out_colour; void main() { float t = smoothstep(0., 1., uv.y); out_colour = vec4(mix(vec3(.010, .014, .019), vec3(.026, .037, .052), t), 1.); }`};

// Everything together: what is solid, shaded in its corners; the liquid before it; smoke; the screen's own curve.
export const composite = {
  vertex: screen,
  fragment: LIGHT + `
in vec2 uv; uniform sampler2D scene, scene_depth, depth, tint, thick, normals, smoke;
uniform mat4 projection; uniform vec2 pixel, planes; uniform float extent; uniform int liquid, has_normals, has_smoke, flat_picture; out vec4 out_colour;
float eye(vec2 p) { float z = texture(scene_depth, p).r * 2. - 1.; return 2. * planes.x * planes.y / (planes.y + planes.x - z * (planes.y - planes.x)); }
vec3 at(vec2 p, float d) { return vec3((p * 2. - 1. + vec2(projection[2][0], 0.)) * d / vec2(projection[0][0], projection[1][1]), -d); }
float corner_light(vec2 p, float d) {
  if (d > .9 * planes.y) return 1.;
  vec3 x = at(p, d), n = normalize(cross(dFdx(x), dFdy(x)));
  float sum = 0., size = .05 * extent, turn = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(.06711056, .00583715)))) * 6.2832;
  for (int i = 0; i < 12; i++) {
    float a = turn + float(i) * 2.4, r = sqrt((float(i) + .5) / 12.);
    vec2 q = p + vec2(cos(a), sin(a)) * r * size * vec2(projection[0][0], projection[1][1]) * .5 / d;
    vec3 v = at(q, eye(q)) - x; float far = length(v);
    sum += max(0., dot(v, n) / max(far, 1e-6) - .12) * smoothstep(2. * size, .5 * size, far);
  }
  return clamp(1. - 1.5 * sum / 12., .25, 1.);
}
vec3 opaque(vec2 p) { return texture(scene, p).rgb; }
vec3 normal_at(vec2 p, float d) {
  vec3 x = at(p, d);
  float r = texture(depth, p + vec2(pixel.x, 0.)).r, l = texture(depth, p - vec2(pixel.x, 0.)).r;
  float t = texture(depth, p + vec2(0., pixel.y)).r, b = texture(depth, p - vec2(0., pixel.y)).r;
  vec3 dx = r > 0. && (l <= 0. || abs(r - d) < abs(l - d)) ? at(p + vec2(pixel.x, 0.), r) - x : l > 0. ? x - at(p - vec2(pixel.x, 0.), l) : vec3(1., 0., 0.);
  vec3 dy = t > 0. && (b <= 0. || abs(t - d) < abs(b - d)) ? at(p + vec2(0., pixel.y), t) - x : b > 0. ? x - at(p - vec2(0., pixel.y), b) : vec3(0., 1., 0.);
  return normalize(cross(dx, dy));
}
vec3 water(vec2 p, float d, vec3 behind) {
  vec3 x = at(p, d), v = normalize(-x), n = has_normals == 1 ? normalize(texture(normals, p).xyz * 2. - 1.) : normal_at(p, d);
  float t = max(texture(thick, p).r, 0.) * (has_normals == 1 ? 1. : 1.1) / extent, l = lit(x, n * 3.);
  vec3 colour = texture(tint, p).rgb;
  vec2 bent = p - n.xy * min(t, .25) * .35;
  if (eye(bent) < d) bent = p;
  vec3 through = opaque(bent) * exp(-(1.02 - pow(colour, vec3(.4))) * 9. * t);
  float cloudy = max(1. - exp(-6.5 * t), .35), facing = .5 + .5 * dot(n, sun);
  vec3 body = mix(through, colour * (.22 + 1.05 * facing * facing * (.35 + .65 * l)) + vec3(.01, .03, .04), cloudy * .8);
  float f = min(.02 + .98 * pow(1. - max(dot(n, v), 0.), 5.), .55), deep = smoothstep(.0, .06, t);
  vec3 mirror = sky(reflect(-v, n)); vec3 h = normalize(v + sun);
  return mix(body, mirror, f * (.35 + .65 * deep)) + deep * l * 1.1 * pow(max(dot(n, h), 0.), 220.);
}
void main() {
  vec3 c = opaque(uv);
  if (flat_picture == 0) {
    float far = eye(uv), d = liquid == 1 ? texture(depth, uv).r : 0.;
    if (d > 0. && d < far) c = water(uv, d, c); else c *= corner_light(uv, far);
  }
  if (has_smoke == 1) { vec4 s = texture(smoke, uv); c = c * (1. - s.a) + s.rgb; }
  c = c / (1. + .22 * c) * 1.12;
  out_colour = vec4(pow(max(c, 0.), vec3(1. / 2.2)), 1.);
}`};

// Smoke in 3D: light that comes through it, along the line of sight.
const DENSITY = MAP + `
uniform vec4 tops, lows; uniform vec3 dye0, dye1, dye2, dye3; uniform int channels, mapped; uniform float sigma;
vec4 amounts(vec4 t) { return lows + t * (tops - lows); }
float sum_of(vec4 a) { return max(a.x, 0.) + (channels > 1 ? max(a.y, 0.) : 0.) + (channels > 2 ? max(a.z, 0.) : 0.) + (channels > 3 ? max(a.w, 0.) : 0.); }
vec3 colour_of(vec4 a, float s) {
  vec3 c = dye0 * max(a.x, 0.);
  if (channels > 1) c += dye1 * max(a.y, 0.); if (channels > 2) c += dye2 * max(a.z, 0.); if (channels > 3) c += dye3 * max(a.w, 0.);
  return c / max(s, 1e-9);
}
`;
export const volume = {
  vertex: screen,
  fragment: DENSITY + `
in vec2 uv; uniform sampler3D field; uniform sampler2D scene_depth; uniform vec3 from, right, upward, ahead, low, size, to_sun; uniform vec2 planes; uniform float shift; uniform int steps; out vec4 out_colour;
float density(vec3 p) { return sum_of(amounts(texture(field, p))) * sigma; }
void main() {
  vec2 s = uv * 2. - 1. + vec2(shift, 0.); vec3 d = ahead + s.x * right + s.y * upward; float per = length(d); d /= per;
  vec3 a = (low - from) / d, b = (low + size - from) / d, n = min(a, b), f = max(a, b);
  float z = texture(scene_depth, uv).r * 2. - 1., wall = per * 2. * planes.x * planes.y / (planes.y + planes.x - z * (planes.y - planes.x));
  float begin = max(max(n.x, max(n.y, n.z)), 0.), end = min(min(f.x, min(f.y, f.z)), wall);
  if (end <= begin) { out_colour = vec4(0.); return; }
  float h = length(size) / float(steps), t = begin + h * fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453), clear = 1.;
  vec3 sum = vec3(0.);
  for (int i = 0; i < 200; i++) {
    if (t >= end || clear < .01) break;
    vec3 p = (from + t * d - low) / size; vec4 m = amounts(texture(field, p)); float amount = sum_of(m), rho = amount * sigma;
    if (rho > 1e-4) {
      float dark = 0.; for (int k = 1; k <= 5; k++) dark += density(p + to_sun * (float(k) * .035 * length(size)) / size) * .035 * length(size);
      vec3 c = mapped == 1 ? to_linear(map_colour((m.x - range.x) / max(range.y - range.x, 1e-9))) : colour_of(m, amount);
      float stop = 1. - exp(-rho * h);
      sum += clear * stop * c * (mapped == 1 ? vec3(1.) : vec3(.10, .125, .16) + vec3(.95, .88, .78) * (.12 + .88 * exp(-2.2 * dark))); clear *= 1. - stop;
    }
    t += h;
  }
  out_colour = vec4(sum, 1. - clear);
}`};

// ---- 2D ----
export const disc = {
  vertex: MAP + PARTICLE + `uniform float pixels; void main() {` + PARTICLE_START + `
  centre = x; gl_Position = projection * view * vec4(x.xy, 0., 1.); gl_PointSize = max(1.5, 2. * radius * pixels);
}`,
  fragment: `in vec3 colour, centre; in float radius; flat in vec2 kind; out vec4 out_colour;
void main() { vec2 q = gl_PointCoord * 2. - 1.; float r = dot(q, q); if (r > 1.) discard; float h = dot(q, vec2(-.4, -.6)); out_colour = vec4(colour * (.9 + .3 * h), 1.); }`};
// Weights of particles, and colours times weights; where there is enough of them there is liquid.
export const splat = {
  vertex: disc.vertex,
  fragment: `in vec3 colour, centre; in float radius; flat in vec2 kind; out vec4 out_colour;
void main() { vec2 q = gl_PointCoord * 2. - 1.; float r = 1. - dot(q, q); if (r <= 0.) discard; float w = r * r * r; out_colour = vec4(colour * w, w); }`};
export const fill = {
  vertex: screen,
  fragment: `in vec2 uv; uniform sampler2D image; uniform float level, mapped_picture; uniform vec2 pixel; out vec4 out_colour;
void main() {
  vec4 s = texture(image, uv); float w = s.a / level, edge = max(fwidth(w), .04);
  float inside = smoothstep(1. - edge, 1. + edge, w); if (inside <= 0.) discard;
  vec3 c = s.rgb / max(s.a, 1e-5);
  float gx = texture(image, uv + vec2(2. * pixel.x, 0.)).a - texture(image, uv - vec2(2. * pixel.x, 0.)).a;
  float gy = texture(image, uv + vec2(0., 2. * pixel.y)).a - texture(image, uv - vec2(0., 2. * pixel.y)).a;
  float rim = 1. - smoothstep(1., 1.7, w), top = clamp(-gy / level * 1.5, 0., 1.);
  if (mapped_picture < .5) c = c * (.92 + .25 * (1. - rim)) + rim * (.10 + .45 * top) * vec3(.55, .75, .9);
  out_colour = vec4(c, inside);
}`};
export const sheet = {
  vertex: `uniform vec2 low, size; uniform mat4 both; out vec2 uv; void main() { uv = vec2(gl_VertexID & 1, gl_VertexID >> 1); gl_Position = both * vec4(low + uv * size, 0., 1.); }`,
  fragment: DENSITY + `in vec2 uv; uniform sampler2D field; out vec4 out_colour;
void main() {
  vec4 m = amounts(texture(field, uv)); float s = sum_of(m);
  if (mapped == 1) { out_colour = vec4(to_linear(map_colour((m.x - range.x) / max(range.y - range.x, 1e-9))), 1.); return; }
  out_colour = vec4(colour_of(m, s) * .95, 1. - exp(-sigma * s));
}`};
