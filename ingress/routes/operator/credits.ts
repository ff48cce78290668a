/** /operator/workspaces/{id}/credits and /ledger: adds or removes credits of a workspace, and lists its ledger. */
import type { OperatorCreditMove, OperatorCreditMoveRequest, OperatorCredits } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { findMove, pageLedger, readBalance } from "#shared/database/credits.ts";
import type { Database } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readJson } from "#shared/json/parse.ts";
import { moveByHand, parseMove } from "#shared/ledger/manual.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";
import { reused } from "#shared/json/same-request.ts";

import { json } from "../../core/answers.ts";
import { readJsonBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OperatorCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { createdId, digitsOf, SETTINGS_BODY_BYTES_MAX } from "../settings/body.ts";
import { LIST_QUERY, numberedPageOf, pageAnswer } from "../../core/page.ts";
import { presentLedgerEntry } from "../settings/credits.ts";
import { workspaceOf } from "../settings/within.ts";
import { MONEY, noteOf, READ } from "./common.ts";

const CREDITS = "/operator/workspaces/{id}/credits";

export function credits(context: IngressContext): readonly OperatorRoute[] {
  const { database } = context;
  return [
    {
      ...READ,
      method: "GET",
      path: CREDITS,
      operationId: "getOperatorCredits",
      summary: "Retrieve balance of workspace",
      responses: { 200: { description: "The balance", schema: "OperatorCredits" } },
      errors: ["not_found"],
      handle: async (call) => json(await balanceOf(database, (await workspaceOf(database, call)).id)),
    },
    {
      ...MONEY,
      method: "POST",
      path: CREDITS,
      operationId: "moveOperatorCredits",
      summary: "Create credit movement",
      description:
        "Tops up the balance of a workspace, or corrects it. Credits move once per id: a repeat returns 200 and " +
        "moves nothing.",
      request: { schema: "OperatorCreditMoveRequest" },
      responses: {
        200: { description: "The movement, made by an earlier request", schema: "OperatorCreditMove" },
        201: { description: "The movement", schema: "OperatorCreditMove" },
      },
      errors: errorsOf(["reads_json"], "not_found", "conflict", "idempotency_key_reused"),
      handle: (call) => move(database, call),
    },
    {
      ...READ,
      method: "GET",
      path: "/operator/workspaces/{id}/ledger",
      operationId: "listOperatorLedger",
      summary: "List ledger of workspace",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of entries", schema: "OperatorLedgerList" } },
      errors: ["not_found", "unsupported_value"],
      handle: (call) =>
        pageAnswer(
          numberedPageOf(call),
          async (page) => pageLedger(database, (await workspaceOf(database, call)).id, page),
          presentLedgerEntry,
        ),
    },
  ];
}

async function move(database: Database, call: OperatorCall): Promise<Response> {
  const { text, value } = readJson(await readJsonBody(call.request, SETTINGS_BODY_BYTES_MAX));
  const body = parse("OperatorCreditMoveRequest", value);
  const amountNano = amountOf(body.kind, digitsOf(text, "credits"));
  const note = noteOf(body);
  const { id: workspaceId } = await workspaceOf(database, call);
  const asked = { kind: body.kind, amountNano, sourceId: createdId(body), note };
  const moved = await moveByHand(database, workspaceId, asked, actorOf(call));
  if (moved.result === "other") {
    const earlier = formatCredits(moved.earlierNano);
    throw reused(`The id was used for ${earlier} credits.`, "id");
  }
  if (moved.result === "funds") {
    const { available } = await balanceOf(database, workspaceId);
    const message = `The workspace has ${available} credits available, less than the correction takes.`;
    throw new ApiError("conflict", message, { param: "credits" });
  }
  return json(await presentMove(database, workspaceId, asked), {}, moved.result === "moved" ? 201 : 200);
}

/** Parses the amount of a credit change, in nano-credits. @throws ApiError `unsupported_value` */
function amountOf(kind: OperatorCreditMoveRequest["kind"], digits: string): bigint {
  const refuse = (expected: string, cause?: unknown): never => {
    throw new ApiError("unsupported_value", `${expected}.`, { param: "credits", cause });
  };
  let nano: bigint;
  try {
    nano = parseMove(digits);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse(error.message.replace(/^expected/, "Expected"), error);
  }
  return kind === "top_up" && nano < 0n ? refuse("Expected credits above 0; use a correction to take credits") : nano;
}

async function presentMove(
  database: Database,
  workspaceId: string,
  asked: { readonly kind: "top_up" | "correction"; readonly sourceId: string },
): Promise<OperatorCreditMove> {
  const [entry, balance] = await Promise.all([
    findMove(database, workspaceId, asked),
    balanceOf(database, workspaceId),
  ]);
  if (entry === undefined) throw new Error(`the ledger has no entry of the move ${asked.sourceId}`);
  return {
    object: "credit_move",
    id: entry.source_id,
    workspace_id: workspaceId,
    kind: asked.kind,
    credits: creditsNumber(entry.amount),
    note: entry.note,
    at: entry.at.toISOString(),
    balance,
  };
}

async function balanceOf(database: Database, workspaceId: string): Promise<OperatorCredits> {
  const { amount, held } = await readBalance(database, workspaceId);
  return {
    object: "credits",
    workspace_id: workspaceId,
    credits: creditsNumber(amount),
    held: creditsNumber(held),
    available: creditsNumber(amount - held),
  };
}
