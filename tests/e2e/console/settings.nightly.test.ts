/** Stories of settings in a browser: a key with tools, expiry and kept bodies; fallback chains; limits near their end; the audit log. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import { parse as parseCsv } from "csv-parse/sync";

import type { ApiKey, FallbackChain, PresetList } from "#schemas/generated/types.ts";
import { eventually } from "#tests/faults/wait.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;

beforeAll(async () => {
  bench = await openConsoleBench();
}, 60_000);
afterAll(() => bench?.close());

/** Sends a request to a settings route of the workspace, or to a path below /v1, and returns its response. */
async function ask<Answer>({ key, workspace }: Tenant, method: string, path: string, body?: object): Promise<Answer> {
  const url = path.startsWith("/v1/") ? path : `/workspaces/${workspace.id}${path}`;
  const response = await fetch(`${bench.baseUrl}${url}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`expected ${method} ${path} to succeed, got ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

const chat = (tenant: Tenant, model = "sandbox-chat") =>
  ask(tenant, "POST", "/v1/chat/completions", { model, messages: [{ role: "user", content: "Hello" }] });

test("a key is created and changed with its preset, expiry, tools and kept bodies", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const { page, faults } = await bench.open("/keys", { key: tenant.key });
  const { data: presets } = await ask<PresetList>(tenant, "GET", "/presets");
  const preset = presets.findLast((one) => one.can_be_given)?.name ?? "";

  await page.getByRole("button", { name: "Create key" }).click();
  const created = page.getByRole("dialog", { name: "Create key" });
  await created.getByLabel("Name").fill("service");
  await created.getByLabel("Tools").fill("image.*, document.extract_text");
  await created.getByLabel("Endpoints").fill("chat, capabilities");
  await created.getByLabel("Keep requests and responses").selectOption({ label: "Of failed calls" });
  await created.getByLabel("Delete them after").fill("24");
  await created.getByLabel("Fields to redact").fill("email, address");
  await created.getByLabel("Redact card numbers").check();
  await created.getByText("Small limits need chat calls that set Max completion tokens.").waitFor();
  const models = created.getByLabel("Models");
  await models.fill("sandbox-*, no-such-model");
  await created.getByRole("button", { name: "Create key" }).click();
  await created
    .locator(".field", { has: page.getByLabel("Models") })
    .locator(".hint.error")
    .waitFor();
  expect(await models.evaluate((field) => field.ownerDocument.activeElement === field)).toBe(true);
  expect(await created.getByRole("alert").count()).toBe(0);
  await models.fill("");
  await created.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("I have stored the key").check();
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "service" }).click();
  const id = /\/keys\/([\w-]+)$/.exec(page.url())?.[1] ?? "";
  const read = () => ask<ApiKey>(tenant, "GET", `/api-keys/${id}`);
  const bodies = {
    keep: "errors",
    retention_hours: 24,
    redact: { members: ["address", "email"], patterns: ["card_numbers"] },
  };
  expect(await read()).toMatchObject({
    tools: ["document.extract_text", "image.*"],
    limits: { endpoints: ["chat", "capabilities"] },
    expires_at: null,
    bodies,
  });

  const change = async (fill: (dialog: ReturnType<typeof page.getByRole>) => Promise<unknown>): Promise<void> => {
    await page.getByRole("button", { name: "Change key" }).click();
    const dialog = page.getByRole("dialog", { name: /^Change/ });
    await fill(dialog);
    await dialog.getByRole("button", { name: "Save key" }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await change(async (dialog) => {
    await dialog.getByLabel(/^Expires/).fill("2099-01-02T03:04");
    await dialog.getByLabel("Preset").selectOption(preset);
  });
  expect(await read()).toMatchObject({ expires_at: "2099-01-02T03:04:00.000Z", preset, bodies });

  await change(async (dialog) => {
    await dialog.getByLabel(/^Expires/).fill("");
    await dialog.getByLabel("Tools").fill("");
    await dialog.getByLabel("Keep requests and responses").selectOption({ label: "As the workspace" });
  });
  expect(await read()).toMatchObject({ expires_at: null, tools: null, bodies: null, preset });
  expect(faults.filter((fault) => !fault.includes("status of 400"))).toEqual([]);
});

test("an error of a new key that concerns no field is shown in the dialog", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const { key = "" } = await ask<ApiKey>(tenant, "POST", "/api-keys", {
    name: "limited",
    limits: { credits: { day: 5 } },
  });
  const { page } = await bench.open("/keys", { key });
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("second");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByRole("alert").getByText("A key with a credit limit cannot create keys").waitFor();
});

