/* The worker's side: calls come as messages, answers go back as such. */
import { Engine } from "./engine";
import { Session } from "./session";
import { SourceError } from "./source";
import wasmUrl from "../../../build/wasm/spate.wasm?url";

interface Call {
  id: number;
  method: keyof Session;
  args: unknown[];
}

/* Compiled while it comes; some hosts do not call it application/wasm, which that needs. */
async function compiled(): Promise<WebAssembly.Module> {
  const answer = await fetch(wasmUrl);
  if (!answer.ok) throw new Error(`spate.wasm could not be loaded (${answer.status})`);
  if (answer.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(answer);
  return WebAssembly.compile(await answer.arrayBuffer());
}

const session = compiled()
  .then((module) => Engine.load(module))
  .then((engine) => new Session(engine));

/* The arrays of an answer, which move instead of being copied. */
function arrays(value: unknown, found: Set<ArrayBuffer> = new Set()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
  else if (value && typeof value === "object") Object.values(value).forEach((v) => arrays(v, found));
  return found;
}

onmessage = async (event: MessageEvent<Call>) => {
  const { id, method, args } = event.data;
  try {
    const result = (await session)[method](...(args as [never, never, never]));
    postMessage({ id, result }, { transfer: [...arrays(result)] });
  } catch (e) {
    const kind = e instanceof SourceError ? e.kind : "crash";
    const error = e as SourceError;
    postMessage({ id, error: { kind, message: error.message, line: error.line, column: error.column } });
  }
};
