/** Rules that the manifests keep, those of kube-linter and kubeconform among them, over the files and over whole overlays. */
import { readdirSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";

import { createAccount, createCurve } from "@nats-io/nkeys";
import { describe, expect, test } from "bun:test";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";

import { run } from "#deploy/embedded/process.mjs";
import { toYaml } from "#deploy/kubernetes/files.ts";
import { NAMESPACES } from "#deploy/kubernetes/network.ts";
import { NATS_SECRET, SECRETS, type SecretName, SETTINGS } from "#deploy/kubernetes/secrets.ts";
import { loadConfig } from "#shared/config/config.ts";
import { POOLS, WEBHOOK_POOL } from "#shared/queue/subjects.ts";
import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

import { FILES, hasKubectl, type Manifest, objectsIn, overlayFolder, podsOf, render } from "./manifests.ts";

const OVERLAYS = ["small", "production"];
if (!hasKubectl) process.stderr.write("overlays of deploy/kubernetes are not put together: there is no kubectl here\n");

const base = objectsIn("base");
const whole = hasKubectl ? await Promise.all(OVERLAYS.map((name) => render(overlayFolder(name)))) : [];
const sets = [
  ["base", base] as const,
  ["nats", objectsIn("components/nats")] as const,
  ["nats-cluster", objectsIn("components/nats-cluster")] as const,
  ...whole.map((manifests, index) => [`overlay ${OVERLAYS[index]}`, manifests] as const),
];
const workers = [...POOLS, WEBHOOK_POOL].map((pool) => `worker-${pool}`);
const roles = ["ingress", ...workers, "janitor", "nats-auth"];

const read = (path: string): Promise<string> => Bun.file(join(PROJECT_ROOT, path)).text();
const example = await read("deploy/env.example");
const documented = new Set(Array.from(example.matchAll(/^([A-Z0-9_]+)=/gm), (match) => match[1] ?? ""));
// Written down with the page that it opens.
documented.add("SLUICE_LAG_TOKEN");

const page = await read("schemas/docs/operate/kubernetes.md");
const natsVariables = objectsIn("components/nats-cluster").flatMap((manifest) =>
  podsOf([manifest]).flatMap(({ pod }) =>
    pod.containers.flatMap(({ env = [] }) => env.flatMap(({ name }) => (/_PASSWORD$|_AUTH_/.test(name) ? [name] : []))),
  ),
);

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly image: string; readonly environment?: Readonly<Record<string, string>> }>
  >;
}
const compose = Bun.YAML.parse(await read("deploy/compose.yaml")) as Compose;

function ofKind(manifests: readonly Manifest[], kind: string): readonly Manifest[] {
  return manifests.filter((one) => one.kind === kind);
}

function named(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** Returns the owners of the pods that a selector finds. */
function selects(
  labels: Readonly<Record<string, string>> | undefined,
  manifests: readonly Manifest[],
): readonly Manifest[] {
  return manifests.filter(({ spec }) => {
    const own = spec?.template?.metadata.labels;
    return own !== undefined && Object.entries(labels ?? {}).every(([key, value]) => own[key] === value);
  });
}

describe("the files", () => {
  test("are the only files of their folders", () => {
    const folder = join(PROJECT_ROOT, "deploy/kubernetes");
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() && entry.parentPath !== folder
        ? [join(entry.parentPath, entry.name).slice(PROJECT_ROOT.length + 1)]
        : [],
    );
    expect(found.toSorted()).toEqual(Object.keys(FILES).toSorted());
  });

  test("contain no object that its schema rejects", () => {
    const wrong = new Deployment({
      metadata: { name: "x" },
      spec: { selector: {}, template: {}, replicas: "two" },
    } as never);
    expect(() => toYaml([wrong])).toThrow("replicas");
  });

  test("contain one role for each pool, and nothing else", () => {
    const args = podsOf(base).map(({ owner, pod }) => [owner.kind, pod.containers[0]?.args?.join(" ")]);
    expect(new Set(args)).toEqual(
      new Set([
        ["Job", "migrate"],
        ["Deployment", "ingress"],
        ...[...POOLS, WEBHOOK_POOL].map((pool) => ["Deployment", `worker ${pool}`]),
        ["Deployment", "janitor"],
        ["Deployment", "nats-auth"],
      ]),
    );
  });

  test("contain no secret", () => {
    expect(Object.values(FILES).filter((text) => /^kind: Secret$/m.test(text))).toEqual([]);
  });
});

