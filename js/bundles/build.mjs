// Bundles the program: build.mjs BUNDLER FOLDER. What it writes there needs nothing else.
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import * as vite from "vite";
import webpack from "webpack";

const [bundler, folder] = process.argv.slice(2);
const root = fileURLToPath(new URL(".", import.meta.url));
const program = `${root}ride.mjs`;

const BUNDLERS = {
  "esbuild-esm": () => esbuilt("esm", "ride.mjs"),
  "esbuild-cjs": () => esbuilt("cjs", "ride.cjs"),
  webpack: packed,
  vite: () =>
    vite.build({
      root,
      logLevel: "error",
      ssr: { noExternal: true },
      build: {
        ssr: program,
        outDir: folder,
        rollupOptions: { output: { entryFileNames: "ride.mjs" } },
      },
    }),
};

function esbuilt(format, name) {
  const outfile = `${folder}/${name}`;
  return esbuild.build({ entryPoints: [program], bundle: true, platform: "node", format, outfile });
}

async function packed() {
  const stats = await promisify(webpack)({
    mode: "production",
    target: "node20",
    entry: program,
    output: { path: folder, filename: "ride.cjs" },
  });
  if (stats.hasErrors() || stats.hasWarnings()) {
    throw new Error(stats.toString());
  }
}

await BUNDLERS[bundler]();
