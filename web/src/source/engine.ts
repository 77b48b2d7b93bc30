/*
 * spate.wasm: the calls of web/engine with texts and arrays instead of pointers. It knows neither
 * page nor worker, and runs in node as well.
 */

export type ForceKind = "wind" | "attractor" | "vortex" | "turbulence" | "drag" | "mouse";
const FORCE_KINDS: ForceKind[] = ["wind", "attractor", "vortex", "turbulence", "drag", "mouse"];

export interface Force {
  kind: ForceKind;
  acceleration?: number[];
  strength?: number;
  center?: number[];
  axis?: number[];
  radius?: number;
  softening?: number;
  length?: number;
  period?: number;
  velocity?: number[];
  rate?: number;
  until?: number;
}

export interface Pose {
  position: number[];
  rotation: number[];
  velocity: number[];
  spin: number[];
}

/* What the engine says when it cannot do what it was asked; status as in spate.h. */
export class EngineError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export const UNSTABLE = 3;

export interface Review {
  particles: number;
  cells: number;
  memory: number;
  dt: number;
  steps: number;
  duration: number;
}

export interface Reading {
  values: Float32Array;
  particles: number;
  components: number;
}

export interface Grid {
  values: Float32Array;
  size: number[];
  first: number[];
  components: number;
}

type Exports = Record<string, (...a: number[]) => number> & { memory: WebAssembly.Memory };

