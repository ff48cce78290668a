/** History that a client kept of its own tools, of other agents, or of another service. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { inputPlace, readingItems } from "#ingress/routes/responses/items.ts";
import { transcriptOf } from "#ingress/routes/responses/compact.ts";
import { storedItems } from "#ingress/routes/responses/stored-items.ts";
import { translatingRequest } from "#ingress/routes/responses/translate.ts";
import { newId } from "#shared/base/ids.ts";
import { parse, validate } from "#shared/json/contracts.ts";
import { runWhole } from "#shared/base/time-slices.ts";

interface Shown {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

/** The chat messages of a conversation, which is itself one that chat would take. */
function chatOf(...input: object[]): readonly Shown[] {
  const body = parse("ResponsesRequest", { model: "m", input });
  const items = runWhole(readingItems(body.input)).map((item, at) => ({ item, from: inputPlace(at) }));
  const { request } = runWhole(translatingRequest(body, items));
  expect(validate("ChatCompletionRequest", JSON.parse(JSON.stringify(request)))).toBeNull();
  return request.messages as readonly Shown[];
}

const DECLARATIONS = join(import.meta.dir, "../../../../node_modules/openai/resources/responses/responses.d.ts");
const USER = { role: "user", content: "hi" };
const PNG = "data:image/png;base64,iVBORw0KGgo=";
const call = (id: string, name: string, args: object) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
});
const result = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });
const text = (of: string) => [{ type: "input_text", text: of }];

/** Each item that OpenAI's clients and Codex 0.171 keep, and what the model reads of it. */
const HISTORY: readonly (readonly [string, readonly object[], readonly object[]])[] = [
  [
    "a message of another agent, with its author",
    [{ type: "agent_message", author: "/root", recipient: "/root/a", content: [...text("Look here."), { type: "encrypted_content", encrypted_content: "Then there." }, { type: "encrypted_content", encrypted_content: "gAAAAABo-_8=" }] }], // prettier-ignore
    [
      {
        role: "user",
        content:
          "Message from /root to /root/a:\n\nLook here.\n\nThen there.\n\n(a part that only its service can read)",
      },
    ],
  ],
  ["reasoning of an agent, which is left out", [{ type: "agent_reasoning", text: "Hm" }], []],
  ["snapshots, which are left out", [{ type: "ghost_snapshot", ghost_commit: { id: "a" } }], []],
  ["settings and marks, which are left out", [{ type: "configuration_update" }, { type: "compaction_trigger" }, { type: "other" }], []], // prettier-ignore
  [
    "a command that the client ran, by the id of its item",
    [
      { type: "local_shell_call", id: "lsh_1", status: "completed", action: { type: "exec", command: ["ls"] } },
      { type: "local_shell_call_output", id: "lsh_1", output: "a.ts" },
    ],
    [call("lsh_1", "local_shell", { type: "exec", command: ["ls"] }), result("lsh_1", "a.ts")],
  ],
  [
    "a command whose result comes as that of a function",
    [
      { type: "local_shell_call", call_id: "a", status: "completed", action: { type: "exec", command: ["ls"] } },
      { type: "function_call_output", call_id: "a", output: "a.ts" },
    ],
    [call("a", "local_shell", { type: "exec", command: ["ls"] }), result("a", "a.ts")],
  ],
  [
    "shells, patches, screens and programs",
    [
      { type: "shell_call", call_id: "a", action: { commands: ["ls"] } },
      { type: "shell_call_output", call_id: "a", output: [{ stdout: "a.ts" }] },
      { type: "apply_patch_call", call_id: "b", operation: { type: "delete_file", path: "a.ts" } },
      { type: "apply_patch_call_output", call_id: "b", status: "completed" },
      { type: "program", call_id: "c", code: "1 + 1", fingerprint: "f" },
      { type: "program_output", call_id: "c", result: "2" },
    ],
    [
      call("a", "shell", { commands: ["ls"] }),
      result("a", '[{"stdout":"a.ts"}]'),
      call("b", "apply_patch", { type: "delete_file", path: "a.ts" }),
      result("b", "completed"),
      call("c", "program", { code: "1 + 1" }),
      result("c", "2"),
    ],
  ],
  [
    "a search of the web, whose result its service kept",
    [{ type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "rain" } }],
    [
      call("ws_1", "web_search", { type: "search", query: "rain" }),
      result("ws_1", "The result is not part of this conversation."),
    ],
  ],
  [
    "tools of an MCP server, of files and of code, with their results",
    [
      { type: "mcp_list_tools", id: "l", server_label: "crm", tools: [] },
      { type: "mcp_call", id: "a", server_label: "crm", name: "find", arguments: "{}", output: "Ann" },
      { type: "file_search_call", id: "b", queries: ["x"], results: [{ text: "y" }] },
      { type: "code_interpreter_call", id: "c", code: "1", outputs: [{ type: "logs", logs: "1" }] },
    ],
    [
      call("a", "crm__find", {}),
      result("a", "Ann"),
      call("b", "file_search", { queries: ["x"] }),
      result("b", '[{"text":"y"}]'),
      call("c", "code_interpreter", { code: "1" }),
      result("c", '[{"type":"logs","logs":"1"}]'),
    ],
  ],
  [
    "an item of a type that nobody here knows, without what is sealed",
    [{ type: "hologram", id: "h_1", title: "A cube", encrypted_content: "gAAA" }],
    [{ role: "assistant", content: '[hologram] {"title":"A cube"}' }],
  ],
];

