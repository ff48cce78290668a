/** The operator's pages in a browser: sign-in with a token, every page with real data and its actions, and the scopes of tokens. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import { parse as parseCsv } from "csv-parse/sync";

import type { OperatorAuditLogList } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { noteOpenSource } from "#shared/database/source-breaker.ts";
import { admitLone, CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { eventually } from "#tests/faults/wait.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import manifest from "../../../package.json" with { type: "json" };
import {
  type ConsoleBench,
  type ConsolePage,
  INSPECTION_LIMIT_MS,
  navigationPaths,
  openConsoleBench,
  type OpenOptions,
} from "./bench.ts";

let bench: ConsoleBench;
let tenant: Tenant;
/** Name that has no part of the id. */
const workspaceName = "Night shift";
const tokens = { read: "", money: "" };
const HOUR_MS = 3_600_000;
/** Source that is disabled after errors. */
const SOURCE = "sandbox/sandbox-chat";

beforeAll(async () => {
  bench = await openConsoleBench();
  tenant = await asNewWorkspace(bench.stack);
  for (const scope of ["read", "money"] as const) {
    const answer = await bench.stack.command(
      "admin",
      "operator",
      "add",
      `${scope}-browser`,
      "--scope",
      scope,
      "--json",
    );
    tokens[scope] = (JSON.parse(answer.stdout) as { readonly token: string }).token;
  }
  const renamed = await fetch(`${bench.baseUrl}/operator/workspaces/${tenant.workspace.id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${tokens.money}`, "content-type": "application/json" },
    body: JSON.stringify({ name: workspaceName }),
  });
  expect(renamed.status).toBe(200);
  for (let count = 0; count < 2; count += 1) await failToSettle();
  await bench.stack.query(
    `insert into dead_letter (id, stream, stream_seq, subject, message_id, reason, deliveries, at)
     values ($1, 'POOL_chat', 1, $2, $1::uuid::text, 'claims used up', 6, clock_timestamp())`,
    [newId(), `work.chat.batch.${tenant.workspace.id}`],
  );
  await noteOpenSource(bench.stack, {
    pool: "chat",
    source: SOURCE,
    remainingMs: HOUR_MS,
    cooldownMs: 24_000,
    worker: newId(),
  });
  // A worker of another release, which counts as running until the end of the tests.
  await bench.stack.query(
    `insert into worker_slots (worker, pool, lane, slots, version, seen_at)
     values ($1, 'image', 'live', 4, '0.0.9', clock_timestamp() + interval '1 hour')`,
    [newId()],
  );
  const call = { workspaceId: tenant.workspace.id, jobId: newId(), amount: CREDIT, lifeMs: HOUR_MS };
  expect(await admitLone(bench.stack, call)).toBe(0);
}, 60_000);
afterAll(() => bench?.close());

/** Settles a call twice, which the second time closes its hold with a settle fault. */
async function failToSettle(): Promise<void> {
  const jobId = newId();
  for (const used of [CREDIT / 2n, CREDIT]) {
    expect(await admitLone(bench.stack, { workspaceId: tenant.workspace.id, jobId, amount: CREDIT })).toBe(0);
    await settleSingle(bench.stack, { jobId, used });
  }
}

type Session = NonNullable<NonNullable<OpenOptions["browser"]>["storageState"]>;

/** Sessions by token. Pages of the same token share the session, because an address may sign in only ten times a minute. */
const sessions = new Map<string, Session>();

async function signIn(token: string, path = "", browser: OpenOptions["browser"] = {}): Promise<ConsolePage> {
  const storageState = sessions.get(token);
  const view = await bench.open(`/operator${path}`, {
    key: null,
    browser: { ...browser, ...(storageState && { storageState }) },
  });
  if (storageState === undefined) {
    await view.page.getByLabel("Operator token").fill(token);
    await view.page.getByRole("button", { name: "Sign in" }).click();
  }
  await view.page.locator(".header.operator").waitFor();
  if (storageState !== undefined) return view;
  sessions.set(token, await view.page.context().storageState());
  // The page asks for a session before anybody has signed in, which the browser reports as an error.
  return signIn(token, path, browser);
}

