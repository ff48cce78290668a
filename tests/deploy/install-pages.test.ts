/** Files, commands and figures of the pages on Docker Compose, Kubernetes and restores, compared with the manifests. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "bun:test";

import { run } from "#deploy/embedded/process.mjs";
import { NATS_SECRET, SECRETS } from "#deploy/kubernetes/secrets.ts";
import { type Workload, WORKLOADS } from "#deploy/kubernetes/workloads.ts";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

import { admin } from "./admin/commands.ts";
import { type Manifest, objectsIn, type Pod, podsOf } from "./kubernetes/manifests.ts";

const read = (path: string): Promise<string> => Bun.file(join(PROJECT_ROOT, path)).text();
const page = (name: string): Promise<string> => read(`schemas/docs/operate/${name}.md`);
const [install, kubernetes, backup, secretsPage, scale, retention] = await Promise.all(
  ["install", "kubernetes", "backup", "secrets", "scale", "retention"].map(page),
);

interface Service {
  readonly image: string;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly deploy?: { readonly replicas: number };
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
}

const { services } = Bun.YAML.parse(await read("deploy/compose.yaml")) as { services: Record<string, Service> };
const roles = Object.keys(services).filter((name) => services[name]?.image === "sluice:local");

/** Returns the blocks of a language, without the indentation of a list. */
function blocks(text: string | undefined, language: string): string[] {
  const found = (text ?? "").matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^\\1\`\`\`$`, "gm"));
  return Array.from(found, ([, indent = "", code = ""]) => code.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
}

function block(text: string | undefined, language: string, contains: string): string {
  const found = blocks(text, language).filter((code) => code.includes(contains));
  if (found.length !== 1) throw new Error(`expected one ${language} block with ${contains}, got ${found.length}`);
  return found[0] ?? "";
}

describe("Docker Compose", () => {
  test("the override file mounts catalogue files into every service that reads them", () => {
    const own = Bun.YAML.parse(block(install, "yaml", "x-catalogue")) as { services: Record<string, Service> };
    const mounted = Object.keys(own.services).filter((name) =>
      own.services[name]?.volumes?.includes("./catalogue:/etc/sluice:ro"),
    );
    expect(mounted.toSorted()).toEqual(roles.filter((name) => name !== "migrate" && name !== "nats-auth").toSorted());
  });

  test("Prometheus finds every role that keeps running", () => {
    const file = Bun.YAML.parse(block(install, "yaml", "scrape_configs")) as {
      scrape_configs: { dns_sd_configs: { port: number; names: string[] }[] }[];
    };
    const [found] = file.scrape_configs[0]?.dns_sd_configs ?? [];
    expect(found?.names.toSorted()).toEqual(roles.filter((name) => name !== "migrate" && name !== "admin").toSorted());
    const ports = roles.map((name) => services[name]?.environment?.["SLUICE_ADMIN_PORT"]).filter(Boolean);
    expect(new Set(ports)).toEqual(new Set([String(found?.port)]));
  });

  test("the page states the number of processes and connections", () => {
    const count = (isOne: (name: string) => boolean): number =>
      roles.filter(isOne).reduce((sum, name) => sum + (services[name]?.deploy?.replicas ?? 1), 0);
    const counts = {
      ingress: count((name) => name === "ingress"),
      worker: count((name) => name.startsWith("worker-")),
      workflow: count((name) => name === "worker-workflow"),
      janitor: count((name) => name === "janitor"),
      auth: count((name) => name === "nats-auth"),
    };
    expect(install).toContain(
      `${counts.ingress} ingresses of 180 MB, ${counts.worker} workers of 100 MB, a janitor of 75 MB, ${counts.auth} nats-auth of 35 MB`,
    );
    const megabytes = counts.ingress * 180 + counts.worker * 100 + counts.janitor * 75 + counts.auth * 35;
    expect(install).toContain(`| roles, idle | ${(megabytes / 1_000).toFixed(1)} GB of memory`);
    // As the table of connections.md says.
    const open = counts.ingress * 17 + counts.worker * 10 + counts.workflow * 2 + counts.janitor * 12 + counts.auth * 8;
    expect(install).toContain(`${open} of its 300 connections`);
    expect(services["ingress"]?.ports).toEqual(["8080-8081:8080"]);
  });
});

