/** A command in the project's Bun, as `npm run demo` and `npm run admin` are. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { BUN_MEMORY } from "#deploy/embedded/bun.mjs";
import { isAlive } from "#deploy/embedded/probe.mjs";
import { run } from "#deploy/embedded/process.mjs";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";
import { eventually } from "#tests/faults/wait.ts";

/** Writes what it is told where the person stands, and goes on for ever. */
const COMMAND = `await Bun.write(process.argv.at(-1), JSON.stringify({ pid: process.pid, env: process.env })); setInterval(() => {}, 1_000);`;

test("a command ends with its starter process, and receives the user's folder and the memory settings", async () => {
  const { directory: folder, remove } = temporaryDirectory();
  const said = join(folder, "said.json");
  const script = `import { runBun } from ${JSON.stringify(join(PROJECT_ROOT, "deploy/embedded/run-bun.mjs"))}; await runBun(${JSON.stringify(PROJECT_ROOT)}, ["-e", ${JSON.stringify(COMMAND)}, ${JSON.stringify(said)}]);`;
  const { INIT_CWD: _folder, MIMALLOC_PURGE_HOLES: _holes, ...given } = process.env;
  const env = { ...given, MIMALLOC_PURGE_DELAY: "50" };
  const starter = Bun.spawn(["node", "--input-type=module", "-e", script], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    const { pid, env: seen } = await eventually("the command runs", () => {
      const text = existsSync(said) ? readFileSync(said, "utf8") : "";
      return text === ""
        ? undefined
        : (JSON.parse(text) as { readonly pid: number; readonly env: Record<string, string> });
    });
    // What the operator has set stays.
    expect(seen).toMatchObject({ ...BUN_MEMORY, MIMALLOC_PURGE_DELAY: "50", INIT_CWD: folder });
    starter.kill("SIGKILL");
    await starter.exited;
    await eventually("the command has ended", () => !isAlive(pid) || undefined);
  } finally {
    starter.kill("SIGKILL");
    remove();
  }
}, 60_000);

test("a command on Windows ends with the sentence that names WSL", async () => {
  const windows = 'Object.defineProperty(process, "platform", { value: "win32" });';
  const script = `${windows} const { runBun } = await import(${JSON.stringify(join(PROJECT_ROOT, "deploy/embedded/run-bun.mjs"))}); await runBun(${JSON.stringify(PROJECT_ROOT)}, ["--version"]);`;
  const args = ["--input-type=module", "-e", script];
  expect(await run({ name: "node", command: "node", args, cwd: PROJECT_ROOT })).toEqual({
    code: 1,
    stdout: "",
    stderr: "sluice: Sluice does not run on Windows itself; run the same command in WSL 2 (`wsl --install`).",
  });
});
