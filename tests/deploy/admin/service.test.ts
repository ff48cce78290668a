/** The service that a command goes to, and what is said when it refuses, is silent, or is none. */
import { afterAll, describe, expect, test } from "bun:test";

import { openService } from "#deploy/admin/service.ts";
import { mintOperatorToken } from "#shared/secrets/api-keys.ts";

import { admin, openCommands } from "./commands.ts";

const { bed, makeWorkspace, settings } = openCommands();
const LIST = ["workspace", "list", "--json"];
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** A server that is none of ours. */
function serve(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  closing.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

async function complaint(env: Record<string, string>, args: readonly string[] = LIST): Promise<string> {
  const { code, stdout, stderr } = await admin(args, env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^sluice: [^\n]+$/);
  return stderr.slice("sluice: ".length);
}

describe("an error is one sentence with an instruction", () => {
  const TOKEN = { SLUICE_OPERATOR_TOKEN: "a-token-of-twenty-characters" };
  const but = (more: Record<string, string>) => ({ ...settings(), ...more });

  test("for a missing token, and for a missing service", async () => {
    const none = "SLUICE_OPERATOR_TOKEN is not set, and no stack runs on /nowhere; start one with npm start, or set it";
    expect(await complaint({})).toBe(`${none} to a token of \`operator add\``);
    const { SLUICE_URL } = settings();
    expect(await complaint({ SLUICE_URL })).toBe(
      "SLUICE_OPERATOR_TOKEN is not set; set it to a token of `operator add`",
    );
    const away =
      "the service at http://127.0.0.1:1 cannot be reached; start it, or set its address with SLUICE_URL or --url";
    expect(await complaint({ ...TOKEN, SLUICE_URL: "http://user:canary@127.0.0.1:1/" })).toStartWith(away);
    expect(await complaint({ ...TOKEN, SLUICE_URL }, [...LIST, "--url", "http://127.0.0.1:1"])).toStartWith(away);
  });

  test("for a wrong token, and for a token without the right", async () => {
    const wrong = await complaint(but({ SLUICE_OPERATOR_TOKEN: mintOperatorToken() }));
    expect(wrong).toBe(
      "the operator token is unknown, revoked or expired; set SLUICE_OPERATOR_TOKEN to a token of `operator add` that is neither revoked nor expired",
    );
    const { name } = await makeWorkspace();
    const weak = but({ SLUICE_OPERATOR_TOKEN: bed().tokens.read });
    expect(await complaint(weak, ["credits", "top-up", name, "1"])).toBe(
      "expected an operator token with the scope money, got read; create one with `operator add`",
    );
  });

  test("for a service without /operator, and for another server", async () => {
    const hidden = serve(() => {
      const message = "There is no such path; GET /openapi.json lists those there are.";
      return Response.json({ error: { message, code: "not_found", param: null, type: "x" } }, { status: 404 });
    });
    expect(await complaint({ ...TOKEN, SLUICE_URL: hidden })).toStartWith(
      `the service at ${hidden} does not serve /operator here: `,
    );
    const page = serve(() => new Response("<h1>Hello</h1>"));
    expect(await complaint({ ...TOKEN, SLUICE_URL: page })).toStartWith(
      `the service at ${page} is not Sluice (it returned 200)`,
    );
    const steering = serve(() => Response.json({ error: { message: "a\u001b[2J\nb" } }, { status: 500 }));
    expect(await complaint({ ...TOKEN, SLUICE_URL: steering })).not.toMatch(/\p{Cc}/u);
  });

  test("for a redirect: the token is not sent elsewhere", async () => {
    const told: (string | null)[] = [];
    const other = serve(({ headers }) => {
      told.push(headers.get("authorization"));
      return Response.json({ data: [], has_more: false });
    });
    const moved = serve(() => Response.redirect(`${other}/operator/workspaces`, 307));
    expect(await complaint({ ...TOKEN, SLUICE_URL: moved })).toStartWith(`the service at ${moved} redirects (307)`);
    expect(told).toEqual([]);
  });

  test("for a server that does not respond, before a deadline", async () => {
    const silent = serve(() => new Promise<Response>(() => undefined));
    const service = openService({ url: silent, token: "t" }, 50);
    const asked = service.ask({ method: "GET", path: "/operator/presets" });
    expect(asked).rejects.toThrow(`the service at ${silent} did not answer within 0.05 s`);
    await asked.catch(() => undefined);
  });

  test("for an unknown outcome of a credit change: with the id that makes a retry safe", async () => {
    const { name } = await makeWorkspace();
    const { SLUICE_URL } = settings();
    const ids: string[] = [];
    const cut = serve(async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      if (method === "GET") return fetch(`${SLUICE_URL}${pathname}${search}`, { headers });
      ids.push(((await request.json()) as { id: string }).id);
      const error = { message: "The service failed.", code: "internal_error", param: null };
      return Response.json({ error }, { status: 500 });
    });
    const said = await complaint(but({ SLUICE_URL: cut }), ["credits", "top-up", name, "1"]);
    expect(said).toBe(
      `it is not known whether the credits moved; repeat it with --id ${ids[0]}, which moves them once: the service failed`,
    );
  });
});