test("the pages restart exactly the workers that have a provider key", () => {
  const names = WORKLOADS.filter(({ secrets }) => secrets.includes("sluice-provider-keys")).map(({ name }) => name);
  const restart = `kubectl rollout restart -n sluice ${names.map((name) => `deployment/${name}`).join(" ")}\n`;
  expect(blocks(secretsPage, "sh").join("")).toContain(restart);
  expect(blocks(kubernetes, "sh").join("")).toContain(restart);
  expect(blocks(secretsPage, "sh").join("")).toContain(`up -d --no-deps --no-build ${names.join(" ")}\n`);
});

describe("Kubernetes", () => {
  const mebibytes = (text: string): number => Number.parseInt(text, 10) * (text.endsWith("Gi") ? 1_024 : 1);
  const millicores = (text: string): number => Number.parseInt(text, 10) * (text.endsWith("m") ? 1 : 1_000);
  const [server] = podsOf(objectsIn("components/nats-cluster")).map(
    ({ pod }) => pod.containers[0]?.resources?.requests,
  );

  test.each<readonly [row: string, servers: number, pods: (workload: Workload) => number]>([
    ["`overlays/small` | 12: one of each role, one NATS server", 1, () => 1],
    ["`overlays/production`, least | 20, three NATS servers among them", 3, ({ replicas }) => replicas.least],
    [
      "`overlays/production`, most | 197",
      3,
      ({ replicas, scaling }) => (scaling.by === "none" ? replicas.least : replicas.most),
    ],
  ])("the row %s has the sums of the manifests", (row, servers, pods) => {
    const sum = (of: (workload: Workload) => number, ofServer: number): number =>
      WORKLOADS.reduce((total, workload) => total + pods(workload) * of(workload), servers * ofServer);
    const cores = sum(({ cores: { request } }) => millicores(request), millicores(server?.["cpu"] ?? "")) / 1_000;
    const gibibytes = sum(({ memory }) => mebibytes(memory), mebibytes(server?.["memory"] ?? "")) / 1_024;
    const count = sum(() => 1, 1);
    expect(row).toMatch(new RegExp(`\\| ${count}\\b`));
    expect(kubernetes).toContain(`| ${row} | ${cores.toFixed(1)} cores | ${Math.round(gibibytes)} GiB |`);
  });

  test("the block of secrets creates every required Secret with its variables", async () => {
    const { directory, remove } = temporaryDirectory();
    try {
      const keys = await admin(["nats", "keys"]);
      const program = (name: string, text: string): void => {
        writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`);
        chmodSync(join(directory, name), 0o755);
      };
      program("docker", `cat <<'END'\n${keys.stdout.trim()}\nEND`);
      // Prints the name of a Secret and its variables.
      program(
        "kubectl",
        `[ "$2" = secret ] || exit 0
name=$4; shift 6
for argument; do case $argument in
  --from-env-file=*) cat "\${argument#*=}" ;;
  --from-literal=*) echo "\${argument#*=}" ;;
esac; done | sed "s/^/$name /"`,
      );
      program("openssl", `[ "$1" = rand ] && od -An -N"\${3}" -tx1 /dev/urandom | tr -d ' \\n'`);
      const script = block(kubernetes, "sh", "create secret generic").replaceAll(/<[a-z ]+>/g, "placeholder");
      const env = { PATH: `${directory}:${process.env["PATH"] ?? ""}` };
      const { code, stdout, stderr } = await run({
        name: "secrets",
        command: "bash",
        args: ["--norc", "-euc", script],
        cwd: directory,
        env,
      });
      expect([code, stderr]).toEqual([0, ""]);
      const made: Record<string, Record<string, string>> = {};
      for (const line of stdout.split("\n")) {
        const [, secret = "", name = "", value = ""] = /^(\S+) ([A-Z0-9_]+)=(.+)$/.exec(line) ?? [];
        (made[secret] ??= {})[name] = value;
      }
      for (const [name, { variables, isOptional }] of Object.entries(SECRETS)) {
        const names = Object.keys(made[name] ?? {});
        if (!isOptional) expect([name, names.length > 0]).toEqual([name, true]);
        expect([name, names.filter((variable) => !(variables as readonly string[]).includes(variable))]).toEqual([
          name,
          [],
        ]);
      }
      const natsServer = made[NATS_SECRET] ?? {};
      const natsVariables = podsOf(objectsIn("components/nats-cluster")).flatMap(({ pod }) =>
        (pod.containers[0]?.env ?? []).map(({ name }) => name).filter((name) => /_PASSWORD$|_AUTH_/.test(name)),
      );
      expect(Object.keys(natsServer).toSorted()).toEqual([...new Set(natsVariables)].toSorted());
      for (const user of ["ingress", "worker", "workflow", "janitor", "auth"]) {
        const password = natsServer[`NATS_${user.toUpperCase()}_PASSWORD`];
        expect(password).toMatch(/^[0-9a-f]{40}$/);
        expect(made[`sluice-nats-${user}`]?.["NATS_URL"]).toBe(`nats://${user}:${password}@nats:4222`);
      }
      expect(Object.keys(made["sluice-nats-auth"] ?? {}).toSorted()).toEqual(
        [...SECRETS["sluice-nats-auth"].variables].toSorted(),
      );
    } finally {
      remove();
    }
  });

  test("the Job of the drill has the rights and the servers of the Job migrate", () => {
    const drill = Bun.YAML.parse(block(backup, "yaml", "kind: Job")) as Manifest;
    const podOf = (manifests: readonly Manifest[]) => podsOf(manifests).find(({ owner }) => owner.kind === "Job")?.pod;
    const [ours, theirs] = [podOf([drill]), podOf(objectsIn("base"))];
    expect(ours?.containers[0]?.args).toEqual(["admin", "restore", "drill", "--restore", "true"]);
    expect(ours?.containers[0]?.securityContext).toEqual(theirs?.containers[0]?.securityContext ?? {});
    expect(theirs?.securityContext).toMatchObject({ ...ours?.securityContext });
    const secretsOf = (pod: typeof ours) =>
      pod?.containers[0]?.envFrom?.flatMap(({ secretRef }) => (secretRef ? [secretRef.name] : []));
    expect(secretsOf(ours)).toEqual(secretsOf(theirs)?.filter((name) => name !== "sluice-bootstrap"));
  });

  test("the pod of the archive has the rights of the Job of the drill, and a volume that outlives it", () => {
    const [claim, pod] = Bun.YAML.parse(block(retention, "yaml", "name: archive")) as [Manifest, { spec: Pod }];
    const drill = podsOf([Bun.YAML.parse(block(backup, "yaml", "kind: Job")) as Manifest])[0]?.pod;
    const [ours, theirs] = [pod.spec.containers[0], drill?.containers[0]];
    expect(claim.kind).toBe("PersistentVolumeClaim");
    expect(ours?.securityContext).toEqual(theirs?.securityContext ?? {});
    expect(pod.spec.securityContext).toEqual({ ...drill?.securityContext, fsGroup: 1_000 });
    expect(pod.spec.volumes).toContainEqual({
      name: "files",
      persistentVolumeClaim: { claimName: claim.metadata.name },
    });
    const [, file = ""] = /--to (\S+)\n/.exec(block(retention, "sh", "kubectl cp")) ?? [];
    expect(ours?.volumeMounts).toContainEqual({ name: "files", mountPath: file.replace(/\/[^/]*$/, "") });
  });

  test("the restore starts every role again, and the janitor last", () => {
    const script = block(backup, "sh", "--replicas=1 janitor");
    const [, names = ""] = /--replicas=1 (ingress .*)/.exec(script) ?? [];
    expect([...names.split(" "), "janitor"].toSorted()).toEqual(WORKLOADS.map(({ name }) => name).toSorted());
    expect(script.indexOf("--replicas=1 janitor")).toBeGreaterThan(script.indexOf(names));
  });
});

test("Compose has connections for the workers that the page on scaling adds", async () => {
  const [, max = ""] = /max_connections=(\d+)/.exec(await read("deploy/compose.yaml")) ?? [];
  // Postgres reserves 3; migrate and an admin command open 4 each.
  const free = Number(max) - 3 - 226 - 8;
  expect([Math.floor(free / 10), scale?.includes("leaves room for six more workers")]).toEqual([6, true]);
});
