/**
 * Lists, side sheets, dialogs, runs and results of a workspace that has been used: in light and dark, on a laptop and a phone, accessible,
 * without errors and sideways scroll. With `SCREENSHOTS=<folder>`, each is also drawn into that folder.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import type {
  ApiKey,
  Batch,
  Channel,
  Delivery,
  Job,
  StoredFile,
  Workflow,
  WorkflowRun,
} from "#schemas/generated/types.ts";
import { type Receiver, startReceiver } from "#tests/e2e/notifications/bench.ts";
import { eventually } from "#tests/faults/wait.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;
let receiver: Receiver;
let tenant: Tenant;
/** Ids of the objects that the views show. */
const ids = {
  key: "",
  refused: "",
  retried: "",
  failed: "",
  workflow: "",
  succeededRun: "",
  failedRun: "",
  openRun: "",
  channel: "",
  delivery: "",
  picture: "",
  recording: "",
  openJob: "",
  batch: "",
};

beforeAll(async () => {
  [bench, receiver] = await Promise.all([
    openConsoleBench({
      pools: ["chat", "image", "audio", "video", "capability", "workflow", "webhook"],
      env: { SLUICE_OUTBOUND_ALLOW: "127.0.0.1" },
    }),
    startReceiver(),
  ]);
  tenant = await asNewWorkspace(bench.stack);
  for (const add of [addPast, addSettings, addCalls, addDeliveries, addWork, addRuns]) await add();
  await bench.stack.query("update workspace set name = 'Northwind Media' where id = $1", [tenant.workspace.id]);
}, 180_000);
afterAll(async () => {
  await receiver?.close();
  await bench?.close();
});

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** Sends a request to the API. Returns the body of its response. */
async function send<Body>(path: string, body?: unknown, { method, headers, key }: Sent = {}): Promise<Body> {
  const response = await respond(path, body, {
    ...(method && { method }),
    ...(headers && { headers }),
    ...(key && { key }),
  });
  if (!response.ok) throw new Error(`expected ${path} to succeed, got ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

function respond(path: string, body: unknown, { method, headers, key = tenant.key }: Sent = {}): Promise<Response> {
  return fetch(`${bench.baseUrl}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body instanceof FormData || body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
}

const settings = (path: string): string => `/workspaces/${tenant.workspace.id}${path}`;

/** Adds the sums of two months of calls, as the roll-up leaves them. */
async function addPast(): Promise<void> {
  const { query, workspace } = { query: bench.stack.query, workspace: tenant.workspace };
  const [key] = await query<{ id: string }>("select id from api_key where workspace_id = $1", [workspace.id]);
  await query(
    `with sums as (
       select date_trunc('day', now(), 'UTC') - day * interval '1 day' as day, model, status,
              ((40 + 25 * sin(day * 0.9) + 3 * (day % 7)) * weight * share)::bigint as calls,
              case status when 'failed' then 0 else price end as price
       from generate_series(1, 60) day
       cross join (values ('sandbox-chat', 4.0, 21000000), ('sandbox-image', 1.0, 900000000), ('sandbox-tts', 0.6, 130000000),
                          ('sandbox-embed', 2.0, 400000), ('sandbox-video', 0.1, 6000000000), ('sandbox-backup', 0.5, 40000000),
                          ('sandbox-stt', 0.3, 60000000)) m(model, weight, price)
       cross join (values ('succeeded', 1.0), ('failed', 0.08)) s(status, share)
       where status = 'succeeded' or day % 3 = 0)
     insert into usage_by_day (workspace_id, day, key_id, model, workflow_id, status, calls, settled, uncollected, tokens, latencies)
     select $1, day, $2, model, '00000000-0000-0000-0000-000000000000', status, calls, calls * price, 0, calls * 420,
            calls * latency_count(status, day, day + interval '900 milliseconds')
     from sums`,
    [workspace.id, key?.id ?? ""],
  );
}

async function addSettings(): Promise<void> {
  await send(settings(""), { tags: ["project"], bodies: { keep: "all", retention_hours: 24 } }, { method: "PATCH" });
  const ada = await send<{ id: string }>(settings("/members"), {
    name: "Ada Brandt",
    email: "ada.brandt@example.com",
    role: "developer",
    limits: { credits: { month: 400 } },
  });
  await send(settings("/members"), { name: "Invoice service", role: "billing" });
  const { id } = await send<ApiKey>(settings("/api-keys"), {
    name: "web-app production",
    member_id: ada.id,
    expires_at: "2099-01-01T00:00:00Z",
    limits: {
      credits: { day: 0.02, month: 300 },
      warn_at: [80],
      models: ["sandbox-chat", "sandbox-embed", "sandbox-image"],
      endpoints: ["chat", "embeddings", "images"],
      ips: ["10.0.0.0/8", "127.0.0.1"],
    },
  });
  ids.key = id;
  const revoked = await send<ApiKey>(settings("/api-keys"), { name: "ci-nightly" });
  await send(settings(`/api-keys/${revoked.id}`), undefined, { method: "DELETE" });
  await send(settings("/budget-alerts"), {
    name: "Monthly budget of the studio",
    threshold_credits: 5000,
    period: "monthly",
  });
  await send(settings("/budget-alerts"), {
    name: "Daily stop",
    threshold_credits: 0.01,
    period: "daily",
    warn_at: [50, 80],
  });
  await send(settings("/balance-alerts"), { name: "Top up in time", below_days: 14 });
  await send(settings("/end-users/alice%40example.com/limits"), { credits: { day: 0.5 } }, { method: "PUT" });
  await send(settings("/tags/project/atlas/limits"), { credits: { month: 25 } }, { method: "PUT" });
}

async function addCalls(): Promise<void> {
  const ask = async (model: string, more: object = {}, headers: Record<string, string> = {}): Promise<string> => {
    const content = "Write one sentence about a lake at dawn.";
    // Without a limit of the output, the hold of one call would use up the limit of the end user until it is settled.
    const body = { model, max_tokens: 100, messages: [{ role: "user", content }], ...more };
    const response = await respond("/v1/chat/completions", body, { headers });
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  };
  const alice = { "x-tags": "user=alice@example.com, project=atlas" };
  const embedding = { model: "sandbox-embed", input: "a lake at dawn" };
  await eventually("the tag is known", async () => (await respond("/v1/embeddings", embedding, { headers: alice })).ok);
  await ask("sandbox-chat", {}, alice);
  ids.retried = await ask("sandbox-error", { fallbacks: ["sandbox-backup"] }, alice);
  ids.failed = await ask("sandbox-error");
  await ask("sandbox-two-sources");
  ids.refused = await ask("no-such-model");
}

/** Adds jobs, files and a batch. */
async function addWork(): Promise<void> {
  const jobOf = async (path: string, body: object): Promise<string> => {
    const response = await respond(path, body);
    await response.arrayBuffer();
    return response.headers.get("x-request-id") ?? "";
  };
  ids.picture = await jobOf("/v1/images/generations", {
    model: "sandbox-image",
    prompt: "a lake at dawn",
    size: "512x512",
  });
  ids.recording = await jobOf("/v1/audio/speech", { model: "sandbox-tts", input: "It works.", voice: "alloy" });
  await jobOf("/v1/images/generations", { model: "sandbox-image-error", prompt: "a lake" });
  ids.openJob = (
    await send<Job>("/v1/videos/generations", { model: "sandbox-video-hang", prompt: "A harbour in fog" })
  ).id;

  const form = new FormData();
  const line = (id: string, model: string): string =>
    JSON.stringify({
      custom_id: id,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model, messages: [{ role: "user", content: "Say exactly: done" }] },
    });
  const lines = [line("first", "sandbox-chat"), line("second", "sandbox-chat"), line("third", "sandbox-error")];
  form.append("purpose", "batch");
  form.append("file", new File([`${lines.join("\n")}\n`], "product-descriptions.jsonl"));
  const file = await send<StoredFile>("/v1/files", form);
  const batch = await send<Batch>("/v1/batches", {
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  ids.batch = batch.id;
  await eventually(
    "the batch ends",
    async () => (await send<Batch>(`/v1/batches/${batch.id}`)).status === "completed",
    60_000,
  );
}

const chat = (id: string, content: string, more: object = {}): object => ({
  id,
  type: "model",
  model: "sandbox-chat",
  params: { messages: [{ role: "user", content }] },
  ...more,
});

/** Adds a workflow of two versions with a succeeded, a failed and a running run. */
async function addRuns(): Promise<void> {
  const inputs = { topic: { type: "string", required: true, description: "Subject of the announcement." } };
  const output = { text: "${{ steps.translate.output.text }}" };
  const steps = [
    chat("outline", "Outline an announcement about ${{ inputs.topic }}."),
    chat("write", "Write it: ${{ steps.outline.output.text }}"),
    chat("translate", "Translate into German: ${{ steps.write.output.text }}"),
    chat("headline", "Find a headline for: ${{ steps.outline.output.text }}"),
  ];
  const first = await send<Workflow>("/v1/workflows", {
    name: "Announcement in two languages",
    definition: { inputs, steps: steps.slice(0, 3), output },
  });
  ids.workflow = first.id;
  const start = async (more: object, version?: number): Promise<string> =>
    (
      await send<WorkflowRun>(`/v1/workflows/${first.id}/runs`, {
        mode: "async",
        input: { topic: "the new harbour" },
        max_credits: 50,
        ...(version && { version }),
        ...more,
      })
    ).id;
  const save = (definition: object): Promise<unknown> =>
    send(`/v1/workflows/${first.id}`, { definition }, { method: "PUT" });
  const ended = (id: string): Promise<unknown> =>
    eventually(
      "the run ends",
      async () => (await send<WorkflowRun>(`/v1/workflows/runs/${id}`)).status !== "running",
      60_000,
    );
  ids.succeededRun = await start({});
  const broken = {
    ...chat("write", "Write it", { retry: { max_attempts: 2, delay_seconds: 1 } }),
    model: "sandbox-error",
  };
  await save({ inputs, steps: [steps[0], broken, steps[2], steps[3]], output });
  ids.failedRun = await start({});
  const video = {
    id: "teaser",
    type: "model",
    model: "sandbox-video-hang",
    params: { prompt: "${{ steps.outline.output.text }}" },
  };
  await save({ inputs, steps: [...steps, video], output });
  ids.openRun = await start({});
  await Promise.all([ended(ids.succeededRun), ended(ids.failedRun)]);
  await eventually("the video step runs", async () => {
    const { stepRuns } = await send<WorkflowRun>(`/v1/workflows/runs/${ids.openRun}`);
    return stepRuns.filter(({ status }) => status === "succeeded").length === 4;
  });
}

/** Adds a channel. Its first delivery succeeds, and all later deliveries fail. */
async function addDeliveries(): Promise<void> {
  const { id } = await send<Channel>(settings("/notification-channels"), {
    type: "webhook",
    name: "Billing hook",
    config: { url: `${receiver.url}/hooks/sluice` },
  });
  ids.channel = id;
  for (const event of ["run.failed", "job.failed", "balance.low"]) {
    await send(settings(`/notification-channels/${id}/subscriptions`), { event });
  }
  const test = async (): Promise<string> => {
    const { deliveryId } = await send<{ deliveryId: string }>(
      settings(`/notification-channels/${id}/test`),
      undefined,
      { method: "POST" },
    );
    await eventually("the delivery is attempted", async () => {
      const { attempts = [] } = await send<Delivery>(settings(`/deliveries/${deliveryId}`));
      return attempts.length > 0;
    });
    return deliveryId;
  };
  receiver.answer = () => ({ status: 200, body: "received" });
  await test();
  receiver.answer = () => ({ status: 502, body: "<html><body>502 Bad Gateway: the upstream is away</body></html>" });
  ids.delivery = await test();
}

interface View {
  readonly path: string;
  /** Opens the layer on the page. */
  readonly act?: (page: Page) => Promise<unknown>;
  /** True for a dialog or sheet, which is fixed to the window. */
  readonly isLayer?: boolean;
  /** Text that the view shows when it is complete. */
  readonly shows?: string;
}

const click = (name: string) => (page: Page) => page.getByRole("button", { name }).first().click();

/** Views by the name of their picture. */
const VIEWS: Readonly<Record<string, () => View>> = {
  "used-overview": () => ({ path: "/" }),
  "used-requests": () => ({ path: "/requests" }),
  "used-usage": () => ({ path: "/usage" }),
  "used-keys": () => ({ path: "/keys" }),
  "used-members": () => ({ path: "/members" }),
  "used-budgets": () => ({ path: "/budgets" }),
  "used-credits": () => ({ path: "/credits" }),
  "used-audit": () => ({ path: "/audit" }),
  "used-settings": () => ({ path: "/settings" }),
  "used-jobs": () => ({ path: "/jobs" }),
  "used-files": () => ({ path: "/files" }),
  "used-batches": () => ({ path: "/batches" }),
  "used-runs": () => ({ path: "/runs" }),
  "used-workflows": () => ({ path: "/workflows" }),
  "used-notifications": () => ({ path: "/notifications" }),
  "request-retried": () => ({ path: `/requests/${ids.retried}`, isLayer: true, shows: "Returned" }),
  "request-failed": () => ({ path: `/requests/${ids.failed}`, isLayer: true, shows: "Returned" }),
  "request-refused": () => ({ path: `/requests/${ids.refused}`, isLayer: true, shows: "Request · application/json" }),
  "key-sheet": () => ({ path: `/keys/${ids.key}`, isLayer: true, shows: "Addresses" }),
  "key-create": () => ({ path: "/keys", act: click("Create key"), isLayer: true }),
  "key-secret": () => ({
    path: "/keys",
    isLayer: true,
    shows: "I have stored the key",
    async act(page) {
      await click("Create key")(page);
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name").fill("mobile app");
      await dialog.getByRole("button", { name: "Create key" }).click();
    },
  }),
  "key-revoke": () => ({ path: `/keys/${ids.key}`, act: click("Revoke key"), isLayer: true }),
  "member-change": () => ({
    path: "/members",
    isLayer: true,
    async act(page) {
      await click("Actions of Ada Brandt")(page);
      await click("Change member")(page);
    },
  }),
  "budget-create": () => ({ path: "/budgets", act: click("Create budget"), isLayer: true }),
  "balance-create": () => ({ path: "/budgets", act: click("Create balance alert"), isLayer: true }),
  "limit-set": () => ({ path: "/budgets", act: click("Set limit"), isLayer: true }),
  "run-succeeded": () => ({ path: `/runs/${ids.succeededRun}?step=write.1`, shows: "Step “write”, attempt 1" }),
  "run-failed": () => ({ path: `/runs/${ids.failedRun}`, shows: "Step “write” failed" }),
  "run-open": () => ({ path: `/runs/${ids.openRun}`, shows: "The run has not ended yet." }),
  "run-cancel": () => ({ path: `/runs/${ids.openRun}`, act: click("Cancel run"), isLayer: true }),
  "workflow-page": () => ({ path: `/workflows/${ids.workflow}`, shows: "No faults." }),
  "workflow-fault": () => ({
    path: "/workflows/new",
    shows: "Line 6:",
    async act(page) {
      await page.getByLabel("Definition as JSON").click();
      await page.keyboard.press("Control+a");
      const steps = [{ ...chat("outline", "Outline it."), model: "no-such-model" }];
      await page.keyboard.insertText(JSON.stringify({ steps }, null, 2));
    },
  }),
  "workflow-versions": () => ({ path: `/workflows/${ids.workflow}/versions`, shows: "Changes from version" }),
  "workflow-runs": () => ({ path: `/runs?workflow=${ids.workflow}` }),
  "workflow-run-form": () => ({
    path: `/workflows/${ids.workflow}/run`,
    act: click("Run workflow"),
    shows: "Missing required",
  }),
  "channel-deliveries": () => ({ path: `/notifications/${ids.channel}` }),
  "channel-subscriptions": () => ({ path: `/notifications/${ids.channel}/subscriptions` }),
  "channel-settings": () => ({ path: `/notifications/${ids.channel}/settings` }),
  "channel-create": () => ({ path: "/notifications", act: click("Create channel"), isLayer: true }),
  "delivery-sheet": () => ({
    path: `/notifications/${ids.channel}/deliveries/${ids.delivery}`,
    isLayer: true,
    shows: "the upstream is away",
  }),
  "delivery-recover": () => ({ path: `/notifications/${ids.channel}`, act: click("Recover since…"), isLayer: true }),
  "job-picture": () => ({ path: `/jobs/${ids.picture}`, isLayer: true, shows: "Result" }),
  "job-recording": () => ({ path: `/jobs/${ids.recording}`, isLayer: true, shows: "Charged" }),
  "job-open": () => ({ path: `/jobs/${ids.openJob}`, isLayer: true, shows: "Cancel job" }),
  "file-sheet": () => ({ path: "/files/file-sample-photo", isLayer: true, shows: "photo.jpg · image/jpeg" }),
  "batch-sheet": () => ({ path: `/batches/${ids.batch}`, isLayer: true, shows: "Download results" }),
  "batch-create": () => ({ path: "/batches", act: click("Create batch"), isLayer: true }),
  "playground-answer": () => ({
    path: "/playground",
    shows: "Charged",
    async act(page) {
      await page.getByLabel("Message", { exact: true }).fill("Write one sentence about a lake at dawn.");
      await page.keyboard.press("Enter");
    },
  }),
  "playground-picture": () => ({
    path: "/playground/image",
    shows: "Charged",
    async act(page) {
      await page.getByLabel("Prompt", { exact: true }).fill("Hills at the edge of a lake");
      await page.getByRole("button", { name: "Run" }).click();
    },
  }),
  "playground-capability": () => ({ path: "/playground/capability?id=image.resize" }),
  "model-sheet": () => ({ path: "/models/sandbox-image", isLayer: true, shows: "Try it" }),
  "capability-sheet": () => ({ path: "/capabilities/image.resize", isLayer: true, shows: "Try it" }),
  palette: () => ({ path: "/", act: (page) => page.keyboard.press("Control+k"), isLayer: true }),
};

/** Two windows cover both themes and both widths. With `SCREENSHOTS`, all four combinations are drawn for a person to view. */
const WINDOWS = (["light", "dark"] as const)
  .flatMap((theme) => [1280, 390].map((width) => [theme, width] as const))
  .filter(([theme, width]) => process.env["SCREENSHOTS"] !== undefined || (theme === "light") === (width === 1280));

test.each(WINDOWS)(
  "in %s at %d px",
  async (theme, width) => {
    const view = await bench.open("/", {
      key: tenant.key,
      browser: { colorScheme: theme, viewport: { width, height: 900 } },
    });
    const { page } = view;
    const findings: string[] = [];
    for (const [name, of] of Object.entries(VIEWS)) {
      const { path, act, isLayer = false, shows } = of();
      await page.goto(`${bench.baseUrl}/console${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      try {
        await act?.(page);
        if (shows !== undefined) await page.getByText(shows).first().waitFor();
        findings.push(...(await view.inspect(name, { fullPage: !isLayer })));
      } catch (error) {
        findings.push(`${name}: ${String(error)}`);
      }
    }
    // The refused checks of the form without its input and of the definition with a fault.
    expect([...findings, ...view.faults.filter((fault) => !fault.includes("status of 400"))]).toEqual([]);
  },
  480_000,
);
