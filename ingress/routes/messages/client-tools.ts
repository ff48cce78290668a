/**
 * Anthropic's tools that the client executes. Claude models know these tools by type; other models get a function with the same name and
 * input. Source: platform.claude.com/docs/en/agents-and-tools/tool-use, pages of the bash, memory and text editor tools. Pure.
 */
import type { ChatTool, MessagesTool } from "#schemas/generated/types.ts";

type Tool = Extract<ChatTool, { readonly type: "function" }>;

interface ClientTool {
  readonly description: string;
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

/** Returns the function definition of a tool that the client executes; undefined for other tools. */
export function clientTool({ type, name, max_characters: most }: MessagesTool): Tool | undefined {
  const kind = /^(bash|memory|text_editor)_\d{8}$/.exec(type ?? "")?.[1];
  const known = kind === undefined ? undefined : CLIENT_TOOLS[kind];
  if (known === undefined) return undefined;
  const { description, properties, required } = known;
  return {
    type: "function",
    function: { name: name ?? "", description, parameters: { type: "object", properties, required } },
    client_tool: { type, ...(typeof most === "number" ? { max_characters: most } : {}) },
  };
}

/** Types of tools that Anthropic's servers execute. */
const SERVER_TOOL =
  /^(?:(?:web_search|web_fetch|code_execution|tool_search_tool|tool_search_tool_(?:regex|bm25)|advisor)_\d{8}|mcp_toolset)$/;

/** True for a tool that Anthropic's servers execute. Such a tool is unavailable here. */
export function isServerTool({ type }: MessagesTool): boolean {
  return SERVER_TOOL.test(type ?? "");
}

const text = (description: string): object => ({ type: "string", description });
const command = (...commands: readonly string[]): object => ({ type: "string", enum: commands });
const RANGE = {
  type: "array",
  items: { type: "integer" },
  description: "With view: first and last line, counted from 1; -1 is the end of the file.",
};
const FILE = {
  view_range: RANGE,
  file_text: text("With create: the text of the file."),
  old_str: text("With str_replace: the text to replace, which occurs once."),
  new_str: text("With str_replace: the text in its place."),
  insert_line: { type: "integer", description: "With insert: the line after which the text goes; 0 is the beginning." },
  insert_text: text("With insert: the text."),
};

const CLIENT_TOOLS: Readonly<Record<string, ClientTool>> = {
  bash: {
    description: "Runs a command in a bash session that stays open between calls.",
    properties: {
      command: text("The command. Required unless restart is true."),
      restart: { type: "boolean", description: "Starts the session anew." },
    },
    required: [],
  },
  text_editor: {
    description: "Views, creates and edits text files.",
    properties: {
      command: command("view", "create", "str_replace", "insert"),
      path: text("Path of the file or folder."),
      ...FILE,
    },
    required: ["command", "path"],
  },
  memory: {
    description:
      "Keeps notes across conversations as files in the folder /memories. View the folder before anything else, and write down progress.",
    properties: {
      command: command("view", "create", "str_replace", "insert", "delete", "rename"),
      path: text("Path of the file or folder, with every command but rename."),
      ...FILE,
      old_path: text("With rename: the path until now."),
      new_path: text("With rename: the path from now on."),
    },
    required: ["command"],
  },
};
