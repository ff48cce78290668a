/** Jobs on their way to the queue, and the notes of where their messages lie. */
import { expect, test } from "bun:test";

import { createJobDispatcher } from "#shared/jobs/dispatcher.ts";

test("messages sent together are recorded together, in the background and before the dispatcher is idle", async () => {
  const notes: (readonly unknown[])[] = [];
  const query = (_text: string, values: readonly unknown[], name: string): Promise<object[]> => {
    if (name === "note_sequences") notes.push(values);
    return Promise.resolve([]);
  };
  let seq = 0;
  const dispatcher = createJobDispatcher({
    database: { query },
    publisher: { dispatch: () => Promise.resolve((seq += 1)) },
    metrics: { jobsDispatched: { inc: () => undefined } },
    log: {},
  } as never);
  const jobs = ["a", "b", "c"].map((id) => ({ id, workspace_id: "w", attempt: 1, dispatch: 1, deadline: new Date() }));
  for (const job of jobs) await dispatcher.send("chat", "live", [job], "admitted");
  expect(notes).toEqual([]);
  await dispatcher.idle();
  expect(notes).toHaveLength(1);
  expect(notes[0]?.map((one) => JSON.stringify(one))).toEqual([
    expect.stringMatching(/a.*b.*c/),
    expect.stringMatching(/1.*1.*1/),
    expect.stringMatching(/1.*2.*3/),
  ]);
});
