import { afterEach, describe, expect, test } from "bun:test";

import { allow } from "#tests/shared/net/servers.ts";
import type { AttemptResult } from "#workers/webhook/channel.ts";
import { SENDERS } from "#workers/webhook/channels/index.ts";

import { channelOf, contextOf, outgoing, receive, type Receiver } from "../receivers.ts";

const open: Receiver[] = [];
afterEach(() => {
  allow();
  for (const server of open.splice(0)) server.close();
});

/** A Slack that answers so. */
async function slack(status: number, body: string, headers: Record<string, string> = {}): Promise<Receiver> {
  const server = await receive((response) => response.writeHead(status, headers).end(body));
  open.push(server);
  return server;
}

const send = SENDERS.slack;

interface Message {
  readonly text: string;
  readonly [member: string]: unknown;
}

async function messageOf(metadata: Readonly<Record<string, unknown>>): Promise<Message> {
  const server = await slack(200, "ok");
  const channel = channelOf("slack", { url: server.url("/services/T0/B0/s3cret") });
  const result = await send(channel, outgoing({ event: "run.failed", metadata }), contextOf());
  expect(result).toEqual({ ok: true, status: 200, responseStart: "ok" });
  return JSON.parse(server.requests[0]?.body ?? "") as Message;
}

const failure = (message: string) => ({ runId: "r1", creditsUsed: 0, error: { code: "boom", message } });

describe("a message", () => {
  test("is JSON of plain text, with no credentials except the URL", async () => {
    const server = await slack(200, "ok");
    const url = server.url("/services/T0/B0/s3cret");
    const channel = channelOf("slack", { url, signingSecret: "whsec_x", authToken: "t" }, { authType: "bearer" });
    await send(channel, outgoing(), contextOf());
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/services/T0/B0/s3cret" });
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent",
    ]);
    expect(JSON.parse(request?.body ?? "")).toEqual({
      text: expect.stringContaining("A run succeeded.") as string,
      mrkdwn: false,
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  test("contains no mentions and no links, for any texts of the workspace", async () => {
    const { text, mrkdwn } = await messageOf(failure("<!channel> <@U123> <https://evil.test|click> & &lt;*bold*"));
    expect(text).toContain("&lt;!channel&gt; &lt;@U123&gt; &lt;https://evil.test|click&gt; &amp; &amp;lt;*bold*");
    expect(text.replaceAll(/&(?:amp|lt|gt);/g, "")).not.toMatch(/[<>&]/);
    expect(mrkdwn).toBe(false);
  });

  test("has 3,000 characters at most after escaping, and ends with a whole one", async () => {
    const metadata = { ...failure("<".repeat(500)), runId: "&".repeat(500), workflowId: "<".repeat(500) };
    const { text } = await messageOf(metadata);
    expect(text.length).toBeLessThanOrEqual(3_000);
    expect(text.length).toBeGreaterThan(2_990);
    expect(text).toMatch(/&(?:amp|lt|gt);$/);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe("an answer", () => {
  test.each([
    [200, "ok", "sent", undefined],
    [200, "", "again", "status"],
    [200, "ok!", "again", "status"],
    [200, "<html>login</html>", "again", "status"],
    [200, "no_service", "gone", "refused"],
    [202, "ok", "again", "status"],
    [302, "found", "again", "redirect"],
    [400, "invalid_payload", "final", "misconfigured"],
    [400, "no_text", "final", "misconfigured"],
    [400, "too_many_attachments", "final", "misconfigured"],
    [400, "invalid_token", "gone", "refused"],
    [400, "no_active_hooks", "gone", "refused"],
    [403, "action_prohibited", "gone", "refused"],
    [403, "invalid_token", "gone", "refused"],
    [404, "channel_not_found", "gone", "refused"],
    [404, "no_team", "gone", "refused"],
    [410, "channel_is_archived", "gone", "refused"],
    [408, "", "again", "status"],
    [429, "rate_limited", "again", "rate_limited"],
    [500, "rollup_error", "again", "status"],
    [503, "no_service", "again", "status"],
  ] as const)("of %p %j is %p", async (status, body, verdict, error) => {
    const server = await slack(status, body);
    const result = await send(channelOf("slack", { url: server.url() }), outgoing(), contextOf());
    const facts = { status, responseStart: body };
    const expected: unknown = verdict === "sent" ? { ok: true, ...facts } : { ok: false, verdict, error, ...facts };
    expect(result).toEqual(expected as AttemptResult);
  });

  test("of 429 contains the retry time", async () => {
    const server = await slack(429, "rate_limited", { "retry-after": "30" });
    const result = await send(channelOf("slack", { url: server.url() }), outgoing(), contextOf());
    expect(result).toMatchObject({ verdict: "again", error: "rate_limited", retryAfterMs: 30_000 });
  });

  test("contains nothing of the URL", async () => {
    const server = await receive((response, { path }) => response.writeHead(404).end(`no ${path}`));
    open.push(server);
    const result = await send(
      channelOf("slack", { url: server.url("/services/T0/B0/s3cret") }),
      outgoing(),
      contextOf(),
    );
    expect(result.responseStart).toBe("no [secret]");
  });
});

test("a URL to a private address is not connected", async () => {
  const channel = channelOf("slack", { url: "http://169.254.169.254/services/x" });
  expect(await send(channel, outgoing(), contextOf())).toMatchObject({ verdict: "again", error: "unsafe_url" });
});
