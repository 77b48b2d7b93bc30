/* The page as one folder that any static host serves: relative paths, nothing from outside. */
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    target: "es2022",
    assetsInlineLimit: 0,
    rollupOptions: { input: ["index.html", "explain.html"] },
  },
  worker: { format: "es" },
});
