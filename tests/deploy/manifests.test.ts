import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { loadConfig } from "#shared/config/config.ts";
import { POOLS, WEBHOOK_POOL } from "#shared/queue/subjects.ts";
import { NATS_VERSION_MIN, compareVersions } from "#shared/queue/connection.ts";

import { admin } from "./admin/commands.ts";

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
  readonly env_file?: unknown;
  readonly security_opt?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly init?: boolean;
}

const compose = Bun.YAML.parse(await read("compose.yaml")) as { services: Record<string, Service> };
const services = Object.entries(compose.services);

describe("deploy/compose.yaml", () => {
  test("runs every role, and two replicas of each role on the path of calls", () => {
    const roles = new Map(services.map(([name, { command }]) => [name, command?.join(" ")]));
    expect(roles.get("migrate")).toBe("migrate");
    expect(roles.get("ingress")).toBe("ingress");
    expect(roles.get("janitor")).toBe("janitor");
    expect(roles.get("nats-auth")).toBe("nats-auth");
    for (const name of ["ingress", "nats-auth"]) expect(compose.services[name]?.deploy?.replicas).toBe(2);
  });

  test.each([...POOLS, WEBHOOK_POOL])("has a worker for pool %s, twice", (pool) => {
    const worker = services.find(([, { command }]) => command?.join(" ") === `worker ${pool}`)?.[1];
    expect(worker?.deploy?.replicas).toBe(2);
  });

  test("allows Postgres the connections that its roles open, with a reserve for a rollout", () => {
    const server = /max_connections=(\d+)/.exec(compose.services["postgres"]?.command?.join(" ") ?? "")?.[1];
    const wanted = services.map(([, { command = [], deploy }]) => {
      const [role = "", pool] = command;
      const each =
        { ingress: 17, "nats-auth": 8, worker: pool === "workflow" ? 12 : 10, janitor: 12, migrate: 4 }[role] ?? 0;
      return each * (deploy?.replicas ?? 1);
    });
    const sum = wanted.reduce((all, one) => all + one, 0);
    expect(sum).toBeGreaterThan(200);
    expect(Number(server)).toBeGreaterThan(1.2 * sum);
  });

  test("pins every image that it does not build", () => {
    for (const [name, { image }] of services) {
      expect(image, name).toMatch(/^[a-z0-9/-]+:[A-Za-z0-9][\w.-]*$/);
      expect(image, name).not.toEndWith(":latest");
    }
  });

  test("runs a queue server that every role accepts", () => {
    const version = /^nats:(\d+\.\d+\.\d+)/.exec(compose.services["nats"]?.image ?? "")?.[1] ?? "0.0.0";
    expect(compareVersions(version, NATS_VERSION_MIN)).toBeGreaterThanOrEqual(0);
  });

  test("points every role at its object store, which has the account of the roles", () => {
    const store = compose.services["objects"];
    const account = Object.keys(store?.environment ?? {});
    expect(account).toEqual(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]);
    const endpoints = services.flatMap(([, { environment }]) => environment?.["S3_ENDPOINT"] ?? []);
    expect(endpoints).toHaveLength(13);
    for (const endpoint of endpoints) {
      const { hostname, port } = new URL(endpoint);
      expect(hostname).toBe("objects");
      expect(store?.healthcheck?.test.join(" ")).toContain(`:${port}/`);
    }
  });

  test("starts no role before the migrations have ended", () => {
    for (const name of ["ingress", "nats-auth", "worker-chat", "janitor", "admin"]) {
      const condition = compose.services[name]?.depends_on?.["migrate"]?.condition;
      expect(condition, name).toBe("service_completed_successfully");
    }
  });

  test("is in production mode without the sandbox, regardless of .env", () => {
    const roles = services.filter(([, { image }]) => image === "sluice:local");
    expect(roles).toHaveLength(13);
    for (const [name, { environment }] of roles) {
      const { SLUICE_PRODUCTION: given = "", SLUICE_PUBLIC_URL: address = "" } = environment ?? {};
      // The ingress alone serves clients, and does not start without it.
      expect([name, address.includes(":?")]).toEqual([name, name === "ingress"]);
      const loaded = loadConfig({ SLUICE_PRODUCTION: given, SLUICE_SANDBOX: "" }, { needs: [] });
      expect(environment).not.toHaveProperty("SLUICE_SANDBOX");
      expect([name, loaded.production, loaded.sandbox]).toEqual([name, true, false]);
    }
  });

  test("logs in to the queue as users of the server, with passwords from the environment", async () => {
    const config = await read("nats/server.conf");
    const users = new Map(
      Array.from(config.matchAll(/user: (\w+)\s+password: \$(\w+)/g), (match) => [match[1] ?? "", match[2] ?? ""]),
    );
    const given = compose.services["nats"]?.environment ?? {};
    for (const variable of users.values()) expect(given).toHaveProperty(variable);
    // Of nobody else a password is asked by the server: publishers come in by the role's word.
    const bypass = /auth_users: \[ ([^\]]*) \]/.exec(config)?.[1]?.split(", ");
    expect(bypass?.toSorted()).toEqual([...users.keys()].toSorted());
    for (const [, variable = ""] of config.matchAll(/(?:issuer|xkey): \$(\w+)/g))
      expect(given).toHaveProperty(variable);
    const logins = services.flatMap(([, { environment }]) => environment?.["NATS_URL"] ?? []);
    expect(logins).toHaveLength(13);
    for (const login of logins) {
      const [, user = "", variable] = /^nats:\/\/(\w+):\$\{(\w+)\}@nats:4222$/.exec(login) ?? [];
      expect(users.get(user), login).toBe(variable ?? "no password");
    }
  });

  test("contains no password of its own", async () => {
    const secrets = [...(await read("compose.yaml")).matchAll(/PASSWORD: (.*)/g)].map((match) => match[1] ?? "");
    expect(secrets.length).toBeGreaterThan(0);
    for (const value of secrets) expect(value).toMatch(/^\$\{[A-Z_]+(:\?[^}]*)?\}$/);
  });

  test("allows roles to write to /tmp only, where unpacked programs can run", () => {
    const roles = services.filter(([, { image }]) => image === "sluice:local");
    for (const [name, { read_only: isReadOnly, tmpfs = [], volumes = [], init }] of roles) {
      const writable = [...tmpfs.map((one) => one.split(",")[0]), ...volumes];
      const tmp = tmpfs.length > 0 ? "/tmp:exec" : "/tmp";
      // What a command writes must outlive its container.
      expect([name, isReadOnly, writable]).toEqual([name, true, name === "admin" ? [tmp, "./files:/files"] : [tmp]]);
      // The image has one.
      expect([name, init]).toEqual([name, undefined]);
    }
  });

  test("drops every root capability of every role, and forbids setuid programs", () => {
    const roles = services.filter(([, { image }]) => image === "sluice:local");
    for (const [name, { cap_drop: dropped, security_opt: options }] of roles) {
      expect([name, dropped, options?.includes("no-new-privileges")]).toEqual([name, ["ALL"], true]);
    }
  });

  test("requires exactly the output of `admin compose env`", async () => {
    const demanded = new Set(
      Array.from((await read("compose.yaml")).matchAll(/\$\{(\w+):\?/g), (match) => match[1] ?? ""),
    );
    const { stdout } = await admin(["compose", "env", "--json"], {});
    const made = JSON.parse(stdout) as Readonly<Record<string, string>>;
    // Without these two nobody could call or operate the service.
    const access = ["SLUICE_BOOTSTRAP_KEY", "SLUICE_OPERATOR_TOKEN"];
    expect(new Set(Object.keys(made))).toEqual(demanded.union(new Set(access)));
    for (const name of Object.keys(made).filter((one) => one.endsWith("_PASSWORD")))
      expect(made[name]).toMatch(/^[A-Za-z0-9]{20,}$/);
    const names = Object.keys(made).filter((name) => name.startsWith("SLUICE_"));
    const given = Object.fromEntries(names.map((name) => [name, made[name] ?? ""]));
    expect(() => loadConfig({ ...given, SLUICE_PRODUCTION: "on", SLUICE_SANDBOX: "" }, { needs: [] })).not.toThrow();
    // Two runs share no secret.
    const other = JSON.parse((await admin(["compose", "env", "--json"], {})).stdout) as typeof made;
    const same = Object.keys(made).filter((name) => made[name] === other[name]);
    expect(same).toEqual(["SLUICE_PUBLIC_URL", "AWS_ACCESS_KEY_ID"]);
  });

  test("gives a stopping role longer than its grace", () => {
    for (const name of [
      "ingress",
      "nats-auth",
      ...[...POOLS, WEBHOOK_POOL].map((pool) => `worker-${pool}`),
      "janitor",
    ]) {
      expect(Number.parseInt(compose.services[name]?.stop_grace_period ?? "0", 10)).toBeGreaterThan(30);
    }
  });
});