/* The little that the C library asks of a system: a clock. Files and arguments there are none. */
function system(memory: () => WebAssembly.Memory): Record<string, (...a: never[]) => number> {
  const view = () => new DataView(memory().buffer);
  const BAD_FILE = 8;
  return {
    clock_time_get: (_id: number, _precision: bigint, at: number) => {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    clock_res_get: (_id: number, at: number) => {
      view().setBigUint64(at, 1000n, true);
      return 0;
    },
    environ_sizes_get: (count: number, bytes: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_close: () => BAD_FILE,
    fd_fdstat_get: () => BAD_FILE,
    fd_prestat_get: () => BAD_FILE,
    fd_prestat_dir_name: () => BAD_FILE,
    fd_seek: () => BAD_FILE,
    fd_write: () => BAD_FILE,
    fd_read: () => BAD_FILE,
    proc_exit: (code: number) => {
      throw new Error(`the engine stopped with ${code}`);
    },
  } as unknown as Record<string, (...a: never[]) => number>;
}

export class Engine {
  onStage: ((stage: string) => void) | null = null;
  onLog: ((level: number, text: string) => void) | null = null;
  private c!: Exports;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();

  static async load(wasm: BufferSource | WebAssembly.Module): Promise<Engine> {
    const e = new Engine();
    const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: system(() => e.c.memory),
      page: {
        stage: (name: number) => e.onStage?.(e.text(name)),
        log: (level: number, text: number) => e.onLog?.(level, e.text(text)),
      },
    });
    e.c = instance.exports as unknown as Exports;
    e.c._initialize();
    return e;
  }

  /* ---- Memory ---- */

  private text(at: number): string {
    const bytes = new Uint8Array(this.c.memory.buffer);
    let end = at;
    while (bytes[end]) end++;
    return this.decoder.decode(bytes.subarray(at, end));
  }

  private put(text: string): number {
    const bytes = this.encoder.encode(text);
    const at = this.c.engine_room(bytes.length);
    if (!at) throw new EngineError(6, "the browser has no memory left for this");
    const memory = new Uint8Array(this.c.memory.buffer);
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    return bytes.length;
  }

  private answer(): string {
    const at = this.c.engine_answer(), length = this.c.engine_answer_length();
    return this.decoder.decode(new Uint8Array(this.c.memory.buffer, at, length));
  }

  private json(): any {
    return JSON.parse(this.answer());
  }

  private check(status: number): void {
    if (status) throw new EngineError(status, this.text(this.c.engine_message()));
  }

  get memoryBytes(): number {
    return this.c.memory.buffer.byteLength;
  }

  get version(): string {
    return this.text(this.c.engine_version());
  }

  /* ---- From text to steps ---- */

  parse(text: string, sets: string[] = []): void {
    const length = this.encoder.encode(text).length;
    this.put(text + sets.map((s) => s + "\0").join(""));
    this.check(this.c.engine_parse(length, sets.length));
  }

  review(): Review {
    this.check(this.c.engine_review());
    return this.json();
  }

  create(record: boolean): void {
    this.check(this.c.engine_create(record ? 1 : 0));
  }

  /* Until `time` is reached, for about `budget` milliseconds, or `steps`: whichever comes first. No
   * step passes `until`. */
  step(time: number, until = Infinity, budget = Infinity, steps = 0x7fffffff): void {
    this.check(this.c.engine_step(time, until, budget, steps));
  }

  stepByStages(until: number, onStage: (stage: string) => void): void {
    this.onStage = onStage;
    try {
      this.check(this.c.engine_step_stages(until));
    } finally {
      this.onStage = null;
    }
  }

  get time(): number { return this.c.engine_time(); }
  get dt(): number { return this.c.engine_dt(); }
  get steps(): number { return this.c.engine_steps(); }
  get particles(): number { return this.c.engine_particles(); }
  get dtLimit(): string { return this.text(this.c.engine_dt_limit()); }
  get hash(): string { return this.text(this.c.engine_hash()); }

  /* ---- Reading: arrays are copies ---- */

  read(attribute: string, byId = false): Reading {
    this.put(attribute);
    this.check(this.c.engine_read(0, byId ? 1 : 0));
    const shape = new Float64Array(this.c.memory.buffer, this.c.engine_shape(), 16);
    const particles = shape[0], components = shape[1];
    const from = this.c.engine_answer();
    const values = new Float32Array(this.c.memory.buffer, from, particles * components).slice();
    return { values, particles, components };
  }

  grid(field: string, components: number): Grid {
    this.put(field);
    this.check(this.c.engine_grid(components));
    const shape = new Float64Array(this.c.memory.buffer, this.c.engine_shape(), 16);
    const size = Array.from(shape.subarray(0, 3)), first = Array.from(shape.subarray(3, 6));
    const count = size[0] * size[1] * size[2] * components;
    const from = this.c.engine_answer();
    return { values: new Float32Array(this.c.memory.buffer, from, count).slice(), size, first, components };
  }

  /* Which particles, by id, are the corners of triangles and of segments. */
  meshes(): { triangles: Uint32Array; segments: Uint32Array } {
    this.check(this.c.engine_meshes());
    const shape = new Float64Array(this.c.memory.buffer, this.c.engine_shape(), 16);
    const from = this.c.engine_answer(), corners = 3 * shape[0], ends = 2 * shape[1];
    return {
      triangles: new Uint32Array(this.c.memory.buffer, from, corners).slice(),
      segments: new Uint32Array(this.c.memory.buffer, from + 4 * corners, ends).slice(),
    };
  }

  solids(first: number[], spacing: number, size: number[]): Float32Array {
    this.check(this.c.engine_solids(first[0], first[1], first[2], spacing, size[0], size[1], size[2]));
    const from = this.c.engine_answer();
    return new Float32Array(this.c.memory.buffer, from, size[0] * size[1] * size[2]).slice();
  }

  quantity(name: string): number {
    this.put(name);
    return this.c.engine_quantity();
  }

  list(): any {
    this.check(this.c.engine_list());
    return this.json();
  }

  portrait(): any {
    this.check(this.c.engine_portrait());
    return this.json();
  }

  /* The scene with everything that was done as its events. */
  recorded(): string {
    this.check(this.c.engine_recorded());
    return this.answer();
  }

  fields(): any {
    this.check(this.c.engine_fields());
    return this.json();
  }

  /* ---- Acting ---- */

  force(name: string, f: Force): void {
    this.put(name);
    const at = this.c.engine_numbers();
    const numbers = new Float64Array(this.c.memory.buffer, at, 32).fill(0);
    let k = 0;
    const vector = (v: number[] | undefined, fallback: number[]) => {
      for (let a = 0; a < 3; a++) numbers[k++] = (v ?? fallback)[a] ?? 0;
    };
    vector(f.acceleration, [0, 0, 0]);
    numbers[k++] = f.strength ?? 0;
    vector(f.center, [0, 0, 0]);
    vector(f.axis, [0, 0, 1]);
    numbers[k++] = f.radius ?? 0;
    numbers[k++] = f.softening ?? 0;
    numbers[k++] = f.length ?? 0;
    numbers[k++] = f.period ?? 0;
    vector(f.velocity, [0, 0, 0]);
    numbers[k++] = f.rate ?? 50;
    numbers[k++] = f.until ?? 0;
    this.check(this.c.engine_force(FORCE_KINDS.indexOf(f.kind)));
  }

  pose(collider: string, p: Pose): void {
    this.put(collider);
    const all = [...p.position, ...p.rotation, ...p.velocity, ...p.spin];
    new Float64Array(this.c.memory.buffer, this.c.engine_numbers(), 32).set(all);
    this.check(this.c.engine_pose());
  }

  add(yaml: string): void {
    this.put(yaml);
    this.check(this.c.engine_add());
  }

  set(pathAndValue: string): void {
    this.put(pathAndValue);
    this.check(this.c.engine_set());
  }

  remove(name: string): void {
    this.put(name);
    this.check(this.c.engine_remove());
  }
}
