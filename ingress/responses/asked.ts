/** Parsed Responses call: the members of its body, the conversation it continues, and the chat request made of both. */
import type { ResponsesItem, ResponsesRequest, ResponsesTool } from "#schemas/generated/types.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";
import type { KeptConversation } from "#shared/responses/conversations.ts";
import { TimeSlices } from "#shared/time-slices.ts";

import type { ReadBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../core/call.ts";
import { type Offer, readOffer } from "../tools/offer.ts";
import { withParam } from "../with-param.ts";

import { readConversation } from "./history.ts";
import { offerReader } from "./image-tool.ts";
import type { PlacedItem } from "./items.ts";
import type { OfferedTool } from "./offered-tools.ts";
import { checkTurns, functionsOf } from "./tool-turns.ts";
import { type Translated, translatingRequest } from "./translate.ts";

export interface Asked extends Translated {
  readonly items: readonly PlacedItem[];
  /** Tools that the service runs for the model. Undefined: none. */
  readonly offer: Offer<ResponsesTool> | undefined;
  readonly body: ReadBody;
  readonly asked: ResponsesRequest;
  readonly own: readonly ResponsesItem[];
  readonly root?: string;
}

/** Reads a call. @param open opens the conversation that the call names. @throws ApiError with the invalid member */
export async function readAsked(
  context: IngressContext,
  call: RouteCall,
  given: ReadBody,
  open: (id: string) => Promise<KeptConversation>,
): Promise<Asked> {
  await given.pause();
  const asked = parse("ResponsesRequest", given.value);
  await given.pause();
  const offer = await readOffer(context, call, asked.tools ?? [], offerReader(context.catalogue.current()));
  if (offer) checkTurns(asked);
  const { reserveMemory: makeRoom } = call.meter;
  const { items, own, root } = await readConversation(context.responses, call.caller, asked, { open, makeRoom });
  // A small body may continue a conversation of megabytes; every later step then takes long.
  const slices = new TimeSlices();
  const body = items.length > ITEMS_AT_ONCE_MAX ? { ...given, pause: () => slices.next() } : given;
  await body.pause();
  const shown = offer ? { ...asked, tools: [...offer.others, ...functionsOf(offer)] } : asked;
  const translated = await slices.run(translatingRequest(shown, items)).catch((error: unknown) => {
    throw offer ? withParam(error, offer.paramOf) : error;
  });
  if (offer) checkNames(offer, translated.tools);
  return { body, asked, items, offer, own, ...(root === undefined ? {} : { root }), ...translated };
}

/** Checks names. @throws ApiError `unsupported_value` if a tool of the conversation has the name of a tool that the service runs */
function checkNames({ tools: served }: Offer<ResponsesTool>, tools: readonly OfferedTool[]): void {
  const taken = tools.find(({ shown, from }) => served.has(shown) && !from.startsWith("tools["));
  if (!taken) return;
  const message = `The name ${taken.shown} is reserved for a tool of the service; use another name.`;
  throw new ApiError("unsupported_value", message, { param: taken.from });
}

/** Number of items above which the steps of a call yield the thread between them. */
const ITEMS_AT_ONCE_MAX = 100;
