/** Keys between a NATS server and the role nats-auth. */
import { createAccount, createCurve } from "@nats-io/nkeys";

import type { Command } from "./command.ts";

export const NATS_COMMANDS: readonly Command[] = [
  {
    usage: "nats keys",
    about: "makes the keys by which NATS and the role nats-auth trust each other, as lines for .env; nothing is stored",
    needs: "nothing",
    run() {
      const [issuer, curve] = [createAccount(), createCurve()];
      const json = {
        NATS_AUTH_ISSUER: issuer.getPublicKey(),
        NATS_AUTH_XKEY: curve.getPublicKey(),
        SLUICE_NATS_AUTH_SEED: Buffer.from(issuer.getSeed()).toString(),
        SLUICE_NATS_AUTH_XKEY_SEED: Buffer.from(curve.getSeed()).toString(),
      };
      const text = Object.entries(json)
        .map(([name, value]) => `${name}=${value}`)
        .join("\n");
      return Promise.resolve({ json, text });
    },
  },
];
