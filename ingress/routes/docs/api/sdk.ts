/** Operations for which the official OpenAI or Anthropic SDK has its own method. */

interface SdkCall {
  readonly sdk: "openai" | "anthropic";
  readonly method: string;
  /** Properties that the SDK method accepts. A call with any other property is shown over HTTP. */
  readonly takes: readonly string[];
}

const CALLS: Readonly<Record<string, SdkCall>> = {
  createChatCompletion: {
    sdk: "openai",
    method: "chat.completions.create",
    takes: ["model", "messages", "max_tokens", "max_completion_tokens", "temperature", "tools", "response_format"],
  },
  createResponse: {
    sdk: "openai",
    method: "responses.create",
    takes: ["model", "input", "instructions", "max_output_tokens", "temperature", "store"],
  },
  createEmbeddings: { sdk: "openai", method: "embeddings.create", takes: ["model", "input", "dimensions"] },
  createImage: {
    sdk: "openai",
    method: "images.generate",
    takes: ["model", "prompt", "size", "n", "quality", "response_format"],
  },
  createBatch: {
    sdk: "openai",
    method: "batches.create",
    takes: ["input_file_id", "endpoint", "completion_window", "metadata"],
  },
  createMessage: {
    sdk: "anthropic",
    method: "messages.create",
    takes: ["model", "messages", "max_tokens", "system", "temperature"],
  },
};

const CLIENTS = {
  openai: { python: "from openai import OpenAI", name: "OpenAI", package: "openai", path: "/v1" },
  anthropic: { python: "from anthropic import Anthropic", name: "Anthropic", package: "@anthropic-ai/sdk", path: "" },
} as const;

export interface SdkSnippets {
  readonly python: string;
  readonly js: string;
}

/**
 * Returns example programs that use the SDK; undefined if the SDK has no method for the operation.
 * @param python renders a value as a Python literal whose further lines are indented by `indent` spaces
 */
export function sdkSnippets(
  operationId: string,
  json: unknown,
  base: string,
  python: (value: unknown, indent: number) => string,
): SdkSnippets | undefined {
  const call = Object.hasOwn(CALLS, operationId) ? CALLS[operationId] : undefined;
  if (!call || typeof json !== "object" || json === null) return undefined;
  const entries = Object.entries(json);
  if (entries.some(([name]) => !call.takes.includes(name))) return undefined;
  const client = CLIENTS[call.sdk];
  const options = entries.map(([name, value]) => `    ${name}=${python(value, 4)},`);
  return {
    python: `import os
${client.python}

client = ${client.name}(base_url="${base}${client.path}", api_key=os.environ["SLUICE_KEY"])
result = client.${call.method}(
${options.join("\n")}
)
print(result)`,
    js: `import ${client.name} from "${client.package}";

const client = new ${client.name}({ baseURL: "${base}${client.path}", apiKey: process.env.SLUICE_KEY });
const result = await client.${call.method}(${JSON.stringify(json, null, 2)});`,
  };
}