describe.each(sets)("pods of %s", (_name, manifests) => {
  const pods = podsOf(manifests);

  test("have requests, and a memory limit", () => {
    for (const { owner, pod } of pods) {
      for (const { resources } of pod.containers) {
        const { requests, limits } = resources ?? {};
        expect([owner.metadata.name, requests?.["memory"]]).toEqual([owner.metadata.name, limits?.["memory"]]);
        expect(requests?.["memory"], owner.metadata.name).toMatch(/^\d+[MG]i$/);
        expect(requests?.["cpu"], owner.metadata.name).toMatch(/^\d+m?$/);
      }
    }
  });

  test("run no image without an exact tag", () => {
    for (const { pod } of pods) {
      for (const { image } of pod.containers) {
        expect(image).toMatch(/^[a-z0-9/-]+:\d[\w.-]*$/);
      }
    }
  });

  test("have no rights, no token, and only their own writable folder", () => {
    for (const { owner, pod } of pods) {
      expect([owner.metadata.name, pod]).toMatchObject([
        owner.metadata.name,
        {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          serviceAccountName: "sluice",
          securityContext: { runAsNonRoot: true, runAsUser: 1_000 },
        },
      ]);
      const profile = pod.securityContext?.seccompProfile?.type;
      expect(["RuntimeDefault", owner.metadata.name === "worker-capability" && "Localhost"]).toContain(
        profile ?? "none",
      );
      for (const volume of pod.volumes ?? [])
        if (volume.emptyDir) expect(volume.emptyDir.sizeLimit).toMatch(/^\d+[MG]i$/);
      for (const { securityContext, volumeMounts = [] } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
        expect(writable).toEqual(owner.metadata.name === "nats" ? ["/data", "/tmp"] : ["/tmp"]);
      }
    }
  });

  test("that keep running have liveness probes, and exit within their grace period", () => {
    for (const { owner, pod } of pods.filter(({ owner: { kind } }) => kind !== "Job")) {
      for (const { startupProbe, livenessProbe, readinessProbe, ports = [], ...container } of pod.containers) {
        for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
          expect([owner.metadata.name, ports.map(({ name }) => name)]).toEqual([
            owner.metadata.name,
            expect.arrayContaining([probe?.httpGet.port ?? "none"]),
          ]);
        }
        if (owner.metadata.name === "nats") continue;
        expect(readinessProbe?.httpGet).toEqual({ path: "/readyz?scope=process", port: "admin" });
        const grace = Number(container.env?.find(({ name }) => name === "SLUICE_GRACE_MS")?.value) / 1_000;
        const leave = container.lifecycle?.preStop.sleep?.seconds ?? 0;
        expect([owner.metadata.name, pod.terminationGracePeriodSeconds]).toEqual([
          owner.metadata.name,
          leave + grace + 30,
        ]);
      }
    }
  });

  test("that keep running match their selector and one disruption budget, which allows a drain to remove one", () => {
    for (const owner of manifests.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")) {
      expect(selects(owner.spec?.selector?.matchLabels, manifests)).toEqual([owner]);
      const budgets = ofKind(manifests, "PodDisruptionBudget").filter(({ spec }) =>
        selects(spec?.selector?.matchLabels, manifests).includes(owner),
      );
      // One server of the queue is away while its node is: a budget would only stop the drain.
      const expected = owner.metadata.name === "nats" && owner.spec?.replicas === 1 ? [] : [1];
      expect([owner.metadata.name, budgets.map(({ spec }) => spec?.maxUnavailable)]).toEqual([
        owner.metadata.name,
        expected,
      ]);
    }
  });

  test("match the selectors of Services, policies and scalers", () => {
    for (const { metadata, spec } of ofKind(manifests, "Service")) {
      const [owner, ...others] = selects(spec?.selector as Readonly<Record<string, string>>, manifests);
      expect([metadata.name, others.length, owner === undefined]).toEqual([metadata.name, 0, false]);
      const offered = owner?.spec?.template?.spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name));
      for (const { targetPort } of spec?.ports ?? [])
        expect([metadata.name, offered]).toEqual([metadata.name, expect.arrayContaining([targetPort])]);
    }
    if (ofKind(manifests, "Deployment").length === 0) return;
    for (const { metadata, spec } of ofKind(manifests, "NetworkPolicy")) {
      expect([metadata.name, selects(spec?.podSelector?.matchLabels, manifests).length > 0]).toEqual([
        metadata.name,
        true,
      ]);
    }
    for (const { spec } of [...ofKind(manifests, "ScaledObject"), ...ofKind(manifests, "HorizontalPodAutoscaler")]) {
      const { replicas } = named(manifests, "Deployment", spec?.scaleTargetRef?.name ?? "").spec ?? {};
      // An apply would put another number back.
      expect(replicas).toBeUndefined();
    }
  });
});

