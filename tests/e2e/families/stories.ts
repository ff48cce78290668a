/**
 * Stories of stock clients beside the conversation of conversation.ts, over every family: objects of a schema, hand-offs between agents,
 * answers that are made in the background and read on, answers that are left, and the forms in which Codex and Claude Code ask.
 */
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import { generateText, jsonSchema, Output, streamText } from "ai";
import { beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";

import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { THINKING_SIGNATURE } from "./anthropic.ts";
import { FAMILIES, type Family, type FamilyBed } from "./bed.ts";
import { PNG, QUESTION, SYSTEM } from "./conversation.ts";
import { readSent, thinkingOf } from "./sent.ts";
import { sharedBed } from "./shared-bed.ts";
import type { Turn } from "./turn.ts";

let bed: FamilyBed;
let workspace: Workspace;
let baseURL: string;

beforeAll(async () => {
  bed = await sharedBed();
  workspace = await createWorkspace(bed.stack, { creditsNano: 10n ** 15n });
  baseURL = `${bed.target().url}/v1`;
  setTracingDisabled(true);
});

const openai = (): OpenAI => new OpenAI({ baseURL, apiKey: workspace.key, maxRetries: 0 });
const vercel = (model: string) => createOpenAI({ baseURL, apiKey: workspace.key })(model);
const langchain = (model: string): ChatOpenAI =>
  new ChatOpenAI({ model, apiKey: workspace.key, configuration: { baseURL }, useResponsesApi: true, maxRetries: 0 });
const runner = (): Runner =>
  new Runner({ modelProvider: new OpenAIProvider({ openAIClient: openai(), useResponses: true }) });
const anthropic = (): Anthropic => new Anthropic({ baseURL: bed.target().url, apiKey: workspace.key, maxRetries: 0 });

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
} as const;
const MUTABLE_SCHEMA = { ...SCHEMA, required: ["city", "degrees"] as ("city" | "degrees")[] };
const FOUND = { city: "Zürich", degrees: 18 };
const FOUND_TURN: Turn = { text: JSON.stringify(FOUND), took: { input: 30, output: 12 } };

/** The schema that a provider was asked to keep to. */
function schemaSent(family: Family, body: unknown): unknown {
  const asked = body as {
    response_format?: { json_schema?: { schema?: unknown } };
    output_config?: { format?: { schema?: unknown } };
    generationConfig?: { responseJsonSchema?: unknown };
  };
  if (family === "openai") return asked.response_format?.json_schema?.schema;
  return family === "claude" ? asked.output_config?.format?.schema : asked.generationConfig?.responseJsonSchema;
}

