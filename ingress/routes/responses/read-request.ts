/** Parsed Responses call: the members of its body, the conversation it continues, and the chat request made of both. */
import type { ResponsesItem, ResponsesRequest, ResponsesTool } from "#schemas/generated/types.ts";
import { takeMaxCredits } from "#shared/calls/max-credits.ts";
import { withFirstModel } from "#shared/calls/kinds/first-model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { KeptConversation } from "#shared/responses/conversations.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";

import type { ReadBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import type { RouteCall } from "../../core/call.ts";
import { type ToolSet, readToolSet } from "../../tools/tool-set.ts";
import { withParam } from "../../core/with-param.ts";

import { readConversation } from "./history.ts";
import { toolSetReader } from "./image-tool.ts";
import type { PlacedItem } from "./items.ts";
import type { DeclaredTool } from "./declared-tools.ts";
import { checkTurns, functionsOf } from "./tool-turns.ts";
import { type Translated, translatingRequest } from "./translate.ts";

export interface Asked extends Translated {
  readonly items: readonly PlacedItem[];
  /** Tools that the service runs for the model. Undefined if the call has none. */
  readonly toolSet: ToolSet<ResponsesTool> | undefined;
  readonly body: ReadBody;
  readonly asked: ResponsesRequest;
  /** Maximum cost in the body, in nano-credits. */
  readonly maxNano?: bigint | undefined;
  readonly own: readonly ResponsesItem[];
  readonly root?: string;
}

/**
 * Reads and parses a Responses call.
 * @param open opens the conversation that the call names.
 * @throws ApiError that names the invalid member
 */
export async function readAsked(
  context: IngressContext,
  call: RouteCall,
  receivedBody: ReadBody,
  open: (id: string) => Promise<KeptConversation>,
): Promise<Asked> {
  await receivedBody.pause();
  const { request: asked, maxNano } = takeMaxCredits(parse("ResponsesRequest", withFirstModel(receivedBody.value)));
  await receivedBody.pause();
  const toolSet = await readToolSet(context, call, asked.tools ?? [], toolSetReader(context.catalogue.current()));
  if (toolSet) checkTurns(asked);
  const { reserveMemory } = call.meter;
  const { items, own, root } = await readConversation(context.responses, call.caller, asked, { open, reserveMemory });
  // A small body may continue a conversation of megabytes; every later step then takes long.
  const slices = new TimeSlices();
  const body = items.length > ITEMS_AT_ONCE_MAX ? { ...receivedBody, pause: () => slices.next() } : receivedBody;
  await body.pause();
  const modelRequest = toolSet ? { ...asked, tools: [...toolSet.others, ...functionsOf(toolSet)] } : asked;
  const translated = await slices.run(translatingRequest(modelRequest, items)).catch((error: unknown) => {
    throw toolSet ? withParam(error, toolSet.paramOf) : error;
  });
  if (toolSet) checkNames(toolSet, translated.tools);
  return { body, asked, maxNano, items, toolSet, own, ...(root === undefined ? {} : { root }), ...translated };
}

/**
 * Checks that tool names are distinct. @throws ApiError `unsupported_value` if a tool of the conversation has the name of a tool that the
 * service runs
 */
function checkNames({ tools: served }: ToolSet<ResponsesTool>, tools: readonly DeclaredTool[]): void {
  const taken = tools.find(({ shown, from }) => served.has(shown) && !from.startsWith("tools["));
  if (!taken) return;
  const message = `The name ${taken.shown} is reserved for a tool of the service; use another name.`;
  throw new ApiError("unsupported_value", message, { param: taken.from });
}

/** Maximum number of items that are processed without a pause. With more items, each step of a call yields to other requests. */
const ITEMS_AT_ONCE_MAX = 100;
