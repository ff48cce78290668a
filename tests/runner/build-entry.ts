/**
 * Builds the entry of all roles into one file with its code parsed already: a role then starts in a quarter of the time, and a
 * run of the suite starts some hundreds. The sources find their files by their own place, which stays theirs.
 * Usage: bun tests/runner/build-entry.ts <project root> <file to write>
 */
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [root = "", outfile = ""] = process.argv.slice(2);

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
  return (
    text
      .replaceAll(/import\.meta\.resolve\("([^"]+)"\)/g, (_call, name: string) => JSON.stringify(resolved(name)))
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
      .replaceAll("import.meta.dir", JSON.stringify(dirname(path)))
      .replaceAll("import.meta.main", "false")
      // Children are run from their sources.
      .replaceAll("process.execPath", JSON.stringify(process.execPath))
  );
}

await Bun.build({
  entrypoints: [join(root, "deploy/sluice.ts")],
  target: "bun",
  format: "esm",
  bytecode: true,
  compile: { outfile },
  plugins: [sourcePlaces],
});
