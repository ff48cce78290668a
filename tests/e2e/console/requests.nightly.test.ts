/** The page of requests in a real browser: what a call of each result shows, and addresses that cannot be opened. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { UsageRequest } from "#schemas/generated/types.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;
let tenant: Tenant;

beforeAll(async () => {
  bench = await openConsoleBench();
  tenant = await asNewWorkspace(bench.stack);
}, 60_000);
afterAll(() => bench?.close());

/** Returns the request id of a call. */
async function send(path: string, body: object): Promise<string> {
  const response = await fetch(`${bench.baseUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }], max_tokens: 20, ...body }),
  });
  await response.text();
  return response.headers.get("x-request-id") ?? "";
}

test("a call that the second source served shows both attempts, its first token, its endpoint and its HTTP status", async () => {
  const id = await send("/v1/messages", { model: "sandbox-chat", stream: true });
  const fallen = await send("/v1/chat/completions", {
    model: "sandbox-two-sources",
    stream: true,
  });
  await bench.stack.settled();
  const { page, faults } = await bench.open(`/requests/${fallen}`, { key: tenant.key });
  const sheet = page.getByRole("complementary");
  await sheet.getByRole("heading", { name: /^[2-9] attempts$/ }).waitFor();
  await sheet.getByText("HTTP 200").waitFor();
  const expectOneFirstToken = async (): Promise<void> => {
    const notes = await sheet.locator(".wf-row .push").allTextContents();
    expect(notes[0]).toStartWith("failed");
    expect(notes.at(-1)).toMatch(/^served · first token after .+ · .+$/);
    expect(notes.filter((note) => note.includes("first token"))).toHaveLength(1);
    expect(await sheet.locator(".wf-bar i").count()).toBe(1);
  };
  await expectOneFirstToken();
  // Each bar begins where the attempt began, not behind the one before.
  const starts = await sheet.locator(".wf-bar").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().x));
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  // A fast machine does all of it in one millisecond.
  await page.route(`**/usage/requests/${fallen}`, async (route) => {
    const response = await route.fetch();
    const row = (await response.json()) as UsageRequest;
    const instant = row.first_token_at ?? "";
    const provider_attempts = row.provider_attempts.map((one) => ({ ...one, started_at: instant, duration_ms: 0 }));
    await route.fulfill({ response, json: { ...row, provider_attempts } });
  });
  await page.reload();
  await sheet.getByText("served · first token after 0 ms · 0 ms").waitFor();
  await expectOneFirstToken();

  await sheet.getByRole("link", { name: "/v1/chat/completions" }).click();
  await page.waitForURL(/endpoint=%2Fv1%2Fchat%2Fcompletions/);
  await page.locator(`a[href*="${fallen}"]`).first().waitFor();
  expect(await page.locator(`a[href*="${id}"]`).count()).toBe(0);
  expect(faults).toEqual([]);
});

test("a refused call shows its model, its HTTP status and the reason", async () => {
  const id = await send("/v1/messages", { model: "sandbox-chat", max_tokens: 0 });
  const { page } = await bench.open(`/requests/${id}`, { key: tenant.key });
  const sheet = page.getByRole("complementary", { name: "sandbox-chat" });
  await sheet.getByText("HTTP 400").waitFor();
  await sheet.getByText(/A value is well-formed, but|wrong type or form/).waitFor();
  await sheet.getByText("/v1/messages").first().waitFor();
});

test("addresses that cannot be decoded lead back to the console", async () => {
  const { page } = await bench.open("/models/%25zz", { key: tenant.key });
  await page.getByRole("heading", { name: "Models and prices" }).waitFor();
  await page.goto(`${bench.baseUrl}/console/requests/%zz`);
  await page.getByRole("heading", { name: "This address cannot be opened" }).waitFor();
  await page.getByRole("link", { name: "open the console" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
});
