/** Files and batches in a browser: a file is uploaded, downloaded and deleted; a batch runs from a file to its results. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { asNewWorkspace } from "#tests/support/tenant.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;

beforeAll(async () => {
  bench = await openConsoleBench();
}, 60_000);
afterAll(() => bench?.close());

test("a file is uploaded, downloaded and deleted", async () => {
  const { key } = await asNewWorkspace(bench.stack);
  const { page, faults } = await bench.open("/files", { key });
  await page.getByLabel("File", { exact: true }).setInputFiles({
    name: "notes.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("the lamp is lit"),
  });
  await page.getByRole("cell", { name: "notes.txt", exact: true }).waitFor();

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

test("a batch runs from an uploaded file to its results", async () => {
  const { key } = await asNewWorkspace(bench.stack);
  const { page, faults } = await bench.open("/batches", { key });
  const line = (id: string): string =>
    JSON.stringify({
      custom_id: id,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "sandbox-chat", messages: [{ role: "user", content: "Say exactly: done" }] },
    });
  await page.getByRole("button", { name: "Create batch" }).click();
  const dialog = page.getByRole("dialog", { name: "Create batch" });
  await dialog.getByLabel("File", { exact: true }).setInputFiles({
    name: "calls.jsonl",
    mimeType: "application/jsonl",
    buffer: Buffer.from(`${line("a")}\n${line("b")}\n`),
  });
  await dialog.getByText("calls.jsonl").waitFor();
  await dialog.getByRole("button", { name: "Create batch" }).click();

  const sheet = page.getByRole("complementary", { name: "/v1/chat/completions" });
  await sheet.getByRole("button", { name: "Download results" }).waitFor({ timeout: 45_000 });
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    sheet.getByRole("button", { name: "Download results" }).click(),
  ]);
  const results = (await Bun.file(await saved.path()).text()).trim().split("\n");
  expect(results.length).toBe(2);
  expect(faults).toEqual([]);
});
