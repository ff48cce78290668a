import { afterEach, expect, test } from "bun:test";

import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { createLogger } from "#shared/base/logger.ts";
import { openSupportedCapabilities } from "#workers/calls/capability/supported-capabilities.ts";

let metrics: Metrics | undefined;
afterEach(() => metrics?.close());

/** A worker whose engine for reading letters is not there. */
async function open(
  required: readonly string[] = [],
  off: Readonly<Record<string, string>> = {},
  refused: Readonly<Record<string, string>> = {},
) {
  const told: (readonly unknown[])[] = [];
  metrics = createMetrics("worker");
  const database = { query: async (_text: string, values: readonly unknown[] = []) => (told.push(values), []) };
  const tryEngine = async (engine: string) => (engine === "ocr" ? "Install the reader." : undefined);
  const log = createLogger({ level: "silent", role: "worker", secrets: [] });
  const children = { tryEngine };
  const offer = await openSupportedCapabilities({
    database: database as never,
    children,
    required,
    off,
    refused,
    metrics,
    log,
  });
  return { offer, told, page: await metrics.registry.metrics() };
}

test("an unavailable engine removes its capabilities from the report, and is listed for operators", async () => {
  const { offer, told, page } = await open();
  expect(offer.missing("ocr")).toBe("Install the reader.");
  expect(offer.missing("sharp")).toBeUndefined();
  expect(offer.engines).toMatchObject({ ocr: "Install the reader.", sharp: "ok" });
  const ids = CAPABILITIES.filter(({ engine }) => engine !== "ocr").map(({ id }) => id);
  expect(told[0]?.[1]).toBe(`{${ids.join(",")}}`);
  expect(page).toMatch(/^sluice_capability_engine_up\{[^}]*engine="ocr"[^}]*\} 0$/m);
  expect(page).toMatch(/^sluice_capability_engine_up\{[^}]*engine="sharp"[^}]*\} 1$/m);
  await offer.close();
  // The last statement takes the offer back.
  expect(told.at(-1)).toEqual([told[0]?.[0]]);
});

test("a disabled engine is not tested, and names its setting", async () => {
  const { offer, told, page } = await open([], { python: "Set SLUICE_PYTHON=on." });
  expect(offer.missing("python")).toBe("Set SLUICE_PYTHON=on.");
  expect(told[0]?.[1]).not.toContain("code.run_python");
  expect(page).not.toContain('engine="python"');
  await offer.close();
  expect(open(["code.run_python"], { python: "Set SLUICE_PYTHON=on." })).rejects.toThrow("Set SLUICE_PYTHON=on.");
});

test("a rejected engine is not tested, its capabilities are not reported, and operators see the reason", async () => {
  const { offer, told, page } = await open([], {}, { sharp: "It runs native code.", ocr: "It runs native code." });
  expect(offer.engines).toMatchObject({ sharp: "It runs native code.", ocr: "It runs native code.", code: "ok" });
  expect(told[0]?.[1]).not.toContain("image.resize");
  expect(told[0]?.[1]).toContain("code.regex");
  expect(page).toMatch(/^sluice_capability_engine_up\{[^}]*engine="sharp"[^}]*\} 0$/m);
  await offer.close();
  expect(open(["image.resize"], {}, { sharp: "It runs native code." })).rejects.toThrow(
    "image.resize is required and cannot be run: It runs native code.",
  );
});

test("a worker does not start without a required capability", async () => {
  expect(open(["image.resize", "image.ocr", "image.unknown"])).rejects.toThrow(
    "image.ocr is required and cannot be run: Install the reader.\nSLUICE_CAPABILITIES_REQUIRE names image.unknown",
  );
  await (await open(["image.resize"])).offer.close();
});
