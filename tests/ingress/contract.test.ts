/** Checks the promises of /openapi.json against the service. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createApp, routesOf } from "#ingress/app.ts";
import { KINDS } from "#shared/calls/kinds/kinds.ts";
import { hasEndpoint } from "#shared/calls/kinds/models.ts";
import { loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { newId } from "#shared/base/ids.ts";
import { parse, validate } from "#shared/json/contracts.ts";
import { type Code, ERROR_CODES, statusOf } from "#shared/base/errors.ts";
import { type AbortReason, jobAbort } from "#workers/job.ts";
import { explainFailure } from "#workers/calls/failure.ts";
import { ProviderError, type ProviderErrorClass } from "#workers/providers/provider.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { fakeContext, KEY, RING_TOKEN } from "./fake-context.ts";

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const send = (path: string): Promise<Response> =>
  app.handle(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${KEY}` } }));
const document = (await (await send("/openapi.json")).json()) as {
  paths: Record<string, Record<string, Operation>>;
};

const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

describe("routes and the OpenAPI document", () => {
  /** Routes that the framework has registered, in the document's notation; `ALL` answers 405, HEAD and OPTIONS. */
  const registered = app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);

  test("every registered route is documented except provider callbacks and browser pages, and every documented one registered", () => {
    const hidden = [
      "POST /v1/provider-callbacks/{job_id}/{token}",
      "GET /console/oidc",
      "GET /console/oidc/callback",
      "POST /console/oidc/choices/{choice}/{workspaceId}",
      "GET /console",
      "GET /console/{page}",
      "GET /console/{page}/{id}",
      "GET /console/{page}/{id}/{part}",
      "GET /console/notifications/{channel}/deliveries/{delivery}",
      "GET /console/assets/{name}",
      "GET /docs/search.json",
      "GET /llms.txt",
    ];
    expect(registered.toSorted()).toEqual([...documented, ...hidden].toSorted());
    expect(new Set(registered).size).toBe(registered.length);
  });

  test.each(Object.values(KINDS))("calls of the kind $name have a registered endpoint", ({ endpoint }) => {
    expect(registered).toContain(`POST ${endpoint}`);
  });

  test("every documented path answers: neither 404 nor 405 of the router", async () => {
    for (const route of documented) {
      const [method = "", path = ""] = route.split(" ");
      const filled = path
        .replace("{file}", "Health.json")
        .replace("/docs/{section}/{page}", "/docs/get-started/quickstart")
        .replace("/docs/{section}", "/docs/index")
        .replace("{name}", "site.js")
        .replace("{job_id}/{token}", `${newId()}/${RING_TOKEN}`);
      const response = await app.handle(new Request(`http://localhost${filled}`, { method }));
      expect([route, [404, 405].includes(response.status)]).toEqual([route, false]);
    }
  });
});

/** Codes the document lists for an operation. */
function codesOf(method: string, path: string): Set<string> {
  const { responses } = document.paths[path]?.[method] ?? { responses: {} };
  const text = Object.values(responses).map(({ description }) => description);
  return new Set(text.flatMap((line) => [...line.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code ?? "")));
}

/** Codes in `new ApiError("…")` of these files. */
function thrownIn(...files: readonly string[]): Code[] {
  return files.flatMap((file) => {
    const source = readFileSync(join(PROJECT_ROOT, file), "utf8");
    return [...source.matchAll(/new ApiError\(\s*"([a-z_]+)"/g)].map(([, code]) => code as Code);
  });
}

const GATES = [
  "ingress/core/serve.ts",
  "shared/access/authenticate.ts",
  "shared/access/ip-net.ts",
  "ingress/core/answers.ts",
];

describe("the codes of a route", () => {
  test("are all documented for chat: its own, and those of its gates, checks, worker and relay", () => {
    const codes = codesOf("post", "/v1/chat/completions");
    const chat = routesOf(fake.context).find(({ path }) => path === "/v1/chat/completions");
    for (const code of chat?.errors ?? []) expect(codes).toContain(code);

    const classes: ProviderErrorClass[] = [
      "rejected",
      "refused",
      "misconfigured",
      "busy",
      "failed",
      "timeout",
      "aborted",
    ];
    const reasons: AbortReason[] = ["caller_left", "caller_gone", "deadline", "shutdown"];
    const said: Code[] = [
      ...classes.map((kind) => explainFailure(new ProviderError(kind, ""), undefined).code),
      ...(["context_length_exceeded", "unsupported_value", "invalid_request"] as const).map(
        (code) => explainFailure(new ProviderError("rejected", "", { code }), undefined).code,
      ),
      ...reasons.map((reason) => explainFailure(undefined, jobAbort(reason)).code),
      ...thrownIn(
        ...GATES,
        "shared/ledger/call-admission.ts",
        "shared/calls/kinds/chat/constraints.ts",
        "shared/database/grouper.ts",
        "shared/calls/kinds/models.ts",
        "shared/json/parse.ts",
        "shared/net/guard.ts",
        "shared/queue/publish.ts",
        "ingress/core/body.ts",
        "ingress/wait/call.ts",
        "ingress/routes/calls/calls.ts",
      ),
    ];
    expect(said.length).toBeGreaterThan(20);
    for (const code of said) expect(codes).toContain(code);
  });

  test("are all documented for the list of models too", () => {
    const codes = codesOf("get", "/v1/models");
    const said = thrownIn(...GATES, "shared/database/grouper.ts");
    for (const code of [...said, "service_unavailable", "overloaded", "rate_limit_exceeded"])
      expect(codes).toContain(code);
  });

  test("are documented under the status of their responses", () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { responses } of Object.values(methods)) {
        for (const [status, { description }] of Object.entries(responses)) {
          for (const [, code = ""] of description.matchAll(/`([a-z_]+)`/g)) {
            if (!(code in ERROR_CODES)) continue;
            const declared = statusOf(code as Code, path.startsWith("/v1/messages"));
            expect(`${path} ${declared}`).toBe(`${path} ${status}`);
          }
        }
      }
    }
  });

  test("include those of a key or token exactly if the route requires it", () => {
    for (const route of routesOf(fake.context)) {
      expect(codesOf(route.method.toLowerCase(), route.path).has("missing_api_key")).toBe(route.auth !== "none");
    }
  });
});

describe("results against their schemas", () => {
  test.each(["/v1/models", "/public/models", "/v1/models?include_tools=true"])("%s is a ModelList", async (path) => {
    const list: unknown = await (await send(path)).json();
    expect(validate("ModelList", list)).toBeNull();
    expect(parse("ModelList", list).data).not.toBeEmpty();
  });

  test("the whole shipped catalogue is a ModelList, with a price on every entry", async () => {
    const layers = await loadOurLayers();
    const catalogue = await loadCatalogue(layers, [], { sandbox: true, providerKey: () => "key" });
    const own = fakeContext({ catalogue });
    const response = await createApp(own.context).handle(new Request("http://localhost/public/models"));
    const list: unknown = await response.json();
    own.close();
    expect(validate("ModelList", list)).toBeNull();
    const { data } = parse("ModelList", list);
    expect(data).toHaveLength([...catalogue.models.values()].filter(hasEndpoint).length);
    for (const entry of data) expect(entry._svc.pricing.currency).toBe("credits");
  });

  test("health is a Health", async () => {
    for (const path of ["/healthz", "/readyz"]) expect(validate("Health", await (await send(path)).json())).toBeNull();
  });
});
