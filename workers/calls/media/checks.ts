/** Checks one call against each model that may serve it, once per model. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { type CheckedMedia, type JobCheck, jobCheckOf } from "#shared/calls/kinds/media-check.ts";
import type { Model } from "#shared/calls/model.ts";

/**
 * Checks of one call, by model. The check against the requested model was made at admission and is part of the job. A fallback model has
 * other limits and another price, so the call is checked before that model is tried. Jobs of earlier versions contain no check, so they are
 * checked here.
 */
export class CallChecks<Params, Request extends object = Readonly<Record<string, unknown>>> {
  /** Request of the call, without the check that the job contains. */
  readonly request: Request;
  private readonly check: (request: Request, model: Model) => CheckedMedia<Params>;
  /** Checks by model slug. */
  private readonly known = new Map<string, JobCheck<Params>>();

  constructor(job: JobMessage, check: (request: Request, model: Model) => CheckedMedia<Params>) {
    const { checked, ...request } = job.request ?? {};
    this.request = request as unknown as Request;
    this.check = check;
    if (job.checked === true) this.known.set(job.model, checked as JobCheck<Params>);
  }

  /**
   * Returns the check of the call against a model. The check is made once per model.
   * @throws ApiError that names the parameter which the model does not accept
   */
  by(model: Model): JobCheck<Params> {
    return this.known.get(model.slug) ?? this.keep(this.check(this.request, model), model);
  }

  /**
   * Checks the call against a model again, and replaces the earlier check. Unlike `by`, it also returns the price and the amount of the
   * hold.
   * @throws the errors of `by`
   */
  anew(model: Model): CheckedMedia<Params> {
    const checked = this.check(this.request, model);
    this.keep(checked, model);
    return checked;
  }

  private keep(checked: CheckedMedia<Params>, model: Model): JobCheck<Params> {
    const kept = jobCheckOf(checked, model);
    this.known.set(model.slug, kept);
    return kept;
  }
}
