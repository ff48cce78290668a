import { expect, test } from "bun:test";

import { startOpenAiServer } from "../providers/openai-compatible/server.ts";
import { abandonStreams, MOMENTS } from "./abandon.ts";

test("every client disconnects at its own moment, and the server notices all of them", async () => {
  const server = startOpenAiServer();
  try {
    const result = await abandonStreams({
      url: server.url.replace("/v1", ""),
      key: "sk-test",
      model: "mock-tokens-20-every-2",
      count: 200,
      seed: 7,
    });
    expect(result.endedEarly).toEqual([]);
    for (const moment of MOMENTS) expect(result.left[moment]).toBeGreaterThan(10);
    await Promise.all(server.requests.map((call) => call.finished));
    const wholeAnswers = server.requests.filter((call) => call.answeredAt !== null).length;
    expect(wholeAnswers).toBeGreaterThanOrEqual(result.left["after the last byte"]);
    expect(server.requests.filter((call) => call.closedByClientAt !== null).length).toBeGreaterThan(50);
    expect(server.faults).toEqual([]);
  } finally {
    server.close();
  }
});