test("publishers of other namespaces reach the NATS servers only with the component label, at the client port", () => {
  const reaching = (manifests: readonly Manifest[]): string[] =>
    ofKind(manifests, "NetworkPolicy").flatMap(({ metadata, spec }) =>
      JSON.stringify(spec).includes("sluice/publishers") ? [metadata.name] : [],
    );
  for (const [, manifests] of sets) expect(reaching(manifests)).toEqual([]);
  const component = objectsIn("components/publishers");
  expect(reaching(component)).toEqual(["nats-from-publishers"]);
  const { spec } = named(component, "NetworkPolicy", "nats-from-publishers");
  for (const servers of ["nats", "nats-cluster"]) {
    expect(selects(spec?.podSelector?.matchLabels, objectsIn(`components/${servers}`))).toHaveLength(1);
  }
  expect(spec).toMatchObject({
    policyTypes: ["Ingress"],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { "sluice/publishers": "true" } } }],
        ports: [{ port: 4222, protocol: "TCP" }],
      },
    ],
  });
  expect(page).toContain("`sluice/publishers=true`");
});

describe("variables", () => {
  test("are all settings", () => {
    const variables = [
      ...podsOf(base).flatMap(({ pod }) => pod.containers.flatMap(({ env = [] }) => env.map(({ name }) => name))),
      ...Object.keys(SETTINGS),
      ...Object.values(SECRETS).flatMap((group) => group.variables),
    ];
    expect(variables.filter((name) => !documented.has(name))).toEqual([]);
  });

  test("that all roles share start a role in production", () => {
    const given = { ...SETTINGS, DATABASE_URL: "postgres://db/sluice", NATS_URL: "nats://queue:4222" };
    const { production, sandbox, publicUrl } = loadConfig(given, { servesClients: true });
    expect({ production, sandbox, publicUrl }).toEqual({
      production: true,
      sandbox: false,
      publicUrl: SETTINGS["SLUICE_PUBLIC_URL"],
    });
  });

  /** Secrets of a role by the variables in them. */
  function secretsOf(name: string): ReadonlySet<string> {
    const kind = name === "migrate" ? "Job" : "Deployment";
    const [container] = named(base, kind, name).spec?.template?.spec.containers ?? [];
    const groups = (container?.envFrom ?? []).flatMap(({ secretRef }) =>
      secretRef ? [secretRef.name as SecretName] : [],
    );
    return new Set(groups.flatMap((group) => [...SECRETS[group].variables]));
  }

  test.each(["migrate", ...roles])("that are secret for %s equal those of compose.yaml", (name) => {
    const given = compose.services[name]?.environment ?? {};
    const secret = new Set(Object.values(SECRETS).flatMap((group): readonly string[] => group.variables));
    // One that is only told of a secret is given words in its place.
    const expected = Object.keys(given).filter((variable) => secret.has(variable) && !given[variable]?.includes(":+"));
    if (name === "janitor") expected.push("SLUICE_LAG_TOKEN");
    // It reads no object.
    const needed = name === "nats-auth" ? expected.filter((variable) => !variable.startsWith("AWS_")) : expected;
    expect(secretsOf(name)).toEqual(new Set(needed));
  });

  test("log in to the queue as the users that roles have in compose.yaml", () => {
    for (const name of ["migrate", ...roles]) {
      const user = /^nats:\/\/(\w+):/.exec(compose.services[name]?.environment?.["NATS_URL"] ?? "")?.[1];
      const kind = name === "migrate" ? "Job" : "Deployment";
      const groups = named(base, kind, name).spec?.template?.spec.containers[0]?.envFrom ?? [];
      const logins = groups.filter(({ secretRef }) => secretRef?.name.startsWith("sluice-nats-"));
      expect([name, logins.map(({ secretRef }) => secretRef?.name)]).toEqual([name, [`sluice-nats-${user}`]]);
    }
  });
});

