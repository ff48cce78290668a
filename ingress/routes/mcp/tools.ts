/**
 * Lists the tools that a client sees. /mcp has a few tools that find and run all others, because a model pays for every listed tool.
 * /mcp/all and /mcp/<categories> list each capability as a separate tool.
 */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";

import { usableTools } from "#shared/access/tools.ts";
import { CATEGORIES, type Capability, type Category } from "#shared/calls/capabilities/entry.ts";
import type { StoredFile } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { refuseMisspelt } from "#shared/json/misspelt-members.ts";
import { isFileId } from "#shared/files/id.ts";
import { isUuid } from "#shared/base/ids.ts";

import type { IngressContext } from "../../context.ts";
import { unknownPath } from "../../core/unknown-path.ts";
import { type Arguments, textOf, wholeNumberOf } from "../../tools/arguments.ts";
import type { ApiClient } from "../../tools/api-client.ts";
import { describeTool, functionName, parametersOf, QUERY_CHARACTERS_MAX, searchTools } from "../../tools/catalogue.ts";
import { fileLink, toolResult } from "./results.ts";
import { type Client, runCapability, runWorkflow } from "./runs.ts";
import { findTask } from "./tasks.ts";

/** MCP tool and the function that implements it. */
export interface McpTool {
  readonly tool: Tool;
  /**
   * True if the tool starts a run. The route that starts the run counts the call in the rate-limit window. The tool call itself must
   * therefore not be counted.
   */
  readonly isRun?: true;
  /** Calls the tool. @throws ApiError */
  call(api: ApiClient, args: Arguments, client: Client): Promise<CallToolResult>;
}

/** Categories whose capabilities are listed as separate tools. Undefined if the client sees only the tools that find and run all others. */
export type Surface = ReadonlySet<Category> | undefined;

/**
 * Returns the categories that the request path selects. @param asked last segment of the path; undefined if absent. @throws ApiError
 * `not_found`
 */
export function surfaceOf(asked: string | undefined): Surface {
  if (asked === undefined) return undefined;
  if (asked === "all") return new Set(CATEGORIES);
  const names = asked.split(",");
  const found = CATEGORIES.filter((one) => names.includes(one));
  if (found.length !== names.length) throw unknownPath();
  return new Set(found);
}

/** Lists the caller's tools, in a stable order. */
export function listTools(api: Seen, surface: Surface): readonly Tool[] {
  if (!surface) return [...FINDERS, ...OTHERS].map(({ tool }) => tool);
  return [...visibleCapabilities(api, surface).map((one) => toolOf(one).tool), ...OTHERS.map(({ tool }) => tool)];
}

export function findTool(api: Seen, surface: Surface, name: string): McpTool | undefined {
  const plain = (surface ? OTHERS : [...FINDERS, ...OTHERS]).find(({ tool }) => tool.name === name);
  if (plain || !surface) return plain;
  const capability = visibleCapabilities(api, surface).find((one) => functionName(one.id) === name);
  return capability && toolOf(capability);
}

/** Caller and offered capabilities, which together determine the tools that a client sees. */
type Seen = Pick<ApiClient, "caller"> & { readonly context: Pick<IngressContext, "availableCapabilities"> };

function visibleCapabilities({ context, caller }: Seen, surface: ReadonlySet<Category>): readonly Capability[] {
  return usableTools(caller, context.availableCapabilities.current()).filter(({ category }) => surface.has(category));
}

function toolOf(capability: Capability): McpTool {
  const { id, display_name: title, description } = capability;
  return {
    tool: {
      name: functionName(id),
      title,
      description: capability.long_description ?? description,
      // The schemas come from a JSON file.
      inputSchema: parametersOf(capability) as Tool["inputSchema"],
      annotations: RUNS,
    },
    isRun: true,
    call: (api, { input, params, ...more }, client) =>
      runCapability(api, id, { input, params, ...maxCreditsIn(more) }, client),
  };
}

/** Returns the member `max_credits` of the arguments of a run. @throws ApiError `unknown_parameter` for a misspelt one */
function maxCreditsIn(args: Arguments): { readonly max_credits?: unknown } {
  refuseMisspelt<"max_credits">(args, ["max_credits"]);
  return args["max_credits"] === undefined ? {} : { max_credits: args["max_credits"] };
}

const RUNS = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true } as const;
const READS = { readOnlyHint: true, openWorldHint: false } as const;

const TOOL_ID = {
  type: "string",
  description: "Id of a tool from search_tools: a capability, such as `image.resize`, or a workflow.",
} as const;

