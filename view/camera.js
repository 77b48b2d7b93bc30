// Where the picture is taken from: an orbit around a target in 3D, a window in 2D.
import {add, cross, dot, length, lookAt, multiply, normal, orthographic, perspective, scale, sub} from './math.js';

export class Camera {
  constructor(hello) {
    const size = [...hello.size, 0].slice(0, 3), origin = [...hello.origin, 0].slice(0, 3);
    this.flat = hello.dimension === 2;
    this.aspect = 1;
    this.insets = [0, 0]; // pixels on the left and right that tools and panel cover: the picture's middle lies between
    this.extent = length(size);
    this.up = [0, 0, 0];
    this.up[hello.up] = (hello.gravity[hello.up] ?? -1) > 0 ? -1 : 1;
    this.target = add(origin, scale(size, 0.5));
    this.size = size;
    this.angle = (hello.fov || 34) * Math.PI / 180;
    this.yaw = 0.6, this.pitch = 0.36;
    this.distance = 0;
    this.zoom = 1;
    if (!this.flat && hello.camera_from) this.stand(hello.camera_from, hello.camera_to);
  }
  // Two directions across the vertical.
  frame() {
    const a = Math.abs(this.up[0]) > 0.5 ? [0, 0, 1] : [1, 0, 0], x = normal(sub(a, scale(this.up, dot(a, this.up))));
    return [x, cross(x, this.up)];
  }
  stand(from, to) {
    const d = sub(from, to), [x, z] = this.frame();
    this.target = to.slice();
    this.distance = length(d);
    this.pitch = Math.asin(Math.max(-1, Math.min(1, dot(d, this.up) / (this.distance || 1))));
    this.yaw = Math.atan2(dot(d, x), dot(d, z));
  }
  // All of the domain is in the picture, on narrow screens too.
  fit() {
    if (this.flat || this.distance) return;
    const narrow = Math.min(1, this.aspect * this.free());
    this.distance = 0.56 * this.extent / Math.sin(this.angle / 2) / Math.pow(narrow, 0.85);
  }
  eye() {
    const [x, z] = this.frame(), c = Math.cos(this.pitch);
    return add(this.target, scale(add(add(scale(x, c * Math.sin(this.yaw)), scale(z, c * Math.cos(this.yaw))),
      scale(this.up, Math.sin(this.pitch))), this.distance));
  }
  shift() { return (this.insets[1] - this.insets[0]) / innerWidth; }
  free() { return 1 - (this.insets[0] + this.insets[1]) / innerWidth; }
  // Half the width and height of the window of 2D.
  window() {
    const margin = 1.12, half = scale(this.size, margin / 2 / this.zoom);
    const free = this.aspect * this.free(), h = Math.max(half[1], half[0] / free);
    return [h * this.aspect, h];
  }
  update(aspect) {
    this.aspect = aspect;
    this.fit();
    if (this.flat) {
      const [w, h] = this.window(), t = this.target, s = this.shift();
      this.view = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
      this.projection = orthographic(t[0] - w * (1 - s), t[0] + w * (1 + s), t[1] - h, t[1] + h, -1, 1);
    } else {
      this.near = 0.02 * this.distance + 0.002 * this.extent, this.far = this.distance + 6 * this.extent;
      this.from = this.eye();
      this.view = lookAt(this.from, this.target, this.up);
      this.projection = perspective(this.angle, aspect, this.near, this.far);
      this.projection[8] = this.shift();
    }
    this.both = multiply(this.projection, this.view);
  }
  turn(dx, dy) {
    if (this.flat) { this.pan(dx, dy); return; }
    this.yaw -= 0.006 * dx;
    this.pitch = Math.max(-1.5, Math.min(1.55, this.pitch + 0.006 * dy));
  }
  pan(dx, dy) {
    const h = innerHeight;
    if (this.flat) {
      const per = 2 * this.window()[1] / h;
      this.target = add(this.target, [-dx * per, dy * per, 0]);
    } else {
      const per = 2 * this.distance * Math.tan(this.angle / 2) / h, v = this.view;
      this.target = add(this.target, add(scale([v[0], v[4], v[8]], -dx * per), scale([v[1], v[5], v[9]], dy * per)));
    }
  }
  closer(by) {
    if (this.flat) this.zoom = Math.max(0.2, Math.min(60, this.zoom * by));
    else this.distance = Math.max(0.02 * this.extent, Math.min(20 * this.extent, this.distance / by));
  }
  // The line of sight through a pixel: from, direction; in 2D the place itself.
  ray(px, py) {
    const x = 2 * px / innerWidth - 1 + this.shift(), y = 1 - 2 * py / innerHeight;
    if (this.flat) {
      const [w, h] = this.window();
      return {from: [this.target[0] + x * w, this.target[1] + y * h, 0], to: [0, 0, -1]};
    }
    const t = Math.tan(this.angle / 2), v = this.view;
    const across = [v[0], v[4], v[8]], upward = [v[1], v[5], v[9]], ahead = scale([v[2], v[6], v[10]], -1);
    return {from: this.from, to: normal(add(ahead, add(scale(across, x * t * this.aspect), scale(upward, y * t))))};
  }
  // Metres a pixel is wide at a distance.
  pixel(distance) {
    return this.flat ? 2 * this.window()[1] / innerHeight : 2 * distance * Math.tan(this.angle / 2) / innerHeight;
  }
}