/** Returns a service's environment if .env gives each variable of env.example a value of its own. */
function startedWith(name: string): ReadonlyMap<string, string> {
  const given = compose.services[name]?.environment ?? {};
  const value = (text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::([-?+])([^}]*))?\}/g, (_all, variable: string, kind?: string, word = "") =>
      kind === "+" ? word : `<${variable}>`,
    );
  return new Map(Object.entries(given).map(([variable, text]) => [variable, value(text)]));
}

const example = await read("env.example");

describe("environment of each service in deploy/compose.yaml", () => {
  const documented = Array.from(example.matchAll(/^([A-Z0-9_]+)=/gm), (match) => match[1] ?? "");
  const keys = documented.filter((name) => name.endsWith("_API_KEY"));
  const roles = services.filter(([, { image }]) => image === "sluice:local").map(([name]) => name);
  const asks = ["chat", "image", "audio", "video", "3d"].map((pool) => `worker-${pool}`);
  /** Secrets, and who has them beside the servers that they open. */
  const SECRETS: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries([...keys, "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, asks])),
    SLUICE_BOOTSTRAP_KEY: ["migrate"],
    SLUICE_OPERATOR_TOKEN: ["ingress", "admin"],
    SLUICE_LAG_TOKEN: ["janitor"],
    SLUICE_OIDC_ISSUER: ["ingress"],
    SLUICE_OIDC_CLIENT_ID: ["ingress"],
    SLUICE_OIDC_CLIENT_SECRET: ["ingress"],
    SLUICE_SECRETS_KEY: ["ingress", ...asks, "worker-webhook", "admin"],
    SLUICE_SECRETS_KEY_PREVIOUS: ["ingress", ...asks, "worker-webhook", "admin"],
    SLUICE_SMTP_URL: ["worker-webhook"],
    NATS_INGRESS_PASSWORD: ["ingress"],
    NATS_WORKER_PASSWORD: [...asks, "worker-capability", "worker-webhook"],
    NATS_WORKFLOW_PASSWORD: ["worker-workflow"],
    NATS_JANITOR_PASSWORD: ["migrate", "janitor", "admin"],
    NATS_AUTH_PASSWORD: ["nats-auth"],
    NATS_AUTH_ISSUER: [],
    NATS_AUTH_XKEY: [],
    SLUICE_NATS_AUTH_SEED: ["nats-auth"],
    SLUICE_NATS_AUTH_XKEY_SEED: ["nats-auth"],
  };

  test("is an explicit list, not a file with everything", () => {
    for (const [name, { env_file }] of services) expect([name, env_file]).toEqual([name, undefined]);
  });

  test.each(Object.entries(SECRETS))("%s is set for %j only", (secret, expected) => {
    const has = (name: string): boolean => [...startedWith(name).values()].some((text) => text.includes(`<${secret}>`));
    expect(new Set(roles.filter(has))).toEqual(new Set(expected));
  });

  test("marks the providers with a key for services that list models", () => {
    for (const name of ["ingress", "worker-workflow", "admin"]) {
      for (const key of keys) expect([name, startedWith(name).get(key)]).toEqual([name, "known-to-workers"]);
    }
  });

  test("contains every other setting, for every role", () => {
    // Settings of `npm start`, of tests, of the build and of a cluster, and settings that compose.yaml fixes.
    const apart = [
      "SLUICE_DATA_DIR",
      "NATS_RELEASES_URL",
      "SLUICE_SUPERVISED",
      "SLUICE_FAILPOINT",
      "SLUICE_JANITOR_PACE",
      "SLUICE_PACE",
      "SLUICE_POD_NAME",
      "SLUICE_SANDBOX",
      "FFMPEG",
      "OFFICE",
      "NATS_PUBLISH",
    ];
    const ofSome = [...apart, ...Object.keys(SECRETS), "SLUICE_MAIL_FROM", "SLUICE_URL", "POSTGRES_PASSWORD"];
    const others = documented.filter((name) => !ofSome.includes(name));
    for (const role of roles) {
      const given = startedWith(role);
      expect([role, others.filter((name) => !given.has(name))]).toEqual([role, []]);
    }
  });

  test("starts every role with the defaults of the settings if .env omits them", () => {
    for (const role of roles) {
      const entries = Object.entries(compose.services[role]?.environment ?? {}).map(([name, text]) => [
        name,
        text
          .replaceAll(/\$\{\w+:\+[^}]*\}/g, "")
          .replaceAll(/\$\{\w+(?::-([^}]*)|[^}]*)\}/g, (_all, word = "") => word),
      ]);
      expect(loadConfig(Object.fromEntries(entries)).calls).toEqual(
        loadConfig({ DATABASE_URL: "postgres://db/sluice", NATS_URL: "nats://queue:4222" }).calls,
      );
    }
  });
});

