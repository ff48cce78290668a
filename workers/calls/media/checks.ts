/** Checks one call against each model that may serve it, once per model. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { type CheckedMedia, type JobCheck, jobCheckOf } from "#shared/calls/kinds/media-check.ts";
import type { Model } from "#shared/calls/model.ts";

/**
 * Checks of one call by model. The job contains the check against the requested model, made at admission with the catalogue entry of that
 * time. A fallback model has other limits and another price, so the call is checked before that model is tried. A job of an earlier version
 * contains no check, so it is checked here.
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

  /** Returns the check against a model, which is made at most once. @throws ApiError naming the parameter that the model does not accept */
  by(model: Model): JobCheck<Params> {
    return this.known.get(model.slug) ?? this.keep(this.check(this.request, model), model);
  }

  /** Makes a new full check against a model. The hold is computed from it. @throws ApiError as `by` */
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
