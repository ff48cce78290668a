/**
 * Fault: a worker dies by SIGKILL at every failpoint of its work in turn, image jobs of two pictures and chat calls.
 * Expected: no provider was asked twice, each job is paid once with both pictures or ends free where nothing tells whether it was
 * taken, each call settled once, no byte and no hold is left over.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Failpoint } from "#shared/base/failpoint.ts";
import { formatCredits } from "#shared/base/money.ts";
import { holdRedeliveries } from "#tests/support/nats.ts";

import { audit } from "./audit.ts";
import { type Answer, CHAT_PATH, DONE, errorCode, requestId } from "./client.ts";
import { failpointsOf } from "./failpoints.ts";
import { CREDIT, expectStorageExact, type MediaBed, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";

/** Ends that cannot be known: fal may have been asked, its name for the work is in no row, and it was not told where to ring. */
const UNKNOWN: readonly Failpoint[] = ["job.intended", "job.begun"];
/** Two pictures pass these twice. */
const TWICE: readonly Failpoint[] = ["artifact.fetched", "artifact.kept", "upload.stored", "upload.finished"];

const IMAGE = failpointsOf("image worker").flatMap((name) => (TWICE.includes(name) ? [name, `${name}:2`] : [name]));
const CHAT = failpointsOf("chat worker").flatMap((name) => [`${name} plain`, `${name} streamed`]);

let bed: MediaBed;
const answers = new Map<string, Promise<Answer>>();

beforeAll(async () => {
  bed = await startMediaBed({ workers: 0, janitor: false, env: { SLUICE_MEDIA_WAIT_MS: "240000", SLUICE_PACE: "1" } });
  const { client, fal, gallery } = bed;
  // Each worker is to die of the job that is meant for it. Messages of those who died before must not come meanwhile.
  const held = await Promise.all(
    (["image", "chat"] as const).map((pool) => holdRedeliveries(bed.stack.natsUrl, pool, "live")),
  );
  const kill = async (pool: string, at: string, begin: () => Promise<Answer>): Promise<void> => {
    const [point = ""] = at.split(" ");
    const worker = await bed.addWorker([pool], { SLUICE_FAILPOINT: point });
    answers.set(at, begin());
    expect([at, (await worker.exited()).signal]).toEqual([at, "SIGKILL"]);
  };
  const killChat = async (): Promise<void> => {
    for (const at of CHAT) {
      const messages = [{ role: "user", content: at }];
      const isStreamed = at.endsWith("streamed");
      // Its end comes a second behind its tokens: what comes with the end in one turn of the event loop would die with the worker.
      const body = { model: isStreamed ? "sandbox-late-usage" : "sandbox-chat", messages, stream: isStreamed };
      await kill("chat", at, () => client.chat(bed.target(CHAT_PATH), body));
    }
  };
  const killImage = async (): Promise<void> => {
    for (const at of IMAGE) {
      fal.next({ polls: ["COMPLETED"], result: gallery.result("a", "b") });
      await kill("image", at, () => client.chat(bed.target(), { model: "queued", prompt: at, n: 2 }));
      await bed.expireUploads();
    }
  };
  await Promise.all([killChat(), killImage()]);
  await Promise.all(held.map((giveAgain) => giveAgain()));
  await Promise.all([bed.stack.addRole("janitor"), bed.addWorker(["image"]), bed.addWorker(["chat"])]);
}, 180_000);

afterAll(() => bed?.stop());

describe("an image job whose worker died at", () => {
  test.each(IMAGE.filter((at) => !isUnknown(at)))(
    "%s is collected by another, and charged once",
    async (at) => {
      const answer = await answerOf(at);
      expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "2"]);
      const { data } = JSON.parse(answer.body) as { data: { url: string }[] };
      expect(data).toHaveLength(2);
      for (const { url } of data) expect((await fetch(url)).status).toBe(200);
      expect(bed.submissions(at)).toBe(1);
      expect(await bed.usageOf(requestId(answer))).toEqual([{ status: "succeeded", settled: 2n * CREDIT }]);
    },
    90_000,
  );

  test.each(IMAGE.filter(isUnknown))(
    "%s is not started again, and ends free",
    async (at) => {
      const answer = await answerOf(at);
      expect([answer.status, errorCode(answer)]).toEqual([504, "upstream_timeout"]);
      expect(bed.submissions(at)).toBe(at === "job.intended" ? 0 : 1);
      expect(await bed.usageOf(requestId(answer))).toEqual([{ status: "lost", settled: 0n }]);
    },
    90_000,
  );
});

describe("a chat call whose worker died at", () => {
  test.each(CHAT)(
    "%s is not served again, and is settled once",
    async (at) => {
      const answer = await answerOf(at);
      const isStreamed = at.endsWith("streamed");
      const isAnswered = !at.startsWith("call.served");
      if (isAnswered) expect([answer.status, answer.frames.includes(DONE)]).toEqual([200, isStreamed]);
      else if (isStreamed) expect([answer.status, answer.frames.includes(DONE)]).toEqual([200, false]);
      else expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([500, "false"]);
      if (!isAnswered) expect(errorCode(answer)).toBe("internal_error");
      const [usage, ...more] = await eventually("it is settled", async () => {
        const rows = await bed.usageOf(requestId(answer));
        return rows.length > 0 && rows;
      });
      expect(more).toEqual([]);
      // An answer that the caller has is paid, by the ingress that sent it on: the worker died before or behind its settle.
      if (isAnswered) {
        expect(usage?.status).toBe("succeeded");
        expect(usage?.settled).toBeGreaterThan(0n);
        if (!isStreamed) expect(formatCredits(usage?.settled ?? 0n)).toBe(answer.headers.get("x-credits-used") ?? "");
      } else expect(usage).toMatchObject(isStreamed ? { status: "lost" } : { status: "lost", settled: 0n });
    },
    60_000,
  );
});

test("the books are exact afterwards", async () => {
  await expectStorageExact(bed);
  // A message that met a living lease comes again when that is over, and then once more when its next taker has died.
  await audit(bed, { withinMs: 60_000 });
  expect(bed.fal.faults).toEqual([]);
}, 150_000);

function answerOf(at: string): Promise<Answer> {
  const answer = answers.get(at);
  if (!answer) throw new Error(`nobody died at ${at}`);
  return answer;
}

function isUnknown(at: string): boolean {
  return (UNKNOWN as readonly string[]).includes(at);
}
