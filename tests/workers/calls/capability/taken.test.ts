/** Files that inputs of runs are written to. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "bun:test";

import { openFile, SMALL_FILE_BYTES_MAX } from "#workers/calls/capability/taken.ts";

const folder = mkdtempSync(join(tmpdir(), "taken-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each([0, 1, SMALL_FILE_BYTES_MAX, SMALL_FILE_BYTES_MAX + 1, 5 * SMALL_FILE_BYTES_MAX])(
  "a file of %d bytes is complete, though the memory of small pieces is reused, and only its owner's",
  async (length) => {
    const bytes = crypto.getRandomValues(Buffer.alloc(length).subarray(0, 65_536));
    const whole = Buffer.alloc(length, bytes.length > 0 ? bytes : undefined);
    const path = join(folder, `of-${length}`);
    const file = openFile(path);
    for (let at = 0; at < length; at += 10_007) {
      const piece = Buffer.from(whole.subarray(at, at + 10_007));
      await file.write(piece);
      if (length <= SMALL_FILE_BYTES_MAX) piece.fill(0);
    }
    await file.end();
    await file.end();
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  },
);

test.each([1, SMALL_FILE_BYTES_MAX + 1])("%d bytes do not overwrite an existing file", async (length) => {
  const path = join(folder, `taken-${length}`);
  writeFileSync(path, "first");
  const file = openFile(path);
  const fault = await file
    .write(new Uint8Array(length))
    .then(() => file.end())
    .catch((error: unknown) => error);
  expect(fault).toMatchObject({ code: "EEXIST" });
  expect(readFileSync(path, "utf8")).toBe("first");
});
