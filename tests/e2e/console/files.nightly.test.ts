/** Files and batches in a browser: a file is uploaded, shown, downloaded and deleted; a batch runs from a file to its results. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Locator } from "playwright-core";
import sharp from "sharp";

import type { Batch } from "#schemas/generated/types.ts";
import { eventually } from "#tests/faults/wait.ts";
import { wav } from "#tests/support/hostile-files/sounds.ts";
import { blocks } from "#tests/support/meshes.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { type ConsoleBench, type ConsolePage, openConsoleBench, post, type StoredContent, storeFile } from "./bench.ts";

let bench: ConsoleBench;

beforeAll(async () => {
  bench = await openConsoleBench({ pools: ["chat", "image"] });
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

  await page.getByRole("link", { name: "notes.txt" }).click();
  const sheet = page.getByRole("complementary", { name: "notes.txt" });
  await sheet.getByText("the lamp is lit").waitFor();
  expect(new URL(page.url()).pathname).toMatch(/\/files\/file-/);
  await sheet.getByRole("button", { name: "Delete file" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete file" }).click();
  await page.getByText("No files").waitFor();
  expect(new URL(page.url()).pathname).toEndWith("/files");
  expect(faults).toEqual([]);
});

describe("the sheet of a file", () => {
  const EXPRESSIONS = {
    photo: "document.querySelector('.media img')?.naturalWidth > 0",
    clip: "document.querySelector('.media video')?.readyState >= 1",
    tune: "document.querySelector('.media audio')?.readyState >= 1",
  };
  const START = "bytes=0-63999";
  /** Opens the sheet of a file. `ranges`: ranges of the requests for its content, in their order; undefined for the whole. */
  async function openSheet(key: string, id: string) {
    const view = await bench.open("/", { key });
    const ranges: (string | undefined)[] = [];
    view.page.on("request", (request) => {
      if (request.url().endsWith("/content")) ranges.push(request.headers()["range"]);
    });
    await view.page.goto(`${bench.baseUrl}/console/files/${id}`);
    return { ...view, ranges, sheet: view.page.getByRole("complementary") };
  }

  test("shows pictures, videos and recordings, and offers only the download of a PDF", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    for (const [name, expression] of Object.entries(EXPRESSIONS)) {
      const { page, faults } = await openSheet(key, `file-sample-${name}`);
      await eventually(expression, () => page.evaluate<boolean>(expression));
      expect(faults).toEqual([]);
    }
    const { page, sheet, ranges } = await openSheet(key, "file-sample-report");
    await sheet.getByText("There is no preview of application/pdf.").waitFor();
    expect(ranges).toEqual([START]);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      sheet.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("report.pdf");
  });

  test("loads the start of a long text, and no media beyond the bound", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    // Two bytes a character, so that the bound halves one.
    const text = await openSheet(key, await store(key, "events.jsonl", `"${"é".repeat(60_000)}"\n`));
    await text.sheet.getByText("The first 64.0 kB of 120.0 kB are shown.").waitFor();
    expect(await text.sheet.locator("pre").textContent()).toBe(`"${"é".repeat(31_999)}`);
    expect(text.ranges).toEqual([START]);
    expect(await text.findBarriers()).toEqual([]);

    const sound = await openSheet(key, await store(key, "long.wav", wav({}, new Uint8Array(32_000_000))));
    await sound.sheet.getByText("Previews load at most 32.0 MB.").waitFor();
    expect(sound.ranges).toEqual([START]);

    const broken = await openSheet(key, await store(key, "broken.png", await pngStart()));
    await broken.sheet.getByText("There is no preview of image/png.").waitFor();
    const html = await openSheet(key, await store(key, "page.html", "<script>alert(1)</script>"));
    await html.sheet.locator("pre").getByText("<script>alert(1)</script>").waitFor();
    for (const { faults } of [text, sound, broken, html]) expect(faults).toEqual([]);
  });

  test("draws a mesh", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    const { page, sheet, faults } = await openSheet(key, await store(key, "cubes.glb", await blocks(2)));
    await sheet.locator("canvas[data-drawn=true]").or(page.getByText("The 3D view is not available")).waitFor();
    expect(faults.filter((fault) => !fault.includes("WebGL"))).toEqual([]);
  });
});

const store = (key: string, ...file: StoredContent): Promise<string> => storeFile(bench, key, ...file);

/** Returns the start of a picture, which is a PNG by its signature and has no pixels. */
async function pngStart(): Promise<Uint8Array> {
  const whole = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#c33" } })
    .png()
    .toBuffer();
  return whole.subarray(0, 40);
}

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
  await sheet.getByRole("progressbar").waitFor({ state: "detached" });
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

test("a line of a batch shows its picture", async () => {
  const { key } = await asNewWorkspace(bench.stack);
  const url = "/v1/images/generations";
  const body = { model: "sandbox-image", prompt: "a lake", size: "256x256" };
  const call = `${JSON.stringify({ custom_id: "lake", method: "POST", url, body })}\n`;
  const fileId = await store(key, "calls.jsonl", call, "batch");
  const batch = { input_file_id: fileId, endpoint: url, completion_window: "24h" };
  const { id } = await post<Batch>(`${bench.baseUrl}/v1/batches`, key, JSON.stringify(batch));
  const { page, faults } = await bench.open(`/batches/${id}`, { key });
  await page.getByRole("button", { name: "lake", exact: true }).click({ timeout: 45_000 });
  const expression = "document.querySelector('.sheet .media img')?.naturalWidth === 256";
  await eventually(expression, () => page.evaluate<boolean>(expression));
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
