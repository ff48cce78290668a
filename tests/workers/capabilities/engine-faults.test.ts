import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "bun:test";

import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { faultOfEngine } from "#workers/capabilities/engines.ts";

const { directory, remove } = temporaryDirectory();
afterAll(remove);

test("an installed engine that fails reports the error of its test, not only how to install it", async () => {
  const bwrap = join(directory, "bwrap");
  writeFileSync(
    bwrap,
    '#!/bin/sh\necho "bwrap: Creating new namespace failed:\n  Operation not permitted" >&2\nexit 1\n',
  );
  chmodSync(bwrap, 0o755);
  const fault = await faultOfEngine("libreoffice", directory, { libreoffice: { path: "/usr/bin/soffice", bwrap } });
  expect(fault).toContain("ended with 1: bwrap: Creating new namespace failed: Operation not permitted. Install");
});

test("an engine without its program reports that the program is missing", async () => {
  const fault = await faultOfEngine("libreoffice", directory, {});
  expect(fault).toContain("The trial of libreoffice failed: there is no LibreOffice here. Install");
});
