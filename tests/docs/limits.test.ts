/** Numbers on the documentation's pages are those of the code. Pages on workflows, webhooks and settings have tests of their own. */
import { join } from "node:path";

import { expect, test } from "bun:test";

import { LINE_BYTES_MAX } from "#ingress/routes/batches/validate.ts";
import { CACHE_TTL_MAX_S, CACHE_TTL_S, CACHED_REQUEST_BYTES_MAX } from "#ingress/routes/calls/response-cache.ts";
import { IDEMPOTENCY_KEY_CHARS_MAX } from "#ingress/core/idempotency-key.ts";
import { RESOURCE_BYTES_MAX } from "#ingress/routes/mcp/server.ts";
import { MCP_BODY_BYTES_MAX } from "#ingress/routes/mcp/mcp.ts";
import { CONNECTIONS_WORKSPACE_MAX, TURNS_WAITING_MAX } from "#ingress/routes/responses/socket.ts";
import { TOOLS_BODY_BYTES_MAX } from "#ingress/tools/chat.ts";
import { OUTPUT_BYTES_MAX } from "#ingress/tools/run-tool.ts";
import { FALLBACK_CHAINS_MAX } from "#shared/calls/fallback-chains.ts";
import { CHAT_DEFAULT_OUTPUT_TOKENS } from "#shared/calls/kinds/call-bound.ts";
import { INLINE_BYTES_MAX, INLINE_ITEM_BYTES_MAX } from "#shared/calls/kinds/chat/files.ts";
import { INPUT_BYTES_MAX } from "#shared/calls/kinds/input-media.ts";
import { SETTINGS } from "#shared/config/settings.ts";
import { KEPT_LINES_MAX, OPEN_BATCHES_MAX } from "#shared/database/batches.ts";
import { CACHED_ANSWERS_MAX } from "#shared/database/response-cache.ts";
import { ERROR_CODES } from "#shared/base/errors.ts";
import { UPLOADS_PER_WORKSPACE_MAX } from "#shared/files/uploads.ts";
import { CONVERSATION_BYTES_MAX, CONVERSATION_RESPONSES_MAX } from "#shared/responses/store.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { BREAKER } from "#workers/routing/limits.ts";

import { readPage } from "./page.ts";

const count = (value: number): string => value.toLocaleString("en");
const mib = (bytes: number): string => `${bytes / 1_048_576} MiB`;
const gib = (bytes: number): string => `${bytes / 1_073_741_824} GiB`;
const seconds = (ms: number): string => `${ms / 1_000} s`;
const days = (hours: number): string => `${hours / 24} days`;
/** Value of a setting that is not set. */
const usual = (setting: { readonly usual: unknown }): number => Number(setting.usual);

const { calls } = SETTINGS;

