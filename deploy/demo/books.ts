/** The service's books against what the answers said, as any client can ask for them: the balance, and the record of each call. */
import { setTimeout as delay } from "node:timers/promises";

import OpenAI from "openai";

import type { Key, UsageRequest } from "#schemas/generated/types.ts";
import { parseCredits } from "#shared/money.ts";

import type { Client, Receipt } from "./client.ts";

/** The last bytes of speech may come before its hold is settled. */
const SETTLED_WITHIN_MS = 10_000;
const PAUSE_MS = 100;

export interface Balanced {
  /** Nano-credits. */
  readonly before: bigint;
  readonly after: bigint;
  /** Cost of our calls by their usage records. */
  readonly settled: bigint;
  /** Net spending of others in this workspace meanwhile; negative if they added credits. */
  readonly others: bigint;
  /** Calls whose answers say another price than their records. */
  readonly disagreeing: readonly string[];
}

export interface Books {
  compare(receipts: readonly Receipt[]): Promise<Balanced>;
}

/** @throws Error when the balance cannot be read */
export async function openBooks({ sdk }: Client): Promise<Books> {
  const readKey = async () => {
    const { balance, workspace } = await sdk.get<Key>("/key");
    return { workspaceId: workspace.id, nano: parseCredits(String(balance.credits)) };
  };
  const { workspaceId, nano: before } = await readKey();
  const records = `${sdk.baseURL.replace(/\/v1$/, "")}/workspaces/${workspaceId}/usage/requests`;
  const until = async ({ id, credits }: Receipt, end: number): Promise<bigint> => {
    for (;;) {
      const paid = await sdk.get<UsageRequest>(`${records}/${id}`).then(
        (record) => parseCredits(String(record.credits)),
        (error: unknown) => {
          // A call has no record while it is not settled, nor one that held nothing.
          if (error instanceof OpenAI.NotFoundError) return undefined;
          throw error;
        },
      );
      if (paid !== undefined || credits === 0n || Date.now() > end) return paid ?? 0n;
      await delay(PAUSE_MS);
    }
  };
  return {
    async compare(receipts) {
      const end = Date.now() + SETTLED_WITHIN_MS;
      let settled = 0n;
      const disagreeing: string[] = [];
      for (const receipt of receipts) {
        const paid = await until(receipt, end);
        settled += paid;
        if (paid !== receipt.credits) disagreeing.push(receipt.id);
      }
      const { nano: after } = await readKey();
      return { before, after, settled, others: before - after - settled, disagreeing };
    },
  };
}
