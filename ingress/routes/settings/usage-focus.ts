/**
 * GET /workspaces/{workspaceId}/usage/focus: usage as a table with the columns of FOCUS 1.2, the FinOps Open Cost and Usage Specification
 * (https://focus.finops.org). Charges are priced in credits and billed in US dollars, as the specification requires of virtual currencies.
 * Top-ups are no rows: a charge counts when its call ends.
 */
import { sumUsage, type UsageSum } from "#shared/database/usage-sums.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsToDollars, formatCredits } from "#shared/base/money.ts";

import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import type { RouteCall } from "../../core/call.ts";
import { queryOf, unsupported } from "../../core/page.ts";
import type { KeyRoute } from "../../core/route.ts";
import { csv, CSV_ROWS_MAX } from "./csv.ts";
import { filterIn, FOCUS_QUERY, spanOf } from "./usage.ts";
import { labelOfGroup } from "./usage-labels.ts";

export function usageFocus(context: IngressContext): KeyRoute {
  return {
    tags: ["Usage and billing"],
    auth: "key",
    method: "GET",
    path: "/workspaces/{workspaceId}/usage/focus",
    operationId: "exportFocusUsage",
    summary: "Download usage in FOCUS format",
    description:
      "Returns usage and cost as CSV with the columns of FOCUS 1.2, the open specification of cloud bills. A row is the usage of a " +
      "model by a key in an hour or a day in UTC. Costs are US dollars; the columns of the pricing currency are credits. Top-ups " +
      "are no rows. A developer sees only calls of own keys.",
    query: FOCUS_QUERY,
    responses: { 200: { description: "The table", texts: ["text/csv"] } },
    errors: ["not_found", "unsupported_value"],
    authorize: allow(...ANY_ROLE),
    handle: (call) => read(context, call),
  };
}

async function read(context: IngressContext, call: RouteCall): Promise<Response> {
  const { workspaceId, workspaceName } = call.caller;
  const [span, filter, label] = [spanOf(call, Date.now()), filterIn(call), labelIn(call)];
  const [filtered = label] = Object.keys(filter.labels);
  if (Object.keys(filter.labels).length > 1 || (label ?? filtered) !== filtered) {
    const message = "Expected at most one label in label and the filters user, tag and chain.";
    throw new ApiError("unsupported_value", message, { param: "label" });
  }
  const sums = await sumUsage(context.database, workspaceId, {
    ...filter,
    unit: span.unit,
    groups: ["model", "key", ...(label === null ? [] : (["label"] as const))],
    label: filtered,
    rankedBy: null,
    top: null,
    start: new Date(span.start),
    end: new Date(span.end),
    limit: CSV_ROWS_MAX + 1,
  });
  if (sums.length > CSV_ROWS_MAX) {
    const message = `Expected a period with at most ${CSV_ROWS_MAX} rows; choose a shorter period, or bucket_width 1d.`;
    throw new ApiError("unsupported_value", message, { param: "start_time" });
  }
  const { models } = context.catalogue.current();
  const of = { workspaceId, workspaceName, ms: span.ms, label, isModel: (slug: string) => models.has(slug) };
  return csv(context, { rows: sums, present: (sum) => rowOf(sum, of), columns: FOCUS_COLUMNS, name: "focus" });
}

/** Reads the label whose values the column `Tags` contains; null for none. @throws ApiError `unsupported_value` */
function labelIn(call: RouteCall): string | null {
  const text = queryOf(call).get("label") || null;
  if (text === null) return null;
  const label = labelOfGroup(text);
  if (label === undefined) throw unsupported("label", "user, chain or tag:<name>", text);
  return label;
}