test("a key is found by a part of its name and by its start, and a whole key does not become part of the URL", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const { key = "" } = await ask<ApiKey>(tenant, "POST", "/api-keys", { name: "Nightly build" });
  await ask(tenant, "POST", "/api-keys", { name: "billing" });
  const { page, faults } = await bench.open("/keys", { key: tenant.key });
  await page.getByRole("link", { name: "billing" }).waitFor();
  for (const text of ["nightly", key]) {
    await page.getByLabel("Name or start of key").fill(text);
    await page.getByLabel("Name or start of key").press("Enter");
    await page.getByRole("link", { name: "billing" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Nightly build" }).waitFor();
    expect(page.url()).not.toContain(key);
    await page.getByLabel("Name or start of key").fill("");
    await page.getByLabel("Name or start of key").press("Enter");
    await page.getByRole("link", { name: "billing" }).waitFor();
  }
  await page.getByLabel("Name or start of key").fill("absent");
  await page.getByLabel("Name or start of key").press("Enter");
  await page.getByText("No keys match").waitFor();
  expect(faults).toEqual([]);
});

test("the palette finds objects by name and pages of the docs, and changes the colours, also of the docs", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const { id, key = "" } = await ask<ApiKey>(tenant, "POST", "/api-keys", { name: "Nightly build" });
  const { page, faults } = await bench.open("/", { key: tenant.key, browser: { colorScheme: "light" } });
  const palette = page.getByRole("dialog", { name: "Go to" });
  const jump = async (text: string, name: string): Promise<void> => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await palette.getByLabel("Name or id").fill(text);
    await palette.getByText(name, { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
  };
  await jump("NIGHTLY", "Key Nightly build");
  await page.getByRole("complementary", { name: "Nightly build" }).waitFor();
  expect(page.url()).toEndWith(`/console/keys/${id}`);
  await jump("sandbox-music", "Model sandbox-music");
  await page.getByRole("complementary", { name: "sandbox-music" }).waitFor();
  const theme = () => page.evaluate<string | undefined>("document.documentElement.dataset.theme");
  await jump("dark", "Dark colours");
  expect(await theme()).toBe("dark");
  await jump("retry", "Search the documentation for “retry”");
  await page.waitForURL("**/docs/search?q=retry");
  expect(await theme()).toBe("dark");
  await page.goBack();
  await jump("system", "System colours");
  expect(await theme()).toBeUndefined();
  await page.keyboard.press("Control+k");
  await palette.getByLabel("Name or id").fill(key);
  await palette.getByText("No page has this name").waitFor();
  await page.keyboard.press("Escape");
  await jump("documentation", "Documentation");
  await page.waitForURL("**/docs");
  expect(await theme()).toBeUndefined();
  expect(faults).toEqual([]);
});

test("a fallback chain is created with weights, reordered, serves calls, and is deleted", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const { page, faults } = await bench.open("/fallbacks", { key: tenant.key });
  await page.getByRole("button", { name: "Create chain" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Create chain" });
  await dialog.getByLabel("Model", { exact: true }).fill("sandbox-error");
  await dialog.getByLabel("Fallback 1", { exact: true }).fill("sandbox-chat");
  await dialog.getByRole("button", { name: "Add fallback" }).click();
  await dialog.getByLabel("Fallback 2", { exact: true }).fill("sandbox-backup");
  await dialog.getByLabel("Draw the first model of each call by weight").check();
  await dialog.getByLabel("Weight of the model").fill("much");
  await dialog.getByRole("button", { name: "Save chain" }).click();
  await dialog.getByText("Expected the weight of sandbox-error to be a whole number").waitFor();
  await dialog.getByLabel("Weight of the model").fill("1");
  await dialog.getByLabel("Weight 1", { exact: true }).fill("3");
  await dialog.getByLabel("Draw", { exact: true }).selectOption("user");
  await dialog.getByRole("button", { name: "Move fallback 2 up" }).click();
  await dialog.getByRole("button", { name: "Save chain" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("sandbox-chat 75 %").waitFor();

  const stored = await ask<FallbackChain>(tenant, "GET", "/fallback-chains/sandbox-error");
  expect(stored).toMatchObject({
    fallbacks: [
      { model: "sandbox-backup", weight: 0 },
      { model: "sandbox-chat", weight: 3 },
    ],
    weight: 1,
    sticky: "user",
    continue_streams: false,
  });
  await eventually("served by the chain", () => chat(tenant, "sandbox-error").then(Boolean, () => false));

  await page.getByRole("button", { name: "Create chain" }).click();
  await dialog.getByLabel("Model", { exact: true }).fill("sandbox-error");
  await dialog.getByLabel("Fallback 1", { exact: true }).fill("sandbox-chat");
  const save = dialog.getByRole("button", { name: "Save chain" });
  expect(await save.getAttribute("title")).toContain("has a chain");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard changes" }).click();

  await page.getByRole("button", { name: "Actions of sandbox-error" }).click();
  await page.getByRole("button", { name: "Delete chain" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete chain" }).click();
  await page.getByText("No fallback chains").waitFor();
  expect(faults).toEqual([]);
});

test("the overview lists a member and a key near their limits, each with a link to its limits", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const limits = { credits: { total: 1 } };
  const body = { name: "Dana", role: "developer", limits };
  const member = await ask<{ readonly id: string }>(tenant, "POST", "/members", body);
  const made = await ask<ApiKey>(tenant, "POST", "/api-keys", { name: "build", member_id: member.id, limits });
  await chat({ ...tenant, key: made.key ?? "" });
  await bench.stack.settled();
  const { limit_usage: usage } = await ask<ApiKey>(tenant, "GET", `/api-keys/${made.id}`);
  const used = usage?.total?.credits_used ?? 0;
  expect(used).toBeGreaterThan(0);
  const nearly = { limits: { credits: { total: Math.round(used * 1.1 * 1e9) / 1e9 } } };
  await ask(tenant, "PATCH", `/members/${member.id}`, nearly);
  await ask(tenant, "PATCH", `/api-keys/${made.id}`, nearly);

  const { page, faults } = await bench.open("/", { key: tenant.key });
  for (const [title, name, path] of [
    ["Member “Dana”", "Dana", `/members/${member.id}`],
    ["Key “build”", "build", `/keys/${made.id}`],
  ] as const) {
    await page.goto(`${bench.baseUrl}/console/`);
    await page.getByRole("link", { name: `${title} has used 91 % of its total limit` }).click();
    const sheet = page.getByRole("complementary", { name });
    await sheet.getByRole("img", { name: "91 % of the total limit used" }).waitFor();
    expect(page.url()).toEndWith(path);
  }
  expect(faults).toEqual([]);
});

test("the table of usage has a row for a model that only the earlier period has, and is exported in its order", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  await chat(tenant);
  await bench.stack.settled();
  const sums = "'00000000-0000-0000-0000-000000000000', 'succeeded', 7, 7000000000, 0, 70";
  const columns = "model, workflow_id, status, calls, settled, uncollected, tokens";
  for (const [table, keyColumn, key] of [
    ["usage_hour", "hour, key_id", ", id"],
    ["usage_by_day", "day, key_id", ", id"],
    ["usage_model_by_day", "day", ""],
  ] as const) {
    await bench.stack.query(
      `insert into ${table} (workspace_id, ${keyColumn}, ${columns})
       select workspace_id, date_trunc('day', now(), 'UTC') - make_interval(days => day)${key}, model, ${sums}
       from api_key, (values (45, 'sandbox-embed'), (1, 'sandbox-video')) as past (day, model) where workspace_id = $1`,
      [tenant.workspace.id],
    );
  }
  const { page, faults } = await bench.open("/usage", { key: tenant.key });
  const row = page.getByRole("row", { name: "sandbox-embed" });
  await row.waitFor();
  const cells = await row.getByRole("cell").allTextContents();
  expect(cells).toContain("−100.0 %");
  expect(cells.at(-1)).toBe("0.00000");
  await page.getByText("against 7.00 in the period before").waitFor();
  await page.getByRole("button", { name: "Export" }).click();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "CSV of the table" }).click(),
  ]);
  const exported: Record<string, string>[] = parseCsv(readFileSync(await saved.path()), { columns: true });
  expect(exported.map(({ model }) => model)).toEqual(["sandbox-video", "sandbox-chat"]);
  const listed = await page.locator("tbody td.main").allTextContents();
  expect(listed).toEqual(["sandbox-video", "sandbox-chat", "sandbox-embed"]);
  expect(faults).toEqual([]);
});

