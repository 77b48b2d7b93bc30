/* The engine in a Web Worker, as a Source. */
import type { Action, FieldTables, Frame, FrameRequest, Opened, Portrait, Source, StageView } from "./source";
import { SourceError } from "./source";

interface Answer {
  id: number;
  result?: unknown;
  error?: { kind: SourceError["kind"]; message: string; line?: number; column?: number };
}

export class WorkerSource implements Source {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { resolve: (v: never) => void; reject: (e: Error) => void }>();
  private last = 0;
  private gone: SourceError | null = null;

  constructor() {
    this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker.onmessage = (e: MessageEvent<Answer>) => this.answered(e.data);
    this.worker.onerror = (e) => this.crashed(e.message || "the worker stopped");
  }

  private answered(a: Answer): void {
    const call = this.waiting.get(a.id);
    this.waiting.delete(a.id);
    if (!call) return;
    if (!a.error) return call.resolve(a.result as never);
    const error = new SourceError(a.error.kind, a.error.message);
    call.reject(Object.assign(error, { line: a.error.line, column: a.error.column }));
  }

  private crashed(message: string): void {
    const error = (this.gone = new SourceError("crash", `the engine stopped: ${message}`));
    for (const call of this.waiting.values()) call.reject(error);
    this.waiting.clear();
  }

  private call<T>(method: string, ...args: unknown[]): Promise<T> {
    if (this.gone) return Promise.reject(this.gone);
    const id = ++this.last;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (v: never) => void, reject });
      this.worker.postMessage({ id, method, args });
    });
  }

  open(text: string, sets: string[], limit: { particles: number; memory: number }) {
    return this.call<Opened>("open", text, sets, limit);
  }
  frame(request: FrameRequest) { return this.call<Frame>("frame", request); }
  act(action: Action) { return this.call<Portrait | null>("act", action); }
  stages(fields: string[]) { return this.call<StageView[]>("stages", fields); }
  fields() { return this.call<FieldTables>("fields"); }
  recorded() { return this.call<string>("recorded"); }
  hash() { return this.call<string>("hash"); }

  close(): void {
    this.worker.terminate();
    this.crashed("it was closed");
  }
}
