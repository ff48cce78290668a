/** The work of `image.resize` on one file, done in this process: a line on stdin says how, a line on stdout tells the turn. */
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { loadCapability } from "#workers/capabilities/list.ts";

import { closedLoop } from "./turn.ts";

interface Wanted {
  readonly seconds: number;
  readonly inFlight: number;
  readonly params: object;
}

const [path = ""] = process.argv.slice(2);
const capability = await loadCapability("image.resize");
const properties = capability.params_schema["properties"] as Readonly<Record<string, { readonly default?: unknown }>>;
const defaults = Object.fromEntries(Object.entries(properties).map(([name, { default: value }]) => [name, value]));

async function once(params: object): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-direct-"));
  const image = { path: join(folder, "in-image"), mediaType: "image/jpeg", bytes: statSync(path).size, name: "image" };
  copyFileSync(path, image.path);
  const run = { params: { ...defaults, ...params }, inputs: { image }, folder, progress: () => undefined };
  await capability.run(run as never);
  rmSync(folder, { recursive: true });
}

const tell = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
tell("ready");
for await (const line of console) {
  const { seconds, inFlight, params } = JSON.parse(line) as Wanted;
  tell(await closedLoop(seconds, inFlight, () => once(params)));
}
