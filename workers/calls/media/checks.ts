/** Checks of one call against the models that may serve it, each made once. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { type CheckedMedia, type JobCheck, jobCheckOf } from "#shared/calls/kinds/media-check.ts";
import type { Model } from "#shared/calls/model.ts";

/**
 * The check against the requested model comes with the job, by the catalogue entry at its admission. A fallback has other limits and
 * another price, so the call is checked against it before it is tried. A job of an earlier version has no check, so it is checked here.
 */
export class CallChecks<Params, Request extends object = Readonly<Record<string, unknown>>> {
  /** Request without the check beside it. */
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

  /** Returns the check against a model. @throws ApiError naming the parameter that the model does not accept */
  by(model: Model): JobCheck<Params> {
    return this.known.get(model.slug) ?? this.keep(this.check(this.request, model), model);
  }

  /** Returns a new full check, from which a hold is computed. @throws ApiError as `by` */
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
