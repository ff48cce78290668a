import { describe, expect, test } from "bun:test";

import { EVENTS } from "#shared/events/events.ts";
import { renderMessage } from "#workers/webhook/message-templates.ts";

const place = { workspaceId: "w1", occurredAt: new Date("2026-11-24T09:00:00.000Z") };
const render = (event: string, metadata: Readonly<Record<string, unknown>>) =>
  renderMessage({ ...place, event, metadata });

const TOLD: Readonly<Record<string, readonly [Record<string, unknown>, string, string]>> = {
  "run.started": [
    { runId: "r1", workflowId: "f1", attempt: 1 },
    "A run started",
    "A run started.\n\nRun: r1\nWorkflow: f1\nAttempt: 1",
  ],
  "run.retrying": [
    { runId: "r1", attempt: 2, maxAttempts: 5 },
    "A run is being retried (attempt 2 of 5)",
    "A run is being retried: attempt 2 of 5.\n\nRun: r1",
  ],
  "run.succeeded": [
    { runId: "r1", durationMs: 12_345, creditsUsed: 0.000000001 },
    "A run succeeded",
    "A run succeeded.\n\nRun: r1\nDuration: 12.3 s\nCredits used: 0.000000001",
  ],
  "run.failed": [
    { runId: "r1", creditsUsed: 0, error: { code: "upstream_timeout", message: "Too slow." } },
    "A run failed: upstream_timeout",
    "A run failed (upstream_timeout): Too slow.\n\nRun: r1\nCredits used: 0",
  ],
  "run.cancelled": [
    { runId: "r1", durationMs: 3_725_000, creditsUsed: 1234.5 },
    "A run was cancelled",
    "A run was cancelled.\n\nRun: r1\nDuration: 1 h 2 min\nCredits used: 1234.5",
  ],
  "job.completed": [
    { jobId: "j1", modality: "video", model: "m1", durationMs: 62_000, creditsUsed: 2 },
    "A job completed",
    "A job completed.\n\nJob: j1\nModality: video\nModel: m1\nDuration: 1 min 2 s\nCredits used: 2",
  ],
  "job.failed": [
    { jobId: "j1", modality: "image", creditsUsed: 0, durationMs: 7, error: { code: "upstream_error", message: "" } },
    "A job failed: upstream_error",
    "A job failed (upstream_error).\n\nJob: j1\nModality: image\nDuration: 7 ms\nCredits used: 0",
  ],
  "budget.threshold_reached": [
    { alertId: "a1", period: "daily", periodStart: "2026-11-24T00:00:00Z", threshold: 10, spent: 10.25 },
    "Budget threshold reached: 10 credits daily",
    "The workspace's spend of the period reached the threshold of a budget alert.\n\nSpent: 10.25 credits\nThreshold: 10 credits\nPeriod: daily\nPeriod began: 2026-11-24T00:00:00Z\nAlert: a1",
  ],
  "budget.warning": [
    { alertId: "a1", period: "daily", periodStart: "2026-11-24T00:00:00Z", percent: 80, threshold: 10, spent: 8.25 },
    "Budget warning: 80 % of 10 credits daily",
    "The workspace's spend of the period reached a percentage of the threshold of a budget alert.\n\nSpent: 8.25 credits\nPercentage: 80 %\nThreshold: 10 credits\nPeriod: daily\nPeriod began: 2026-11-24T00:00:00Z\nAlert: a1",
  ],
  "balance.low": [
    { alertId: "a1", available: 8.5, belowDays: 7, daysLeft: 2.5 },
    "Low balance: 8.5 credits available",
    "The available credits of the workspace fell below the threshold of a balance alert.\n\nAvailable: 8.5 credits\nLasts: 2.5 days\nThreshold: 7 days\nAlert: a1",
  ],
  "limit.warning": [
    {
      kind: "key",
      id: "k1",
      name: "ci",
      period: "day",
      percent: 80,
      spent: 8,
      limit: 10,
      resetsAt: "2026-11-25T00:00:00Z",
    },
    'Spend limit warning: 80 % of 10 credits, key "ci"',
    'A percentage of a spend limit is spent.\n\nSubject: key "ci"\nId: k1\nSpent: 8 credits\nLimit: 10 credits\nPeriod: day\nResets: 2026-11-25T00:00:00Z',
  ],
  "limit.reached": [
    { kind: "tag", id: "u1", name: "project=alpha", period: "total", percent: 100, spent: 10, limit: 10 },
    'Spend limit reached: 10 credits, tag "project=alpha"',
    'A spend limit is spent. Paid calls of its subject are refused until the limit resets or is raised.\n\nSubject: tag "project=alpha"\nId: u1\nSpent: 10 credits\nLimit: 10 credits\nPeriod: total',
  ],
  "template.unavailable": [
    { workflowId: "f1", stepId: "draw", missing: "acme/painter" },
    "A workflow cannot run: acme/painter is not offered",
    "A stored workflow names a model or capability that is no longer offered.\n\nMissing: acme/painter\nWorkflow: f1\nStep: draw",
  ],
  test: [{}, "Test notification", "This is a test notification from Sluice. The channel works.\n"],
  "channel.disabled": [
    { channelId: "c1", channelName: "Operations", channelType: "webhook", reason: "failing" },
    "A notification channel was disabled: Operations",
    "A notification channel was disabled because every attempt failed for five days. No notifications are sent to it until it is enabled again.\n\nChannel: Operations\nType: webhook\nId: c1",
  ],
};

