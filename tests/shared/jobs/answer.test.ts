import { describe, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";
import { notifyPublisher } from "#shared/jobs/answer.ts";
import { isIngressReply } from "#shared/queue/subjects.ts";

const [WORKSPACE, OTHER, JOB] = [newId(), newId(), newId()];

/** Returns where an answer about a job with this reply address goes, and its text. */
function told(reply: string | null): { subject: string; data: string }[] {
  const sent: { subject: string; data: string }[] = [];
  const connection = {
    publish: (subject: string, data: string) => void sent.push({ subject, data }),
    isClosed: () => false,
  };
  notifyPublisher(
    connection,
    { id: JOB, workspace_id: WORKSPACE, publisher_key: "k", reply },
    { status: "completed", result: "{}" },
  );
  return sent;
}

describe("the answer about a job", () => {
  test("goes below its own workspace's inbox", () => {
    const reply = `_INBOX.ws.${WORKSPACE}.answers`;
    expect(told(reply).map(({ subject }) => subject)).toEqual([reply]);
  });

  test.each([
    null,
    "",
    `_INBOX.ws.${OTHER}.answers`,
    `_INBOX.ws.${WORKSPACE}`,
    `_INBOX.ws.${WORKSPACE}.*`,
    `_INBOX.ws.${WORKSPACE}.a b`,
    `_INBOX.ws.${WORKSPACE}..a`,
    "_INBOX.wk.a",
    "_INBOX.jn.a",
    `batch.chat.${OTHER}`,
    `work.chat.live.${WORKSPACE}`,
    `cancel.${JOB}`,
    `callback.${JOB}`,
    "breaker.chat",
    "freed.chat.batch",
    "$JS.API.STREAM.PURGE.POOL_chat",
    "$JS.ACK.BATCH_IN.intake.1.1.1.1.0",
  ])("goes nowhere when its row says %s", (reply) => {
    expect(told(reply)).toEqual([]);
  });

  test("tells an ingress that waits for it the job's id alone", () => {
    const reply = `_INBOX.gw.${newId()}.${newId()}`;
    expect(isIngressReply(reply)).toBe(true);
    expect(told(reply)).toEqual([{ subject: reply, data: JOB }]);
  });
});
