import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { keepAddress, runningStack } from "#deploy/supervisor/address.mjs";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

test("a data directory has no running stack without an address file, or when the file names another program", () => {
  const { directory, remove } = temporaryDirectory();
  try {
    expect(runningStack(directory)).toBeNull();
    const forget = keepAddress(directory, { baseUrl: "http://a/v1", key: "k", databaseUrl: null });
    // The process that wrote the file is the test runner.
    expect(existsSync(join(directory, "address.json"))).toBe(true);
    expect(runningStack(directory)).toBeNull();
    forget();
    expect(existsSync(join(directory, "address.json"))).toBe(false);
  } finally {
    remove();
  }
});