/** Clients that ask for an object, each in its own idiom. */
const OBJECTS: Readonly<Record<string, (model: string) => Promise<unknown>>> = {
  async openai(model) {
    const format = { type: "json_schema", name: "place", schema: SCHEMA, strict: true } as const;
    const asked = { model, input: QUESTION, text: { format } };
    const { output_text: text } = await openai().responses.stream(asked).finalResponse();
    return JSON.parse(text);
  },
  async vercel(model) {
    const output = Output.object({ schema: jsonSchema<typeof FOUND>(MUTABLE_SCHEMA) });
    return (await generateText({ model: vercel(model), prompt: QUESTION, output, maxRetries: 0 })).output;
  },
  async vercelStreamed(model) {
    const output = Output.object({ schema: jsonSchema<typeof FOUND>(MUTABLE_SCHEMA) });
    return streamText({ model: vercel(model), prompt: QUESTION, output, maxRetries: 0 }).output;
  },
  async langchain(model) {
    const chat = langchain(model).withStructuredOutput(MUTABLE_SCHEMA, { name: "place", method: "jsonSchema" });
    return chat.invoke([new HumanMessage(QUESTION)]);
  },
  async anthropic(model) {
    const format = { type: "json_schema", schema: MUTABLE_SCHEMA } as const;
    const asked = { model, max_tokens: 500, messages: [{ role: "user" as const, content: QUESTION }] };
    const { content } = await anthropic()
      .messages.stream({ ...asked, output_config: { format } })
      .finalMessage();
    return JSON.parse(content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  },
};

const TEXT_TURN: Turn = { text: "one two three four five", took: { input: 10, output: 5 } };

/** Clients that read an answer of a slow source, and leave it at its first word. */
const LEAVERS: Readonly<Record<string, (model: string) => Promise<unknown>>> = {
  async openai(model) {
    const stream = await openai().responses.create({ model, input: QUESTION, stream: true });
    for await (const { type } of stream) if (type === "response.output_text.delta") break;
  },
  async vercel(model) {
    const leaving = new AbortController();
    const { textStream } = streamText({ model: vercel(model), prompt: QUESTION, abortSignal: leaving.signal, onError: () => undefined }); // prettier-ignore
    for await (const _text of textStream) leaving.abort();
  },
  async agents(model) {
    const leaving = new AbortController();
    const agent = new Agent({ name: "Guide", instructions: SYSTEM, model });
    const result = await runner().run(agent, QUESTION, { stream: true, signal: leaving.signal });
    for await (const _text of result.toTextStream()) leaving.abort();
  },
  async langchain(model) {
    const leaving = new AbortController();
    for await (const { text } of await langchain(model).stream(QUESTION, { signal: leaving.signal })) {
      if (text !== "") leaving.abort();
    }
  },
  async anthropic(model) {
    const stream = anthropic().messages.stream({ model, max_tokens: 500, messages: [{ role: "user", content: QUESTION }] }); // prettier-ignore
    stream.on("text", () => stream.abort());
    await stream.done();
  },
};

const usageOf = async (after: number) => {
  const rows = await bed.stack.query<{ status: string; settled: bigint }>(
    "select status, settled from usage_record where workspace_id = $1 order by ended_at",
    [workspace.id],
  );
  return rows.slice(after);
};

describe.each(FAMILIES)("%s", (family) => {
  const model = `${family}-one`;
  const lastSent = () => bed.servers[family].requests.at(-1) ?? { path: "", body: {} };

  test.each(Object.keys(OBJECTS))("fills a schema for the client %s", async (client) => {
    bed.says(family, [FOUND_TURN]);
    expect(await OBJECTS[client]?.(model)).toEqual(FOUND);
    expect(schemaSent(family, lastSent().body)).toMatchObject({ type: "object", required: ["city", "degrees"] });
  });

  test.each([true, false])(
    "transfers an agent's conversation to another model, which fills a schema; streamed: %p",
    async (stream) => {
      const outputType = { type: "json_schema", name: "place", strict: true, schema: MUTABLE_SCHEMA } as const;
      const guide = new Agent({ name: "Guide", instructions: "Answer with a place.", model, outputType });
      const desk = Agent.create({ name: "Desk", instructions: SYSTEM, model, handoffs: [guide] });
      const call = { id: "call_handoff1", name: "transfer_to_Guide", args: {} };
      bed.says(family, [{ calls: [call], took: { input: 20, output: 8 } }, FOUND_TURN]);
      const result = stream ? await runner().run(desk, QUESTION, { stream: true }) : await runner().run(desk, QUESTION);
      if ("completed" in result) await result.completed;
      expect(result.lastAgent?.name).toBe("Guide");
      expect(result.finalOutput).toEqual(FOUND);
      const { system, said } = readSent(family, lastSent());
      expect(system).toBe("Answer with a place.");
      expect(said).toMatchObject([
        { user: QUESTION },
        { calls: [{ name: call.name, args: {} }] },
        { results: [{ of: call.name }] },
      ]);
    },
  );

  test("answers in the background, and its stream can be resumed", async () => {
    bed.says(family, [TEXT_TURN]);
    const client = openai();
    let [id, after, text] = ["", -1, ""];
    for await (const event of await client.responses.create({
      model,
      input: QUESTION,
      background: true,
      stream: true,
    })) {
      if (event.type === "response.created") ({ id } = event.response);
      after = event.sequence_number;
      if (event.type !== "response.output_text.delta") continue;
      text += event.delta;
      break;
    }
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: after });
    for await (const event of rest) if (event.type === "response.output_text.delta") text += event.delta;
    expect(text).toBe(TEXT_TURN.text ?? "");
    const whole = await client.responses.retrieve(id);
    expect(whole).toMatchObject({
      status: "completed",
      background: true,
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    expect(whole.output_text).toBe(text);
  });

  test.each(Object.keys(LEAVERS))(
    "is aborted when the client %s disconnects, and charged for the delivered part",
    async (client) => {
      const before = (await usageOf(0)).length;
      const { requests } = bed.servers[family];
      const asked = requests.length;
      await LEAVERS[client]?.(`${family}-slow`).catch((error: unknown) => expect(String(error)).toMatch(/abort/i));
      await requests[asked]?.finished;
      expect(requests[asked]?.closedByClientAt).not.toBeNull();
      const [row] = await eventually("the usage record", async () => {
        const rows = await usageOf(before);
        return rows.length > 0 && rows;
      });
      expect(row?.status).toBe("cancelled");
      expect(row?.settled).toBeGreaterThan(0n);
    },
  );
});

const PATCH = "*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+b\n*** End Patch";
const GRAMMAR = 'start: begin_patch hunk+ end_patch\nbegin_patch: "*** Begin Patch" LF';

/** The calls of an agent that writes programs, with the thought before them and the answer behind their results. */
const CODING: readonly Turn[] = [
  {
    thought: "The file is to be changed, then looked at.",
    text: "I change it.",
    calls: [
      { id: "call_patch1", name: "apply_patch", args: { input: PATCH } },
      { id: "call_shell2", name: "shell_command", args: { command: "cat a.ts" } },
    ],
    took: { input: 900, output: 60, thinking: 12 },
  },
  { text: "It is done.", took: { input: 40, cached: 900, output: 6 } },
];
const CHANGED = "Success. Updated the following files:\nM a.ts";
const SHOWN = "Exit code: 0\nOutput:\nb";

describe.each(FAMILIES)("%s with requests in the form of", (family) => {
  const model = `${family}-one`;
  /** The last two turns that the provider was told of. */
  const toldBefore = () => {
    const last = bed.servers[family].requests.at(-1) ?? { path: "", body: {} };
    if (family === "claude") expect(thinkingOf(last)).toEqual([THINKING_SIGNATURE]);
    return readSent(family, last).said.slice(-2);
  };

  test("Codex: nothing stored, items returned without their ids, a free-text tool", async () => {
    const call = (from: string, of: string, more: object = {}) => ({ type: "message", role: from, content: [{ type: "input_text", text: of }], ...more }); // prettier-ignore
    const input: object[] = [
      call("developer", "<permissions instructions>Read only.</permissions instructions>"),
      call("user", "<environment_context><cwd>/work</cwd><shell>bash</shell></environment_context>"),
      { type: "message", role: "user", content: [{ type: "input_text", text: QUESTION }, { type: "input_image", image_url: `data:image/png;base64,${PNG}` }] }, // prettier-ignore
    ];
    const command = { type: "object", properties: { command: { type: "string" } }, required: ["command"], additionalProperties: false }; // prettier-ignore
    const ask = async () => {
      const answer = await fetch(`${baseURL}/responses`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${workspace.key}`,
          "content-type": "application/json",
          accept: "text/event-stream",
          "openai-beta": "responses=experimental",
          originator: "codex_cli_rs",
          session_id: "019ac1f0-0000-7000-8000-000000000001",
          "user-agent": "codex_cli_rs/0.64.0 (Linux; x86_64)",
        },
        body: JSON.stringify({
          model,
          instructions: SYSTEM,
          input,
          tools: [
            {
              type: "function",
              name: "shell_command",
              description: "Runs a command.",
              strict: false,
              parameters: command,
            },
            { type: "custom", name: "apply_patch", description: "Edits files.", format: { type: "grammar", syntax: "lark", definition: GRAMMAR } }, // prettier-ignore
          ],
          tool_choice: "auto",
          parallel_tool_calls: true,
          reasoning: { effort: "medium", summary: "auto" },
          store: false,
          stream: true,
          include: ["reasoning.encrypted_content"],
          prompt_cache_key: "019ac1f0-0000-7000-8000-000000000001",
          text: { verbosity: "medium" },
        }),
      });
      return readStream(await answer.text()).response;
    };
    bed.says(family, CODING);
    const first = await ask();
    const calls = first.output.filter(({ type }) => type === "custom_tool_call" || type === "function_call");
    expect(calls).toMatchObject([
      { type: "custom_tool_call", name: "apply_patch", input: PATCH },
      { type: "function_call", name: "shell_command" },
    ]);
    const [patch, shell] = calls as readonly { call_id: string }[];
    input.push(
      ...first.output.map((item) => ({ ...item, id: undefined })),
      { type: "custom_tool_call_output", call_id: patch?.call_id, output: CHANGED },
      { type: "function_call_output", call_id: shell?.call_id, output: SHOWN },
    );
    const second = await ask();
    expect(second.output.at(-1)).toMatchObject({ type: "message", content: [{ text: CODING[1]?.text }] });
    expect(toldBefore()).toMatchObject([
      { model: "I change it.", calls: [{ name: "apply_patch", args: { input: PATCH } }, { name: "shell_command" }] },
      { results: [{ of: "apply_patch", value: CHANGED }, { of: "shell_command", value: SHOWN }] }, // prettier-ignore
    ]);
  });

  test("Claude Code: cache markers, thinking, beta headers, results with an image", async () => {
    const cached = { cache_control: { type: "ephemeral" } } as const;
    const question = [{ type: "text" as const, text: "<system-reminder>Today is Monday.</system-reminder>" }, { type: "text" as const, text: QUESTION, ...cached }]; // prettier-ignore
    const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: "user", content: question }];
    const parameters = (name: string) => ({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" as const, properties: { [name]: { type: "string" } }, required: [name], additionalProperties: false }); // prettier-ignore
    const ask = () =>
      anthropic()
        .beta.messages.stream({
          model,
          max_tokens: 32_000,
          system: [{ type: "text", text: SYSTEM, ...cached }],
          messages,
          tools: [
            { name: "apply_patch", description: "Edits files.", input_schema: parameters("input") },
            { name: "shell_command", description: "Runs a command.", input_schema: parameters("command") },
          ],
          metadata: { user_id: "user_0_account__session_019ac1f0" },
          thinking: { type: "enabled", budget_tokens: 31_999 },
          betas: ["claude-code-20250219", "interleaved-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14"],
        })
        .finalMessage();
    bed.says(family, CODING);
    const first = await ask();
    const uses = first.content.filter((block) => block.type === "tool_use");
    expect(uses).toMatchObject([{ name: "apply_patch", input: { input: PATCH } }, { name: "shell_command" }]);
    const [patch, shell] = uses.map(({ id }) => id);
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } } as const;
    messages.push(
      { role: "assistant", content: first.content },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: patch ?? "", content: CHANGED },
          {
            type: "tool_result",
            tool_use_id: shell ?? "",
            content: [{ type: "text", text: SHOWN }, picture],
            ...cached,
          },
        ],
      },
    );
    const second = await ask();
    expect([second.stop_reason, second.content.at(-1)]).toMatchObject(["end_turn", { text: CODING[1]?.text }]);
    const { said } = readSent(family, bed.servers[family].requests.at(-1) ?? { path: "", body: {} });
    // A family that takes no pictures in results gets them behind.
    const shown = { of: "shell_command", value: expect.stringContaining(SHOWN) as string };
    expect(said).toContainEqual({ results: [{ of: "apply_patch", value: CHANGED }, shown] });
    expect(JSON.stringify(bed.servers[family].requests.at(-1)?.body)).toContain(PNG);
  });
});
