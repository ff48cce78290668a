/** Runs a scenario of the protocol's own suite against a server. */
import { join } from "node:path";

import { run } from "#deploy/embedded/process.mjs";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

const SUITE = join(PROJECT_ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

export async function checksOf(url: string, scenario: string, revision: string): Promise<readonly Check[]> {
  const { directory, remove } = temporaryDirectory();
  const args = ["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", directory];
  const env = { PATH: "/usr/bin:/bin", HOME: directory };
  await run({ name: scenario, command: process.execPath, args: [SUITE, ...args], cwd: directory, env });
  const [file] = await Array.fromAsync(new Bun.Glob("*/checks.json").scan({ cwd: directory }));
  const checks = (await Bun.file(join(directory, file ?? "none")).json()) as Check[];
  remove();
  return checks;
}
