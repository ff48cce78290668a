/** Commands that print the secrets of a new installation. */
import { randomBytes } from "node:crypto";

import { createAccount, createCurve } from "@nats-io/nkeys";

import type { Command } from "./command.ts";

export const SETUP_COMMANDS: readonly Command[] = [
  {
    usage: "nats keys",
    about: "Prints new keys for NATS and the role nats-auth, as lines for .env. Nothing is stored.",
    needs: "nothing",
    run() {
      const json = makeNatsKeys();
      return Promise.resolve({ json, text: linesOf(json) });
    },
  },
  {
    usage: "compose env [--public-url <url>]",
    about: "Prints a whole .env for deploy/compose.yaml, with new passwords and keys. Nothing is stored.",
    needs: "nothing",
    run(_context, { option }) {
      const json = {
        SLUICE_PUBLIC_URL: option("public-url") ?? "http://localhost:8080",
        SLUICE_BOOTSTRAP_KEY: `sk_${newPassword()}`,
        SLUICE_OPERATOR_TOKEN: `operator_${newPassword()}`,
        SLUICE_SECRETS_KEY: randomBytes(32).toString("base64"),
        POSTGRES_PASSWORD: newPassword(),
        AWS_ACCESS_KEY_ID: "sluice",
        AWS_SECRET_ACCESS_KEY: newPassword(),
        NATS_INGRESS_PASSWORD: newPassword(),
        NATS_WORKER_PASSWORD: newPassword(),
        NATS_WORKFLOW_PASSWORD: newPassword(),
        NATS_JANITOR_PASSWORD: newPassword(),
        NATS_AUTH_PASSWORD: newPassword(),
        ...makeNatsKeys(),
      };
      const text = `# Settings of deploy/compose.yaml. Keep this file secret; deploy/env.example has all other settings.
# SLUICE_PUBLIC_URL is the address that clients use. Change it when they run on other machines.
${linesOf(json)}
# Set the key of a provider to use its models, for example:
OPENAI_API_KEY=`;
      return Promise.resolve({ json, text });
    },
  },
];

function makeNatsKeys(): Readonly<Record<string, string>> {
  const [issuer, curve] = [createAccount(), createCurve()];
  return {
    NATS_AUTH_ISSUER: issuer.getPublicKey(),
    NATS_AUTH_XKEY: curve.getPublicKey(),
    SLUICE_NATS_AUTH_SEED: Buffer.from(issuer.getSeed()).toString(),
    SLUICE_NATS_AUTH_XKEY_SEED: Buffer.from(curve.getSeed()).toString(),
  };
}

/** Returns 160 random bits as hexadecimal digits, because compose.yaml puts passwords into URLs without escaping. */
function newPassword(): string {
  return randomBytes(20).toString("hex");
}

function linesOf(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}
