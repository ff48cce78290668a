import { describe, expect, test } from "bun:test";

import { admitTwice } from "#shared/calls/admit.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { JobRequest, JobVerdict } from "#shared/jobs/admission.ts";
import { createLogger } from "#shared/base/logger.ts";

const OFFER = { id: "0197a000-0000-7000-8000-000000000001" } as JobRequest;
const ADMITTED: JobVerdict = { kind: "admitted", attempt: 1, dispatch: 1 };
const log = createLogger({ level: "silent", role: "test" });

/** Outcome of an offer when the database answers like this; `isRefused` is true if the job was told to be refused. */
async function offered(...answers: readonly (JobVerdict | Error)[]): Promise<{ verdict: unknown; isRefused: boolean }> {
  return offeredAs(OFFER, ...answers);
}

async function offeredAs(
  one: JobRequest,
  ...answers: readonly (JobVerdict | Error)[]
): Promise<{ verdict: unknown; isRefused: boolean }> {
  let isRefused = false;
  const left = [...answers];
  const admit = async (): Promise<JobVerdict> => {
    const answer = left.shift();
    if (answer === undefined) throw new Error("asked once too often");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const told = (): void => void (isRefused = true);
  const verdict = await admitTwice({ jobs: { admit }, log }, one, told).catch((error: unknown) => error);
  expect(left).toEqual([]);
  return { verdict, isRefused };
}

const away = (): Error => Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
const overloaded = (): ApiError => new ApiError("overloaded", "Too many calls wait.");

describe("a submission of a job", () => {
  test("whose answer is lost is retried once", async () => {
    expect(await offered(away(), ADMITTED)).toEqual({ verdict: ADMITTED, isRefused: false });
  });

  test("that never reached the database is rejected, and may be retried", async () => {
    const { verdict, isRefused } = await offered(overloaded());
    expect([verdict, isRefused]).toEqual([
      expect.objectContaining({ code: "overloaded", shouldRetry: undefined }),
      true,
    ]);
  });

  test.each([
    ["lost again", away],
    ["refused the second time", overloaded],
  ])(
    "whose answer was lost and is %s may run: its caller receives its id, and a hint not to retry",
    async (_what, second) => {
      const { verdict, isRefused } = await offered(away(), second());
      const expected = { code: "service_unavailable", shouldRetry: false, jobId: OFFER.id };
      expect([verdict, isRefused]).toEqual([expect.objectContaining(expected), false]);
    },
  );

  test("of a stream cannot be queried by its id, which is hidden", async () => {
    const { verdict } = await offeredAs({ ...OFFER, isHidden: true }, away(), away());
    expect(verdict).toMatchObject({ code: "service_unavailable", shouldRetry: false, jobId: undefined });
  });

  test("that the database rejects is not an outage", async () => {
    const wrong = Object.assign(new Error("numeric field overflow"), { code: "22003" });
    expect(await offered(wrong)).toEqual({ verdict: wrong, isRefused: false });
  });
});