const FINDERS: readonly McpTool[] = [
  {
    tool: {
      name: "search_tools",
      title: "Search tools",
      description:
        "Finds tools that run_tool can run: deterministic operations on images, video, audio, documents, archives, web pages and code, " +
        "and the workflows of this workspace. Search before you answer that a task is impossible.",
      inputSchema: {
        type: "object",
        properties: {
          query: {
            type: "string",
            description: "Words that describe the task. Default: all tools.",
            maxLength: QUERY_CHARACTERS_MAX,
          },
          category: { type: "string", enum: [...CATEGORIES, "workflow"] },
          limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
        },
      },
      annotations: READS,
    },
    call: async (api, args) => toolResult(await searchTools(api, args)),
  },
  {
    tool: {
      name: "describe_tool",
      title: "Describe a tool",
      description:
        "Returns the input and params of a tool as JSON Schemas, with examples and its price. Call it before run_tool.",
      inputSchema: { type: "object", properties: { tool: TOOL_ID }, required: ["tool"] },
      annotations: READS,
    },
    call: async (api, args) => toolResult(await describeTool(api, textOf(args, "tool"))),
  },
  {
    tool: {
      name: "run_tool",
      title: "Run a tool",
      description:
        "Runs a capability or a workflow and returns its result. Files are returned as links that expire after about an hour, and are stored in the " +
        "workspace. The result contains the cost of the run in credits; rejected calls are free.",
      inputSchema: {
        type: "object",
        properties: {
          tool: TOOL_ID,
          input: { type: "object", description: "Input that matches the tool's input_schema." },
          params: {
            type: "object",
            description: "Params that match the tool's params_schema. Workflows have no params.",
          },
          max_credits: { type: "number", description: "Maximum cost of the run, in credits. Default: no maximum." },
        },
        required: ["tool"],
      },
      annotations: RUNS,
    },
    isRun: true,
    call(api, args, client) {
      const id = textOf(args, "tool");
      const { input, params } = args;
      const max = maxCreditsIn(args);
      return isUuid(id)
        ? runWorkflow(api, id, { input, ...max }, client)
        : runCapability(api, id, { input, params, ...max }, client);
    },
  },
];

const OTHERS: readonly McpTool[] = [
  {
    tool: {
      name: "list_files",
      title: "List files",
      description: "Lists the files of the workspace, newest first. Tools accept their ids as `file_id`.",
      inputSchema: {
        type: "object",
        properties: {
          after: { type: "string", description: "Id of a file; the page starts after this file." },
          limit: { type: "integer", minimum: 1, maximum: 1000, default: 50 },
        },
      },
      annotations: READS,
    },
    async call(api, args) {
      const after = textOf(args, "after", "");
      const query = { limit: String(wholeNumberOf(args, "limit", 50, 1_000)), ...(after === "" ? {} : { after }) };
      return toolResult((await (await api.ask("listFiles", { query })).json()) as object);
    },
  },
  {
    tool: {
      name: "get_file_link",
      title: "Link to a file",
      description: "Returns a link to a stored file. The link needs no key and expires after about an hour.",
      inputSchema: { type: "object", properties: { file_id: { type: "string" } }, required: ["file_id"] },
      annotations: READS,
    },
    async call(api, args) {
      const id = textOf(args, "file_id");
      const file = (await (await api.ask("getFile", { params: { file_id: id } })).json()) as StoredFile;
      if (!isFileId(id)) {
        throw new ApiError("unsupported_value", "Sample files have no links; send their ids to tools.", {
          param: "file_id",
        });
      }
      const { links, config } = api.context;
      const base = config.publicUrl ?? new URL(api.call.request.url).origin;
      const url = links.url(base, api.caller.workspaceId, id);
      return toolResult({ ...file, url }, undefined, [fileLink(url, file.filename, file.bytes)]);
    },
  },
  {
    tool: {
      name: "get_result",
      title: "Get a result",
      description:
        "Returns the result of a job or run by its id. Errors about unfinished work contain this id. Free of charge.",
      inputSchema: {
        type: "object",
        properties: { id: { type: "string", description: "Id of a job or a run." } },
        required: ["id"],
      },
      annotations: READS,
    },
    async call(api, args) {
      const found = await findTask(api, textOf(args, "id"));
      if (!found)
        throw new ApiError("job_not_found", "There is no such job or run in this workspace.", { param: "id" });
      return found.result ?? toolResult(found.resource);
    },
  },
];