describe("the page", () => {
  test("names every Secret with its variables", () => {
    const rows = page.split("\n").filter((line) => line.startsWith("| `sluice-"));
    for (const [name, { variables }] of Object.entries({ ...SECRETS, [NATS_SECRET]: { variables: natsVariables } })) {
      const row = rows.find((line) => line.startsWith(`| \`${name}\``));
      expect([name, row === undefined]).toEqual([name, false]);
      if (/provider-keys|nats-(?:worker|workflow|janitor)/.test(name)) continue;
      for (const variable of variables) expect(row).toContain(`\`${variable}\``);
    }
    expect(rows).toHaveLength(Object.keys(SECRETS).length + 1);
  });

  test("names the labels that policies select", () => {
    for (const labels of Object.values(NAMESPACES)) {
      for (const [key, value] of Object.entries(labels)) expect(page).toContain(`\`${key}=${value}\``);
    }
  });

  test.skipIf(!hasKubectl)("contains an overlay that builds", async () => {
    const { directory, remove } = temporaryDirectory();
    try {
      const example = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? "";
      // Kustomize takes no absolute path.
      const folder = join(relative(realpathSync(directory), PROJECT_ROOT), "deploy");
      await Bun.write(join(directory, "kustomization.yaml"), example.replace("sluice/deploy", folder));
      const manifests = await render(directory);
      const settings = ofKind(manifests, "ConfigMap").filter(({ metadata }) => metadata.name.startsWith("sluice-"));
      expect(settings.map(({ data }) => data?.["SLUICE_PUBLIC_URL"] ?? data?.["OPENAI_API_KEY"])).toEqual([
        "known-to-workers",
        "https://ai.example.com",
      ]);
      const images = podsOf(manifests).flatMap(({ pod }) => pod.containers.map(({ image }) => image));
      expect(new Set(images)).toEqual(new Set(["images.example.com/sluice:0.1.0", "nats:2.15.1-alpine"]));
      expect(named(manifests, "HTTPRoute", "sluice").spec?.["hostnames"]).toEqual(["ai.example.com"]);
    } finally {
      remove();
    }
  });
});

describe("scaling", () => {
  const scalers = ofKind(objectsIn("components/keda"), "ScaledObject");

  test("reads the load of each pool from a janitor", () => {
    const asked = scalers.map(({ metadata, spec }) => [
      metadata.name,
      spec?.triggers?.map(({ metricType, metadata: { url, valueLocation, authMode } }) => [
        metricType,
        url,
        valueLocation,
        authMode,
      ]),
    ]);
    expect(asked).toEqual(
      POOLS.map((pool) => {
        const url = `http://janitor.sluice.svc:9464/lag?pool=${pool}`;
        return [
          `worker-${pool}`,
          [
            ["AverageValue", url, "wanted_slots", "bearer"],
            ["Value", url, "oldest_waiting_seconds", "bearer"],
          ],
        ];
      }),
    );
  });

  test("fills a process of a pool to three quarters", () => {
    const targets = Object.fromEntries(
      scalers.map(({ metadata, spec }) => [metadata.name, spec?.triggers?.[0]?.metadata["targetValue"]]),
    );
    expect(targets).toEqual({
      "worker-chat": "168",
      "worker-image": "42",
      "worker-audio": "42",
      "worker-video": "42",
      "worker-3d": "42",
      // Runs compute: as many as the worker has cores.
      "worker-capability": "3",
      "worker-workflow": "21",
    });
  });
});

