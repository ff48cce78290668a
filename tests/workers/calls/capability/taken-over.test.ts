/** A run whose child was taken over, and has put a link to files of the worker's in the place of the run's folder. */
import { lstatSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { watchFolder } from "#workers/calls/capability/children.ts";
import { createCapabilityHandler } from "#workers/calls/capability/run.ts";

const parent = mkdtempSync(join(tmpdir(), "sluice-taken-over-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test("the run does not restart: the link's target would be deleted", async () => {
  const workers = mkdtempSync(join(parent, "workers-"));
  writeFileSync(join(workers, "key"), "of the worker");
  const quiet = { info: () => undefined, warn: () => undefined };
  const folders: string[] = [];
  const left = Promise.withResolvers<number>();
  const handler = createCapabilityHandler({
    database: { query: () => Promise.resolve([]) },
    storage: {},
    log: quiet,
    results: { open: () => ({ add: () => Promise.resolve(), keep: left.resolve }) },
    capabilities: {
      run: ({ folder }: { readonly folder: string }) => {
        folders.push(folder);
        rmSync(folder, { recursive: true });
        symlinkSync(workers, folder);
        return Promise.reject(new MediaError("failed", "a run has put another thing in its folder's place"));
      },
    },
  } as never);
  const request = { input: { text: { text: "tea" } }, params: { pattern: "e" } };
  const job = { job_id: "job", workspace_id: "workspace", model: "code.regex", request, price: {}, hold_nano: "0" };
  const outcome = await handler.run(job as never, { signal: new AbortController().signal } as never);
  expect(outcome).toMatchObject({ status: "failed" });
  // What it held is given back when its folder has gone: the link, and not what that leads to.
  expect(await left.promise).toBe(0);
  expect(folders.map((folder) => lstatSync(folder, { throwIfNoEntry: false }))).toEqual([undefined]);
  expect(readdirSync(workers)).toEqual(["key"]);
});

test("the link's target is not searched for bytes", async () => {
  const workers = mkdtempSync(join(parent, "workers-"));
  const folder = mkdtempSync(join(parent, "run-"));
  const disk = watchFolder(() => folder, 1_000_000);
  rmSync(folder, { recursive: true });
  symlinkSync(workers, folder);
  writeFileSync(join(workers, "large"), Buffer.alloc(2_000_000, 1));
  await Bun.sleep(600);
  expect(disk.full.aborted).toBe(false);
  disk.close();
});
