/**
 * Builds the entry of all roles into one file with its code parsed already: a role then starts in a quarter of the time, and a
 * run of the suite starts some hundreds. The sources find their files by their own place, which stays theirs.
 * Usage: bun tests/runner/build-entry.ts <project root> <file to write>
 */
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [root = "", outfile = ""] = process.argv.slice(2);

/** Start of a thread in the sources. */
const THREAD = /new Worker\(new URL\("([^"]+)", import\.meta\.url\)\)/g;
/** Threads that are built, by the path of their source. */
const threads = new Map<string, string>();

const sourcePlaces: Bun.BunPlugin = {
  name: "places of the sources",
  setup(build) {
    build.onLoad({ filter: /\/(?:shared|workers|ingress|deploy|schemas)\/.*\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      return { contents: path.includes("/node_modules/") ? text : withPlace(text, path), loader: "ts" };
    });
  },
};

function withPlace(text: string, path: string): string {
  const resolved = (name: string): string => pathToFileURL(Bun.resolveSync(name, dirname(path))).href;
  const threadOf = (name: string): string => pathToFileURL(threads.get(join(dirname(path), name)) ?? "").href;
  return (
    text
      .replaceAll(THREAD, (_call, name: string) => `new Worker(${JSON.stringify(threadOf(name))})`)
      .replaceAll(/import\.meta\.resolve\("([^"]+)"\)/g, (_call, name: string) => JSON.stringify(resolved(name)))
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
      .replaceAll("import.meta.dir", JSON.stringify(dirname(path)))
      .replaceAll("import.meta.main", "false")
      // Children are run from their sources.
      .replaceAll("process.execPath", JSON.stringify(process.execPath))
  );
}

// A compiled program finds no packages for its threads, so each thread is one file of its own beside the program.
for (const file of new Bun.Glob("{shared,workers,ingress}/**/*.ts").scanSync({ cwd: root })) {
  const path = join(root, file);
  for (const [, name = ""] of (await Bun.file(path).text()).matchAll(THREAD)) {
    const source = join(dirname(path), name);
    const built = `${outfile}-${basename(name, ".ts")}.js`;
    const { outputs } = await Bun.build({
      entrypoints: [source],
      target: "bun",
      format: "esm",
      plugins: [sourcePlaces],
    });
    await Bun.write(built, outputs[0] ?? "");
    threads.set(source, built);
  }
}

await Bun.build({
  entrypoints: [join(root, "deploy/sluice.ts")],
  target: "bun",
  format: "esm",
  bytecode: true,
  compile: { outfile },
  plugins: [sourcePlaces],
});
