/** Runs the code blocks of pages against a running service, as a reader would paste them. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { BUN, PROJECT_ROOT } from "#tests/support/infrastructure.ts";

import type { Block, Page } from "./page.ts";

/** Address of the service in the pages: that of `npm start`. */
const PRINTED_BASE = "http://127.0.0.1:8080";

export interface Bench {
  readonly baseUrl: string;
  readonly key: string;
  readonly natsUrl: string;
  /** Inside the project, so that modules find the packages that they import. */
  readonly folder: string;
}

/** Output of a block. `fault`: null when the block succeeded. */
export interface Ran {
  readonly output: string;
  readonly fault: string | null;
}

/** Separates the outputs of blocks that one shell runs. */
const MARK = "\u001e";

/** Runs all blocks of a page in one shell, so that later ones read variables of earlier ones. The first failure ends it. */
export async function runShell(bench: Bench, page: Page, blocks: readonly Block[]): Promise<ReadonlyMap<Block, Ran>> {
  const cwd = join(bench.folder, page.path.replaceAll(/[/.]/g, "-"));
  mkdirSync(cwd);
  const script = blocks
    .map(({ text }) => `printf '${MARK}'\n${text.replaceAll(PRINTED_BASE, bench.baseUrl)}`)
    .join("\n");
  const child = Bun.spawn(["bash", "-eu", "-o", "pipefail", "-c", script], {
    cwd,
    env: environment(bench),
    stdin: "ignore",
    stderr: "pipe",
  });
  const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  const outputs = out.split(MARK).slice(1);
  return new Map(
    blocks.map((block, at) => {
      const output = outputs[at];
      const isLast = at === outputs.length - 1;
      if (output === undefined) return [block, { output: "", fault: "an earlier block failed" }];
      return [block, { output, fault: isLast && code !== 0 ? `exit code ${code}: ${fault}` : null }];
    }),
  );
}

/** Runs JavaScript blocks one after the other in one process of Node. */
export async function runModules(bench: Bench, blocks: readonly Block[]): Promise<ReadonlyMap<Block, Ran>> {
  const files = new Map(
    blocks.map((block, at) => {
      const file = join(bench.folder, `block-${at}.mjs`);
      const text = block.text
        .replaceAll(PRINTED_BASE, bench.baseUrl)
        // The package is installed here under another name.
        .replace('"@nats-io/transport-node"', '"nats"');
      writeFileSync(file, text);
      return [file, block];
    }),
  );
  const runner = join(PROJECT_ROOT, "tests/docs/run-modules.mjs");
  const child = Bun.spawn(["node", runner, ...files.keys()], {
    cwd: bench.folder,
    env: environment(bench),
    stderr: "pipe",
  });
  const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  if (code !== 0) throw new Error(`the process of the JavaScript blocks ended with ${code}: ${fault}`);
  const lines = out.trim().split("\n");
  const rans = lines.map((line) => JSON.parse(line) as Ran & { readonly file: string });
  return new Map(
    [...files].map(([file, block]) => [
      block,
      rans.find((ran) => ran.file === file) ?? { output: "", fault: `its process ended before it ran: ${fault}` },
    ]),
  );
}

/** Runs Python blocks, each in a process of its own, with stand-ins for the packages that they import. */
export async function runPython(bench: Bench, blocks: readonly Block[]): Promise<ReadonlyMap<Block, Ran>> {
  const env = {
    ...environment(bench),
    PYTHONPATH: join(PROJECT_ROOT, "tests/docs/python"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const rans = blocks.map(async (block): Promise<[Block, Ran]> => {
    const text = block.text.replaceAll(PRINTED_BASE, bench.baseUrl);
    const child = Bun.spawn(["python3", "-c", text], { cwd: bench.folder, env, stdin: "ignore", stderr: "pipe" });
    const [output, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return [block, { output, fault: (await child.exited) === 0 ? null : fault }];
  });
  return new Map(await Promise.all(rans));
}

/** `jq` of the machine, or one that runs the package `jq-wasm`. */
export function writePrograms(folder: string): void {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  if (Bun.which("jq") !== null) return;
  const script = join(PROJECT_ROOT, "tests/docs/jq.ts");
  const file = join(bin, "jq");
  writeFileSync(file, `#!/bin/sh\nexec '${BUN}' '${script}' "$@"\n`);
  chmodSync(file, 0o755);
}

function environment({ folder, key, natsUrl }: Bench): Record<string, string | undefined> {
  return {
    ...process.env,
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    SLUICE_KEY: key,
    SLUICE_NATS: natsUrl,
  };
}
