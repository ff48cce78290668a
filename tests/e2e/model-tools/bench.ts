/** A running service, and calls of models with tools that it runs. */
import type { ModelResponse } from "#schemas/generated/types.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

let started: Promise<Stack> | undefined;

export function sharedStack(): Promise<Stack> {
  started ??= startStack({ pools: ["chat", "capability", "image", "workflow"], env: { SLUICE_WORKER_SLOTS: "24" } });
  return started;
}

export async function newTenant(): Promise<Tenant> {
  return asNewWorkspace(await sharedStack());
}

export const MODEL = "sandbox-chat";
export const REGEX = { type: "sluice", capabilities: ["code.regex"] };
/** The sandbox calls what a prompt names, with what stands in quotes. */
export const USE_REGEX = 'Use code_regex on the text "abc" with the pattern "b".';
/** Such a run ends by its own time, after two seconds. */
export const ENDLESS = 'Use code_run_javascript. text: "while (true) 1"';
export const WEATHER = {
  name: "get_weather",
  description: "Current weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

export function post(
  { baseUrls, key }: Pick<Stack, "baseUrls" | "key">,
  path: string,
  body: object,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${baseUrls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

export interface Spent {
  readonly ids: readonly string[];
  readonly nano: number;
}

/** Records of a workspace since a time before. */
export async function spentOf(tenant: Tenant): Promise<Spent> {
  await tenant.settled();
  const rows = await tenant.query<{ job_id: string; settled: bigint }>(
    "select job_id, settled from usage_record where workspace_id = $1",
    [tenant.workspace.id],
  );
  return { ids: rows.map(({ job_id }) => job_id), nano: rows.reduce((sum, { settled }) => sum + Number(settled), 0) };
}

async function runs({ query, workspace }: Tenant): Promise<void> {
  const running = () => query("select id from job where workspace_id = $1 and state = 'running'", [workspace.id]);
  await eventually("it is at work", async () => (await running()).length === 1);
}

/** Revokes the key of a workspace while a run of it goes on. */
export async function revokeDuringRun(tenant: Tenant): Promise<void> {
  await runs(tenant);
  await tenant.query("update api_key set revoked_at = now() where workspace_id = $1", [tenant.workspace.id]);
}

/** Leaves the key of a workspace without a preset while a run of it goes on: its next call is refused, and the key stays active. */
export async function disarmDuringRun(tenant: Tenant): Promise<void> {
  await runs(tenant);
  await tenant.query("update api_key set preset = 'none' where workspace_id = $1", [tenant.workspace.id]);
}

/** Sends two bodies over one WebSocket, the second going on from the first's response, which only the connection knows. */
export async function askTwiceOverSocket(
  { baseUrls, key }: Tenant,
  first: object,
  second: object,
): Promise<readonly ModelResponse[]> {
  const headers = { authorization: `Bearer ${key}` };
  const address = `${baseUrls[0]?.replace("http", "ws")}/v1/responses`;
  const socket = new WebSocket(address, { headers } as unknown as string[]);
  const responses: ModelResponse[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const say = (body: object): void =>
    socket.send(JSON.stringify({ type: "response.create", model: MODEL, store: false, ...body }));
  socket.addEventListener("open", () => say(first));
  socket.addEventListener("close", () => reject(new Error("the connection ended")));
  socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
    const event = JSON.parse(data) as { readonly type: string; readonly response: ModelResponse };
    if (event.type === "error") reject(new Error(data));
    if (event.type !== "response.completed") return;
    responses.push(event.response);
    if (responses.length === 2) resolve();
    else say({ ...second, previous_response_id: event.response.id });
  });
  await promise;
  socket.close();
  return responses;
}