describe("operator", () => {
  test("signs in, tops up a workspace once, and sees its balance and ledger", async () => {
    const { page, faults } = await signIn(tokens.money, "/workspaces");
    await page.getByRole("link", { name: workspaceName }).click();
    const sheet = page.getByRole("complementary", { name: workspaceName });
    await sheet.getByRole("button", { name: "Top up" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount").fill("250.5");
    await dialog.getByLabel("Note").fill("invoice 17");
    await dialog.getByRole("button", { name: "Top up" }).click();
    await sheet.getByRole("cell", { name: "Top-up invoice 17" }).waitFor();

    const [row] = await bench.stack.query<{ amount: bigint; source_id: string }>(
      "select amount, source_id from ledger_entry where workspace_id = $1 and kind = 'top_up' order by id desc limit 1",
      [tenant.workspace.id],
    );
    expect(row?.amount).toBe(250_500_000_000n);
    await page.goto(`${bench.baseUrl}/console/operator/audit?action=credits.top_up`);
    const subject = page.getByRole("cell", { name: `${workspaceName} + 250.5 credits` });
    await subject.waitFor();
    expect(await subject.getAttribute("title")).toBe(row?.source_id ?? "");
    expect(faults).toEqual([]);
  });

  test("sees a new token until it is stored, however often Escape is pressed", async () => {
    const { page } = await signIn(tokens.money, "/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("from-the-browser");
    await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
    const secret = page.getByRole("dialog", { name: "Token “from-the-browser”" });
    await secret.waitFor();
    for (let count = 0; count < 3; count += 1) await page.keyboard.press("Escape");
    await secret.waitFor();
    await secret.getByLabel("I have stored the token").check();
    await secret.locator("footer").getByRole("button", { name: "Close" }).click();
    await secret.waitFor({ state: "detached" });
    await page.getByRole("cell", { name: "from-the-browser" }).waitFor();
  });

  test("with the scope read sees every page, and no action is enabled", async () => {
    const { page } = await signIn(tokens.read, "/workspaces");
    const create = page.getByRole("button", { name: "Create workspace" });
    expect(await create.getAttribute("aria-disabled")).toBe("true");
    await create.click({ force: true });
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("every page of the navigation opens by keyboard, also from the menu of a phone", async () => {
    for (const width of [1280, 390]) {
      const { page, faults } = await signIn(tokens.money, "", { viewport: { width, height: 800 } });
      const links = page.locator("nav#nav li a");
      await links.getByText("open").first().waitFor({ state: "attached" });
      const texts = await links.allTextContents();
      expect(texts).toHaveLength(11);
      expect(texts).toEqual(expect.arrayContaining(["Dead letters 1 open", "Settle faults 2 open"]));
      const names = texts.map((text) => text.replace(/ \d+ open$/, ""));
      for (const name of names) {
        if (width === 390) await page.getByRole("button", { name: "Open navigation" }).press("Enter");
        await page
          .getByRole("navigation", { name: "Operator" })
          .getByRole("link", { name: new RegExp(`^${name}( \\d+ open)?$`) })
          .press("Enter");
        await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
      }
      expect(faults).toEqual([]);
    }
  });

  test("the figures of the status open their rows", async () => {
    const { page } = await signIn(tokens.read);
    for (const name of ["Workspaces", "Dead letters", "Settle faults"]) {
      await page.getByRole("region", { name: "Figures" }).getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page.goBack();
    }
  });

  test("the status lists the processes, and marks those of another version", async () => {
    const { page } = await signIn(tokens.read);
    await page.getByText(`Two versions are running: ${manifest.version}, 0.0.9.`).waitFor();
    const versionOf = async (name: string): Promise<string | null> =>
      page.getByRole("row", { name }).locator("td.key").textContent();
    expect(await versionOf("ingress")).toBe(manifest.version);
    expect(await versionOf("worker chat")).toBe(manifest.version);
    const other = page.getByRole("row", { name: "worker image 1 0.0.9" });
    expect(await other.locator(".badge.warn").textContent()).toBe("0.0.9");
  });

  test("the providers begin with a summary, which opens the models of a provider", async () => {
    const { page, faults } = await signIn(tokens.money, "/sources");
    const rows = page.locator("tbody tr");
    await rows.nth(1).waitFor();
    // The provider with a disabled source is first.
    const sandbox = rows.first();
    await sandbox.getByText("calls failed").waitFor();
    await sandbox.getByText(/^in \d+ min$/).waitFor();
    const numbers = (await sandbox.locator("td.num").allTextContents()).map(Number);
    const [models = 0, enabled, disabled, idle] = numbers;
    expect([enabled, disabled, idle]).toEqual([models - 1, 1, 0]);

    await sandbox.getByRole("link", { name: "sandbox" }).click();
    await page.getByRole("heading", { level: 1, name: "sandbox" }).waitFor();
    expect(await rows.count()).toBe(models);
    await rows.first().getByRole("link", { name: SOURCE, exact: true }).click();
    const sheet = page.getByRole("complementary", { name: SOURCE });
    await sheet.getByRole("button", { name: "Reset source" }).click();
    await sheet.getByText("Available").waitFor();
    await page.getByRole("main").getByRole("link", { name: "Providers" }).click();
    await page.getByRole("heading", { level: 1, name: "Providers" }).waitFor();
    const name = page.getByRole("link", { name: "sandbox", exact: true });
    await rows.filter({ has: name }).getByText("Available").waitFor();
    await sheet.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  test("resolves a settle fault with a note, which the audit log has under the name of the workspace", async () => {
    const { page, faults } = await signIn(tokens.money, "/settle-faults");
    const rows = page.getByRole("row").filter({ hasText: "The call was charged before" });
    await rows.nth(1).waitFor();
    expect(await rows.count()).toBe(2);
    await rows.first().getByRole("link", { name: workspaceName }).waitFor();
    await rows.first().getByRole("link", { name: "The call was charged before" }).press("Enter");
    const sheet = page.getByRole("complementary", { name: "The call was charged before" });
    await sheet.getByText("1 credits").waitFor();
    expect(await sheet.innerText()).not.toContain(tenant.workspace.id);
    await sheet.getByRole("button", { name: "Resolve fault" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Note").fill(" corrected by hand");
    await dialog.getByRole("button", { name: "Resolve fault" }).click();
    await dialog.waitFor({ state: "detached" });
    await rows.nth(1).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(1);

    await page.goto(`${bench.baseUrl}/console/operator/audit?action=settle_fault.resolve`);
    await page.getByRole("row").getByRole("link", { name: workspaceName }).waitFor();
    await page.getByRole("link", { name: "settle_fault.resolve" }).click();
    await page.getByRole("complementary").getByText("After: corrected by hand").waitFor();
    expect(faults).toEqual([]);
  });

  test("lists the models, and checks files: a fault is shown at its line", async () => {
    const { page, faults } = await signIn(tokens.money, "/catalogue");
    await page.getByRole("cell", { name: "sandbox-chat", exact: true }).waitFor();
    await page.getByLabel("Show").selectOption("unavailable");
    await page.getByRole("cell", { name: "sandbox-chat", exact: true }).waitFor({ state: "detached" });
    await page.getByLabel("Show").selectOption("");
    await page.getByLabel("Part of the name").fill("BOX-EMBED");
    await page.getByLabel("Part of the name").press("Enter");
    await page.getByRole("cell", { name: "sandbox-embed", exact: true }).waitFor();
    expect(await page.getByRole("cell", { name: "sandbox-chat", exact: true }).count()).toBe(0);

    const check = (text: string): Promise<void> =>
      page.getByLabel("Catalogue files").setInputFiles({
        name: "night.yaml",
        mimeType: "application/yaml",
        buffer: Buffer.from(text),
      });
    await check("models:\n  - slug: night\n    colour: red\n");
    await page.getByText(/^The files have \d+ faults?\. A service with these files would not start\.$/).waitFor();
    await page
      .getByRole("row", { name: /night\.yaml .*colour/ })
      .first()
      .waitFor();
    await check("models: []");
    await page.getByText("The files are valid.").waitFor();
    expect(await page.getByText("night.yaml").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("audits the ledger: an exact one is called exact, and a difference is listed with its workspace", async () => {
    const { page, faults } = await signIn(tokens.money, "/ledger-audit");
    const audit = page.getByRole("button", { name: "Audit ledger" });
    await audit.click();
    await page.getByText("The ledger is exact").waitFor();
    const change = "update balance set amount = amount + $2 where workspace_id = $1";
    await bench.stack.query(change, [tenant.workspace.id, 7]);
    await audit.click();
    await page.getByText("The audit found 1 difference.").waitFor();
    const row = page.getByRole("row", { name: workspaceName });
    await row.waitFor();
    const cells = await row.getByRole("cell").allTextContents();
    expect(BigInt(cells[3] ?? "") - BigInt(cells[2] ?? "")).toBe(7n);
    await bench.stack.query(change, [tenant.workspace.id, -7]);
    expect(faults).toEqual([]);
  });

  test("exports the audit log of one workspace: the table equals the list of the API", async () => {
    const { page } = await signIn(tokens.read, "/audit");
    await page.getByLabel("Add filter").selectOption({ label: "Workspace" });
    // The field is a text field until the names have arrived.
    await page.getByRole("combobox", { name: "Workspace", exact: true }).selectOption({ label: workspaceName });
    await page.getByRole("row").getByRole("link", { name: workspaceName }).first().waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const table: Record<string, string>[] = parseCsv(readFileSync(await saved.path()), { columns: true });
    const query = `workspace_id=${tenant.workspace.id}&limit=100`;
    const response = await fetch(`${bench.baseUrl}/operator/audit-log?${query}`, {
      headers: { authorization: `Bearer ${tokens.read}` },
    });
    const { data } = (await response.json()) as OperatorAuditLogList;
    expect(data.length).toBeGreaterThan(1);
    const textOf = (value: unknown): string =>
      value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
    const flat = data.map(({ object: _object, actor, ...entry }) => ({
      ...entry,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
    }));
    expect(table).toEqual(
      flat.map((entry) => Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, textOf(value)]))),
    );
  });

  const VIEWS = (["light", "dark"] as const).flatMap((theme) => [1280, 390].map((width) => [theme, width] as const));
  test.each(VIEWS)(
    "finds accessible pages in %s at %d px, with the name of the workspace",
    async (theme, width) => {
      const view = await signIn(tokens.money, "", { colorScheme: theme, viewport: { width, height: 800 } });
      const findings: string[] = [];
      for (const path of await navigationPaths(view)) {
        await view.page.goto(`${bench.baseUrl}/console${path}`);
        findings.push(...(await view.inspect(path.slice(1).replace("/", "-"))));
        // The name replaces the end of the id.
        const { id } = tenant.workspace;
        const ids = view.page.locator("main").getByText(new RegExp(`${id}|…${id.slice(-8)}`));
        await ids.first().waitFor({ state: "detached" });
      }
      expect([...findings, ...view.faults]).toEqual([]);
    },
    INSPECTION_LIMIT_MS,
  );
});

test("the session ends when its token is revoked", async () => {
  const answer = await bench.stack.command("admin", "operator", "add", "short", "--scope", "read", "--json");
  const { token, id } = JSON.parse(answer.stdout) as { readonly token: string; readonly id: string };
  // Tokens are cached for a second, and the pages of other tests keep the cache fresh.
  const headers = { authorization: `Bearer ${token}` };
  const isKnown = async (): Promise<boolean> => (await fetch(`${bench.baseUrl}/operator/presets`, { headers })).ok;
  await eventually("the token is known", isKnown);
  const { page } = await signIn(token);
  await bench.stack.query("update operator_token set revoked_at = now() where id = $1", [id]);
  await page.waitForTimeout(1_100);
  await page.reload();
  await page.getByRole("heading", { name: "Sign in as operator" }).waitFor();
});