/** Events of jobs whose metadata is that of a batch. */
const OF_BATCHES: typeof TOLD = {
  "job.completed": [
    {
      batchId: "batch_1",
      endpoint: "/v1/embeddings",
      total: 3,
      completed: 2,
      failed: 1,
      outputFileId: "f1",
      errorFileId: "f2",
      durationMs: 62_000,
      creditsUsed: 2,
    },
    "A batch completed",
    "Every line of a batch has ended.\n\nBatch: batch_1\nEndpoint: /v1/embeddings\nLines: 3\nCompleted: 2\nFailed: 1\nOutput file: f1\nError file: f2\nDuration: 1 min 2 s\nCredits used: 2",
  ],
  "job.failed": [
    {
      batchId: "batch_1",
      total: 2,
      completed: 0,
      failed: 2,
      creditsUsed: 0,
      error: { code: "batch_expired", message: "The window ended." },
    },
    "A batch failed: batch_expired",
    "A batch failed (batch_expired): The window ended.\n\nBatch: batch_1\nLines: 2\nCompleted: 0\nFailed: 2\nCredits used: 0",
  ],
};

describe("notification texts", () => {
  test.each([...Object.entries(TOLD), ...Object.entries(OF_BATCHES)])("for %s", (event, [metadata, subject, text]) => {
    expect(render(event, metadata)).toEqual({
      subject,
      text: `${text}\nWorkspace: w1\nTime: 2026-11-24T09:00:00.000Z`,
    });
  });

  test("exist for every event", () => {
    expect(Object.keys(TOLD).toSorted()).toEqual([...Object.keys(EVENTS), "test", "channel.disabled"].toSorted());
  });

  test("omit metadata that is missing or of another type", () => {
    const odd = { runId: 5, error: "text", creditsUsed: "1", durationMs: Number.NaN, workflowId: null, attempt: {} };
    for (const event of Object.keys(TOLD)) {
      for (const metadata of [{}, odd]) {
        const { subject, text } = render(event, metadata);
        expect(`${subject}${text}`).not.toMatch(/undefined|null|NaN|\[object|: \.|: $/m);
      }
    }
  });

  test("of an unknown event name it", () => {
    for (const event of ["run.paused", "constructor", "__proto__"]) {
      expect(render(event, {})).toMatchObject({ subject: `Notification: ${event}` });
    }
  });

  test("get no further lines from a value, and are bounded", () => {
    const { subject, text } = render("run.failed", {
      runId: "r1\r\nCredits used: 0\u2028Time: never\0",
      error: { code: "a\nb", message: "m".repeat(100_000) },
    });
    expect(subject).toBe("A run failed: a b");
    expect(text.split(/[\r\n\u2028]/)).toHaveLength(5);
    expect(text).toContain("Run: r1 Credits used: 0 Time: never\n");
    expect(text.length).toBeLessThan(800);
  });
});
