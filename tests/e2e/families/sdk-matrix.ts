/**
 * Stock clients × provider families: the same streamed conversation with a picture, two tools called at once, their
 * results and another question, through the running service. Every client must hear the same, and every provider must have
 * been told the same, in its own words.
 */
import { beforeAll, describe, expect, test } from "bun:test";

import { audit } from "#tests/faults/audit.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import type { RecordedCall } from "#tests/providers/engine/recorder.ts";

import { FAMILIES, type Family, type FamilyBed } from "./bed.ts";
import { type ClientName, CLIENTS, type Heard } from "./clients.ts";
import { THINKING_SIGNATURE } from "./anthropic.ts";
import { PNG, QUESTION, SYSTEM, THANKS, TOOL_NAMES, TOOLS, TURNS } from "./conversation.ts";
import { THOUGHT_SIGNATURE } from "./gemini.ts";
import { readSent, type Said, type Sent, signaturesOf, thinkingOf } from "./sent.ts";
import { sharedBed } from "./shared-bed.ts";
import type { Report } from "./turn.ts";

let bed: FamilyBed;
let workspace: Workspace;

beforeAll(async () => {
  bed = await sharedBed();
  workspace = await createWorkspace(bed.stack, { creditsNano: 10n ** 15n });
});

const CALLS = TOOL_NAMES.map((name) => ({ name, args: TOOLS[name].call.args }));

/** Written out, not worked out from the turns: both sides of the service are held against it. */
const HEARD: readonly Heard[] = [
  {
    text: "A lake 🏞️ with boats. I will look up the rest.",
    calls: [
      { name: "get_weather", args: { city: "Zürich" } },
      { name: "get_time", args: { zone: "Europe/Zurich" } },
    ],
    finish: "tool_calls",
    input: 640,
    cached: 0,
    output: 96,
  },
  {
    text: "It shows Lake Zürich; it is 18 °C and half past ten.",
    calls: [],
    finish: "stop",
    // 60 beside 704 from the cache.
    input: 764,
    cached: 704,
    output: 24,
  },
  { text: "About 64 °F.", calls: [], finish: "stop", input: 828, cached: 788, output: 20 },
];

/** Messages before each turn of the model. */
const ASKED: Said = { user: QUESTION, images: [PNG] };
const LOOKED_UP: Said = { model: HEARD[0]?.text ?? "", calls: CALLS };
const RESULTS: Said = { results: TOOL_NAMES.map((name) => ({ of: name, value: TOOLS[name].result })) };
const ANSWERED: Said = { model: HEARD[1]?.text ?? "", calls: [] };
const THANKED: Said = { user: THANKS, images: [] };
const SENT: readonly Sent[] = [
  [ASKED],
  [ASKED, LOOKED_UP, RESULTS],
  [ASKED, LOOKED_UP, RESULTS, ANSWERED, THANKED],
].map((said) => ({ isStream: true, system: SYSTEM, tools: TOOL_NAMES, said }));

/** Clients that send unknown members of a call back, and with them Google's signature of the thoughts behind it. */
const KEEPS_SIGNATURES: Readonly<Record<ClientName, boolean>> = {
  openai: true,
  openaiResponses: true,
  openaiStored: true,
  vercel: true,
  // Of what it may refer to it sends calls whole.
  vercelResponses: false,
  vercelStateless: false,
  vercelAnthropic: false,
  agents: true,
  langchain: false,
  langchainResponses: true,
  anthropic: false,
};
/** Stand-in for a signature that the client has lost; without any the running turn would be refused. */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** Clients that send Claude its signed thoughts back. */
const KEEPS_THOUGHTS: Readonly<Record<ClientName, boolean>> = {
  openai: true,
  openaiResponses: true,
  openaiStored: true,
  vercel: false,
  vercelResponses: true,
  vercelStateless: true,
  vercelAnthropic: true,
  agents: true,
  langchain: false,
  langchainResponses: true,
  anthropic: true,
};

/** The client's conversation, and the calls it made the provider receive. */
async function converse(
  client: ClientName,
  family: Family,
  report?: Report,
): Promise<{ heard: Heard[]; calls: RecordedCall[] }> {
  const server = bed.servers[family];
  const before = server.requests.length;
  bed.says(family, TURNS, report);
  const heard = await CLIENTS[client](bed.target(workspace.key), `${family}-one`);
  return { heard, calls: server.requests.slice(before) };
}

/** Checks the signed thoughts that the provider received with each turn. */
const CHECKS: Readonly<Partial<Record<Family, (client: ClientName, calls: readonly RecordedCall[]) => void>>> = {
  gemini(client, calls) {
    const [, running, over] = calls.map(signaturesOf);
    const kept = KEEPS_SIGNATURES[client] ? THOUGHT_SIGNATURE : undefined;
    expect(running).toEqual([kept ?? NO_SIGNATURE, undefined]);
    // Gemini checks only the turn that is running.
    expect(over).toEqual([kept, undefined]);
  },
  claude(client, calls) {
    const kept = KEEPS_THOUGHTS[client] ? [THINKING_SIGNATURE] : [];
    expect(calls.map(thinkingOf)).toEqual([[], kept, kept]);
  },
};

describe.each(Object.keys(CLIENTS) as ClientName[])("the %s client", (client) => {
  test.each(FAMILIES)("and %s exchange turns, including signed thinking", async (family) => {
    const { heard, calls } = await converse(client, family);
    expect(heard).toEqual([...HEARD]);
    expect(calls.map((call) => readSent(family, call))).toEqual([...SENT]);
    CHECKS[family]?.(client, calls);
  });

  test.each(["openai", "claude"] as const)("joins the interleaved pieces of calls of %s", async (family) => {
    const { heard, calls } = await converse(client, family, "interleaved");
    expect(heard).toEqual([...HEARD]);
    expect(calls.map((call) => readSent(family, call))).toEqual([...SENT]);
  });
});

test("no provider received an invalid request, and the books are exact", async () => {
  expect(bed.servers.claude.refusals).toEqual([]);
  for (const family of FAMILIES) expect(bed.servers[family].faults).toEqual([]);
  await bed.stack.settled();
  const [row] = await bed.stack.query<{ count: bigint; estimated: bigint }>(
    "select count(*) as count, count(*) filter (where is_estimated) as estimated from usage_record where workspace_id = $1",
    [workspace.id],
  );
  // Five conversations of each client, three turns each.
  expect(row).toEqual({ count: BigInt(Object.keys(CLIENTS).length * 5 * 3), estimated: 0n });
  await audit(bed);
});
