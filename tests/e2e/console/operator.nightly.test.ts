/** The operator's pages in a browser: sign-in with a token, a top-up, a scope that may only read, and the end of a revoked token's session. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type ConsoleBench, type ConsolePage, openConsoleBench, type OpenOptions } from "./bench.ts";

const PATHS = ["", "/workspaces", "/pools", "/sources", "/dead-letters", "/holds"];

let bench: ConsoleBench;
let tenant: Tenant;
let workspaceName = "";
const tokens = { read: "", money: "" };

beforeAll(async () => {
  bench = await openConsoleBench();
  tenant = await asNewWorkspace(bench.stack);
  const rows = await bench.stack.query<{ name: string }>("select name from workspace where id = $1", [
    tenant.workspace.id,
  ]);
  workspaceName = rows[0]?.name ?? "";
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
}, 60_000);
afterAll(() => bench?.close());

type SignedIn = Omit<ConsolePage, "faults"> & { readonly faults: () => readonly string[] };

async function signIn(token: string, path = "", browser: OpenOptions["browser"] = {}): Promise<SignedIn> {
  const view = await bench.open(`/operator${path}`, { key: null, browser });
  await view.page.getByLabel("Operator token").fill(token);
  await view.page.getByRole("button", { name: "Sign in" }).click();
  await view.page.locator(".header.operator").waitFor();
  // The page asks for a session before anybody has signed in, which the browser reports as an error.
  const before = view.faults.length;
  return { ...view, faults: () => view.faults.slice(before) };
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
    await sheet.getByText("invoice 17").waitFor();

    const [row] = await bench.stack.query<{ amount: bigint }>(
      "select amount from ledger_entry where workspace_id = $1 and kind = 'top_up' order by id desc limit 1",
      [tenant.workspace.id],
    );
    expect(row?.amount).toBe(250_500_000_000n);
    expect(faults()).toEqual([]);
  });

  test("sees a new token until it is stored, however often Escape is pressed", async () => {
    const { page } = await signIn(tokens.money, "/tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("from-the-browser");
    await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
    const secret = page.getByRole("dialog", { name: "Token “from-the-browser”" });
    await secret.waitFor();
    for (let count = 0; count < 3; count += 1) await page.keyboard.press("Escape");
    expect(await secret.isVisible()).toBe(true);
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

  test.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)("finds accessible pages in %s at %d px", async (colorScheme, width) => {
    const view = await signIn(tokens.read, "", { colorScheme, viewport: { width, height: 800 } });
    const findings: string[] = [];
    for (const path of PATHS) {
      await view.page.goto(`${bench.baseUrl}/console/operator${path}`);
      await view.page.getByRole("heading", { level: 1 }).waitFor();
      await view.page.locator("[aria-busy]").first().waitFor({ state: "detached" });
      const excess = await view.page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      if (excess > 0) findings.push(`${path}: scrolls sideways by ${excess} px`);
      findings.push(...(await view.findBarriers()).map((barrier) => `${path}: ${barrier}`));
    }
    expect([...findings, ...view.faults()]).toEqual([]);
  });
});

test("the session ends when its token is revoked", async () => {
  const answer = await bench.stack.command("admin", "operator", "add", "short", "--scope", "read", "--json");
  const { token, id } = JSON.parse(answer.stdout) as { readonly token: string; readonly id: string };
  const { page } = await signIn(token);
  await bench.stack.query("update operator_token set revoked_at = now() where id = $1", [id]);
  await page.waitForTimeout(1_100);
  await page.reload();
  await page.getByRole("heading", { name: "Sign in as operator" }).waitFor();
});
