/** Files and batches in a browser: a file is uploaded, downloaded and deleted; a batch runs from a file to its results. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Locator } from "playwright-core";

import { asNewWorkspace } from "#tests/support/tenant.ts";

import { type ConsoleBench, type ConsolePage, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;

beforeAll(async () => {
  bench = await openConsoleBench();
}, 60_000);
afterAll(() => bench?.close());

test("a file is uploaded, downloaded and deleted", async () => {
  const { key } = await asNewWorkspace(bench.stack);
  const { page, faults } = await bench.open("/files", { key });
  await page.getByRole("img", { name: "0 % of the storage limit used" }).waitFor();
  await page.getByLabel("Upload file").setInputFiles({
    name: "notes.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("the lamp is lit"),
  });
  await page.getByRole("cell", { name: "notes.txt", exact: true }).waitFor();
  await page.locator(".budget b").getByText("15 B", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Actions of notes.txt" }).click();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download file" }).click(),
  ]);
  expect(await Bun.file(await saved.path()).text()).toBe("the lamp is lit");

  await page.getByRole("button", { name: "Actions of notes.txt" }).click();
  await page.getByRole("button", { name: "Delete file" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete file" }).click();
  await page.getByText("No files").waitFor();
  expect(faults).toEqual([]);
});

/** Line of a batch that calls a chat model. */
function line(id: string, model: string, content: string): string {
  const body = { model, messages: [{ role: "user", content }] };
  return `${JSON.stringify({ custom_id: id, method: "POST", url: "/v1/chat/completions", body })}\n`;
}

/** Creates a batch in the dialog, and returns its sheet. */
async function createBatch({ page }: ConsolePage, lines: string): Promise<Locator> {
  await page.getByRole("button", { name: "Create batch" }).click();
  const dialog = page.getByRole("dialog", { name: "Create batch" });
  const buffer = Buffer.from(lines);
  await dialog.getByLabel("Upload file").setInputFiles({ name: "calls.jsonl", mimeType: "application/jsonl", buffer });
  await dialog.getByText("calls.jsonl").waitFor();
  await dialog.getByRole("button", { name: "Create batch" }).click();
  return page.getByRole("complementary", { name: "/v1/chat/completions" });
}

test("a batch runs from an uploaded file to its results, and shows its lines with error and charge", async () => {
  const tenant = await asNewWorkspace(bench.stack);
  const view = await bench.open("/batches", { key: tenant.key });
  const { page, faults } = view;
  const said = "Say exactly: done";
  const sheet = await createBatch(view, line("a", "sandbox-chat", said) + line("b", "no-such-model", said));

  await sheet.getByRole("button", { name: "Download results" }).waitFor({ timeout: 45_000 });
  await sheet.getByRole("progressbar", { name: "Progress" }).and(page.locator("[aria-valuenow='100']")).waitFor();
  const good = sheet.getByRole("row").filter({ has: page.getByRole("button", { name: "a", exact: true }) });
  await good.getByText("OK").waitFor();
  const [charge] = await bench.stack.query<{ settled: string }>(
    "select settled from usage_record where workspace_id = $1 and settled > 0",
    [tenant.workspace.id],
  );
  const title = await good.locator(".key span").first().getAttribute("title");
  expect(Number.parseFloat(title ?? "")).toBe(Number(charge?.settled) / 1e9);
  const bad = sheet.getByRole("row").filter({ has: page.getByRole("button", { name: "b", exact: true }) });
  await bad.getByText("Failed").waitFor();
  await bad.getByText("There is no such model.").waitFor();
  await good.getByRole("button", { name: "a", exact: true }).click();
  await sheet.getByRole("region", { name: "JSON" }).getByText("choices").waitFor();
  expect(await view.findBarriers()).toEqual([]);

  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    sheet.getByRole("button", { name: "Download results" }).click(),
  ]);
  const results = (await Bun.file(await saved.path()).text()).trim().split("\n");
  expect(results.length).toBe(1);
  await sheet.getByRole("link", { name: "Show the request" }).click();
  await page.getByRole("complementary", { name: "sandbox-chat" }).waitFor();
  expect(faults).toEqual([]);
}, 60_000);

test("a running batch shows ended lines, names the effect of its cancellation, and is cancelled", async () => {
  const { key } = await asNewWorkspace(bench.stack);
  const view = await bench.open("/batches", { key });
  const { page, faults } = view;
  const slow = `Say exactly and nothing else: ${"word ".repeat(2_000)}`;
  const sheet = await createBatch(view, line("quick", "sandbox-chat", "Hello") + line("slow", "sandbox-slow", slow));

  await sheet.getByRole("button", { name: "quick" }).waitFor({ timeout: 30_000 });
  await sheet.getByRole("button", { name: "Cancel batch" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel the batch?" });
  await dialog.getByText("1 of 2 lines have ended. They stay charged").waitFor();
  await dialog.getByRole("button", { name: "Keep batch" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel batch" }).click();
  const row = sheet.getByRole("row").filter({ has: page.getByRole("button", { name: "slow" }) });
  await row.getByText("Cancelled", { exact: true }).waitFor({ timeout: 30_000 });
  expect(faults).toEqual([]);
}, 90_000);
