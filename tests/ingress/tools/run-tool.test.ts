/** Texts that a model is told of runs. */
import { describe, expect, test } from "bun:test";

import type { BilledWork } from "#shared/database/holds.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { openApiClient } from "#ingress/tools/api-client.ts";
import { OUTPUT_BYTES_MAX, type RunBounds, runTool } from "#ingress/tools/run-tool.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";
import { routeCall } from "#tests/ingress/route-call.ts";

type Answers = Readonly<Record<string, () => Response>>;

/** @param bills what it has come to, look by look */
async function run(
  answers: Answers,
  id = "code.tell",
  bills: readonly BilledWork[] = [],
  most: Pick<RunBounds, "mostNano"> = {},
) {
  const fakes = fakeContext();
  const { context, caller } = fakes;
  const asked: string[] = [];
  for (const [operationId, answer] of Object.entries(answers)) {
    context.routes.set(operationId, {
      operationId,
      method: "POST",
      path: "/x/{id}",
      summary: "",
      tags: [],
      auth: "key",
      responses: {},
      errors: [],
      handle: () => (asked.push(operationId), answer()),
    });
  }
  const clientSignal = new AbortController().signal;
  let looks = 0;
  const query = () => Promise.resolve([bills[Math.min(looks++, bills.length - 1)]]);
  const database = { ...context.database, query } as unknown as typeof context.database;
  const api = openApiClient({ ...context, database }, routeCall({ caller }));
  const outcome = await runTool(api, id, {}, { clientSignal, ...most });
  fakes.close();
  return { outcome, asked };
}

const made =
  (output: object, files: readonly object[] = []) =>
  (): Response =>
    Response.json({ capability: "code.tell", output, files }, { headers: { "x-credits-used": "0.5" } });
const file = (at: number) => ({ file_id: `file-${at}`, url: "http://sluice/x", content_type: "image/png", bytes: 1 });

describe("a result", () => {
  test("is JSON with its files", async () => {
    const { outcome } = await run({ runCapability: made({ a: 1 }, [file(1)]) });
    expect(outcome).toMatchObject({ status: "completed", nano: 500_000_000n, files: [{ file_id: "file-1" }] });
    expect(JSON.parse(outcome.output)).toEqual({ output: { a: 1 }, files: [file(1)] });
  });

  test.each(["x", "ü", "\u0001", '"', "😀"])(
    "of many %p is truncated at the bound, and names its files",
    async (letter) => {
      const { outcome } = await run({ runCapability: made({ text: letter.repeat(40_000) }, [file(1)]) });
      expect(Buffer.byteLength(outcome.output)).toBeLessThanOrEqual(OUTPUT_BYTES_MAX);
      expect(Buffer.byteLength(outcome.output)).toBeGreaterThan(OUTPUT_BYTES_MAX / 2);
      expect(JSON.parse(outcome.output)).toMatchObject({ files: [{ file_id: "file-1" }] });
    },
  );

  test("of very many files names some", async () => {
    const { outcome } = await run({
      runCapability: made(
        {},
        Array.from({ length: 500 }, (_, at) => file(at)),
      ),
    });
    expect(outcome.files).toHaveLength(32);
    expect(JSON.parse(outcome.output)).toMatchObject({ more_files: 468 });
  });
});

describe("a run with a limit", () => {
  test.each([
    ["a capability", "code.tell", "estimateCapability", "runCapability"],
    ["a workflow", newId(), "estimateWorkflow", "runWorkflow"],
  ])("%s starts if its maximum cost is left", async (_what, id, estimate, begin) => {
    const answers = { [estimate]: () => Response.json({ max_credits: 2e-8 }), [begin]: made({}) };
    const allowed = await run(answers, id, [], { mostNano: 20n });
    expect(allowed.asked).toEqual([estimate, begin]);
    const refused = await run(answers, id, [], { mostNano: 19n });
    expect(refused).toMatchObject({ asked: [estimate], outcome: { status: "failed", nano: 0n, heldNano: 0n } });
    expect(refused.outcome.output).toContain("0.000000019 are left of max_credits");
  });
});

test("a rejection is reported, without a lookup", async () => {
  const refuse = (): never => {
    throw new ApiError("unsupported_value", "Expected more.", { param: "x" });
  };
  const { outcome, asked } = await run({ runCapability: refuse });
  expect(outcome).toMatchObject({ status: "failed", nano: 0n });
  expect(JSON.parse(outcome.output)).toEqual({ error: { code: "unsupported_value", message: "Expected more." } });
  expect(asked).toEqual(["runCapability"]);
});

const late = (code: Code) => (): never => {
  throw new ApiError(code, "Too long.", { shouldRetry: false });
};

test.each([
  ["code.tell", "runCapability", "cancelJob", "job_timeout"],
  [newId(), "runWorkflow", "cancelRun", "run_timeout"],
] as const)(
  "a run that takes too long is cancelled, and its cost reported after its end: %s",
  async (id, begin, cancel, code) => {
    const answers = { [begin]: late(code), [cancel]: () => Response.json({}) };
    const { outcome, asked } = await run(answers, id, [
      { billedNano: 0n, heldNano: 400n },
      { billedNano: 250n, heldNano: 0n },
    ]);
    expect(asked).toEqual([begin, cancel]);
    expect(outcome).toMatchObject({ status: "failed", nano: 250n, heldNano: 0n });
  },
);

test("a run that does not end is reported with its current hold", async () => {
  const answers = { runCapability: late("job_timeout"), cancelJob: () => Response.json({}) };
  const { outcome } = await run(answers, "code.tell", [{ billedNano: 1n, heldNano: 400n }]);
  expect(outcome).toMatchObject({ status: "failed", nano: 1n, heldNano: 400n });
}, 15_000);

test("a failed workflow reports the cause, and the cost of its steps", async () => {
  const failed = { status: "failed", error: { code: "overloaded", message: "Busy.", stepId: "a" } };
  const answer = (): Response => Response.json(failed, { headers: { "x-credits-used": "0.1" } });
  const { outcome } = await run({ runWorkflow: answer }, newId());
  expect(outcome).toMatchObject({ status: "failed", nano: 100_000_000n });
  expect(outcome.output).toContain("overloaded");
});
