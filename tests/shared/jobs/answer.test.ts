import { describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { type JobReply, notifyPublisher } from "#shared/jobs/answer.ts";
import { decodeJobFrame } from "#shared/queue/job-frames.ts";
import { isIngressReply } from "#shared/queue/subjects.ts";

const [WORKSPACE, OTHER, KEY, JOB] = [newId(), newId(), newId(), newId()];

/** Returns where an answer about a job with this reply address goes, and its text. */
function told(
  reply: string | null,
  answer: JobReply = { status: "completed", result: "{}" },
): { subject: string; data: string | Uint8Array }[] {
  const sent: { subject: string; data: string | Uint8Array }[] = [];
  const connection = {
    publish: (subject: string, data: string | Uint8Array) => void sent.push({ subject, data }),
    isClosed: () => false,
  };
  notifyPublisher(connection, { id: JOB, workspace_id: WORKSPACE, publisher_key: "k", reply }, answer);
  return sent;
}

describe("the answer about a job", () => {
  test("is sent below its own workspace's inbox", () => {
    const reply = `_INBOX.ws.${WORKSPACE}.${KEY}.answers`;
    expect(told(reply).map(({ subject }) => subject)).toEqual([reply]);
  });

  test.each([
    null,
    "",
    `_INBOX.ws.${OTHER}.${KEY}.answers`,
    `_INBOX.ws.${WORKSPACE}`,
    `_INBOX.ws.${WORKSPACE}.answers`,
    `_INBOX.ws.${WORKSPACE}.${KEY}.*`,
    `_INBOX.ws.${WORKSPACE}.${KEY}.a b`,
    `_INBOX.ws.${WORKSPACE}.${KEY}..a`,
    "_INBOX.wk.a",
    "_INBOX.jn.a",
    `batch.chat.${OTHER}.${KEY}`,
    `work.chat.live.${WORKSPACE}`,
    `cancel.${JOB}`,
    `callback.${JOB}`,
    "breaker.chat",
    "freed.chat.batch",
    "$JS.API.STREAM.PURGE.POOL_chat",
    "$JS.ACK.BATCH_IN.intake.1.1.1.1.0",
  ])("is not sent when its row contains %s", (reply) => {
    expect(told(reply)).toEqual([]);
  });

  test("contains the outcome for an ingress that waits for it", () => {
    const reply = `_INBOX.gw.${newId()}.${newId()}`;
    expect(isIngressReply(reply)).toBe(true);
    const result = '{"data":["ü"]}';
    const [sent, ...more] = told(reply, { status: "completed", result, creditsNano: 1_500_000_000n });
    expect([sent?.subject, more]).toEqual([reply, []]);
    const frame = decodeJobFrame(sent?.data as Uint8Array);
    expect(frame?.frame).toEqual({ t: "ended", nano: "1500000000" });
    expect(Buffer.from(frame?.data ?? []).toString()).toBe(result);
  });

  test.each([
    ["one that failed", { status: "failed", error: null, creditsNano: 0n }],
    ["one whose cost is not known", { status: "completed", result: "{}" }],
    ["one with a large result", { status: "completed", result: `"${"ü".repeat(40_000)}"`, creditsNano: 1n }],
  ] as const)("contains only the id for such an ingress in the case of %s", (_which, more) => {
    const reply = `_INBOX.gw.${newId()}.${newId()}`;
    expect(told(reply, more)).toEqual([{ subject: reply, data: JOB }]);
  });
});
