/** Kubernetes component that lets each worker set the deletion cost of its own pod, and change nothing else. */
import { ValidatingAdmissionPolicy } from "kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy";
import { ValidatingAdmissionPolicyBinding } from "kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding";
import { Role } from "kubernetes-models/rbac.authorization.k8s.io/v1/Role";
import { RoleBinding } from "kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";

import type { Model } from "./files.ts";
import { type Workload, WORKLOADS } from "./workloads.ts";

const NAME = "sluice-worker";
/** Name of the cluster-wide objects, which have no namespace. */
const POLICY = "sluice-deletion-cost";

/**
 * Returns the service account of workers with its right to change pods. A Role cannot limit this right to the worker's own pod or to one
 * field. The admission policy does, by the pod name that the cluster writes into each token.
 */
export function accessOfWorkers(namespace: string): readonly Model[] {
  const user = `system:serviceaccount:${namespace}:${NAME}`;
  const own = `"authentication.kubernetes.io/pod-name" in request.userInfo.extra && request.userInfo.extra["authentication.kubernetes.io/pod-name"] == [request.name]`;
  return [
    new ServiceAccount({ metadata: { name: NAME }, automountServiceAccountToken: false }),
    new Role({ metadata: { name: NAME }, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["patch"] }] }),
    new RoleBinding({
      metadata: { name: NAME },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: NAME },
      subjects: [{ kind: "ServiceAccount", name: NAME, namespace }],
    }),
    new ValidatingAdmissionPolicy({
      metadata: { name: POLICY },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["UPDATE"] }],
        },
        matchConditions: [{ name: "by-a-worker", expression: `request.userInfo.username == "${user}"` }],
        validations: [
          { expression: own, message: "A worker changes no pod but its own." },
          {
            expression: "object.spec == oldObject.spec",
            message: "A worker changes nothing of its pod but what it costs to delete.",
          },
          {
            expression: ["labels", "finalizers", "ownerReferences"]
              .map((member) => {
                const [now, before] = ["object", "oldObject"].map((one) => `${one}.metadata.?${member}`);
                return `${now} == ${before}`;
              })
              .join(" && "),
            message: "A worker changes nothing of its pod but what it costs to delete.",
          },
        ],
      },
    }),
    new ValidatingAdmissionPolicyBinding({
      metadata: { name: POLICY },
      spec: { policyName: POLICY, validationActions: ["Deny"] },
    }),
  ];
}

/** Returns the patch of each worker's Deployment, which adds the service account's token and the pod's name. */
export function patchOfWorker({ name }: Workload): object {
  const env = [{ name: "SLUICE_POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
  const spec = { serviceAccountName: NAME, automountServiceAccountToken: true, containers: [{ name, env }] };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec: { template: { spec } } };
}

/** Workers whose jobs may run long. Excludes webhook workers, which deliver within seconds. */
export const COSTLY: readonly Workload[] = WORKLOADS.filter(
  ({ args, scaling }) => args[0] === "worker" && scaling.by === "lag",
);
