/** Stories of the console in a real browser that the gate runs: sign in and see the first call's cost; limit a key and see the refusal. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Credits, LedgerList } from "#schemas/generated/types.ts";
import { addPerson } from "#tests/ingress/routes/managed-bed.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { type ConsoleBench, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;

beforeAll(async () => {
  bench = await openConsoleBench();
}, 60_000);
afterAll(() => bench?.close());

async function read<Body>(path: string, key: string): Promise<Body> {
  const response = await fetch(`${bench.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return (await response.json()) as Body;
}

describe("first call", () => {
  test("a one-time link signs in, the call is made and its charge is on the page, equal to the ledger", async () => {
    const link = await bench.stack.command("admin", "console", "link");
    const code = /#code=([\w-]+)/.exec(link.stdout)?.[0] ?? "";
    const { page, faults } = await bench.open(`/${code}`, { key: null });

    await page.getByRole("heading", { name: "Make the first call" }).waitFor();
    expect(page.url()).not.toContain("code=");
    await page.getByRole("button", { name: "Run it" }).click();
    const charged = await page.getByRole("heading", { name: /^Charged/ }).textContent();
    await page.getByRole("heading", { name: "Key “first key” is ready" }).waitFor();
    const next = page.getByRole("link", { name: "Add a provider key" });
    expect(await next.textContent()).toContain("OPENAI_API_KEY");
    const [path = "", section] = (await next.getAttribute("href"))?.split("#") ?? [];
    expect(await (await fetch(`${bench.baseUrl}${path}`)).text()).toContain(`id="${section}"`);
    await bench.stack.settled();

    const { credits } = await read<Credits>("/workspaces/default/credits", bench.stack.key);
    const { data } = await read<LedgerList>("/workspaces/default/credits/ledger", bench.stack.key);
    const charge = data.find(({ kind }) => kind === "settle");
    expect(charged).toBe(`Charged ${-(charge?.credits ?? 0)} credits`);
    expect(credits).toBe(data.reduce((sum, entry) => Math.round((sum + entry.credits) * 1e9) / 1e9, 0));

    await page.getByRole("link", { name: "Show this request" }).click();
    await page.getByRole("complementary", { name: "sandbox-chat" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
    expect(faults).toEqual([]);

    const again = await bench.open(`/${code}`, { key: null });
    await again.page.getByText("The sign-in code").waitFor();
  });
});

describe("key with a limit", () => {
  test("a key is created with a limit, its call is refused, and the refusal and the bar are shown", async () => {
    const tenant = await asNewWorkspace(bench.stack);
    const { page, faults } = await bench.open("/keys", { key: tenant.key });

    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await dialog.getByLabel("Name").fill("nightly");
    await dialog.getByLabel("Per day").fill("0.0000001");
    await dialog.getByRole("button", { name: "Create key" }).click();

    const secret = page.getByRole("dialog", { name: "Key “nightly”" });
    const key = (await secret.locator("pre").textContent())?.trim() ?? "";
    await page.keyboard.press("Escape");
    expect(await secret.isVisible()).toBe(true);
    await secret.getByLabel("I have stored the key").check();
    await secret.locator("footer").getByRole("button", { name: "Close" }).click();

    const response = await fetch(`${bench.baseUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(response.status).toBe(402);

    await page.getByRole("row", { name: "nightly" }).getByText("Active").click();
    const sheet = page.getByRole("complementary", { name: "nightly" });
    await sheet.getByRole("img", { name: "0 % of the day limit used" }).waitFor();
    await page.goto(`${bench.baseUrl}/console/requests`);
    await page.getByText("key_limit_reached").waitFor();
    await page.getByRole("row").getByRole("link", { name: "sandbox-chat" }).click();
    const reason = /the daily limit of the key \(0\.0000001\) leaves 0\.0000001\. It resets at \d/;
    await page.getByRole("complementary", { name: "sandbox-chat" }).getByText(reason).waitFor();
    expect(faults).toEqual([]);
  });
});

describe("roles", () => {
  test("each role sees its pages only", async () => {
    const tenant = await asNewWorkspace(bench.stack);
    const database = { query: bench.stack.query } as unknown as Parameters<typeof addPerson>[0];
    const pagesOf = async (key: string): Promise<readonly string[]> => {
      const { page } = await bench.open("/", { key });
      const links = page.getByRole("navigation", { name: "Console" }).getByRole("link");
      await links.first().waitFor();
      return links.allTextContents();
    };
    const owner = await pagesOf(tenant.key);
    const developer = await pagesOf((await addPerson(database, tenant.workspace.id, "developer")).key);
    const billing = await pagesOf((await addPerson(database, tenant.workspace.id, "billing")).key);

    expect(owner.filter((name) => !developer.includes(name))).toEqual(["Audit log"]);
    expect(billing).not.toContain("Keys");
    expect(billing).toContain("Credits");
  });
});
