/** Wrong settings of `npm start` are refused in one sentence that names the setting and what it may be. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { StartFault } from "#deploy/embedded/fault.mjs";
import { readSettings } from "#deploy/embedded/settings.mjs";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

const { directory, remove } = temporaryDirectory();
let server: Server;
let usedPort = "";
beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  usedPort = String((server.address() as AddressInfo).port);
});
afterAll(() => {
  server.close();
  remove();
});

const read = (settings: Readonly<Record<string, string>>) =>
  readSettings({ SLUICE_DATA_DIR: join(directory, "data"), PORT: "0", SLUICE_ADMIN_PORT: "0", ...settings });

test("settings that are empty have their defaults", async () => {
  const settings = await read({ SLUICE_HOST: " ", SLUICE_ADMIN_HOST: "", NATS_URL: "", SLUICE_LOG_FORMAT: "" });
  expect(settings).toMatchObject({ host: "127.0.0.1", adminHost: "127.0.0.1", natsUrl: undefined, jsonLogs: false });
});

test("the data directory is created with its parents", async () => {
  const dataDir = join(directory, "a/b/c");
  expect((await read({ SLUICE_DATA_DIR: dataDir })).dataDir).toBe(dataDir);
  expect((await read({ SLUICE_DATA_DIR: dataDir })).dataDir).toBe(dataDir);
  expect(statSync(dataDir).isDirectory()).toBe(true);
});

describe("a wrong setting is refused by its name", () => {
  test.each([
    ["PORT", "eighty", 'PORT must be a whole number from 0 to 65535, got "eighty".'],
    ["PORT", "65536", "PORT must be a whole number from 0 to 65535"],
    ["SLUICE_ADMIN_PORT", "-1", "SLUICE_ADMIN_PORT must be a whole number from 0 to 65535"],
    ["SLUICE_GRACE_MS", "1e3", "SLUICE_GRACE_MS must be a whole number from 0 to 3600000"],
    ["SLUICE_LOG_FORMAT", "xml", 'SLUICE_LOG_FORMAT must be text or json, got "xml".'],
    ["NATS_URL", "nats://host:port", "NATS_URL is not a URL such as nats://host:4222."],
    [
      "SLUICE_HOST",
      "192.0.2.1",
      'SLUICE_HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, got "192.0.2.1"',
    ],
    ["SLUICE_HOST", "no host", "SLUICE_HOST must be an address of this machine"],
    ["SLUICE_ADMIN_HOST", "192.0.2.1", "SLUICE_ADMIN_HOST must be an address of this machine"],
    ["SLUICE_ADMIN_HOST", "host.invalid", "SLUICE_ADMIN_HOST must be an address of this machine"],
    ["SLUICE_DATA_DIR", "/dev/null/data", "The data directory /dev/null/data cannot be written"],
    ["SLUICE_DATA_DIR", "/proc/sluice/data", "The data directory /proc/sluice/data cannot be written"],
  ])("%s=%s", async (name, value, expected) => {
    const fault: unknown = await read({ [name]: value }).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(StartFault);
    expect((fault as StartFault).message).toStartWith(expected);
  });

  test.each(["PORT", "SLUICE_ADMIN_PORT"])("%s that another program has", async (name) => {
    const fault: unknown = await read({ [name]: usedPort }).catch((error: unknown) => error);
    expect((fault as StartFault).message).toStartWith(`Port ${usedPort} is already in use; set ${name} to a free one`);
  });

  test("one port for both listeners", async () => {
    const fault: unknown = await read({ PORT: "65000", SLUICE_ADMIN_PORT: "65000" }).catch((error: unknown) => error);
    expect((fault as StartFault).message).toBe(
      "PORT and SLUICE_ADMIN_PORT are both 65000; set them to two different ports.",
    );
  });
});

test("without a setting, the admin port is another free one where its host has no default port", async () => {
  const { adminPort } = await read({ SLUICE_ADMIN_PORT: "", SLUICE_ADMIN_HOST: "0.0.0.0" });
  expect(adminPort).toBeGreaterThan(0);
});
