/** Objects that a cluster is handed: those of the generated files, and overlays as kubectl puts them together where it is installed. */
import { join } from "node:path";

import { findOnPath } from "#deploy/embedded/process.mjs";
import { kubernetesFiles } from "#deploy/kubernetes/files.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

interface Labels {
  readonly matchLabels?: Readonly<Record<string, string>>;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly {
    readonly secretRef?: { readonly name: string };
    readonly configMapRef?: { readonly name: string };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources?: Readonly<Record<"requests" | "limits", Readonly<Record<string, string>>>>;
  readonly securityContext?: object;
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep?: { readonly seconds: number } } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface Pod {
  readonly containers: readonly Container[];
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: { readonly fsGroup?: number; readonly seccompProfile?: { readonly type: string } };
  readonly volumes?: readonly {
    readonly name: string;
    readonly emptyDir?: { readonly sizeLimit?: string };
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
}

/** The members that some kind has. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: Labels & Readonly<Record<string, unknown>>;
    readonly podSelector?: Labels;
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: Pod;
    };
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly maxUnavailable?: number;
    readonly scaleTargetRef?: { readonly name: string };
    readonly triggers?: readonly { readonly metricType: string; readonly metadata: Readonly<Record<string, string>> }[];
  } & Readonly<Record<string, unknown>>;
}

export const FILES = kubernetesFiles();

/** Returns the objects of the files below base, or of a component, as they are written. */
export function objectsIn(folder: string): readonly Manifest[] {
  const paths = Object.keys(FILES).filter(
    (path) => path.startsWith(`deploy/kubernetes/${folder}/`) && path.endsWith(".yaml"),
  );
  return paths
    .flatMap((path) => parse(FILES[path] ?? ""))
    .filter(({ kind }) => !/^(?:Kustomization|Component)$/.test(kind));
}

export const hasKubectl = findOnPath("kubectl") !== null;

export const overlayFolder = (name: string): string => join(PROJECT_ROOT, "deploy/kubernetes/overlays", name);

/** @throws Error with kubectl's words where the overlay in the folder does not hold together */
export async function render(folder: string): Promise<readonly Manifest[]> {
  const child = Bun.spawn(["kubectl", "kustomize", folder], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(fault);
  return parse(text);
}

export function podsOf(manifests: readonly Manifest[]): readonly { readonly owner: Manifest; readonly pod: Pod }[] {
  return manifests.flatMap((owner) => (owner.spec?.template ? [{ owner, pod: owner.spec.template.spec }] : []));
}

function parse(text: string): readonly Manifest[] {
  const parsed = Bun.YAML.parse(text) as Manifest | readonly Manifest[];
  return [parsed].flat();
}