interface Profile {
  readonly defaultAction: string;
  readonly syscalls: readonly { readonly names: readonly string[]; readonly action: string }[];
}

const profile = JSON.parse(await read("seccomp.json")) as Profile;

describe("deploy/seccomp.json", () => {
  const refused = new Set(profile.syscalls.flatMap(({ names, action }) => (action === "SCMP_ACT_ERRNO" ? names : [])));

  test("is the profile of the workers whose children are isolated, and of no other service", () => {
    const named = services.filter(([, { security_opt: options = [] }]) => options.includes("seccomp=./seccomp.json"));
    expect(named.map(([name]) => name)).toEqual(["worker-capability"]);
  });

  test("allows namespaces and mounts, and denies access to the kernel and other processes", () => {
    expect(profile.defaultAction).toBe("SCMP_ACT_ALLOW");
    for (const call of ["clone", "clone3", "unshare", "mount", "umount2", "pivot_root", "chroot"]) {
      expect([call, refused.has(call)]).toEqual([call, false]);
    }
    for (const call of [
      "bpf",
      "init_module",
      "io_uring_setup",
      "kexec_load",
      "keyctl",
      "perf_event_open",
      "ptrace",
      "setns",
    ]) {
      expect([call, refused.has(call)]).toEqual([call, true]);
    }
  });
});
