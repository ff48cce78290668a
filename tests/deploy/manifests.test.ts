import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import packageJson from "../../package.json" with { type: "json" };

import { loadConfig } from "#shared/config.ts";
import { POOLS, WEBHOOK_POOL } from "#shared/queue/subjects.ts";
import { NATS_VERSION_MIN, compareVersions } from "#shared/queue/connection.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
const read = (file: string): Promise<string> => Bun.file(join(DEPLOY, file)).text();

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas: number };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

const compose = Bun.YAML.parse(await read("compose.yaml")) as { services: Record<string, Service> };
const services = Object.entries(compose.services);

describe("deploy/compose.yaml", () => {
  test("runs every role, and two of what calls go through", () => {
    const roles = new Map(services.map(([name, { command }]) => [name, command?.join(" ")]));
    expect(roles.get("migrate")).toBe("migrate");
    expect(roles.get("ingress")).toBe("ingress");
    expect(roles.get("janitor")).toBe("janitor");
    expect(compose.services["ingress"]?.deploy?.replicas).toBe(2);
  });

  test.each([...POOLS, WEBHOOK_POOL])("has a worker for pool %s, twice", (pool) => {
    const worker = services.find(([, { command }]) => command?.join(" ") === `worker ${pool}`)?.[1];
    expect(worker?.deploy?.replicas).toBe(2);
  });

  test("pins every image it does not build", () => {
    for (const [name, { image }] of services) {
      expect(image, name).toMatch(/^[a-z0-9/-]+:[A-Za-z0-9][\w.-]*$/);
      expect(image, name).not.toEndWith(":latest");
    }
  });

  test("runs a queue server that every role accepts", () => {
    const version = /^nats:(\d+\.\d+\.\d+)/.exec(compose.services["nats"]?.image ?? "")?.[1] ?? "0.0.0";
    expect(compareVersions(version, NATS_VERSION_MIN)).toBeGreaterThanOrEqual(0);
  });

  test("points every role at its object store, which knows the account of the roles", () => {
    const store = compose.services["objects"];
    const account = Object.keys(store?.environment ?? {});
    expect(account).toEqual(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]);
    const endpoints = services.flatMap(([, { environment }]) => environment?.["S3_ENDPOINT"] ?? []);
    expect(endpoints).toHaveLength(12);
    for (const endpoint of endpoints) {
      const { hostname, port } = new URL(endpoint);
      expect(hostname).toBe("objects");
      expect(store?.healthcheck?.test.join(" ")).toContain(`:${port}/`);
    }
  });

  test("starts no role before the migrations are through", () => {
    for (const name of ["ingress", "worker-chat", "janitor", "admin"]) {
      const condition = compose.services[name]?.depends_on?.["migrate"]?.condition;
      expect(condition, name).toBe("service_completed_successfully");
    }
  });

  test("is production without the sandbox, whatever .env says of it", () => {
    const roles = services.filter(([, { image }]) => image === "sluice:local");
    expect(roles).toHaveLength(12);
    for (const [name, { environment }] of roles) {
      const { DATABASE_URL: _url, SLUICE_PUBLIC_URL: address, ...given } = environment ?? {};
      // The ingress alone serves clients, and does not start without it.
      expect([name, address]).toEqual([name, name === "ingress" ? expect.stringContaining(":?") : undefined]);
      const loaded = loadConfig({ ...given, SLUICE_SANDBOX: "" }, { needs: [] });
      expect([name, loaded.production, loaded.sandbox]).toEqual([name, true, false]);
    }
  });

  test("logs in to the queue as users that the server knows, with passwords it is given", async () => {
    const config = await read("nats/server.conf");
    const users = new Map(
      Array.from(config.matchAll(/user: (\w+)\s+password: \$(\w+)/g), (match) => [match[1] ?? "", match[2] ?? ""]),
    );
    const given = compose.services["nats"]?.environment ?? {};
    for (const variable of users.values()) expect(given).toHaveProperty(variable);
    const logins = services.flatMap(([, { environment }]) => environment?.["NATS_URL"] ?? []);
    expect(logins).toHaveLength(12);
    for (const login of logins) {
      const [, user = "", variable] = /^nats:\/\/(\w+):\$\{(\w+)\}@nats:4222$/.exec(login) ?? [];
      expect(users.get(user), login).toBe(variable ?? "no password");
    }
  });

  test("holds no password of its own", async () => {
    const secrets = [...(await read("compose.yaml")).matchAll(/PASSWORD: (.*)/g)].map((match) => match[1] ?? "");
    expect(secrets.length).toBeGreaterThan(0);
    for (const value of secrets) expect(value).toMatch(/^\$\{[A-Z_]+(:\?[^}]*)?\}$/);
  });

  test("gives a stopping role longer than its grace", () => {
    for (const name of ["ingress", ...[...POOLS, WEBHOOK_POOL].map((pool) => `worker-${pool}`), "janitor"]) {
      expect(Number.parseInt(compose.services[name]?.stop_grace_period ?? "0", 10)).toBeGreaterThan(30);
    }
  });
});

describe("deploy/Dockerfile", () => {
  test("uses the Bun that package.json pins", async () => {
    const bases = [...(await read("Dockerfile")).matchAll(/^FROM (\S+)/gm)].map((match) => match[1]);
    const version = packageJson.packageManager.replace("bun@", "");
    expect(new Set(bases)).toEqual(new Set([`oven/bun:${version}-slim`]));
  });

  test("does not run as root", async () => {
    const user = /^USER (\S+)$/m.exec(await read("Dockerfile"))?.[1];
    expect(user).toBe("bun");
  });

  test("lets no secret file into the build", async () => {
    const lines = (await read("Dockerfile.dockerignore")).split("\n");
    expect(lines.indexOf("deploy/.env")).toBeGreaterThan(lines.indexOf("!deploy"));
  });
});