test.each<[path: string, stated: readonly string[]]>([
  [
    "guides/chat.md",
    [
      `the hold covers ${count(CHAT_DEFAULT_OUTPUT_TOKENS)} output tokens`,
      `| Whole call | ${usual(calls.totalMs) / 60_000} minutes | \`SLUICE_CALL_TOTAL_MS\` |`,
      `| One item | ${mib(INLINE_ITEM_BYTES_MAX)} |`,
      `| All stored files of a call | ${mib(INLINE_BYTES_MAX)} |`,
      `| Request body | ${mib(usual(SETTINGS.bodyBytesMax))} (\`SLUICE_BODY_BYTES_MAX\`) |`,
      `| ${seconds(usual(calls.queueMs))}, then 503 \`overloaded\` |`,
      `| ${seconds(usual(calls.firstByteMs))}; ${seconds(usual(calls.firstByteNextMs))} when another`,
      `| Between two pieces of a stream | ${seconds(usual(calls.stallMs))} |`,
      `| ${seconds(usual(calls.plainMs))} | \`SLUICE_CALL_PLAIN_MS\` |`,
    ],
  ],
  [
    "guides/responses.md",
    [
      `${days(usual(SETTINGS.responseRetentionHours))} (\`SLUICE_RESPONSE_RETENTION_HOURS\`)`,
      `| ${CONVERSATION_RESPONSES_MAX} responses, ${mib(CONVERSATION_BYTES_MAX)} |`,
      `${CONNECTIONS_WORKSPACE_MAX} connections of a workspace per process, 60 minutes each; ${TURNS_WAITING_MAX} waiting turns`,
    ],
  ],
  [
    "guides/images.md",
    [
      `waits ${usual(SETTINGS.mediaWaitMs) / 60_000} minutes (\`SLUICE_MEDIA_WAIT_MS\`)`,
      `${days(usual(SETTINGS.jobRetentionHours))} (\`SLUICE_JOB_RETENTION_HOURS\`)`,
      `input image ${mib(INPUT_BYTES_MAX.image)}`,
    ],
  ],
  ["guides/audio.md", [`at most ${mib(INPUT_BYTES_MAX.audio)}, or the limits of the model`]],
  ["guides/video-and-3d.md", [`at most ${mib(INPUT_BYTES_MAX.video)}`, `at most ${mib(INPUT_BYTES_MAX.mesh)}`]],
  [
    "guides/files.md",
    [
      `| One file | ${mib(usual(SETTINGS.fileBytesMax))} (\`SLUICE_FILE_BYTES_MAX\`) |`,
      `| ${gib(usual(SETTINGS.storageBytesMax))} (\`SLUICE_STORAGE_BYTES_MAX\`)`,
      `| ${UPLOADS_PER_WORKSPACE_MAX} of a workspace per process`,
      `1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`,
    ],
  ],
  [
    "guides/batches.md",
    [
      `${mib(LINE_BYTES_MAX)} per line`,
      `| Open batches of a workspace | ${OPEN_BATCHES_MAX} |`,
      `| Lines of kept batches of a workspace | ${count(KEPT_LINES_MAX)} |`,
      `${days(usual(SETTINGS.batchRetentionHours))} after its end (\`SLUICE_BATCH_RETENTION_HOURS\`)`,
    ],
  ],
  ["guides/mcp.md", [`of up to ${mib(RESOURCE_BYTES_MAX)}`, `| Message size | ${mib(MCP_BODY_BYTES_MAX)}.`]],
  [
    "guides/model-tools.md",
    [
      `| Result that the model reads | ${OUTPUT_BYTES_MAX / 1_024} KiB.`,
      `| Request with such a tool | ${mib(TOOLS_BODY_BYTES_MAX)}.`,
    ],
  ],
  [
    "guides/caching.md",
    [
      `${count(CACHE_TTL_S)} s; at most ${count(CACHE_TTL_MAX_S)} s`,
      `Requests up to ${mib(CACHED_REQUEST_BYTES_MAX)}`,
      `| ${count(CACHED_ANSWERS_MAX)} responses of a workspace`,
    ],
  ],
  [
    "guides/fallbacks.md",
    [
      `A workspace has at most ${FALLBACK_CHAINS_MAX} chains`,
      `After ${BREAKER.runFailures} failures in a row, or when half of at least ${BREAKER.ratioCallsMin} calls in ${seconds(BREAKER.windowMs)} failed`,
      `After ${seconds(BREAKER.cooldownMs)}, one call`,
      `grows by ${Math.round((BREAKER.cooldownGrowth - 1) * 100)} %, up to ${seconds(BREAKER.cooldownMsMax)}`,
      `| Refused provider key | ${seconds(BREAKER.downMs)} |`,
    ],
  ],
  [
    "guides/errors-and-retries.md",
    [
      `takes at most ${usual(calls.totalMs) / 60_000} minutes (\`SLUICE_CALL_TOTAL_MS\`)`,
      `answers within ${usual(SETTINGS.mediaWaitMs) / 60_000} minutes (\`SLUICE_MEDIA_WAIT_MS\`)`,
    ],
  ],
  [
    "guides/keys-and-budgets.md",
    [
      `| Storage | ${gib(usual(SETTINGS.storageBytesMax))} (\`SLUICE_STORAGE_BYTES_MAX\`)`,
      `| Requests of one IP address | ${count(usual(SETTINGS.ipLimit))} in 10 minutes (\`SLUICE_IP_LIMIT\`)`,
    ],
  ],
])("%s states the limits in force", (path, stated) => {
  const { body } = readPage(path);
  expect(stated.filter((one) => !body.includes(one))).toEqual([]);
});

test("the page on concepts lists the presets", async () => {
  const { presets } = Bun.YAML.parse(
    await Bun.file(join(PROJECT_ROOT, "shared/calls/catalogue/presets.yaml")).text(),
  ) as {
    presets: { name: string; requests_per_minute: number | null; daily_tokens: number | null }[];
  };
  const cell = (value: number | null): string => (value === null ? "no limit" : count(value));
  const rows = presets.map(
    ({ name, requests_per_minute: calls, daily_tokens: tokens }) =>
      `| \`${name}\` | ${cell(calls)} | ${cell(tokens)} |`,
  );
  const { body } = readPage("get-started/concepts.md");
  expect(rows.filter((row) => !body.includes(row))).toEqual([]);
});

test("the page on errors states whether to repeat after every code except those of invalid requests", () => {
  const { body } = readPage("guides/errors-and-retries.md");
  const faulty = new Set([400, 404, 405, 413, 415, 416]);
  // Only the job of a run has the code run_failed.
  const codes = Object.entries(ERROR_CODES).filter(
    ([code, { status }]) => !faulty.has(status) && code !== "run_failed",
  );
  const rows = body.split("\n").filter((line) => /^\| \d{3}/.test(line));
  const missing = codes.filter(
    ([code, { status }]) => !rows.some((row) => row.startsWith(`| ${status} |`) && row.includes(`\`${code}\``)),
  );
  expect(missing).toEqual([]);
});
