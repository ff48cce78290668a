/** Stories of budgets in a browser: a limit of an end user is set, refuses a call and is deleted; a budget stops calls. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;

beforeAll(async () => {
  bench = await openConsoleBench();
}, 60_000);
afterAll(() => bench?.close());

async function statusOf(key: string, user: string): Promise<number> {
  const response = await fetch(`${bench.baseUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", user, messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
  return response.status;
}

test("a limit of an end user is set, refuses the end user's calls, and is deleted", async () => {
  const { key } = await asNewWorkspace(bench.stack);
  const { page, faults } = await bench.open("/budgets", { key });
  await page.getByRole("button", { name: "Set limit" }).click();
  const dialog = page.getByRole("dialog", { name: "Set limit" });
  await dialog.getByLabel("End user", { exact: true }).fill("alice");
  await dialog.getByLabel("Per day").fill("0.0000001");
  await dialog.getByRole("button", { name: "Save limit" }).click();
  await page.getByRole("img", { name: "0 % of the day limit used" }).waitFor();
  await eventually("refused by the limit", async () => (await statusOf(key, "alice")) === 402);
  expect(await statusOf(key, "bob")).toBe(200);

  await page.getByRole("button", { name: "Actions of alice" }).click();
  await page.getByRole("button", { name: "Delete limit" }).click();
  await page
    .getByRole("dialog", { name: "Delete the limit of “alice”?" })
    .getByRole("button", { name: "Delete limit" })
    .click();
  await page.getByText("No limits of end users").waitFor();
  await eventually("served without the limit", async () => (await statusOf(key, "alice")) === 200);
  expect(faults).toEqual([]);
});

test("a spent budget stops calls, and the overview says so", async () => {
  const { key } = await asNewWorkspace(bench.stack);
  expect(await statusOf(key, "carol")).toBe(200);
  await bench.stack.settled();
  const view = await bench.open("/budgets", { key });
  const { page } = view;
  await page.getByRole("button", { name: "Create budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Create budget" });
  await dialog.getByLabel("Name").fill("tiny");
  await dialog.getByLabel("Budget", { exact: true }).fill("0.000001");
  await dialog.getByLabel(/^Refuse calls/).check();
  await dialog.getByRole("button", { name: "Create budget" }).click();
  const events = "No enabled channel is subscribed to budget.threshold_reached and budget.warning.";
  await page.locator(".callout").getByText(`“tiny” is created. ${events}`).waitFor();
  const row = page.getByRole("row").filter({ hasText: "tiny" });
  await row.getByText("warns at 80 %; stops calls when it is spent").waitFor();
  await row.getByText(events).waitFor();
  await page.getByRole("button", { name: "Create balance alert" }).click();
  const alert = page.getByRole("dialog", { name: "Create balance alert" });
  await alert.getByLabel("Name").fill("low");
  await alert.getByLabel("Fewer than").fill("3");
  await alert.getByRole("button", { name: "Create balance alert" }).click();
  await page
    .locator(".callout")
    .getByText("“low” is created. No enabled channel is subscribed to balance.low.")
    .waitFor();
  expect(await view.findBarriers()).toEqual([]);
  await row.getByRole("link", { name: "Open Notifications" }).click();
  await page.getByRole("heading", { name: "Notifications" }).waitFor();
  await eventually("stopped by the budget", async () => (await statusOf(key, "carol")) === 402);
  await page.goto(`${bench.baseUrl}/console/`);
  await page.getByText("A spent budget stops all calls").waitFor();
});
