/** Checks all responses from watched addresses with check.ts while a client reads them. Works with any client that a test uses. */
/** Names of the schemas of an operation's responses, in each published description. */
export interface Operation {
  readonly openai?: string;
  readonly "open-responses"?: string;
  /** Type of the frames of the operation's event stream; undefined if it has none. */
  readonly stream?: "response" | "chat";
}

const RESPONSE: Operation = { openai: "Response", "open-responses": "ResponseResource", stream: "response" };
const CONVERSATION: Operation = { openai: "ConversationResource" };
const BATCH: Operation = { openai: "Batch" };

/** Operations with a published description, by method and URL path. The first match applies. */
const OPERATIONS: readonly (readonly [string, RegExp, Operation])[] = [
  ["POST", /^\/v1\/responses$/, RESPONSE],
  ["POST", /^\/v1\/responses\/compact$/, { openai: "CompactResource", "open-responses": "CompactResource" }],
  ["POST", /^\/v1\/responses\/input_tokens$/, { openai: "TokenCountsResource" }],
  ["GET", /^\/v1\/responses\/[^/]+$/, RESPONSE],
  ["DELETE", /^\/v1\/responses\/[^/]+$/, {}],
  ["POST", /^\/v1\/responses\/[^/]+\/cancel$/, RESPONSE],
  ["GET", /^\/v1\/responses\/[^/]+\/input_items$/, { openai: "ResponseItemList" }],
  ["POST", /^\/v1\/conversations(\/[^/]+)?$/, CONVERSATION],
  ["GET", /^\/v1\/conversations\/[^/]+$/, CONVERSATION],
  ["DELETE", /^\/v1\/conversations\/[^/]+$/, { openai: "DeletedConversationResource" }],
  ["POST", /^\/v1\/conversations\/[^/]+\/items$/, { openai: "ConversationItemList" }],
  ["GET", /^\/v1\/conversations\/[^/]+\/items$/, { openai: "ConversationItemList" }],
  ["GET", /^\/v1\/conversations\/[^/]+\/items\/[^/]+$/, { openai: "ConversationItem" }],
  ["DELETE", /^\/v1\/conversations\/[^/]+\/items\/[^/]+$/, CONVERSATION],
  ["POST", /^\/v1\/batches(\/[^/]+\/cancel)?$/, BATCH],
  ["GET", /^\/v1\/batches$/, { openai: "ListBatchesResponse" }],
  ["GET", /^\/v1\/batches\/[^/]+$/, BATCH],
  ["POST", /^\/v1\/chat\/completions$/, { openai: "CreateChatCompletionResponse", stream: "chat" }],
  ["POST", /^\/v1\/embeddings$/, { openai: "CreateEmbeddingResponse" }],
  ["GET", /^\/v1\/models$/, { openai: "ListModelsResponse" }],
  ["GET", /^\/v1\/models\/[^/]+$/, { openai: "Model" }],
];

/** Returns the published operation that a request calls; undefined if neither description contains it. */
export function findOperation(method: string, path: string): Operation | undefined {
  return OPERATIONS.find(([name, pattern]) => name === method && pattern.test(path))?.[2];
}

const watched = new Set<string>();
const faults = new Set<string>();
const checking = new Set<Promise<void>>();

const LINES_MAX = 60;

/** Starts checking all responses from this address. */
export function watch(baseUrl: string): void {
  watched.add(new URL(baseUrl).host);
}

/**
 * Waits for all running checks and clears the recorded differences.
 * @throws Error if a response differed from the published descriptions
 */
export async function expectNoFault(): Promise<void> {
  await Promise.all(checking);
  if (faults.size === 0) return;
  const lines = [...faults].slice(0, LINES_MAX);
  faults.clear();
  throw new Error(`answers differ from the published descriptions (tests/support/published):\n${lines.join("\n")}`);
}

/** Wraps `fetch` and `WebSocket` of this process, so that responses from watched addresses are checked. */
export function installWatch(): void {
  const { fetch: ownFetch, WebSocket: OwnWebSocket } = globalThis;
  const watching = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const answer = await ownFetch(input, init);
    const request = input instanceof Request ? input : undefined;
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers ?? request?.headers);
    // Responses for Anthropic's clients have another description.
    if (!watched.has(url.host) || headers.has("anthropic-version")) return answer;
    const method = init?.method ?? request?.method ?? "GET";
    const operation = findOperation(method.toUpperCase(), url.pathname);
    return operation ? observed(answer, operation, `${method} ${url.pathname}`) : answer;
  };
  globalThis.fetch = Object.assign(watching, { preconnect: ownFetch.preconnect });
  globalThis.WebSocket = new Proxy(OwnWebSocket, {
    construct(target, args: ConstructorParameters<typeof WebSocket>) {
      const socket = new target(...args);
      const { host, pathname } = new URL(args[0]);
      if (watched.has(host) && pathname === "/v1/responses") {
        socket.addEventListener("message", ({ data }: MessageEvent) =>
          check(async () => (await import("./check.ts")).frameFaults("socket", JSON.parse(String(data))), pathname),
        );
      }
      return socket;
    },
  });
}

function check(find: () => Promise<readonly string[]>, where: string): void {
  const work = find().then(
    (found) => found.forEach((fault) => faults.add(`${where}: ${fault}`.replaceAll(/\/\d+(?=[/ ])/g, "/*"))),
    (error: unknown) => void faults.add(`${where}: ${String(error)}`),
  );
  checking.add(work);
  void work.finally(() => checking.delete(work));
}

/** Returns a response with the same content. While the client reads it, it is checked against the published descriptions. */
function observed(answer: Response, operation: Operation, where: string): Response {
  const { status, statusText, headers, url, body } = answer;
  if (!body) return answer;
  const type = headers.get("content-type") ?? "";
  const decoder = new TextDecoder();
  let text = "";
  const take = (isEnd: boolean): void => {
    const { stream } = operation;
    if (type.startsWith("text/event-stream")) {
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      const said = frames.flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? []);
      if (said.length > 0 && stream) {
        check(async () => {
          const { frameFaults } = await import("./check.ts");
          return said.flatMap((data) => frameFaults(stream, JSON.parse(data)));
        }, where);
      }
    } else if (isEnd && type.startsWith("application/json") && text !== "") {
      const whole = text;
      check(async () => (await import("./check.ts")).bodyFaults(operation, status, JSON.parse(whole)), `${where} ${status}`); // prettier-ignore
    }
  };
  const observer = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      controller.enqueue(piece);
      text += decoder.decode(piece, { stream: true });
      take(false);
    },
    flush: () => take(true),
  });
  const same = new Response(body.pipeThrough(observer), { status, statusText, headers });
  return Object.defineProperty(same, "url", { value: url });
}
