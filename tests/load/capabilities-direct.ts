/** Work of capabilities done in this process: a line on stdin says how, a line on stdout tells the turn. */
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { loadCapability } from "#workers/capabilities/list.ts";

import { closedLoop } from "./turn.ts";

export interface DirectTurn {
  readonly capability: string;
  /** Its one input: the member's name, and a file. */
  readonly member: string;
  readonly path: string;
  readonly mediaType: string;
  readonly params: object;
  readonly seconds: number;
  readonly inFlight: number;
}

async function once({ capability: id, member, path, mediaType, params }: DirectTurn): Promise<void> {
  const capability = await loadCapability(id);
  const properties = capability.params_schema["properties"] as Readonly<Record<string, { readonly default?: unknown }>>;
  const defaults = Object.fromEntries(Object.entries(properties).map(([name, { default: value }]) => [name, value]));
  const folder = mkdtempSync(join(tmpdir(), "sluice-direct-"));
  const input = { path: join(folder, `in-${member}`), mediaType, bytes: statSync(path).size, name: member };
  copyFileSync(path, input.path);
  const run = { params: { ...defaults, ...params }, inputs: { [member]: input }, folder, progress: () => undefined };
  await capability.run(run as never);
  rmSync(folder, { recursive: true });
}

const tell = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
tell("ready");
for await (const line of console) {
  const wanted = JSON.parse(line) as DirectTurn;
  tell(await closedLoop(wanted.seconds, wanted.inFlight, () => once(wanted)));
}