test("the export of the ledger has the entries of the chosen time only", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const { page } = await bench.open("/credits", { key: tenant.key });
  const countExported = async (): Promise<number> => {
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    return parseCsv(readFileSync(await saved.path()), { columns: true }).length;
  };
  expect(await countExported()).toBe(1);
  await page.goto(`${bench.baseUrl}/console/credits?start_time=2099-01-01T00:00:00.000Z`);
  expect(await countExported()).toBe(0);
});

test("usage of many groups has the largest in the table, and the sum of the others in the table and for every day of the chart", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const days = 29;
  await bench.stack.query(
    `insert into usage_key_by_day (workspace_id, day, key_id, status, calls, settled, uncollected, tokens)
     select $1, date_trunc('day', now(), 'UTC') - make_interval(days => day), key_id, 'succeeded', 1, 1000000000, 0, 1
     from generate_series(1, ${days}) as day, (select gen_random_uuid() as key_id from generate_series(1, 400)) as keys`,
    [tenant.workspace.id],
  );
  const { page, faults } = await bench.open("/usage?by=key", { key: tenant.key });
  await page.getByText("11,600.00").first().waitFor();
  const chart = page.getByRole("main").getByRole("img").first();
  expect(await chart.locator("rect.f6").count()).toBe(days);
  const others = page.getByRole("row", { name: "others" });
  expect(await others.getByRole("cell").last().textContent()).toBe("10,150.00000");
  expect(await page.getByRole("row").count()).toBe(1 + 50 + 1);
  // The keys of these sums do not exist.
  expect(faults.filter((fault) => !fault.includes("status of 404"))).toEqual([]);
});