/** Mandatory columns of FOCUS 1.2, and the conditional columns that apply. Own columns begin with `x_`. */
export const FOCUS_COLUMNS = [
  "BilledCost",
  "BillingAccountId",
  "BillingAccountName",
  "BillingCurrency",
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargeCategory",
  "ChargeClass",
  "ChargeDescription",
  "ChargeFrequency",
  "ChargePeriodEnd",
  "ChargePeriodStart",
  "ConsumedQuantity",
  "ConsumedUnit",
  "ContractedCost",
  "ContractedUnitPrice",
  "EffectiveCost",
  "InvoiceIssuerName",
  "ListCost",
  "ListUnitPrice",
  "PricingCategory",
  "PricingCurrency",
  "PricingCurrencyContractedUnitPrice",
  "PricingCurrencyEffectiveCost",
  "PricingCurrencyListUnitPrice",
  "PricingQuantity",
  "PricingUnit",
  "ProviderName",
  "PublisherName",
  "RegionId",
  "ResourceId",
  "ServiceCategory",
  "ServiceName",
  "ServiceSubcategory",
  "SkuId",
  "SkuMeter",
  "SkuPriceId",
  "SubAccountId",
  "SubAccountType",
  "Tags",
  "x_Failed",
  "x_Tokens",
] as const;

type FocusColumn = (typeof FOCUS_COLUMNS)[number];

interface RowContext {
  readonly workspaceId: string;
  readonly workspaceName: string;
  /** Length of the charge period, in milliseconds. */
  readonly ms: number;
  readonly label: string | null;
  readonly isModel: (slug: string) => boolean;
}

/** Name of the service as provider, publisher and issuer. Sums do not contain which provider served a call. */
const SERVICE = "Sluice";

function rowOf(sum: UsageSum, of: RowContext): Readonly<Record<FocusColumn, unknown>> {
  const { model = "", key_id: keyId = null } = sum;
  const start = sum.start;
  const dollars = creditsToDollars(sum.settled);
  const credits = formatCredits(sum.settled);
  const monthOf = (more: number): string => timeOf(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + more));
  return {
    BilledCost: dollars,
    BillingAccountId: of.workspaceId,
    BillingAccountName: of.workspaceName,
    BillingCurrency: "USD",
    BillingPeriodEnd: monthOf(1),
    BillingPeriodStart: monthOf(0),
    ChargeCategory: "Usage",
    ChargeClass: null,
    ChargeDescription: `Calls of ${model}`,
    ChargeFrequency: "Usage-Based",
    ChargePeriodEnd: timeOf(start.getTime() + of.ms),
    ChargePeriodStart: timeOf(start.getTime()),
    ConsumedQuantity: sum.calls,
    ConsumedUnit: "Requests",
    ContractedCost: dollars,
    ContractedUnitPrice: DOLLARS_PER_CREDIT,
    EffectiveCost: dollars,
    InvoiceIssuerName: SERVICE,
    ListCost: dollars,
    ListUnitPrice: DOLLARS_PER_CREDIT,
    PricingCategory: "Standard",
    PricingCurrency: "Credits",
    PricingCurrencyContractedUnitPrice: 1,
    PricingCurrencyEffectiveCost: credits,
    PricingCurrencyListUnitPrice: 1,
    PricingQuantity: credits,
    PricingUnit: "Credits",
    ProviderName: SERVICE,
    PublisherName: SERVICE,
    RegionId: null,
    ResourceId: null,
    ServiceCategory: "AI and Machine Learning",
    ServiceName: SERVICE,
    ServiceSubcategory: of.isModel(model) ? "Generative AI" : "Other (AI and Machine Learning)",
    SkuId: model,
    SkuMeter: "Credits",
    SkuPriceId: model,
    SubAccountId: keyId,
    SubAccountType: "API key",
    Tags: tagsOf(sum, of.label),
    x_Failed: sum.failed,
    x_Tokens: sum.tokens,
  };
}

/** Price of a credit in US dollars: a hundredth. */
const DOLLARS_PER_CREDIT = creditsToDollars(1_000_000_000n);

/** Returns the column `Tags` as JSON text; null for calls without the label. */
function tagsOf({ label_value: value }: UsageSum, label: string | null): string | null {
  return label === null || value == null ? null : JSON.stringify({ [label]: value });
}

/** Formats a time as FOCUS requires: in UTC, without fractions of a second. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
