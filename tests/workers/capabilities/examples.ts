/** Tests that run examples of capabilities on their samples. The gate runs one example of each capability, `verify` runs all others. */
import { expect, test } from "bun:test";

import type { Capability } from "#shared/calls/capabilities/entry.ts";
import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { sniffMediaType } from "#shared/media/sniff.ts";

import { hasLibreOffice, runCapability } from "./in-folder.ts";
import { openElsewhere } from "./opened.ts";

/**
 * Number of the example that the gate runs, where it is not the first. The first example of each video capability here encodes for
 * 0.3 to 1.3 s of CPU, the second for a tenth. `image.ocr` has none, because image.test.ts makes the same call and checks the words.
 */
const GATE_EXAMPLE: Readonly<Record<string, number>> = {
  "video.from_images": 2,
  "video.transcode": 2,
  "video.to_gif": 2,
  "image.ocr": 0,
};

interface Example {
  readonly name: string;
  readonly capability: Capability;
  readonly params: object;
  readonly isInGate: boolean;
}

const EXAMPLES: readonly Example[] = CAPABILITIES.flatMap((capability) =>
  capability.examples.map(({ title, params }, at) => {
    const isInGate = at + 1 === (GATE_EXAMPLE[capability.id] ?? 1);
    return { name: `${capability.id}: ${title}`, capability, params, isInGate };
  }),
);

/** Defines a test for each example of the suite. Every example is in exactly one suite. */
export function testExamples(suite: "gate" | "verify"): void {
  const own = EXAMPLES.filter(({ isInGate }) => isInGate === (suite === "gate"));
  for (const { name, capability, params } of own) {
    const canRun = capability.engine !== "libreoffice" || hasLibreOffice;
    test.skipIf(!canRun)(name, () => runExample(capability, params), 30_000);
  }
}

async function runExample({ id, engine, sample_input: input }: Capability, params: object): Promise<void> {
  const made = await runCapability(id, input as never, params);
  for (const [at, file] of (made.files ?? []).entries()) {
    const bytes = made.bytes(at);
    const sniffed = await sniffMediaType(bytes);
    // The bytes of a zipped format do not name the format.
    if (sniffed === "application/zip")
      expect(await settleMediaType(bytes, file.mediaType, file.name)).toBe(file.mediaType);
    else if (sniffed !== undefined) expect([file.name, sniffed]).toEqual([file.name, file.mediaType]);
    expect(bytes.length).toBeGreaterThan(0);
    await openElsewhere(file.mediaType, bytes, engine);
  }
  expect((made.files ?? []).length + Object.keys(made.output ?? {}).length).toBeGreaterThan(0);
}
