import { expect, test } from "bun:test";
import { join } from "node:path";

import { createMetrics } from "#shared/metrics.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
const runbook = await Bun.file(join(DEPLOY, "runbook.md")).text();

function named(pattern: RegExp): string[] {
  return [...new Set(Array.from(runbook.matchAll(pattern), (match) => match[1] ?? ""))];
}

test("the runbook speaks only of metrics that exist", async () => {
  const metrics = createMetrics("test");
  const page = await metrics.registry.metrics();
  metrics.close();
  const names = named(/`((?:sluice|process)_[a-z_]+)`/g);
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) expect(page).toContain(`# TYPE ${name} `);
});

test("the runbook speaks only of settings that exist", async () => {
  const settings = await Bun.file(join(DEPLOY, "env.example")).text();
  const names = named(/`(SLUICE_[A-Z_]+)/g);
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) expect(settings).toContain(`\n${name}=`);
});
