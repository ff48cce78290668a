/** Names of the APIs that the list `endpoints` of a key or member can contain, and the paths that belong to each. */

const PREFIXES = {
  chat: ["/v1/chat/completions"],
  responses: ["/v1/responses", "/v1/conversations"],
  messages: ["/v1/messages"],
  embeddings: ["/v1/embeddings"],
  // Jobs of every kind are below /v1/images/jobs.
  images: ["/v1/images/generations", "/v1/images/edits"],
  speech: ["/v1/audio/speech"],
  transcriptions: ["/v1/audio/transcriptions"],
  videos: ["/v1/videos"],
  music: ["/v1/music"],
  "3d": ["/v1/3d"],
  capabilities: ["/v1/capabilities", "/v1/tools"],
  workflows: ["/v1/workflows", "/v1/pipelines"],
  batches: ["/v1/batches"],
  files: ["/v1/files"],
  mcp: ["/mcp"],
  settings: ["/workspaces"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type EndpointName = keyof typeof PREFIXES;

export const ENDPOINT_NAMES = Object.keys(PREFIXES) as readonly EndpointName[];

const ROWS: readonly (readonly [prefix: string, name: EndpointName])[] = ENDPOINT_NAMES.flatMap((name) =>
  PREFIXES[name].map((prefix) => [prefix, name] as const),
);

/**
 * Returns the name of the API that a path belongs to. Undefined for paths that every key may call, such as `/v1/key` and `/v1/models`.
 * @param path path of a route or of a request
 */
export function endpointNameOf(path: string): EndpointName | undefined {
  return ROWS.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1];
}