describe("a conversation with", () => {
  test.each(HISTORY)("%s", (_name, input, expected) => {
    expect(chatOf(USER, ...input, USER) as unknown[]).toEqual([USER, ...expected, USER]);
  });

  test("a result in a sealed part lists its unencrypted content", () => {
    const sealed = (encrypted_content: string) => ({ type: "encrypted_content", encrypted_content });
    const shown = chatOf(
      { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "a", output: [sealed("gAAAAABo"), sealed("18")] },
    );
    expect(shown.at(-1)?.content).toMatchObject([{ text: "(a part that only its service can read)" }, { text: "18" }]);
  });

  test("a screenshot is placed after the results", () => {
    const shown = chatOf(
      { type: "computer_call", call_id: "a", action: { type: "screenshot" } },
      { type: "computer_call_output", call_id: "a", output: { type: "computer_screenshot", image_url: PNG } },
    );
    expect(shown[2]?.content).toEqual([
      { type: "text", text: "Returned by the tool call a:" },
      { type: "image_url", image_url: { url: PNG } },
    ]);
  });

  test("calls and results without call_id are paired by id, or otherwise by their order", () => {
    const shown = chatOf(
      { type: "custom_tool_call", id: "ctc_1", name: "patch", input: "x" },
      { type: "custom_tool_call_output", call_id: "ctc_1", output: "one" },
      { type: "tool_search_call", call_id: null, execution: "server", arguments: {} },
      { type: "tool_search_output", call_id: null, execution: "server", tools: [] },
      { type: "function_call", name: "f", arguments: "{}" },
      { type: "function_call_output", output: "three" },
      { type: "function_call_output", name: "later", output: "four" },
    );
    const ids = shown.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
    expect(ids).toEqual(["ctc_1", "call_1", "call_2"]);
    expect(shown.flatMap(({ tool_call_id: id }) => id ?? [])).toEqual(ids);
    expect(shown.at(-1)).toMatchObject({ role: "user", content: [{ text: "Returned by later:" }, { text: "four" }] });
  });
});

/**
 * Types of items that the published SDK declares as input, beside those of Codex. A new release of the SDK brings more: what the service
 * does not know is shown as text, and none of them makes a conversation one that can never go on.
 */
test("no item of a client's earlier history makes its conversation unusable", async () => {
  const declared = await Bun.file(DECLARATIONS).text();
  const types = new Set([...declared.matchAll(/^ {4,8}type\??: '([a-z_]+)';$/gm)].map(([, type = ""]) => type));
  expect(types.size).toBeGreaterThan(50);
  for (const type of [...types, "agent_message", "agent_reasoning", "ghost_snapshot", "context_compaction"]) {
    // Those have members that must be there, and are asked elsewhere.
    if (NEEDS_MEMBERS.has(type)) continue;
    const input = [USER, { type, id: "a_1" }, USER];
    expect(chatOf(...input).length, type).toBeGreaterThan(1);
    const items = runWhole(readingItems(input));
    expect(storedItems(items, newId()), type).toHaveLength(3);
    expect(
      transcriptOf(
        items.map((item, at) => ({ item, from: inputPlace(at) })),
        null,
      ).item,
      type,
    ).toBeObject();
  }
});

const NEEDS_MEMBERS = new Set([
  "additional_tools",
  "compaction",
  "custom_tool_call",
  "custom_tool_call_output",
  "function_call",
  "function_call_output",
  "item_reference",
  "message",
  "reasoning",
  "tool_search_output",
]);
