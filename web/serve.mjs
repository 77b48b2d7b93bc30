/* Serves a folder on this machine alone: node serve.mjs FOLDER [PORT]. Port 0: any that is free. */
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";

const TYPES = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm",
  ".webp": "image/webp", ".yaml": "text/yaml", ".json": "application/json",
};

/* The file that a request names, or null: nothing outside the folder is served. */
function fileOf(root, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    return null;
  }
  const file = resolve(root, "." + normalize(path.endsWith("/") ? path + "index.html" : path));
  return file.startsWith(root + sep) && !path.includes("\0") ? file : null;
}

/* Gives { address, close }. */
export function serve(folder, port) {
  const root = resolve(folder);
  const server = createServer(async (request, response) => {
    const file = request.method === "GET" || request.method === "HEAD" ? fileOf(root, request.url) : null;
    try {
      const bytes = await readFile(file ?? join(root, "none"));
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "cache-control": "no-cache" });
      response.end(request.method === "HEAD" ? undefined : bytes);
    } catch {
      response.writeHead(404, { "content-type": "text/plain" });
      response.end("there is no such page\n");
    }
  });
  return new Promise((done, fail) => {
    server.on("error", fail);
    server.listen(port, "127.0.0.1", () =>
      done({ address: `http://localhost:${server.address().port}/`, close: () => server.close() }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, port] = process.argv.slice(2);
  serve(folder, Number(port ?? 8080)).then(
    ({ address }) => console.log(`Open ${address} in a browser. Ctrl+C ends it.`),
    (e) => {
      console.error(e.code === "EADDRINUSE" ? `play: port ${port} is taken; name another: ./play 8081` : `play: ${e.message}`);
      process.exitCode = 1;
    });
}
