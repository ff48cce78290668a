/**
 * Builds the console: bundles ingress/console/web into ingress/console/built, with hashed names and compressed copies. `npm start` runs it
 * after a change, and the image build once.
 */
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(ROOT, "ingress/console/web");
const BUILT = join(ROOT, "ingress/console/built");
/** Time for which files of an earlier build are kept, in milliseconds. A tab that was opened before an upgrade may still load them. */
const KEPT_MS = 86_400_000;

/** Builds the console if its sources or its libraries have changed since the last build. @throws AggregateError for a fault in the sources */
export async function buildConsole(): Promise<void> {
  const stamp = await stampOf();
  const stampFile = Bun.file(join(BUILT, "stamp"));
  if ((await stampFile.exists()) && (await stampFile.text()) === stamp) return;
  await mkdir(join(BUILT, "assets"), { recursive: true });
  await removeOld();
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, "index.html")],
    target: "browser",
    minify: true,
    splitting: true,
    publicPath: "/console/",
    naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  for (const output of outputs) {
    const bytes = new Uint8Array(await output.arrayBuffer());
    const path = join(BUILT, output.path);
    await replace(path, bytes);
    await replace(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
  // Written last: an interrupted build is repeated.
  await replace(join(BUILT, "stamp"), stamp);
}

/** Writes a file at once, because an ingress or another build may read it. */
async function replace(path: string, content: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const part = `${path}.${process.pid}`;
  await Bun.write(part, content);
  await rename(part, path);
}

/** Returns a hash of everything that the build reads. */
async function stampOf(): Promise<string> {
  const files = [...new Bun.Glob("**/*.{ts,tsx,css,html}").scanSync({ cwd: SOURCE, absolute: true })].toSorted();
  const others = ["package.json", "ingress/routes/docs/assets/tokens.css", "deploy/build-console.ts"];
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of [...files, ...others.map((name) => join(ROOT, name))]) {
    hash.update(path.slice(ROOT.length)).update(await Bun.file(path).bytes());
  }
  return hash.digest("hex");
}

async function removeOld(): Promise<void> {
  const folder = join(BUILT, "assets");
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (Date.now() - (await stat(path)).mtimeMs > KEPT_MS) await rm(path);
  }
}

if (import.meta.main) await buildConsole();