describe("the cost of deletion", () => {
  const objects = objectsIn("components/deletion-cost");

  test("is reported by the workers of every pool, the only pods with a token and their name", () => {
    const patched: readonly unknown[] = ofKind(objects, "Deployment").map(({ metadata, spec }) => [
      metadata.name,
      spec?.template?.spec,
    ]);
    expect(patched).toEqual(
      POOLS.map((pool) => [
        `worker-${pool}`,
        {
          serviceAccountName: "sluice-worker",
          automountServiceAccountToken: true,
          containers: [
            {
              name: `worker-${pool}`,
              env: [{ name: "SLUICE_POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
            },
          ],
        },
      ]),
    );
    expect(documented).toContain("SLUICE_POD_NAME");
  });

  test("is the only right of a worker: the annotations of its own pod", () => {
    const [role, ...others] = ofKind(objects, "Role");
    expect([role, others.length]).toMatchObject([{ rules: [{ resources: ["pods"], verbs: ["patch"] }] }, 0]);
    const [policy] = ofKind(objects, "ValidatingAdmissionPolicy");
    const { failurePolicy, matchConditions, validations } = (policy?.spec ?? {}) as unknown as {
      readonly failurePolicy: string;
      readonly matchConditions: readonly { readonly expression: string }[];
      readonly validations: readonly { readonly expression: string }[];
    };
    expect(failurePolicy).toBe("Fail");
    expect(matchConditions.map(({ expression }) => expression)).toEqual([
      'request.userInfo.username == "system:serviceaccount:sluice:sluice-worker"',
    ]);
    const allowed = validations.map(({ expression }) => expression).join("\n");
    expect(allowed).toContain('request.userInfo.extra["authentication.kubernetes.io/pod-name"] == [request.name]');
    for (const member of ["spec", "metadata.?labels", "metadata.?finalizers", "metadata.?ownerReferences"]) {
      expect(allowed).toContain(`object.${member} == oldObject.${member}`);
    }
    expect(ofKind(objects, "ValidatingAdmissionPolicyBinding")).toMatchObject([
      { spec: { policyName: policy?.metadata.name, validationActions: ["Deny"] } },
    ]);
  });
});

describe("NATS", () => {
  test("runs the server and the users of compose.yaml", async () => {
    for (const name of ["nats", "nats-cluster"]) {
      const [{ image } = { image: "" }] = podsOf(objectsIn(`components/${name}`))[0]?.pod.containers ?? [];
      expect(image).toBe(compose.services["nats"]?.image ?? "none");
      expect(FILES[`deploy/kubernetes/components/${name}/server.conf`]).toBe(await read("deploy/nats/server.conf"));
    }
  });

  test("accepts the file of a cluster with the variables that its pods have", async () => {
    const { directory, remove } = temporaryDirectory();
    try {
      for (const name of ["server.conf", "cluster.conf"]) {
        await Bun.write(join(directory, name), FILES[`deploy/kubernetes/components/nats-cluster/${name}`] ?? "");
      }
      const [container] = podsOf(objectsIn("components/nats-cluster"))[0]?.pod.containers ?? [];
      const keys = new Map([
        ["NATS_AUTH_ISSUER", createAccount().getPublicKey()],
        ["NATS_AUTH_XKEY", createCurve().getPublicKey()],
      ]);
      const env = Object.fromEntries(
        (container?.env ?? []).map(({ name, value }) => [
          name,
          keys.get(name) ?? value?.replace(/\$\(\w+\)/, "word") ?? "word",
        ]),
      );
      const args = ["-c", join(directory, "cluster.conf"), "-t"];
      const { code, stderr } = await run({
        name: "nats-server",
        command: await natsServerBinary(),
        args,
        cwd: directory,
        env,
      });
      expect([code, stderr]).toEqual([0, expect.stringContaining("is valid")]);
      const { NATS_PEER_2: _peer, ...less } = env;
      const refused = await run({
        name: "nats-server",
        command: await natsServerBinary(),
        args,
        cwd: directory,
        env: less,
      });
      expect(refused.code).not.toBe(0);
    } finally {
      remove();
    }
  });
});

describe.skipIf(!hasKubectl)("overlays", () => {
  test("are complete: every object that pods name exists, except Secrets, in one namespace", () => {
    for (const manifests of whole) {
      const maps = new Set(ofKind(manifests, "ConfigMap").map(({ metadata }) => metadata.name));
      const asked = podsOf(manifests).flatMap(({ pod }) =>
        pod.containers.flatMap(({ envFrom = [] }) => envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? [])),
      );
      expect(asked.filter((name) => !maps.has(name))).toEqual([]);
      const spaces = manifests.filter(({ kind }) => kind !== "Namespace").map(({ metadata }) => metadata.namespace);
      expect(new Set(spaces)).toEqual(new Set(["sluice"]));
    }
  });

  test("mark the migration and its dependencies, so that they can be applied first", () => {
    for (const manifests of whole) {
      const first = manifests.filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/component"] === "migrate");
      expect(first.map(({ kind }) => kind).toSorted()).toEqual(["ConfigMap", "Job", "Namespace", "ServiceAccount"]);
    }
  });

  test("production has a copy of each stream on every server, and isolates the children of capabilities", () => {
    const manifests = whole[OVERLAYS.indexOf("production")] ?? [];
    const settings = ofKind(manifests, "ConfigMap").find(({ metadata }) => metadata.name.startsWith("sluice-settings"));
    const { replicas } = named(manifests, "StatefulSet", "nats").spec ?? {};
    expect(settings?.data).toMatchObject({ SLUICE_STREAM_REPLICAS: String(replicas), SLUICE_PRODUCTION: "on" });
    const pod = named(manifests, "Deployment", "worker-capability").spec?.template?.spec;
    expect(pod?.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "Localhost", localhostProfile: "sluice.json" },
      appArmorProfile: { type: "Unconfined" },
    });
  });
});
