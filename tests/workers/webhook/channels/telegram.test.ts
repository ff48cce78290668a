import { afterEach, describe, expect, test } from "bun:test";

import { allow } from "#tests/shared/net/servers.ts";
import { telegramSender } from "#workers/webhook/channels/telegram.ts";

import { channelOf, contextOf, outgoing, receive, type Receiver } from "../receivers.ts";

const open: Receiver[] = [];
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

const botToken = "123456:AAH-s3cret_token";
const channel = channelOf("telegram", { botToken }, { chatId: "-1001234567890" });

/** A Telegram that answers so. */
async function telegram(
  status: number,
  answer: unknown,
  headers: Record<string, string> = {},
): Promise<Receiver & { readonly send: ReturnType<typeof telegramSender> }> {
  const body = typeof answer === "string" ? answer : JSON.stringify(answer);
  const server = await receive((response) => response.writeHead(status, headers).end(body));
  open.push(server);
  return { ...server, send: telegramSender(server.url("")) };
}

const refusal = (error_code: number, description: string, parameters?: object) => ({
  ok: false,
  error_code,
  description,
  ...(parameters && { parameters }),
});

describe("a message", () => {
  test("is plain text for one chat, whose id stays a string", async () => {
    const server = await telegram(200, { ok: true, result: { message_id: 1 } });
    expect(await server.send(channel, outgoing(), contextOf())).toEqual({
      ok: true,
      status: 200,
      responseStart: '{"ok":true,"result":{"message_id":1}}',
    });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: `/bot${botToken}/sendMessage` });
    expect(request?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(request?.body ?? "")).toEqual({
      chat_id: "-1001234567890",
      text: expect.stringContaining("A run succeeded.") as string,
      disable_web_page_preview: true,
    });
  });

  test("has 4,096 characters at most, without a split surrogate pair", async () => {
    const server = await telegram(200, { ok: true });
    const long = "🙂".repeat(600);
    const metadata = { jobId: long, modality: long, model: long, error: { code: long, message: long } };
    await server.send(channel, outgoing({ event: "job.failed", metadata }), contextOf());
    const { text } = JSON.parse(server.requests[0]?.body ?? "") as { text: string };
    expect(text.length).toBeLessThanOrEqual(4_096);
    expect(text.length).toBeGreaterThan(4_090);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe("an answer", () => {
  test.each([
    [200, "<html>", "again", "status"],
    [200, { ok: false }, "again", "status"],
    [200, [], "again", "status"],
    [302, "", "again", "redirect"],
    [400, refusal(400, "Bad Request: chat not found"), "gone", "refused"],
    [400, refusal(400, "Bad Request: message text is empty"), "final", "misconfigured"],
    [400, "no JSON", "final", "misconfigured"],
    [401, refusal(401, "Unauthorized"), "gone", "refused"],
    [403, refusal(403, "Forbidden: bot was blocked by the user"), "gone", "refused"],
    [404, refusal(404, "Not Found"), "gone", "refused"],
    [409, refusal(409, "Conflict"), "again", "status"],
    [500, refusal(500, "Internal Server Error"), "again", "status"],
    [502, "<html>", "again", "status"],
  ] as const)("of %p %j is %s, %s", async (status, answer, verdict, error) => {
    const server = await telegram(status, answer);
    const result = await server.send(channel, outgoing(), contextOf());
    const responseStart = typeof answer === "string" ? answer : JSON.stringify(answer);
    expect(result).toEqual({ ok: false, verdict, error, status, responseStart });
  });

  test.each([
    [{ retry_after: 35 }, {}, 35_000],
    [{ retry_after: 35 }, { "retry-after": "2" }, 35_000],
    [{ retry_after: 36_000 }, {}, 36_000_000],
    [undefined, { "retry-after": "2" }, 2_000],
    [{ retry_after: "soon" }, {}, undefined],
    [{ retry_after: -1 }, {}, undefined],
    [{ retry_after: 1e300 }, {}, 7 * 86_400_000],
  ])("of 429 contains the retry time, to the second: %j %j", async (parameters, headers, retryAfterMs) => {
    const server = await telegram(429, refusal(429, "Too Many Requests", parameters), headers);
    const result = await server.send(channel, outgoing(), contextOf());
    expect(result).toMatchObject({ ok: false, verdict: "again", error: "rate_limited", status: 429 });
    expect(result).toHaveProperty("ok", false);
    expect(result.ok ? undefined : result.retryAfterMs).toBe(retryAfterMs as number);
  });

  test("that the group became a supergroup contains the new id, as a string", async () => {
    const moved = refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", {
      migrate_to_chat_id: -1_009_876_543_210_123,
    });
    const server = await telegram(400, moved);
    expect(await server.send(channel, outgoing(), contextOf())).toMatchObject({
      ok: false,
      verdict: "again",
      newChatId: "-1009876543210123",
    });
    const odd = await telegram(400, refusal(400, "moved", { migrate_to_chat_id: "-1; drop" }));
    expect(await odd.send(channel, outgoing(), contextOf())).not.toHaveProperty("newChatId");
  });
});

describe("the bot's token", () => {
  test("is in no result, for every response", async () => {
    const echo = await receive((response, { path }) => response.writeHead(500).end(`${path} ${botToken}`));
    open.push(echo);
    const closed = await telegram(200, "");
    closed.close();
    const results = [
      await telegramSender(echo.url(""))(channel, outgoing(), contextOf()),
      await closed.send(channel, outgoing(), contextOf()),
      await telegramSender("http://127.0.0.1:5432")(channel, outgoing(), contextOf()),
    ];
    expect(results).toMatchObject([{ error: "status" }, { error: "unreachable" }, { error: "unsafe_url" }]);
    expect(JSON.stringify(results)).not.toContain("s3cret");
  });

  test.each(["", "1:a/../../other", "1:a?x=", "1:a#", "1:a b", "1:", ":a", "..", "1:ü"])(
    "%j changes no path: it is not sent",
    async (token) => {
      const server = await telegram(200, { ok: true });
      const odd = channelOf("telegram", { botToken: token }, { chatId: "1" });
      expect(await server.send(odd, outgoing(), contextOf())).toMatchObject({
        verdict: "final",
        error: "misconfigured",
      });
      expect(server.requests).toEqual([]);
    },
  );
});