test("the audit log shows the changed members with their old and new values", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const { id } = await ask<ApiKey>(tenant, "POST", "/api-keys", { name: "before", tools: ["image.*"] });
  await ask(tenant, "PATCH", `/api-keys/${id}`, { name: "after" });
  const { page, faults } = await bench.open(`/audit?subject=${id}`, { key: tenant.key });
  await page.getByRole("link", { name: "key.update" }).click();
  const sheet = page.getByRole("complementary", { name: "key.update" });
  expect(await sheet.locator(".diff dt").allTextContents()).toEqual(["name"]);
  expect(await sheet.locator(".diff del").allTextContents()).toEqual(["Before: before"]);
  expect(await sheet.locator(".diff ins").allTextContents()).toEqual(["After: after"]);
  expect(faults).toEqual([]);
});

test("the settings list the presets and keep the redaction of kept bodies", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const bodies = { keep: "errors", retention_hours: 24, redact: { members: ["email"], patterns: ["emails"] } };
  await ask(tenant, "PATCH", "", { bodies });
  const { page, faults } = await bench.open("/settings", { key: tenant.key });
  const { data } = await ask<PresetList>(tenant, "GET", "/presets");
  await page.getByRole("cell", { name: data[0]?.name ?? "", exact: true }).waitFor();
  await page.getByLabel("Keep requests and responses").selectOption({ label: "Of all calls" });
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("Settings are saved").waitFor();
  expect(await ask<object>(tenant, "GET", "")).toMatchObject({ bodies: { ...bodies, keep: "all" } });
  expect(faults).toEqual([]);
});
