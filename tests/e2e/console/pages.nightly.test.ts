/**
 * Every page of the console in light and dark, on a laptop and a phone: accessible, without errors, foreign requests and sideways scroll.
 * With `SCREENSHOTS=<folder>`, the pages are also drawn into that folder.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { LedgerList, UsagePage } from "#schemas/generated/types.ts";
import { addPerson } from "#tests/ingress/routes/managed-bed.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import {
  type ConsoleBench,
  type ConsolePage,
  INSPECTION_LIMIT_MS,
  navigationPaths,
  openConsoleBench,
} from "./bench.ts";

let bench: ConsoleBench;
let tenant: Tenant;
/** Pages of the navigation, as paths below /console. */
let paths: readonly string[] = [];

beforeAll(async () => {
  bench = await openConsoleBench();
  tenant = await asNewWorkspace(bench.stack);
  for (const model of ["sandbox-chat", "sandbox-chat", "sandbox-embed", "no-such-model"]) await callModel(model);
  await bench.stack.settled();
  paths = await navigationPaths(await bench.open("/", { key: tenant.key }));
}, 90_000);
afterAll(() => bench?.close());

async function callModel(model: string): Promise<void> {
  const isEmbedding = model.includes("embed");
  await fetch(`${bench.baseUrl}/v1/${isEmbedding ? "embeddings" : "chat/completions"}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model,
      ...(isEmbedding ? { input: "x" } : { messages: [{ role: "user", content: "Hi" }] }),
    }),
  });
}

/** Resolves when the page has its heading and no part of it is loading. */
async function isShown({ page }: ConsolePage): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
}

describe("pages", () => {
  const VIEWS = (["light", "dark"] as const).flatMap((theme) => [1280, 390].map((width) => [theme, width] as const));
  test.each(VIEWS)(
    "in %s at %d px",
    async (theme, width) => {
      expect(paths.length).toBeGreaterThan(8);
      const findings: string[] = [];
      const view = await bench.open("/", {
        key: tenant.key,
        browser: { colorScheme: theme, viewport: { width, height: 800 } },
      });
      for (const path of paths) {
        await view.page.goto(`${bench.baseUrl}/console${path}`);
        findings.push(...(await view.inspect(path.slice(1).replaceAll("/", "-") || "overview")));
      }
      expect([...findings, ...view.faults]).toEqual([]);
    },
    INSPECTION_LIMIT_MS,
  );

  test("no page has an unnamed dialog, and Escape closes each", async () => {
    const { page } = await bench.open("/keys", { key: tenant.key });
    for (const [path, button] of [
      ["/keys", "Create key"],
      ["/members", "Add member"],
      ["/budgets", "Create budget"],
    ] as const) {
      await page.goto(`${bench.baseUrl}/console${path}`);
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("dialog", { name: button }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await page.evaluate("document.activeElement?.textContent")).toContain(button);
    }
  });
});

test("a click anywhere on a row opens it, except on its menu and while text is selected", async () => {
  const { page, faults } = await bench.open("/members", { key: tenant.key });
  const row = page.locator("tbody tr").first();
  await row.getByRole("button", { name: /^Actions of/ }).click();
  await page.keyboard.press("Escape");
  const { x = 0, y = 0, width = 0, height = 0 } = (await row.locator("td").nth(1).boundingBox()) ?? {};
  await page.mouse.move(x + width - 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + 2, y + height / 2);
  await page.mouse.up();
  expect(await page.evaluate<string>("getSelection().toString()")).toBe("Owner");
  expect(page.url()).toEndWith("/members");

  await row.locator("td").nth(2).click();
  await page.getByRole("complementary").waitFor();
  expect(page.url()).toMatch(/\/members\/[\w-]+$/);
  await page.keyboard.press("Escape");
  await page.getByRole("complementary").waitFor({ state: "detached" });
  expect(await page.evaluate("document.activeElement === document.querySelector('tbody a')")).toBe(true);
  expect(faults).toEqual([]);
});

describe("roles", () => {
  test.each(["owner", "admin", "developer", "billing"] as const)(
    "every page of a %s loads all its data",
    async (role) => {
      const database = { query: bench.stack.query } as unknown as Parameters<typeof addPerson>[0];
      const { key } = await addPerson(database, tenant.workspace.id, role);
      const view = await bench.open("/", { key });
      const links = view.page.getByRole("navigation", { name: "Console" }).locator("li a");
      await links.first().waitFor();
      const own = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
      for (const path of own) {
        await view.page.goto(`${bench.baseUrl}${path}`);
        await isShown(view);
      }
      expect(view.faults).toEqual([]);
    },
  );
});

describe("times", () => {
  test.each(["America/Los_Angeles", "UTC", "Asia/Kolkata"])(
    "days are those of the API with the browser in %s",
    async (timezoneId) => {
      const view = await bench.open("/usage", { key: tenant.key, browser: { timezoneId } });
      await isShown(view);
      const labels = await view.page.locator(".plot .x span").allTextContents();

      const response = await fetch(`${bench.baseUrl}/workspaces/${tenant.workspace.id}/usage`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      });
      const { data } = (await response.json()) as UsagePage;
      const today = new Date(data.at(-1)?.start_time ?? "").toUTCString().slice(5, 11).replace(/^0/, "");
      expect(labels.at(-1)).toBe(today);
    },
  );
});

test("the totals on the pages equal the ledger", async () => {
  const response = await fetch(`${bench.baseUrl}/workspaces/${tenant.workspace.id}/credits/ledger`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  const { data } = (await response.json()) as LedgerList;
  const charged = data.filter(({ kind }) => kind === "settle").reduce((sum, { credits }) => sum - credits, 0);
  const view = await bench.open("/usage", { key: tenant.key });
  await isShown(view);
  const total = await view.page.locator(".big").getAttribute("title");
  expect(Number(total)).toBeCloseTo(charged, 9);
});

test("a tab of an earlier release offers to reload when its code is gone", async () => {
  const { page } = await bench.open("/", { key: tenant.key });
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.route("**/console/assets/*", (route) => route.fulfill({ status: 404, body: "" }));
  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByText("A newer version of the console is installed.").waitFor();
  await page.getByRole("button", { name: "Reload" }).waitFor();
});

test("a revoked key ends its session within a second", async () => {
  const database = { query: bench.stack.query } as unknown as Parameters<typeof addPerson>[0];
  const person = await addPerson(database, tenant.workspace.id, "admin");
  const { page } = await bench.open("/keys", { key: person.key });
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await bench.stack.query("update api_key set revoked_at = now() where id = $1", [person.keyId]);
  await page.waitForTimeout(1_100);
  await page.getByRole("link", { name: "Members" }).click();
  await page.getByRole("heading", { name: "Sign in to Sluice" }).waitFor();
});

test("the sign-in page is accessible, and offers no identity provider that does not exist", async () => {
  const view = await bench.open("/", { key: null });
  const heading = view.page.getByRole("heading", { name: "Sign in to Sluice" });
  await heading.waitFor();
  await view.page.waitForLoadState("networkidle");
  expect(await view.page.getByRole("link", { name: "Sign in with your organization" }).count()).toBe(0);
  expect(await view.findBarriers()).toEqual([]);
});
