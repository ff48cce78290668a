/** The look at what a workspace may still store, before work that keeps files is admitted. */
import { expect, test } from "bun:test";

import { admitJob } from "#shared/calls/admit.ts";
import { eventually } from "#tests/faults/wait.ts";

const GIB = 2 ** 30;

/** Admits work of a workspace that stores so much; what is asked of the database, and what comes of the work. */
function openDesk(facts: { bytes: number; files: number }) {
  let looks = 0;
  const query = (): Promise<object[]> => {
    looks += 1;
    return Promise.resolve([{ taken: BigInt(facts.bytes), files: facts.files }]);
  };
  const context = { database: { query }, config: { storageBytesMax: 10 * GIB } };
  const read = () => ({
    kind: { keepsFiles: true },
    isHeavy: () => false,
    load: () => Promise.reject(new Error("it has room")),
  });
  const work = { entry: "http", caller: { workspaceId: "one" }, read };
  const admit = async (): Promise<string> => {
    const error: unknown = await admitJob(context as never, work as never).catch((thrown: unknown) => thrown);
    return error instanceof Error ? ((error as { code?: string }).code ?? error.message) : "admitted";
  };
  return { admit, looks: () => looks };
}

test("free storage is cached for a moment if much is left", async () => {
  const facts = { bytes: GIB, files: 3 };
  const { admit, looks } = openDesk(facts);
  for (let call = 0; call < 3; call++) expect(await admit()).toBe("it has room");
  expect(looks()).toBe(1);
  facts.bytes = 10 * GIB;
  await eventually("it is looked at again", async () => (await admit()) === "storage_limit_exceeded");
});

test.each([
  ["bytes", { bytes: 9.5 * GIB, files: 3 }],
  ["files", { bytes: GIB, files: 999_000 }],
])("free storage is queried for each call if few %s are left", async (_what, facts) => {
  const { admit, looks } = openDesk(facts);
  expect(await admit()).toBe("it has room");
  Object.assign(facts, { bytes: 10 * GIB });
  expect(await admit()).toBe("storage_limit_exceeded");
  Object.assign(facts, { bytes: GIB, files: 1_000_000 });
  expect(await admit()).toBe("storage_limit_exceeded");
  expect(looks()).toBe(3);
});
